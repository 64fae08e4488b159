// SPDX-License-Identifier: GPL-2.0-only
/* The misuse of ex_reinitialize_resource_lite() needs a thread that waits. */

#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <ntklog/eresource.h>
#include <ntklog/ex_spin_lock.h>
#include <ntklog/queued_spin_lock.h>

#include "linkage.h"

static struct eresource resource;

static int wait_for_resource(void *unused)
{
	ex_acquire_resource_exclusive_lite(&resource, true);
	ex_release_resource_lite(&resource);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static int reinitialize_with_a_waiter(void)
{
	struct task_struct *waiter;

	ex_acquire_resource_shared_lite(&resource, true);
	waiter = kthread_run(wait_for_resource, NULL, "linkage");
	if (IS_ERR(waiter))
		return PTR_ERR(waiter);
	while (!ex_get_exclusive_waiter_count(&resource))
		schedule_timeout_uninterruptible(1);
	ex_reinitialize_resource_lite(&resource);
	ex_release_resource_lite(&resource);
	kthread_stop(waiter);
	return 0;
}

int linkage_misuse(void)
{
	struct klock_queue_handle handle = {};
	struct ex_spin_lock table_lock;
	struct kspin_lock lock;
	u8 old_irql;
	int err;

	ke_initialize_spin_lock(&lock);
	ke_release_spin_lock_from_dpc_level(&lock);
	handle.lock_queue.lock = (unsigned long)&lock;
	handle.lock_queue.next = &handle.lock_queue;
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle);
	ex_initialize_spin_lock(&table_lock);
	ex_release_spin_lock_shared_from_dpc_level(&table_lock);

	ex_initialize_resource_lite(&resource);
	ex_initialize_resource_lite(&resource);
	err = reinitialize_with_a_waiter();
	if (err)
		return err;
	ex_release_resource_lite(&resource);
	ex_convert_exclusive_to_shared_lite(&resource);
	ex_set_resource_owner_pointer(&resource, &resource);
	ex_set_resource_owner_pointer_ex(&resource, &resource, 2);
	ex_acquire_resource_exclusive_lite(&resource, true);
	ex_delete_resource_lite(&resource);
	old_irql = ke_raise_irql_to_dpc_level();
	ex_acquire_resource_exclusive_lite(&resource, true);
	ke_lower_irql(old_irql);
	ex_release_resource_lite(&resource);
	ex_release_resource_lite(&resource);
	ex_delete_resource_lite(NULL);
	return ex_delete_resource_lite(&resource) ? -EBUSY : 0;
}
