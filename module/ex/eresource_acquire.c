// SPDX-License-Identifier: GPL-2.0-only
/*
 * Acquisition of executive resources: see eresource_state.h.
 *
 * Acquire and release functions do not test for NULL: the access to the word faults before the
 * resource is changed.
 */

#include <linux/bug.h>
#include <linux/completion.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <ntklog/eresource.h>
#include <ntklog/irql.h>
#include <uapi/ntklog/wmi_resource.h>

#include "../ground/address.h"
#include "../perf/resource.h"
#include "eresource_state.h"

enum eresource_request_type {
	ERESOURCE_REQUEST_EXCLUSIVE,
	ERESOURCE_REQUEST_SHARED,
	ERESOURCE_REQUEST_STARVE_EXCLUSIVE,
	ERESOURCE_REQUEST_WAIT_FOR_EXCLUSIVE,
};

enum eresource_request_result {
	ERESOURCE_GRANTED,
	ERESOURCE_QUEUED,
	ERESOURCE_REFUSED,
	ERESOURCE_NO_FREE_ENTRY,	/* the owner table must grow first */
};

/* Lockdep keeps one record for a task, however often the task has acquired the resource. */
static __always_inline void
eresource_lockdep_acquire(struct eresource *resource,
			  enum eresource_request_type request, bool wait,
			  unsigned long caller)
{
	if (request == ERESOURCE_REQUEST_EXCLUSIVE)
		lock_acquire_exclusive(&resource->dep_map, 0, !wait, NULL, caller);
	else if (request == ERESOURCE_REQUEST_STARVE_EXCLUSIVE)
		lock_acquire_shared_recursive(&resource->dep_map, 0, !wait, NULL,
					      caller);
	else
		lock_acquire_shared(&resource->dep_map, 0, !wait, NULL, caller);
}

/* @wait: NULL if the task has not waited. */
static __always_inline void
eresource_track_acquire(struct eresource *resource, u32 depth,
			const struct ntklog_resource_wait *wait)
{
	if (static_branch_unlikely(&ntklog_resource_key))
		ntklog_track_resource_acquire_slow(resource, depth,
						   READ_ONCE(resource->contention_count),
						   wait);
}

static bool eresource_can_grant(const struct eresource *resource,
				enum eresource_request_type request)
{
	if (!resource->active_count)
		return true;
	if (resource->exclusive || request == ERESOURCE_REQUEST_EXCLUSIVE)
		return false;
	return request == ERESOURCE_REQUEST_STARVE_EXCLUSIVE ||
		!resource->exclusive_waiter_count;
}

static bool eresource_can_grant_to_owner(const struct eresource *resource,
					 enum eresource_request_type request)
{
	if (resource->exclusive)
		return true;
	if (request == ERESOURCE_REQUEST_WAIT_FOR_EXCLUSIVE)
		return !resource->exclusive_waiter_count;
	return request != ERESOURCE_REQUEST_EXCLUSIVE;
}

/*
 * Grant the request, queue @waiter if the caller wants to @wait, or refuse the request.
 * ERESOURCE_NO_FREE_ENTRY leaves the resource unchanged. Called with the inner lock held.
 */
static enum eresource_request_result
eresource_grant_or_queue(struct eresource *resource, enum eresource_request_type request,
			 bool wait, struct eresource_waiter *waiter)
{
	struct eresource_owner *owner = eresource_find_owner(resource, waiter->thread);
	u32 i = 0;

	waiter->was_owner = owner;
	if (owner && eresource_can_grant_to_owner(resource, request)) {
		waiter->depth = ++owner->count;
		return ERESOURCE_GRANTED;
	}
	if (!owner && eresource_can_grant(resource, request)) {
		if (!eresource_has_free_owner_entry(resource))
			return ERESOURCE_NO_FREE_ENTRY;
		eresource_add_owner(resource, waiter->thread, &i);
		resource->exclusive = request == ERESOURCE_REQUEST_EXCLUSIVE;
		waiter->depth = 1;
		return ERESOURCE_GRANTED;
	}
	if (!wait)
		return ERESOURCE_REFUSED;

	if (request == ERESOURCE_REQUEST_EXCLUSIVE) {
		list_add_tail(&waiter->list, &resource->exclusive_waiters);
		WRITE_ONCE(resource->exclusive_waiter_count,
			   resource->exclusive_waiter_count + 1);
	} else {
		/* The granting task cannot allocate an owner entry for this waiter. */
		if (!eresource_has_free_owner_entry(resource))
			return ERESOURCE_NO_FREE_ENTRY;
		list_add_tail(&waiter->list, &resource->shared_waiters);
		WRITE_ONCE(resource->shared_waiter_count,
			   resource->shared_waiter_count + 1);
	}
	WRITE_ONCE(resource->contention_count, resource->contention_count + 1);
	return ERESOURCE_QUEUED;
}

