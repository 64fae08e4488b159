// SPDX-License-Identifier: GPL-2.0-only
/* Find ntklog's functions by symbol_get(), so that the kernel does not list a user of ntklog. */

#include <linux/errno.h>
#include <linux/module.h>
#include <ntklog/irql.h>

static int __init symbol_user_init(void)
{
	typeof(ke_enter_critical_region) *enter = symbol_get(ke_enter_critical_region);
	typeof(ke_leave_critical_region) *leave = symbol_get(ke_leave_critical_region);

	if (enter && leave) {
		enter();
		leave();
		return 0;
	}
	if (enter)
		symbol_put(ke_enter_critical_region);
	if (leave)
		symbol_put(ke_leave_critical_region);
	return -ENOENT;
}

static void __exit symbol_user_exit(void)
{
	symbol_put(ke_enter_critical_region);
	symbol_put(ke_leave_critical_region);
}

module_init(symbol_user_init);
module_exit(symbol_user_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Uses ntklog by symbol_get()");
MODULE_LICENSE("GPL");
