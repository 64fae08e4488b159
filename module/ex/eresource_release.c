// SPDX-License-Identifier: GPL-2.0-only
/* Release of executive resources, and changes of their owners: see eresource_state.h. */

#include <linux/bug.h>
#include <linux/completion.h>
#include <linux/export.h>
#include <linux/list.h>
#include <linux/preempt.h>
#include <ntklog/eresource.h>
#include <ntklog/irql.h>
#include <uapi/ntklog/wmi_resource.h>

#include "../ground/address.h"
#include "../perf/resource.h"
#include "eresource_state.h"

static void eresource_grant_exclusive(struct eresource *resource,
				      struct list_head *granted_waiters)
{
	struct eresource_waiter *waiter =
		list_first_entry(&resource->exclusive_waiters,
				 struct eresource_waiter, list);
	u32 i = 0;

	eresource_add_owner(resource, waiter->thread, &i);
	resource->exclusive = true;
	waiter->depth = 1;
	WRITE_ONCE(resource->exclusive_waiter_count,
		   resource->exclusive_waiter_count - 1);
	list_move_tail(&waiter->list, granted_waiters);
}

/* Make all shared waiters owners. None of them is an owner already. */
static void eresource_grant_shared(struct eresource *resource,
				   struct list_head *granted_waiters)
{
	struct eresource_waiter *waiter;
	u32 i = 0;

	resource->exclusive = false;
	list_for_each_entry(waiter, &resource->shared_waiters, list) {
		eresource_add_owner(resource, waiter->thread, &i);
		waiter->depth = 1;
	}
	list_splice_tail_init(&resource->shared_waiters, granted_waiters);
	WRITE_ONCE(resource->shared_waiter_count, 0);
}

static void eresource_hand_over(struct eresource *resource, bool was_exclusive,
				struct list_head *granted_waiters)
{
	if (resource->shared_waiter_count &&
	    (was_exclusive || !resource->exclusive_waiter_count))
		eresource_grant_shared(resource, granted_waiters);
	else if (resource->exclusive_waiter_count)
		eresource_grant_exclusive(resource, granted_waiters);
}

/* Number of waiters to wake before preemption is allowed. */
#define ERESOURCE_WAKE_BATCH_SIZE	16

/*
 * Release the inner lock and wake the new owners in @granted_waiters. Preemption is off in each
 * batch, so that few new owners wait for their wake-up while this task is preempted.
 */
static void eresource_unlock_and_wake(struct eresource *resource,
				      unsigned long flags,
				      struct list_head *granted_waiters)
{
	struct eresource_waiter *waiter, *next;
	u32 woken_count = 0;

	preempt_disable();
	eresource_unlock(resource, flags);
	/* The resource may be deleted from here on, and a waiter's stack frame after complete(). */
	list_for_each_entry_safe(waiter, next, granted_waiters, list) {
		complete(&waiter->grant_completion);
		if (++woken_count % ERESOURCE_WAKE_BATCH_SIZE == 0) {
			preempt_enable();
			preempt_disable();
		}
	}
	preempt_enable();
}

/* Called with the inner lock held. Returns true if @record is to be written. */
static bool eresource_track_release(struct eresource *resource, unsigned long thread,
				    struct wmi_resource64 *record)
{
	ntklog_count_resource_release(resource->exclusive);
	return ntklog_track_resource_release_slow(resource, thread, resource->exclusive,
						  resource->contention_count, record);
}

