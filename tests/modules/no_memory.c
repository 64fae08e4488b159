// SPDX-License-Identifier: GPL-2.0-only
/*
 * no_memory: make the nth call of a kernel function from now on fail with -ENOMEM, as failslab
 * does, for kernels without it.
 */

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <asm/ibt.h>

static char *function = "register_ftrace_direct";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "which");

static int nth = 1;
module_param(nth, int, 0444);
MODULE_PARM_DESC(nth, "which of its calls");

static atomic_t calls = ATOMIC_INIT(0);

asmlinkage void no_memory_return(void);
asm(".pushsection .text, \"ax\", @progbits\n"
	"	.globl no_memory_return\n"
	"	.type no_memory_return, @function\n"
	"no_memory_return:\n"
	"	" ASM_ENDBR
	"	" ASM_RET
	"	.size no_memory_return, . - no_memory_return\n"
	".popsection\n");

static int fail(struct kprobe *probe, struct pt_regs *regs)
{
	if (atomic_inc_return(&calls) != nth)
		return 0;
	regs->ax = -ENOMEM;
	regs->ip = (unsigned long)no_memory_return;
	return 1;
}

/* A post handler keeps the kprobe from being optimized, so that it may change the return. */
static void nothing(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.pre_handler = fail,
	.post_handler = nothing,
};

static int __init no_memory_init(void)
{
	probe.symbol_name = function;
	return register_kprobe(&probe);
}
module_init(no_memory_init);

static void __exit no_memory_exit(void)
{
	unregister_kprobe(&probe);
}
module_exit(no_memory_exit);

MODULE_DESCRIPTION("Makes a function fail for want of memory");
MODULE_LICENSE("GPL");
