// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver in miniature, with one lock of each kind where it is at home:
 *
 *	requests	an in-stack queued spin lock: all processors want it
 *	completions	the same at SYNCH_LEVEL: an interrupt routine wants it too
 *	statistics	an ordinary spin lock: short and seldom contended
 *	table		an executive spin lock: read by many, changed by few
 *
 * It makes its requests at load, and says what has become of them.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <ntklog/ex_spin_lock.h>
#include <ntklog/queued_spin_lock.h>
#include <ntklog/spin_lock.h>

#define REQUESTS	1000
#define TABLE_SIZE	8

struct request {
	struct list_head list;
	unsigned int key;
};

static struct kspin_lock requests_lock;
static LIST_HEAD(requests);

static struct kspin_lock completions_lock;
static LIST_HEAD(completions);

static struct kspin_lock statistics_lock;
static unsigned int completed, found;

/* Static, so it needs no initialisation. */
static struct ex_spin_lock table_lock;
static unsigned int table[TABLE_SIZE];

static struct hrtimer device;

/* Readers do not keep each other out. */
static bool look_up(unsigned int key)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&table_lock);
	bool is_there = table[key % TABLE_SIZE] == key;

	ex_release_spin_lock_shared(&table_lock, old_irql);
	return is_there;
}

/*
 * Look first, and change only what is not there yet. If somebody else looks at
 * the same time it is let go and acquired anew, and may have changed meanwhile.
 */
static void enter(unsigned int key)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&table_lock);

	if (table[key % TABLE_SIZE] == key) {
		ex_release_spin_lock_shared(&table_lock, old_irql);
		return;
	}
	if (!ex_try_convert_shared_spin_lock_exclusive(&table_lock)) {
		ex_release_spin_lock_shared_from_dpc_level(&table_lock);
		ex_acquire_spin_lock_exclusive_at_dpc_level(&table_lock);
	}
	table[key % TABLE_SIZE] = key;
	ex_release_spin_lock_exclusive(&table_lock, old_irql);
}

static void submit(struct request *request)
{
	struct klock_queue_handle handle;

	ke_acquire_in_stack_queued_spin_lock(&requests_lock, &handle);
	list_add_tail(&request->list, &requests);
	ke_release_in_stack_queued_spin_lock(&handle);
}

/* The device's interrupt: here a timer's. */
static enum hrtimer_restart complete_one(struct hrtimer *timer)
{
	struct request *request = NULL;
	struct klock_queue_handle handle;

	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&completions_lock, &handle);
	request = list_first_entry_or_null(&completions, struct request, list);
	if (request)
		list_del(&request->list);
	ke_release_in_stack_queued_spin_lock(&handle);
	if (!request)
		return HRTIMER_NORESTART;
	kfree(request);
	hrtimer_forward_now(timer, ns_to_ktime(NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

/* The driver's DPC would do this: from one queue to the other. */
static void start_io(void)
{
	struct klock_queue_handle handle;
	struct request *request;
	bool is_there;
	u8 old_irql;

	for (;;) {
		ke_acquire_in_stack_queued_spin_lock(&requests_lock, &handle);
		request = list_first_entry_or_null(&requests, struct request, list);
		if (request)
			list_del(&request->list);
		ke_release_in_stack_queued_spin_lock(&handle);
		if (!request)
			return;

		is_there = look_up(request->key);
		enter(request->key);
		ke_acquire_spin_lock(&statistics_lock, &old_irql);
		completed++;
		found += is_there;
		ke_release_spin_lock(&statistics_lock, old_irql);

		ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&completions_lock,
								    &handle);
		list_add_tail(&request->list, &completions);
		ke_release_in_stack_queued_spin_lock(&handle);
	}
}

static void free_all(struct list_head *list)
{
	struct request *request, *next;

	list_for_each_entry_safe(request, next, list, list)
		kfree(request);
	INIT_LIST_HEAD(list);
}

static int __init example_init(void)
{
	unsigned int i;

	ke_initialize_spin_lock(&requests_lock);
	ke_initialize_spin_lock(&completions_lock);
	ke_initialize_spin_lock(&statistics_lock);
	hrtimer_init(&device, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	device.function = complete_one;

	for (i = 0; i < REQUESTS; i++) {
		struct request *request = kzalloc(sizeof(*request), GFP_KERNEL);

		if (!request) {
			free_all(&requests);
			return -ENOMEM;
		}
		/* Pairs of the same key: the second finds what the first entered. */
		request->key = 1 + i / 2;
		submit(request);
	}
	hrtimer_start(&device, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL_HARD);
	start_io();
	pr_info("%u requests, %u found in the table\n", completed, found);
	return 0;
}

static void __exit example_exit(void)
{
	hrtimer_cancel(&device);
	free_all(&completions);
}

module_init(example_init);
module_exit(example_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Example of a driver with ntklog's locks");
MODULE_LICENSE("GPL");
