// SPDX-License-Identifier: GPL-2.0-only
/* Use the functions and types of the snake_case headers. */

#include <linux/bottom_half.h>
#include <linux/preempt.h>
#include <ntklog/eresource.h>
#include <ntklog/ex_spin_lock.h>
#include <ntklog/irql.h>
#include <ntklog/queued_spin_lock.h>
#include <ntklog/spin_lock.h>

#include "linkage.h"

static_assert(PASSIVE_LEVEL < APC_LEVEL && APC_LEVEL < DISPATCH_LEVEL &&
	      DISPATCH_LEVEL < DIRQL_LEVEL && DIRQL_LEVEL < SYNCH_LEVEL &&
	      SYNCH_LEVEL < CLOCK_LEVEL && CLOCK_LEVEL < IPI_LEVEL &&
	      IPI_LEVEL < HIGH_LEVEL);

static struct kspin_lock lock;
static struct ex_spin_lock table_lock;
static struct eresource resource;

static int use_irqls(void)
{
	u8 old_irql;

	ke_raise_irql(APC_LEVEL, &old_irql);
	REQUIRE(old_irql == PASSIVE_LEVEL && ke_get_current_irql() == APC_LEVEL);
	REQUIRE(ke_are_all_apcs_disabled() && !ke_are_apcs_disabled());
	ke_lower_irql(old_irql);
	old_irql = ke_raise_irql_to_dpc_level();
	REQUIRE(ke_raise_irql_to_synch_level() == DISPATCH_LEVEL);
	ke_lower_irql(old_irql);
	ke_enter_dispatch_level(0);
	ke_leave_dispatch_level(0);
	REQUIRE(KE_SOFTIRQS_ARE_TRACED == 0 || KE_SOFTIRQS_ARE_TRACED == 1);
	REQUIRE(KE_SOFTIRQS_ARE_RAISED);
	REQUIRE(sizeof(struct ntklog_current) >= sizeof(raw_cpu_ptr(&ntklog_current)->record));
	ke_enter_critical_region();
	REQUIRE(ke_are_apcs_disabled());
	ke_leave_critical_region();
	ke_enter_guarded_region();
	REQUIRE(ke_are_all_apcs_disabled());
	ke_leave_guarded_region();
	return 0;
}

static int use_spin_locks(void)
{
	static struct lock_class_key key;
	u8 old_irql;

	ke_initialize_spin_lock(&lock);
	ke_acquire_spin_lock(&lock, &old_irql);
	REQUIRE(!ke_test_spin_lock(&lock));
	ke_release_spin_lock_from_dpc_level(&lock);
	REQUIRE(ke_try_to_acquire_spin_lock_at_dpc_level(&lock));
	ke_release_spin_lock_from_dpc_level(&lock);
	ke_acquire_spin_lock_at_dpc_level(&lock);
	ke_release_spin_lock(&lock, old_irql);
	ke_initialize_spin_lock_class(&lock, "lock", &key);
	old_irql = ke_acquire_spin_lock_raise_to_dpc(&lock);
	ke_release_spin_lock(&lock, old_irql);
	old_irql = ke_acquire_spin_lock_raise_to_synch(&lock);
	ke_release_spin_lock(&lock, old_irql);
	return 0;
}

static int use_queued_spin_locks(void)
{
	struct klock_queue_handle handle;
	struct kspin_lock_queue *queue = &handle.lock_queue;
	u8 old_irql;

	static_assert(sizeof(struct ke_lock_queues) ==
		      LOCK_QUEUE_MAXIMUM_LOCK * sizeof(struct kspin_lock_queue));

	ke_acquire_in_stack_queued_spin_lock(&lock, &handle);
	REQUIRE((queue->lock & LOCK_QUEUE_BITS) == LOCK_QUEUE_OWNER);
	REQUIRE(!(queue->lock & LOCK_QUEUE_WAIT));
	ke_release_in_stack_queued_spin_lock(&handle);
	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&lock, &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	ke_acquire_in_stack_queued_spin_lock_for_dpc(&lock, &handle);
	ke_release_in_stack_queued_spin_lock_for_dpc(&handle);
	old_irql = ke_raise_irql_to_dpc_level();
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock, &handle);
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle);
	ke_lower_irql(old_irql);
	return 0;
}

static int use_numbered_spin_locks(void)
{
	static const enum kspin_lock_queue_number numbers[] = {
		LOCK_QUEUE_VACB_LOCK, LOCK_QUEUE_MASTER_LOCK,
		LOCK_QUEUE_NON_PAGED_POOL_LOCK, LOCK_QUEUE_IO_CANCEL_LOCK,
		LOCK_QUEUE_WORK_QUEUE_LOCK, LOCK_QUEUE_IO_VPB_LOCK,
		LOCK_QUEUE_IO_DATABASE_LOCK, LOCK_QUEUE_IO_COMPLETION_LOCK,
		LOCK_QUEUE_NTFS_STRUCT_LOCK, LOCK_QUEUE_AFD_WORK_QUEUE_LOCK,
		LOCK_QUEUE_BCB_LOCK, LOCK_QUEUE_MM_NON_PAGED_POOL_LOCK,
	};
	u8 old_irql;
	int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		old_irql = ke_acquire_queued_spin_lock(numbers[i]);
		ke_release_queued_spin_lock(numbers[i], old_irql);
		old_irql = ke_acquire_queued_spin_lock_raise_to_synch(numbers[i]);
		ke_release_queued_spin_lock(numbers[i], old_irql);
		REQUIRE(ke_try_to_acquire_queued_spin_lock(numbers[i], &old_irql));
		ke_release_queued_spin_lock(numbers[i], old_irql);
		REQUIRE(ke_try_to_acquire_queued_spin_lock_raise_to_synch(numbers[i], &old_irql));
		ke_release_queued_spin_lock(numbers[i], old_irql);
	}
	return 0;
}

