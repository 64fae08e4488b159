// SPDX-License-Identifier: GPL-2.0-only
/*
 * direct_call: attach a direct call to a kernel function. ftrace allows one direct call per
 * function, so ntklog cannot attach its own.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/linkage.h>
#include <linux/module.h>
#include <asm/ibt.h>

#include "../../module/ground/compat.h"

static char *function = "_raw_spin_lock";
module_param(function, charp, 0444);
MODULE_PARM_DESC(function, "name of the kernel function to attach to");

asmlinkage void direct_call_nothing(void);
asm(".pushsection .text, \"ax\", @progbits\n"
	"	.balign 16\n"
	"	.globl direct_call_nothing\n"
	"	.type direct_call_nothing, @function\n"
	"direct_call_nothing:\n"
	"	" ASM_ENDBR
	"	" ASM_RET
	"	.size direct_call_nothing, . - direct_call_nothing\n"
	".popsection\n");

static struct ftrace_ops ops;

static int __init direct_call_init(void)
{
	struct kprobe probe = {
		.symbol_name = function,
		.flags = KPROBE_FLAG_DISABLED,
	};
	unsigned long address;
	int err = register_kprobe(&probe);

	if (err)
		return err;
	address = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	err = ftrace_set_filter_ip(&ops, address, 0, 0);
	if (!err)
		err = ntklog_register_direct(&ops, (unsigned long)direct_call_nothing);
	if (err)
		ftrace_free_filter(&ops);
	return err;
}
module_init(direct_call_init);

static void __exit direct_call_exit(void)
{
	if (ntklog_unregister_direct(&ops, (unsigned long)direct_call_nothing))
		pr_err("wrong: cannot detach the direct call from %s\n", function);
	ftrace_free_filter(&ops);
}
module_exit(direct_call_exit);

MODULE_DESCRIPTION("Attaches a direct call to a kernel function");
MODULE_LICENSE("GPL");