/* @is_reported_to_lockdep: lockdep knows of the release of the current task's last acquisition. */
static noinline void ex_release_resource_inner(struct eresource *resource,
					       unsigned long thread, bool is_reported_to_lockdep,
					       unsigned long caller)
{
	struct eresource_owner *owner, *table;
	struct wmi_resource64 record;
	bool is_sampled = false;
	LIST_HEAD(granted_waiters);
	unsigned long flags;

	flags = eresource_lock(resource);
	/* Free entries have thread 0. */
	owner = thread ? eresource_find_owner(resource, thread) : NULL;
	if (!owner) {
		unsigned long other = eresource_find_any_owner(resource);

		eresource_unlock(resource, flags);
		WARN_ONCE(1, "ExReleaseResource: resource %llx is owned by %llx, not by %llx, released from %pS\n",
			  ntklog_get_displayed_address((unsigned long)resource),
			  ntklog_get_displayed_address(other), ntklog_get_displayed_address(thread),
			  ntklog_get_printable_code(caller));
		return;
	}
	if (!--owner->count) {
		/* Track the release before another task, or this one again, becomes the owner. */
		if (!is_reported_to_lockdep && static_branch_unlikely(&ntklog_resource_key))
			is_sampled = eresource_track_release(resource, thread, &record);
		owner->thread = 0;
		if (!is_reported_to_lockdep && thread == ex_get_current_resource_thread())
			lock_release(&resource->dep_map, caller);
		if (!--resource->active_count)
			eresource_hand_over(resource, resource->exclusive, &granted_waiters);
	}
	table = eresource_detach_empty_table(resource);
	eresource_unlock_and_wake(resource, flags, &granted_waiters);
	eresource_free_owner_table(table);
	if (is_sampled)
		ntklog_write_resource_event(&record);
}

static noinline void ex_release_resource_slow(struct eresource *resource,
					      unsigned long thread,
					      unsigned long caller)
{
	long word = atomic_long_read(&resource->word);
	bool is_reported_to_lockdep = false;

	while (thread && (word & ERESOURCE_TASK_MASK) == thread) {
		bool is_last = (word & ERESOURCE_DEPTH_MASK) == ERESOURCE_DEPTH_ONE;

		/* Take the inner lock, because the slot must be read before the release. */
		if (is_last && static_branch_unlikely(&ntklog_resource_key))
			break;
		/* Tell lockdep while the resource cannot be deleted. */
		if (is_last && !is_reported_to_lockdep &&
		    thread == ex_get_current_resource_thread()) {
			lock_release(&resource->dep_map, caller);
			is_reported_to_lockdep = true;
		}
		/* Pairs with the acquires in __ex_acquire_resource() and eresource_lock(). */
		if (atomic_long_try_cmpxchg_release(&resource->word, &word, is_last ? 0 :
						    word - ERESOURCE_DEPTH_ONE))
			return;
	}
	ex_release_resource_inner(resource, thread, is_reported_to_lockdep, caller);
}

/* True if the current task is the only owner, holds one acquisition, and no task waits. */
static __always_inline bool eresource_is_owned_once(long word)
{
	return ((word ^ ex_get_current_resource_thread()) | ERESOURCE_EXCLUSIVE_BIT) ==
		(ERESOURCE_DEPTH_ONE | ERESOURCE_EXCLUSIVE_BIT);
}

/* Release a resource for which eresource_is_owned_once() was true. */
static __always_inline void ex_release_resource_word(struct eresource *resource, long word,
						     unsigned long caller)
{
	/* Tell lockdep while the resource cannot be deleted. */
	lock_release(&resource->dep_map, caller);
	/* Pairs with the acquires in __ex_acquire_resource() and eresource_lock(). */
	if (unlikely(!atomic_long_try_cmpxchg_release(&resource->word, &word, 0)))
		ex_release_resource_inner(resource, ex_get_current_resource_thread(), true,
					  caller);
}

/* Called with preemption off, which this function enables. */
static noinline void ex_release_resource_traced_slow(struct eresource *resource, long word,
						     unsigned long caller)
{
	struct wmi_resource64 record;
	bool is_sampled;

	is_sampled = ntklog_track_resource_release_slow(resource, ex_get_current_resource_thread(),
							word & ERESOURCE_EXCLUSIVE_BIT,
							READ_ONCE(resource->contention_count),
							&record);
	preempt_enable();
	ex_release_resource_word(resource, word, caller);
	if (is_sampled)
		ntklog_write_resource_event(&record);
}

