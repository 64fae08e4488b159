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

#include "../address.h"
#include "../perf/resource.h"
#include "eresource_state.h"

static void eresource_grant_exclusive(struct eresource *resource,
				      struct list_head *granted)
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
	list_move_tail(&waiter->list, granted);
}

/* Who waits owns nothing any more: all shared owners have gone, or there was an exclusive one. */
static void eresource_grant_shared(struct eresource *resource,
				   struct list_head *granted)
{
	struct eresource_waiter *waiter;
	u32 i = 0;

	resource->exclusive = false;
	list_for_each_entry(waiter, &resource->shared_waiters, list) {
		eresource_add_owner(resource, waiter->thread, &i);
		waiter->depth = 1;
	}
	list_splice_tail_init(&resource->shared_waiters, granted);
	WRITE_ONCE(resource->shared_waiter_count, 0);
}

/* Nobody owns it any more: make the next ones owners. */
static void eresource_hand_over(struct eresource *resource, bool was_exclusive,
				struct list_head *granted)
{
	if (resource->shared_waiter_count &&
	    (was_exclusive || !resource->exclusive_waiter_count))
		eresource_grant_shared(resource, granted);
	else if (resource->exclusive_waiter_count)
		eresource_grant_exclusive(resource, granted);
}

/* Woken in one piece. */
#define ERESOURCE_WAKE_BATCH	16

/*
 * Unlock and wake those who own now. With preemption off: who has been made an
 * owner shall not sleep on because we are not running. But not for as long as
 * hundreds of them take: now and then the scheduler may have its way.
 */
static void eresource_unlock_and_wake(struct eresource *resource,
				      unsigned long flags,
				      struct list_head *granted)
{
	struct eresource_waiter *waiter, *next;
	u32 woken = 0;

	preempt_disable();
	eresource_unlock(resource, flags);
	/* The resource may be gone from here on, and each waiter once completed. */
	list_for_each_entry_safe(waiter, next, granted, list) {
		complete(&waiter->granted);
		if (++woken % ERESOURCE_WAKE_BATCH == 0) {
			preempt_enable();
			preempt_disable();
		}
	}
	preempt_enable();
}

/* Called with the inner lock held, before an owner's last release. */
static bool eresource_track_release(struct eresource *resource, unsigned long thread,
				    struct wmi_resource64 *record)
{
	ntklog_count_resource_release(resource->exclusive);
	return ntklog_track_resource_release_by_other(resource, thread, resource->exclusive,
						      resource->contention_count, record);
}

/*
 * @told: lockdep and the tracking know already that the current thread releases the last of
 * its acquisitions
 */
static noinline void ex_release_resource_inner(struct eresource *resource,
					       unsigned long thread, bool told,
					       unsigned long caller)
{
	struct eresource_owner *owner, *table;
	struct wmi_resource64 record;
	bool sampled = false;
	LIST_HEAD(granted);
	unsigned long flags;

	flags = eresource_lock(resource);
	/* Entries that are not in use have 0. */
	owner = thread ? eresource_find_owner(resource, thread) : NULL;
	if (!owner) {
		unsigned long other = eresource_any_owner(resource);

		eresource_unlock(resource, flags);
		WARN_ONCE(1, "ExReleaseResource: resource %llx is owned by %llx, not by %llx, released from %pS\n",
			  ntklog_address((unsigned long)resource),
			  ntklog_address(other), ntklog_address(thread),
			  ntklog_code(caller));
		return;
	}
	if (!--owner->count) {
		/* Before anybody else, or the same owner anew, can own it. */
		if (!told && static_branch_unlikely(&ntklog_resource_key))
			sampled = eresource_track_release(resource, thread, &record);
		owner->thread = 0;
		if (!told && thread == ex_get_current_resource_thread())
			lock_release(&resource->dep_map, caller);
		if (!--resource->active_count)
			eresource_hand_over(resource, resource->exclusive, &granted);
	}
	table = eresource_shrink(resource);
	eresource_unlock_and_wake(resource, flags, &granted);
	eresource_free_table(table);
	if (sampled)
		ntklog_write_resource(&record);
}