static void eresource_wait(struct eresource *resource,
			   enum eresource_request_type request,
			   struct eresource_waiter *waiter, unsigned long caller)
{
	struct ntklog_resource_wait wait;

	/* Tell lockdep before the task sleeps, so that lockdep can report a deadlock. */
	eresource_lockdep_acquire(resource, request, true, caller);
	lock_contended(&resource->dep_map, caller);
	wait.has_timer = false;
	if (static_branch_unlikely(&ntklog_resource_key))
		ntklog_start_resource_wait(&wait, resource,
					   request == ERESOURCE_REQUEST_EXCLUSIVE ?
					   WMI_RESOURCE_ACTION_WAIT_FOR_EXCLUSIVE :
					   WMI_RESOURCE_ACTION_WAIT_FOR_SHARED);
	/* The completion's lock orders this critical section after that of the granting task. */
	wait_for_completion(&waiter->grant_completion);
	ntklog_end_resource_wait(&wait);
	eresource_track_acquire(resource, waiter->depth, &wait);
	lock_acquired(&resource->dep_map, caller);
	/* Lockdep had recorded this task as an owner before: drop the second record. */
	if (waiter->was_owner)
		lock_release(&resource->dep_map, caller);
}

static noinline bool
ex_acquire_resource_inner(struct eresource *resource, bool wait,
			  enum eresource_request_type request, unsigned long caller)
{
	struct eresource_waiter waiter = {
		.thread = ex_get_current_resource_thread(),
	};
	enum eresource_request_result result;
	unsigned long flags;
	u32 old_size;

	init_completion(&waiter.grant_completion);
	for (;;) {
		flags = eresource_lock(resource);
		result = eresource_grant_or_queue(resource, request, wait, &waiter);
		old_size = resource->owner_table_size;
		eresource_unlock(resource, flags);
		if (result != ERESOURCE_NO_FREE_ENTRY)
			break;
		if (eresource_grow_owner_table(resource, old_size))
			continue;
		if (!wait)
			return false;
		/* Retry: other owners may release, or memory may become available. */
		schedule_timeout_uninterruptible(1);
	}

	switch (result) {
	case ERESOURCE_GRANTED:
		if (!waiter.was_owner)
			eresource_lockdep_acquire(resource, request, wait, caller);
		eresource_track_acquire(resource, waiter.depth, NULL);
		return true;
	case ERESOURCE_QUEUED:
		eresource_wait(resource, request, &waiter, caller);
		return true;
	default:
		return false;
	}
}

static noinline bool
ex_acquire_resource_slow(struct eresource *resource, bool wait,
			 enum eresource_request_type request, unsigned long word,
			 unsigned long caller)
{
	long old_word = word;

	/* The caller has been warned, see ex_may_acquire_above_apc_level(). */
	if (__ke_raised())
		wait = false;
	while ((old_word & ERESOURCE_TASK_MASK) == ex_get_current_resource_thread()) {
		if (request == ERESOURCE_REQUEST_EXCLUSIVE &&
		    !(old_word & ERESOURCE_EXCLUSIVE_BIT))
			break;
		if ((old_word & ERESOURCE_DEPTH_MASK) == ERESOURCE_DEPTH_MASK)
			break;
		/* Relaxed: the task holds the resource already. */
		if (!atomic_long_try_cmpxchg_relaxed(&resource->word, &old_word,
						     old_word + ERESOURCE_DEPTH_ONE))
			continue;
		eresource_track_acquire(resource, eresource_get_depth(old_word) + 1, NULL);
		return true;
	}
	return ex_acquire_resource_inner(resource, wait, request, caller);
}

