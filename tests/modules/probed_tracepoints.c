// SPDX-License-Identifier: GPL-2.0-only
/*
 * probed_tracepoints: print at load the names of the tracepoints that have a probe. Tracepoints of
 * modules are not listed.
 *
 *	probed_tracepoints: NAME
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/tracepoint.h>

static void print_if_probed(struct tracepoint *tracepoint, void *unused)
{
	if (rcu_access_pointer(tracepoint->funcs))
		pr_info("%s\n", tracepoint->name);
}

static int __init probed_tracepoints_init(void)
{
	for_each_kernel_tracepoint(print_if_probed, NULL);
	return 0;
}

static void __exit probed_tracepoints_exit(void)
{
}

module_init(probed_tracepoints_init);
module_exit(probed_tracepoints_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Prints the tracepoints that have a probe");
MODULE_LICENSE("GPL");
