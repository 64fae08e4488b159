/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KUNIT_STOCK_H
#define _KUNIT_STOCK_H

/*
 * KUnit as a module for a kernel that was configured without CONFIG_KUNIT, such as Debian's.
 *
 * The compiler includes this header first (-include) in KUnit's own sources and in ntklog's suites.
 * struct task_struct and struct module must keep the layout that the kernel was built with, so the
 * two headers that add members for KUnit are included before CONFIG_KUNIT is defined.
 */

/*
 * KUnit stores the running test in current->kunit_test. Here that is an alias of journal_info,
 * which file systems use while a transaction is open. A test's task opens none.
 */
struct kunit;
#define journal_info kunit_none[0]; union { void *journal_info; struct kunit *kunit_test; }
#include <linux/sched.h>
#undef journal_info
#include <linux/module.h>
#include <linux/sched/mm.h>

/* The members that CONFIG_KUNIT adds to struct module. @kunit_init_suites is always NULL. */
struct kunit_stock_suites {
	struct module *module;
	struct kunit_suite **kunit_suites;
	struct kunit_suite **kunit_init_suites;
	int num_kunit_suites;
	int num_kunit_init_suites;
};

struct kunit_stock_suites *kunit_stock_of(struct module *module);
void kunit_stock_register(struct module *module, struct kunit_suite **start,
			  struct kunit_suite **end);
void kunit_stock_unregister(struct module *module);

#define CONFIG_KUNIT_MODULE 1
#define CONFIG_KUNIT_DEBUGFS 1
#define CONFIG_KUNIT_DEFAULT_ENABLED 1
/* Options that KUnit of newer kernels also reads. */
#define CONFIG_KUNIT_AUTORUN_ENABLED 1
#define CONFIG_KUNIT_DEFAULT_FILTER_GLOB ""
#define CONFIG_KUNIT_DEFAULT_FILTER ""
#define CONFIG_KUNIT_DEFAULT_FILTER_ACTION ""
#define CONFIG_KUNIT_DEFAULT_TIMEOUT 300

/* A flag that 6.1 does not have: the suites ask for a cache that is not merged with others. */
#include <linux/slab.h>
#ifndef SLAB_NO_MERGE
#define SLAB_NO_MERGE 0
#endif

#ifdef KUNIT_STOCK_CORE
/*
 * The kernel exports neither mm_alloc() nor arch_pick_mmap_layout(). A test's kthread therefore
 * uses the address space of the task that loads the suites. kunit_stock_register() sets it.
 */
extern struct mm_struct *kunit_stock_mm;
#define mm_alloc() (mmget(kunit_stock_mm), kunit_stock_mm)
#define arch_pick_mmap_layout(mm, limit) ((void)(limit))

/* 6.1 is built with KUnit of 6.12, which calls two functions that 6.1 does not export. */
#include <linux/version.h>
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#include <linux/device.h>
#include <linux/kthread.h>
#define kthread_exit(result) kthread_complete_and_exit(NULL, result)
#define device_is_bound(device) (!!(device)->driver)
#endif
#endif

#endif
