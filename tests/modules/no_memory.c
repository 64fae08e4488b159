// SPDX-License-Identifier: GPL-2.0-only
/* no_memory: the nth call of a kernel function since load returns -ENOMEM without running. */

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <asm/ibt.h>

static char *function = "register_ftrace_direct";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "name of the kernel function");

static int nth = 1;
module_param(nth, int, 0444);
MODULE_PARM_DESC(nth, "number of the call that fails, counted from 1 at load");

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

static int fail_nth_call(struct kprobe *probe, struct pt_regs *regs)
{
	if (atomic_inc_return(&calls) != nth)
		return 0;
	regs->ax = -ENOMEM;
	regs->ip = (unsigned long)no_memory_return;
	return 1;
}

/* A kprobe with a post handler is not optimized to a jump, so fail_nth_call() can set ip. */
static void empty_post_handler(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.pre_handler = fail_nth_call,
	.post_handler = empty_post_handler,
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

MODULE_DESCRIPTION("Makes a call of a kernel function return -ENOMEM");
MODULE_LICENSE("GPL");
