// SPDX-License-Identifier: GPL-2.0-only
/* Last object of the module: marks the end of the list of suites, and registers them. */
#include <kunit/test.h>
#include <linux/module.h>

extern struct kunit_suite *ntklog_suites_start[], *ntklog_suites_end[];
struct kunit_suite *ntklog_suites_end[0] __used __section(".kunit_test_suites");

static int __init suites_init(void)
{
	kunit_stock_register(THIS_MODULE, ntklog_suites_start, ntklog_suites_end);
	return 0;
}
module_init(suites_init);

static void __exit suites_exit(void)
{
	kunit_stock_unregister(THIS_MODULE);
}
module_exit(suites_exit);