/* A release of any kind. */
static noinline void ex_release_resource_slow(struct eresource *resource,
					      unsigned long thread,
					      unsigned long caller)
{
	long word = atomic_long_read(&resource->word);
	bool told = false;

	while (thread && (word & ERESOURCE_THREAD) == thread) {
		bool last = (word & ERESOURCE_DEPTH) == ERESOURCE_DEPTH_ONE;

		/* What is known of the ownership is taken while it lasts. */
		if (last && static_branch_unlikely(&ntklog_resource_key))
			break;
		/* While it is sure to be there. */
		if (last && !told && thread == ex_get_current_resource_thread()) {
			lock_release(&resource->dep_map, caller);
			told = true;
		}
		/*
		 * Release; pairs with the acquires in __ex_acquire_resource() and
		 * eresource_lock().
		 */
		if (atomic_long_try_cmpxchg_release(&resource->word, &word, last ? 0 :
						    word - ERESOURCE_DEPTH_ONE))
			return;
	}
	ex_release_resource_inner(resource, thread, told, caller);
}

/* Owned once by the current thread, and nobody else has to know? */
static __always_inline bool eresource_is_owned_once(long word)
{
	return ((word ^ ex_get_current_resource_thread()) | ERESOURCE_EXCLUSIVE) ==
		(ERESOURCE_DEPTH_ONE | ERESOURCE_EXCLUSIVE);
}

/* Owned like this; the tracking has been told. Others may begin to wait. */
static __always_inline void ex_release_resource_word(struct eresource *resource, long word,
						     unsigned long caller)
{
	/* Lockdep's view is told while it is sure to be there. */
	lock_release(&resource->dep_map, caller);
	/* Release; pairs as in ex_release_resource_slow(). */
	if (unlikely(!atomic_long_try_cmpxchg_release(&resource->word, &word, 0)))
		ex_release_resource_inner(resource, ex_get_current_resource_thread(), true,
					  caller);
}

/* One that has been counted and may be written. Preemption is off, and on at the return. */
static noinline void ex_release_resource_sampled(struct eresource *resource, long word,
						 unsigned long caller)
{
	struct wmi_resource64 record;
	bool sampled;

	sampled = ntklog_track_resource_release_by_other(resource, ex_get_current_resource_thread(),
							 word & ERESOURCE_EXCLUSIVE,
							 READ_ONCE(resource->contention_count),
							 &record);
	preempt_enable();
	ex_release_resource_word(resource, word, caller);
	if (sampled)
		ntklog_write_resource(&record);
}

/* By the current thread. All that it calls it calls last. */
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
	if (unlikely(ntklog_count_resource_release(word & ERESOURCE_EXCLUSIVE) ||
		     !ntklog_track_unsampled_resource_release(resource, contention_count))) {
		ex_release_resource_sampled(resource, word, caller);
		return;
	}
	preempt_enable();
	ex_release_resource_word(resource, word, caller);
}

/* By the current thread. All that it calls it calls last. */
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
 * @resource: a resource that the current thread owns
 *
 * The last of the thread's releases gives the ownership to those who wait: from a
 * shared owner, the last one, to one who waits for exclusive ownership; from an
 * exclusive owner to all who wait for shared ownership, else to one who waits for
 * exclusive ownership.
 *
 * Context: IRQL <= DISPATCH_LEVEL. Not an owner: a warning, no change.
 */