static int use_ex_spin_locks(void)
{
	u8 old_irql;

	ex_initialize_spin_lock(&table_lock);
	old_irql = ex_acquire_spin_lock_shared(&table_lock);
	REQUIRE(atomic_read(&table_lock.value) & EX_SPIN_LOCK_SHARED_COUNT);
	REQUIRE(ex_try_convert_shared_spin_lock_exclusive(&table_lock));
	REQUIRE(atomic_read(&table_lock.value) == (int)EX_SPIN_LOCK_EXCLUSIVE);
	REQUIRE(!(atomic_read(&table_lock.value) & EX_SPIN_LOCK_EXCLUSIVE_WAITER));
	ex_release_spin_lock_exclusive(&table_lock, old_irql);
	old_irql = ex_acquire_spin_lock_exclusive(&table_lock);
	ex_release_spin_lock_exclusive_from_dpc_level(&table_lock);
	ex_acquire_spin_lock_shared_at_dpc_level(&table_lock);
	ex_release_spin_lock_shared_from_dpc_level(&table_lock);
	ex_acquire_spin_lock_exclusive_at_dpc_level(&table_lock);
	ex_release_spin_lock_exclusive_from_dpc_level(&table_lock);
	REQUIRE(ex_try_acquire_spin_lock_exclusive_at_dpc_level(&table_lock));
	ex_release_spin_lock_exclusive_from_dpc_level(&table_lock);
	REQUIRE(ex_try_acquire_spin_lock_shared_at_dpc_level(&table_lock));
	ex_release_spin_lock_shared(&table_lock, old_irql);
	return 0;
}

static int use_resources(void)
{
	unsigned long thread = ex_get_current_resource_thread();
	const struct eresource_owner *owner = &resource.owner;
	unsigned long pointer = (unsigned long)&resource | 3;

	REQUIRE(!ex_initialize_resource_lite(&resource));
	REQUIRE(!owner->thread);
	REQUIRE(ex_acquire_resource_exclusive_lite(&resource, true));
	REQUIRE(ex_try_to_acquire_resource_exclusive_lite(&resource));
	REQUIRE(ex_is_resource_acquired_exclusive_lite(&resource));
	REQUIRE(ex_get_resource_active_count(&resource) == 1);
	ex_disable_resource_boost_lite(&resource);
	REQUIRE(ex_get_resource_flag(&resource) ==
		(ERESOURCE_FLAG_DISABLE_BOOST | ERESOURCE_FLAG_OWNED_EXCLUSIVE));
	ex_convert_exclusive_to_shared_lite(&resource);
	REQUIRE(ex_acquire_resource_shared_lite(&resource, true));
	REQUIRE(ex_acquire_shared_starve_exclusive(&resource, true));
	REQUIRE(ex_acquire_shared_wait_for_exclusive(&resource, true));
	REQUIRE(ex_is_resource_acquired_shared_lite(&resource) == 5);
	ex_release_resource_lite(&resource);
	ex_release_resource_for_thread_lite(&resource, thread);
	REQUIRE(!ex_get_exclusive_waiter_count(&resource));
	REQUIRE(!ex_get_shared_waiter_count(&resource));
	ex_set_resource_owner_pointer(&resource, &resource);
	ex_release_resource_for_thread_lite(&resource, pointer);
	ex_release_resource_for_thread_lite(&resource, pointer);
	ex_release_resource_for_thread_lite(&resource, pointer);

	ex_enter_critical_region_and_acquire_resource_exclusive(&resource);
	ex_release_resource_and_leave_critical_region(&resource);
	ex_enter_critical_region_and_acquire_resource_shared(&resource);
	ex_release_resource_and_leave_critical_region(&resource);
	ex_enter_critical_region_and_acquire_shared_wait_for_exclusive(&resource);
	ex_set_resource_owner_pointer_ex(&resource, &resource,
					 FLAG_OWNER_POINTER_IS_THREAD);
	ex_release_resource_for_thread_lite(&resource, pointer);
	ke_leave_critical_region();

	REQUIRE(!ex_reinitialize_resource_lite(&resource));
	REQUIRE(!ex_delete_resource_lite(&resource));
	return 0;
}

int linkage_snake_case(void)
{
	int failed_line;

	failed_line = use_irqls() ?: use_spin_locks() ?: use_queued_spin_locks() ?:
	       use_numbered_spin_locks() ?: use_ex_spin_locks() ?: use_resources();
	if (!failed_line)
		REQUIRE(ke_get_current_irql() == PASSIVE_LEVEL && !preempt_count());
	return failed_line;
}
