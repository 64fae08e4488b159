// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver in miniature, with one lock of each kind where it is at home:
 *
 *	requests	an in-stack queued spin lock: all processors want it
 *	completions	the same at SYNCH_LEVEL: an interrupt routine wants it too
 *	statistics	an ordinary spin lock: short and seldom contended
 *	table		an executive spin lock: read by many, changed by few
 *	settings	an executive resource: its owners may sleep
 *
 * When it is loaded, it serves 1000 requests, and prints how many keys it found.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <ntklog/eresource.h>
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
static unsigned int completed_requests, found_keys;

/* A static lock needs no initialization. */
static struct ex_spin_lock table_lock;
static unsigned int table[TABLE_SIZE];

static struct eresource settings_resource;
static char *settings;

/* The owner of a resource may wait for memory; the owner of a spin lock may not. */
static int change_settings(const char *text)
{
	char *changed;

	ex_enter_critical_region_and_acquire_resource_exclusive(&settings_resource);
	changed = kstrdup(text, GFP_KERNEL);
	if (changed) {
		kfree(settings);
		settings = changed;
	}
	ex_release_resource_and_leave_critical_region(&settings_resource);
	return changed ? 0 : -ENOMEM;
}

static void show_settings(void)
{
	ex_acquire_resource_shared_lite(&settings_resource, true);
	pr_info("settings: %s\n", settings);
	ex_release_resource_lite(&settings_resource);
}

/* Shared owners do not exclude each other. */
static bool look_up(unsigned int key)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&table_lock);
	bool is_found = table[key % TABLE_SIZE] == key;

	ex_release_spin_lock_shared(&table_lock, old_irql);
	return is_found;
}

/*
 * Write only if the key is not in the table. If the lock has another shared
 * owner, it cannot be converted: release it and acquire it exclusively. Another
 * processor may have changed the table in between.
 */
static void enter_key(unsigned int key)
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

/* Stands for the device's interrupt: a processor sends it to itself. */
static void complete_requests(struct irq_work *work)
{
	struct klock_queue_handle handle;
	struct request *request;

	do {
		ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&completions_lock,
								    &handle);
		request = list_first_entry_or_null(&completions, struct request, list);
		if (request)
			list_del(&request->list);
		ke_release_in_stack_queued_spin_lock(&handle);
		kfree(request);
	} while (request);
}

static struct irq_work device_interrupt = IRQ_WORK_INIT_HARD(complete_requests);

/* Move all requests from one queue to the other, as the driver's DPC would. */
static void start_io(void)
{
	struct klock_queue_handle handle;
	struct request *request;
	bool is_found;
	u8 old_irql;

	for (;;) {
		ke_acquire_in_stack_queued_spin_lock(&requests_lock, &handle);
		request = list_first_entry_or_null(&requests, struct request, list);
		if (request)
			list_del(&request->list);
		ke_release_in_stack_queued_spin_lock(&handle);
		if (!request)
			return;

		is_found = look_up(request->key);
		enter_key(request->key);
		ke_acquire_spin_lock(&statistics_lock, &old_irql);
		completed_requests++;
		found_keys += is_found;
		ke_release_spin_lock(&statistics_lock, old_irql);

		ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&completions_lock,
								    &handle);
		list_add_tail(&request->list, &completions);
		ke_release_in_stack_queued_spin_lock(&handle);
		irq_work_queue(&device_interrupt);
	}
}

static void free_requests(void)
{
	struct request *request, *next;

	list_for_each_entry_safe(request, next, &requests, list)
		kfree(request);
}

static int __init example_init(void)
{
	unsigned int i;
	int err;

	ke_initialize_spin_lock(&requests_lock);
	ke_initialize_spin_lock(&completions_lock);
	ke_initialize_spin_lock(&statistics_lock);

	ex_initialize_resource_lite(&settings_resource);
	err = change_settings("fast and careful");
	if (err)
		goto err_delete;
	show_settings();

	for (i = 0; i < REQUESTS; i++) {
		struct request *request = kzalloc(sizeof(*request), GFP_KERNEL);

		if (!request) {
			err = -ENOMEM;
			goto err_free;
		}
		/* Two requests have the same key: the second finds the first one's entry. */
		request->key = 1 + i / 2;
		submit(request);
	}
	start_io();
	pr_info("%u requests, %u found in the table\n", completed_requests, found_keys);
	return 0;

err_free:
	free_requests();
	kfree(settings);
err_delete:
	ex_delete_resource_lite(&settings_resource);
	return err;
}

static void __exit example_exit(void)
{
	/* Wait until the interrupt has freed all requests. */
	irq_work_sync(&device_interrupt);
	kfree(settings);
	/* The list of live resources must not have a resource whose memory is freed. */
	ex_delete_resource_lite(&settings_resource);
}

module_init(example_init);
module_exit(example_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Example of a driver with ntklog's locks");
MODULE_LICENSE("GPL");