void ex_release_resource_lite(struct eresource *resource)
{
	ex_release_resource(resource, _RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_release_resource_lite);

/**
 * ex_release_resource_for_thread_lite() - NT's ExReleaseResourceForThreadLite
 * @resource: a resource that @thread owns
 * @thread: ex_get_current_resource_thread() of any thread, or an owner pointer
 *	with its two low bits set
 *
 * As ex_release_resource_lite() by that thread. Lockdep goes on thinking that the
 * other thread owns it, unless it has put an owner pointer in its place before.
 *
 * Context: IRQL <= DISPATCH_LEVEL. Not an owner: a warning, no change.
 */
void ex_release_resource_for_thread_lite(struct eresource *resource,
					 unsigned long thread)
{
	ex_release_resource_slow(resource, thread, _RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_release_resource_for_thread_lite);

/**
 * ex_release_resource_and_leave_critical_region() - NT's
 *	ExReleaseResourceAndLeaveCriticalRegion
 * @resource: a resource that the current thread owns
 *
 * Context: thread at IRQL <= APC_LEVEL, in a critical region.
 */
void ex_release_resource_and_leave_critical_region(struct eresource *resource)
{
	ex_release_resource(resource, _RET_IP_);
	ke_leave_critical_region();
}
EXPORT_SYMBOL_GPL(ex_release_resource_and_leave_critical_region);

/**
 * ex_convert_exclusive_to_shared_lite() - NT's ExConvertExclusiveToSharedLite
 * @resource: a resource that the current thread owns exclusively
 *
 * The thread owns it shared as often as before, and so do all who wait for that.
 *
 * Context: IRQL <= DISPATCH_LEVEL. Not the exclusive owner: a warning, no change.
 */
void ex_convert_exclusive_to_shared_lite(struct eresource *resource)
{
	unsigned long thread = ex_get_current_resource_thread();
	LIST_HEAD(granted);
	unsigned long flags;
	long word;

	if (!resource) {
		eresource_refuse_null("ExConvertExclusiveToShared", _RET_IP_);
		return;
	}
	word = atomic_long_read(&resource->word);
	while ((word & (ERESOURCE_THREAD | ERESOURCE_EXCLUSIVE)) ==
	       (thread | ERESOURCE_EXCLUSIVE)) {
		/*
		 * Release, of what it did alone; pairs with the acquire in
		 * eresource_lock(), by which other shared owners come in.
		 */
		if (!atomic_long_try_cmpxchg_release(&resource->word, &word,
						     word & ~ERESOURCE_EXCLUSIVE))
			continue;
		lock_downgrade(&resource->dep_map, _RET_IP_);
		return;
	}

	flags = eresource_lock(resource);
	if (!resource->exclusive || !eresource_find_owner(resource, thread)) {
		eresource_unlock(resource, flags);
		WARN_ONCE(1, "ExConvertExclusiveToShared: resource %llx is not owned exclusively by %llx, called from %pS\n",
			  ntklog_address((unsigned long)resource),
			  ntklog_address(thread), ntklog_code(_RET_IP_));
		return;
	}
	lock_downgrade(&resource->dep_map, _RET_IP_);
	eresource_grant_shared(resource, &granted);
	eresource_unlock_and_wake(resource, flags, &granted);
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
			  ntklog_address((unsigned long)resource),
			  ntklog_address(thread), ntklog_code(caller));
		return;
	}
	if (static_branch_unlikely(&ntklog_resource_key))
		ntklog_drop_resource_slot(resource, thread);
	/* From now on nobody's: any thread may release it. */
	lock_release(&resource->dep_map, caller);
	exclusive = resource->exclusive;
	other = eresource_find_owner(resource, pointer);
	if (other) {
		/* The same pointer owned it shared already. */
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
 * @resource: a resource that the current thread owns
 * @owner_pointer: owns it from now on, as often as the thread did
 *
 * To be released, by any thread, with ex_release_resource_for_thread_lite() and
 * the pointer with its two low bits set, which this function sets.
 *
 * Context: IRQL <= DISPATCH_LEVEL. Not an owner: a warning, no change.
 */
void ex_set_resource_owner_pointer(struct eresource *resource, void *owner_pointer)
{
	__ex_set_resource_owner_pointer(resource, (unsigned long)owner_pointer | 3,
					_RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_set_resource_owner_pointer);

/**
 * ex_set_resource_owner_pointer_ex() - NT's ExSetResourceOwnerPointerEx
 * @resource: a resource that the current thread owns
 * @owner_pointer: as for ex_set_resource_owner_pointer()
 * @flags: 0 or FLAG_OWNER_POINTER_IS_THREAD, which tells NT whose priority it may
 *	raise; nobody's is here
 *
 * Context: IRQL <= DISPATCH_LEVEL. Not an owner, or other flags: a warning, no
 * change.
 */
void ex_set_resource_owner_pointer_ex(struct eresource *resource,
				      void *owner_pointer, u32 flags)
{
	if (WARN_ONCE(flags & ~FLAG_OWNER_POINTER_IS_THREAD,
		      "ExSetResourceOwnerPointerEx: resource %llx, flags %x from %pS\n",
		      ntklog_address((unsigned long)resource), flags,
		      ntklog_code(_RET_IP_)))
		return;
	__ex_set_resource_owner_pointer(resource, (unsigned long)owner_pointer | 3,
					_RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_set_resource_owner_pointer_ex);
