// SPDX-License-Identifier: GPL-2.0-only
/*
 * empty_fprobe: attach empty handlers of fprobe to the entry of given functions and, with exit=1,
 * to their return. The prototypes are those of 6.12.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fprobe.h>
#include <linux/module.h>

#define FUNCTIONS_MAX	16

static char *functions[FUNCTIONS_MAX];
static int function_count;
module_param_array(functions, charp, &function_count, 0444);
MODULE_PARM_DESC(functions, "names of the functions to attach to; at most 16");

static bool probes_returns;
module_param_named(exit, probes_returns, bool, 0444);
MODULE_PARM_DESC(exit, "also call a handler when a function returns");

static int empty_entry_handler(struct fprobe *fprobe, unsigned long entry, unsigned long caller,
			       struct pt_regs *regs, void *data)
{
	return 0;
}

static void empty_exit_handler(struct fprobe *fprobe, unsigned long entry, unsigned long caller,
			       struct pt_regs *regs, void *data)
{
}

static struct fprobe probe = { .entry_handler = empty_entry_handler };

static int __init empty_fprobe_init(void)
{
	if (probes_returns)
		probe.exit_handler = empty_exit_handler;
	return register_fprobe_syms(&probe, (const char **)functions, function_count);
}

static void __exit empty_fprobe_exit(void)
{
	if (probe.nmissed)
		pr_info("missed %lu calls\n", probe.nmissed);
	unregister_fprobe(&probe);
}

module_init(empty_fprobe_init);
module_exit(empty_fprobe_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Fprobes that do nothing");
MODULE_LICENSE("GPL");