/* The calls of slower paths are tail calls, so that the function needs no stack frame. */
static notrace noinline void
ex_release_resource_traced(struct eresource *resource, long word, unsigned long caller)
{
	u32 contention_count;

	if (unlikely(!eresource_is_owned_once(word))) {
		ex_release_resource_slow(resource, ex_get_current_resource_thread(), caller);
		return;
	}
	preempt_disable();
	contention_count = READ_ONCE(resource->contention_count);
	if (unlikely(ntklog_count_resource_release(word & ERESOURCE_EXCLUSIVE_BIT) ||
		     !ntklog_track_resource_release(resource, contention_count))) {
		ex_release_resource_traced_slow(resource, word, caller);
		return;
	}
	preempt_enable();
	ex_release_resource_word(resource, word, caller);
}

static __always_inline void ex_release_resource(struct eresource *resource,
						unsigned long caller)
{
	long word = atomic_long_read(&resource->word);

	if (static_branch_unlikely(&ntklog_resource_key))
		ex_release_resource_traced(resource, word, caller);
	else if (unlikely(!eresource_is_owned_once(word)))
		ex_release_resource_slow(resource, ex_get_current_resource_thread(), caller);
	else
		ex_release_resource_word(resource, word, caller);
}

/**
 * ex_release_resource_lite() - NT's ExReleaseResourceLite
 * @resource: a resource that the current task holds
 *
 * The last release of an exclusive owner makes all shared waiters owners, or else one exclusive
 * waiter. The last release of the last shared owner makes one exclusive waiter the owner, or else
 * all shared waiters. If the task does not hold the resource: warns once and changes nothing.
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 */
void ex_release_resource_lite(struct eresource *resource)
{
	ex_release_resource(resource, _RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_release_resource_lite);

/**
 * ex_release_resource_for_thread_lite() - NT's ExReleaseResourceForThreadLite
 * @resource: a resource that @thread holds
 * @thread: ex_get_current_resource_thread() of any task, or an owner pointer with its two low bits
 *	set
 *
 * For another task, lockdep still records that task as an owner. If @thread does not hold the
 * resource: warns once and changes nothing.
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 */
void ex_release_resource_for_thread_lite(struct eresource *resource,
					 unsigned long thread)
{
	ex_release_resource_slow(resource, thread, _RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_release_resource_for_thread_lite);

/**
 * ex_release_resource_and_leave_critical_region() - NT's ExReleaseResourceAndLeaveCriticalRegion
 * @resource: a resource that the current task holds
 *
 * Context: task at IRQL <= APC_LEVEL, in a critical region.
 */
void ex_release_resource_and_leave_critical_region(struct eresource *resource)
{
	ex_release_resource(resource, _RET_IP_);
	ke_leave_critical_region();
}
EXPORT_SYMBOL_GPL(ex_release_resource_and_leave_critical_region);

/**
 * ex_convert_exclusive_to_shared_lite() - NT's ExConvertExclusiveToSharedLite
 * @resource: a resource that the current task holds exclusively
 *
 * The task keeps its acquisitions, which become shared. All shared waiters become owners. If the
 * task is not the exclusive owner: warns once and changes nothing.
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 */
void ex_convert_exclusive_to_shared_lite(struct eresource *resource)
{
	unsigned long thread = ex_get_current_resource_thread();
	LIST_HEAD(granted_waiters);
	unsigned long flags;
	long word;

	if (!resource) {
		eresource_refuse_null("ExConvertExclusiveToShared", _RET_IP_);
		return;
	}
	word = atomic_long_read(&resource->word);
	while ((word & (ERESOURCE_TASK_MASK | ERESOURCE_EXCLUSIVE_BIT)) ==
	       (thread | ERESOURCE_EXCLUSIVE_BIT)) {
		/* Pairs with the acquire in eresource_lock(), by which others enter. */
		if (!atomic_long_try_cmpxchg_release(&resource->word, &word,
						     word & ~ERESOURCE_EXCLUSIVE_BIT))
			continue;
		lock_downgrade(&resource->dep_map, _RET_IP_);
		return;
	}

	flags = eresource_lock(resource);
	if (!resource->exclusive || !eresource_find_owner(resource, thread)) {
		eresource_unlock(resource, flags);
		WARN_ONCE(1, "ExConvertExclusiveToShared: resource %llx is not owned exclusively by %llx, called from %pS\n",
			  ntklog_get_displayed_address((unsigned long)resource),
			  ntklog_get_displayed_address(thread),
			  ntklog_get_printable_code(_RET_IP_));
		return;
	}
	lock_downgrade(&resource->dep_map, _RET_IP_);
	eresource_grant_shared(resource, &granted_waiters);
	eresource_unlock_and_wake(resource, flags, &granted_waiters);
}
EXPORT_SYMBOL_GPL(ex_convert_exclusive_to_shared_lite);

static void __ex_set_resource_owner_pointer(struct eresource *resource,
					    unsigned long pointer,
					    unsigned long caller)
{
	unsigned long thread = ex_get_current_resource_thread();
	struct eresource_owner *owner, *other;
	unsigned long flags;
	bool exclusive;

	if (!resource) {
		eresource_refuse_null("ExSetResourceOwnerPointer", caller);
		return;
	}
	flags = eresource_lock(resource);
	owner = eresource_find_owner(resource, thread);
	if (!owner) {
		eresource_unlock(resource, flags);
		WARN_ONCE(1, "ExSetResourceOwnerPointer: resource %llx is not owned by %llx, called from %pS\n",
			  ntklog_get_displayed_address((unsigned long)resource),
			  ntklog_get_displayed_address(thread), ntklog_get_printable_code(caller));
		return;
	}
	if (static_branch_unlikely(&ntklog_resource_key))
		ntklog_drop_resource_slot(resource, thread);
	/* The acquisition now belongs to no task: any task may release it. */
	lock_release(&resource->dep_map, caller);
	exclusive = resource->exclusive;
	other = eresource_find_owner(resource, pointer);
	if (other) {
		/* The same pointer is a shared owner already. */
		other->count += owner->count;
		owner->thread = 0;
		resource->active_count--;
	} else {
		owner->thread = pointer;
	}
	eresource_unlock(resource, flags);
	if (static_branch_unlikely(&ntklog_resource_key))
		ntklog_log_resource_owner_pointer(resource, exclusive ?
						  WMI_RESOURCE_ACTION_OWNER_POINTER_EXCLUSIVE :
						  WMI_RESOURCE_ACTION_OWNER_POINTER_SHARED);
}

/**
 * ex_set_resource_owner_pointer() - NT's ExSetResourceOwnerPointer
 * @resource: a resource that the current task holds
 * @owner_pointer: becomes the owner, with the acquisitions of the task
 *
 * Any task may release the resource with ex_release_resource_for_thread_lite() and the pointer, its
 * two low bits set. If the task does not hold the resource: warns once and changes nothing.
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 */
void ex_set_resource_owner_pointer(struct eresource *resource, void *owner_pointer)
{
	__ex_set_resource_owner_pointer(resource, (unsigned long)owner_pointer | 3,
					_RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_set_resource_owner_pointer);

/**
 * ex_set_resource_owner_pointer_ex() - NT's ExSetResourceOwnerPointerEx
 * @resource: a resource that the current task holds
 * @owner_pointer: as for ex_set_resource_owner_pointer()
 * @flags: 0 or FLAG_OWNER_POINTER_IS_THREAD, which has no effect here
 *
 * For other flags, or if the task does not hold the resource: warns once and changes nothing.
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 */
void ex_set_resource_owner_pointer_ex(struct eresource *resource,
				      void *owner_pointer, u32 flags)
{
	if (WARN_ONCE(flags & ~FLAG_OWNER_POINTER_IS_THREAD,
		      "ExSetResourceOwnerPointerEx: resource %llx, flags %x from %pS\n",
		      ntklog_get_displayed_address((unsigned long)resource), flags,
		      ntklog_get_printable_code(_RET_IP_)))
		return;
	__ex_set_resource_owner_pointer(resource, (unsigned long)owner_pointer | 3,
					_RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_set_resource_owner_pointer_ex);
