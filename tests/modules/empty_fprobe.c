// SPDX-License-Identifier: GPL-2.0-only
/*
 * empty_fprobe: attach empty fprobes to the functions given as parameters, to their entry and,
 * with exit=1, to their return: the minimum overhead of a tool that uses fprobes. For
 * bench/peers.sh, on the kernel that it measures, because the prototypes of fprobe's handlers
 * differ between kernels.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/fprobe.h>
#include <linux/module.h>

#define MOST_FUNCTIONS	16

static char *functions[MOST_FUNCTIONS];
static int function_count;
module_param_array(functions, charp, &function_count, 0444);
MODULE_PARM_DESC(functions, "their names; at most 16");

static bool at_exit;
module_param_named(exit, at_exit, bool, 0444);
MODULE_PARM_DESC(exit, "when they return, too");

static int probe_entry(struct fprobe *fprobe, unsigned long entry, unsigned long caller,
		       struct pt_regs *regs, void *data)
{
	return 0;
}

static void probe_exit(struct fprobe *fprobe, unsigned long entry, unsigned long caller,
		       struct pt_regs *regs, void *data)
{
}

static struct fprobe probe = { .entry_handler = probe_entry };

static int __init empty_fprobe_init(void)
{
	if (at_exit)
		probe.exit_handler = probe_exit;
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
