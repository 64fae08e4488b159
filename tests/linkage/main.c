// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that uses everything in include/ntklog, to show that other modules can link with it.
 * tests/check/check_linkage.py checks that nothing is missing. Loading the module calls every
 * function at least once. With misuse=1 it calls them in forbidden ways; each call makes a report
 * with addresses.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/printk.h>

#include "linkage.h"

static bool misuse;
module_param(misuse, bool, 0);
MODULE_PARM_DESC(misuse, "call functions as they must not be called");

static int __init linkage_init(void)
{
	int line;

	if (misuse)
		return linkage_misuse();
	line = linkage_snake_case();
	if (line) {
		pr_err("snake_case.c:%d is not so\n", line);
		return -EINVAL;
	}
	line = linkage_nt_code();
	if (line) {
		pr_err("nt_code.c:%d is not so\n", line);
		return -EINVAL;
	}
	return 0;
}
module_init(linkage_init);

static void __exit linkage_exit(void)
{
}
module_exit(linkage_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Links all that ntklog has for other modules");
MODULE_LICENSE("GPL");
