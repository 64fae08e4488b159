// SPDX-License-Identifier: GPL-2.0-only
/*
 * wrong_trylock: make a trylock of ntklog fail always, so that its self-test reports it. A kprobe
 * at the function's entry returns 0 to the caller, which every caller of a trylock can handle.
 */

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>

static char *function = "tracked__raw_write_trylock";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "which");

static int fail(struct kprobe *probe, struct pt_regs *regs)
{
	regs->ax = 0;
	regs->ip = *(unsigned long *)regs->sp;
	regs->sp += sizeof(unsigned long);
	return 1;
}

/* A post handler keeps the kprobe from being optimized to a jump, which could not return 0. */
static void nothing(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.pre_handler = fail,
	.post_handler = nothing,
};

static int __init wrong_trylock_init(void)
{
	probe.symbol_name = function;
	return register_kprobe(&probe);
}
module_init(wrong_trylock_init);

static void __exit wrong_trylock_exit(void)
{
	unregister_kprobe(&probe);
}
module_exit(wrong_trylock_exit);

MODULE_DESCRIPTION("Makes a function of ntklog's wrong");
MODULE_LICENSE("GPL");
