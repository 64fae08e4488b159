// SPDX-License-Identifier: GPL-2.0-only
/*
 * wrong_trylock: make one of ntklog's trylock functions fail always, so that ntklog's self-test
 * reports it. Callers of a trylock can handle that.
 */

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/ptrace.h>

static char *function = "tracked__raw_write_trylock";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "name of the trylock function");

static int fail_trylock(struct kprobe *probe, struct pt_regs *regs)
{
	regs->ax = 0;
	regs->ip = *(unsigned long *)regs->sp;
	regs->sp += sizeof(unsigned long);
	return 1;
}

/* A kprobe with a post handler is not optimized to a jump, so fail_trylock() can set ip. */
static void empty_post_handler(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe probe = {
	.pre_handler = fail_trylock,
	.post_handler = empty_post_handler,
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

MODULE_DESCRIPTION("Makes a trylock function of ntklog fail");
MODULE_LICENSE("GPL");
