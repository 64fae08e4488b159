// SPDX-License-Identifier: GPL-2.0-only
/* Use include/ntklog as another module does. misuse=1: make reports with addresses. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/printk.h>

#include "linkage.h"

static bool misuse;
module_param(misuse, bool, 0);
MODULE_PARM_DESC(misuse, "only call functions in forbidden ways");

static int __init linkage_init(void)
{
	int line;

	if (misuse)
		return linkage_misuse();
	line = linkage_snake_case();
	if (line) {
		pr_err("the check in snake_case.c:%d failed\n", line);
		return -EINVAL;
	}
	line = linkage_nt_code();
	if (line) {
		pr_err("the check in nt_code.c:%d failed\n", line);
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
MODULE_DESCRIPTION("Uses everything that ntklog has for other modules");
MODULE_LICENSE("GPL");