/* Returns true, so that the fast path can end with a tail call. */
static notrace noinline bool ex_acquire_resource_traced(struct eresource *resource)
{
	ntklog_track_resource_acquire(resource, READ_ONCE(resource->contention_count));
	return true;
}

/*
 * Warn if the caller of an acquire function is above DISPATCH_LEVEL, or is at DISPATCH_LEVEL and
 * wants to @wait. The latter is granted the resource if it need not wait, because a caller that
 * ignores the result would otherwise run without the resource. Returns false above DISPATCH_LEVEL.
 */
static noinline bool ex_may_acquire_above_apc_level(struct eresource *resource, bool wait,
						    unsigned long caller)
{
	u8 irql = ke_get_current_irql();

	WARN(wait || irql > DISPATCH_LEVEL,
	     "ExAcquireResource: resource %llx, wait %d, at IRQL %u from %pS\n",
	     ntklog_get_displayed_address((unsigned long)resource), wait, irql,
	     ntklog_get_printable_code(caller));
	return irql <= DISPATCH_LEVEL;
}

/* _RET_IP_ is the caller of the exported function, into which this function is inlined. */
static __always_inline bool
__ex_acquire_resource(struct eresource *resource, bool wait, enum eresource_request_type request)
{
	bool exclusive = request == ERESOURCE_REQUEST_EXCLUSIVE;
	unsigned long acquired_word;
	long word = 0;

	if (unlikely(__ke_raised()) && !ex_may_acquire_above_apc_level(resource, wait, _RET_IP_))
		return false;
	acquired_word = ex_get_current_resource_thread() | ERESOURCE_DEPTH_ONE |
			(exclusive ? ERESOURCE_EXCLUSIVE_BIT : 0);
	/*
	 * Pairs with the releases in ex_release_resource_word(), ex_release_resource_slow() and
	 * eresource_unlock().
	 */
	if (unlikely(!atomic_long_try_cmpxchg_acquire(&resource->word, &word, acquired_word)))
		return ex_acquire_resource_slow(resource, wait, request, word, _RET_IP_);
	eresource_lockdep_acquire(resource, request, wait && !__ke_raised(), _RET_IP_);
	if (static_branch_unlikely(&ntklog_resource_key))
		return ex_acquire_resource_traced(resource);
	return true;
}

/* @wait is a constant in each call below, so that it is not kept over the call in might_sleep(). */
static __always_inline bool
ex_acquire_resource(struct eresource *resource, bool wait, enum eresource_request_type request)
{
	if (!wait)
		return __ex_acquire_resource(resource, false, request);
	might_sleep();
	return __ex_acquire_resource(resource, true, request);
}

/**
 * ex_acquire_resource_exclusive_lite() - NT's ExAcquireResourceExclusiveLite
 * @resource: the resource
 * @wait: wait until the request can be granted
 *
 * The request is granted at once if the resource has no owner, or if the caller is the exclusive
 * owner. A shared owner with @wait waits for itself, unless another task releases the resource
 * for it.
 *
 * Context: IRQL <= APC_LEVEL if @wait, else <= DISPATCH_LEVEL. With @wait at DISPATCH_LEVEL the
 * function warns each time and does not wait. Above DISPATCH_LEVEL it warns each time and refuses.
 * Return: true if the caller is the owner now; false if the request cannot be granted at once.
 */
bool ex_acquire_resource_exclusive_lite(struct eresource *resource, bool wait)
{
	return ex_acquire_resource(resource, wait, ERESOURCE_REQUEST_EXCLUSIVE);
}
EXPORT_SYMBOL_GPL(ex_acquire_resource_exclusive_lite);

/**
 * ex_try_to_acquire_resource_exclusive_lite() - NT's ExTryToAcquireResourceExclusiveLite
 * @resource: the resource
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: true if the caller is the owner now; false if the request cannot be granted at once.
 */
bool ex_try_to_acquire_resource_exclusive_lite(struct eresource *resource)
{
	return ex_acquire_resource(resource, false, ERESOURCE_REQUEST_EXCLUSIVE);
}
EXPORT_SYMBOL_GPL(ex_try_to_acquire_resource_exclusive_lite);

