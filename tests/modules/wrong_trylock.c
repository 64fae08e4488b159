// SPDX-License-Identifier: GPL-2.0-only
/*
 * wrong_trylock: makes a trylock of ntklog's fail always, for the self-test to find: a kprobe at
 * its beginning returns 0 to its caller. Everybody can live with a trylock that fails.
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

/* Its being there keeps the probe from becoming a jump, which cannot change where it goes. */
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
