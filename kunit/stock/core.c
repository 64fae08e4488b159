// SPDX-License-Identifier: GPL-2.0-only
/* The suites of a module. With CONFIG_KUNIT, members of struct module describe them. */
#include <kunit/test.h>
#include <linux/export.h>

struct mm_struct *kunit_stock_mm;

/*
 * The one module with suites that is loaded. Only its init and exit write it; KUnit's notifier
 * reads it later in the same load or unload.
 */
static struct kunit_stock_suites registered;

/**
 * kunit_stock_of() - look up the suites of a module
 * @module: module that is being loaded or unloaded
 *
 * Context: module notifier.
 * Return: the module's suites, or a structure with 0 suites.
 */
struct kunit_stock_suites *kunit_stock_of(struct module *module)
{
	static struct kunit_stock_suites none;

	if (registered.module == module)
		return &registered;
	none = (struct kunit_stock_suites){};
	return &none;
}

/**
 * kunit_stock_register() - announce a module's suites, which run when its init has returned
 * @module: module that owns the suites
 * @start: first suite
 * @end: end of the suites
 *
 * Context: the module's init.
 */
void kunit_stock_register(struct module *module, struct kunit_suite **start,
			  struct kunit_suite **end)
{
	registered = (struct kunit_stock_suites){
		.module = module, .kunit_suites = start, .num_kunit_suites = end - start,
	};
	kunit_stock_mm = current->mm;
}
EXPORT_SYMBOL_GPL(kunit_stock_register);

/**
 * kunit_stock_unregister() - remove a module's suites from KUnit
 * @module: module that owns the suites
 *
 * KUnit's notifier runs after the module's exit function, and must find no suites.
 *
 * Context: the module's exit.
 */
void kunit_stock_unregister(struct module *module)
{
	__kunit_test_suites_exit(registered.kunit_suites, registered.num_kunit_suites);
	registered = (struct kunit_stock_suites){};
}
EXPORT_SYMBOL_GPL(kunit_stock_unregister);