/**
 * ex_acquire_resource_shared_lite() - NT's ExAcquireResourceSharedLite
 * @resource: the resource
 * @wait: wait until the request can be granted
 *
 * The request is granted at once to an owner, if the resource has no owner, or if it has shared
 * owners and no waiter for exclusive ownership. An exclusive owner gets one more exclusive
 * acquisition.
 *
 * Context: as for ex_acquire_resource_exclusive_lite().
 * Return: true if the caller is an owner now; false if the request cannot be granted at once.
 */
bool ex_acquire_resource_shared_lite(struct eresource *resource, bool wait)
{
	return ex_acquire_resource(resource, wait, ERESOURCE_REQUEST_SHARED);
}
EXPORT_SYMBOL_GPL(ex_acquire_resource_shared_lite);

/**
 * ex_acquire_shared_starve_exclusive() - NT's ExAcquireSharedStarveExclusive
 * @resource: the resource
 * @wait: wait until the request can be granted
 *
 * Like ex_acquire_resource_shared_lite(), but overtakes waiters for exclusive ownership.
 *
 * Context: as for ex_acquire_resource_exclusive_lite().
 * Return: true if the caller is an owner now; false if the request cannot be granted at once.
 */
bool ex_acquire_shared_starve_exclusive(struct eresource *resource, bool wait)
{
	return ex_acquire_resource(resource, wait,
				   ERESOURCE_REQUEST_STARVE_EXCLUSIVE);
}
EXPORT_SYMBOL_GPL(ex_acquire_shared_starve_exclusive);

/**
 * ex_acquire_shared_wait_for_exclusive() - NT's ExAcquireSharedWaitForExclusive
 * @resource: the resource
 * @wait: wait until the request can be granted
 *
 * Like ex_acquire_resource_shared_lite(), but a shared owner also waits behind waiters for
 * exclusive ownership.
 *
 * Context: as for ex_acquire_resource_exclusive_lite().
 * Return: true if the caller is an owner now; false if the request cannot be granted at once.
 */
bool ex_acquire_shared_wait_for_exclusive(struct eresource *resource, bool wait)
{
	return ex_acquire_resource(resource, wait,
				   ERESOURCE_REQUEST_WAIT_FOR_EXCLUSIVE);
}
EXPORT_SYMBOL_GPL(ex_acquire_shared_wait_for_exclusive);

/**
 * ex_enter_critical_region_and_acquire_resource_exclusive() - NT's
 *	ExEnterCriticalRegionAndAcquireResourceExclusive
 * @resource: the resource
 *
 * Context: task at IRQL <= APC_LEVEL; may sleep.
 */
void ex_enter_critical_region_and_acquire_resource_exclusive(struct eresource *resource)
{
	ke_enter_critical_region();
	ex_acquire_resource(resource, true, ERESOURCE_REQUEST_EXCLUSIVE);
}
EXPORT_SYMBOL_GPL(ex_enter_critical_region_and_acquire_resource_exclusive);

/**
 * ex_enter_critical_region_and_acquire_resource_shared() - NT's
 *	ExEnterCriticalRegionAndAcquireResourceShared
 * @resource: the resource
 *
 * Context: task at IRQL <= APC_LEVEL; may sleep.
 */
void ex_enter_critical_region_and_acquire_resource_shared(struct eresource *resource)
{
	ke_enter_critical_region();
	ex_acquire_resource(resource, true, ERESOURCE_REQUEST_SHARED);
}
EXPORT_SYMBOL_GPL(ex_enter_critical_region_and_acquire_resource_shared);

/**
 * ex_enter_region_and_acquire_shared_wait_for_exclusive() - exported function behind the inline
 *	ex_enter_critical_region_and_acquire_shared_wait_for_exclusive()
 * @resource: the resource
 *
 * The name of the inline function is too long for a symbol with CONFIG_MODVERSIONS.
 *
 * Context: task at IRQL <= APC_LEVEL; may sleep.
 */
void ex_enter_region_and_acquire_shared_wait_for_exclusive(struct eresource *resource)
{
	ke_enter_critical_region();
	ex_acquire_resource(resource, true, ERESOURCE_REQUEST_WAIT_FOR_EXCLUSIVE);
}
EXPORT_SYMBOL_GPL(ex_enter_region_and_acquire_shared_wait_for_exclusive);
