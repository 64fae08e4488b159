// SPDX-License-Identifier: GPL-2.0-only
/*
 * NT's executive resources.
 *
 * While at most one thread owns a resource and nobody waits, all is in one word,
 * and each operation is one compare-exchange on it. Everything else - a second
 * shared owner, an owner pointer, somebody who waits - is done with the resource's
 * inner lock held, and with ERESOURCE_INNER in the word, which keeps the others
 * away from it. eresource_lock() moves the state out of the word, and
 * eresource_unlock() back into it as soon as it fits.
 *
 * Nobody who waits looks for himself whether the resource is free: who releases it
 * makes the next ones owners, with the inner lock held, and wakes them up then. So
 * there is no herd, and none of them finds the resource gone.
 *
 * NULL is refused with a warning, but not by who acquires and who releases: they
 * touch the word before anything else, and so fault with nothing held and nothing
 * changed. To tell a caller that is about to use what the resource guards would not
 * stop him.
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

#include "../address.h"
#include "../perf/resource.h"
#include "eresource_state.h"

enum eresource_request {
	ERESOURCE_REQUEST_EXCLUSIVE,
	ERESOURCE_REQUEST_SHARED,
	ERESOURCE_REQUEST_STARVE_EXCLUSIVE,
	ERESOURCE_REQUEST_WAIT_FOR_EXCLUSIVE,
};

enum eresource_answer {
	ERESOURCE_GRANTED,
	ERESOURCE_QUEUED,
	ERESOURCE_REFUSED,
	ERESOURCE_NO_ROOM,	/* the owner table has to grow first */
};

/*
 * Lockdep knows of a thread's first acquisition and its last release. An
 * acquisition that did not have to wait is told of afterwards.
 */
static __always_inline void
eresource_lockdep_acquire(struct eresource *resource,
			  enum eresource_request request, bool wait,
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

/* @wait: NULL if it has not waited. */
static __always_inline void
eresource_track_acquire(struct eresource *resource, u32 depth,
			const struct ntklog_resource_wait *wait)
{
	if (static_branch_unlikely(&ntklog_resource_key))
		ntklog_track_resource_acquire_slow(resource, depth,
						   READ_ONCE(resource->contention_count),
						   wait);
}

static bool eresource_may_own(const struct eresource *resource,
			      enum eresource_request request)
{
	if (!resource->active_count)
		return true;
	if (resource->exclusive || request == ERESOURCE_REQUEST_EXCLUSIVE)
		return false;
	return request == ERESOURCE_REQUEST_STARVE_EXCLUSIVE ||
		!resource->exclusive_waiter_count;
}

static bool eresource_may_own_again(const struct eresource *resource,
				    enum eresource_request request)
{
	if (resource->exclusive)
		return true;
	if (request == ERESOURCE_REQUEST_WAIT_FOR_EXCLUSIVE)
		return !resource->exclusive_waiter_count;
	return request != ERESOURCE_REQUEST_EXCLUSIVE;
}

/* Called with the inner lock held. @wait: the waiter is queued if it has to. */
static enum eresource_answer
eresource_enqueue_waiter(struct eresource *resource, enum eresource_request request,
			 bool wait, struct eresource_waiter *waiter)
{
	struct eresource_owner *owner = eresource_find_owner(resource, waiter->thread);
	u32 i = 0;

	waiter->again = owner;
	if (owner && eresource_may_own_again(resource, request)) {
		waiter->depth = ++owner->count;
		return ERESOURCE_GRANTED;
	}
	if (!owner && eresource_may_own(resource, request)) {
		if (!eresource_has_room(resource))
			return ERESOURCE_NO_ROOM;
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
		/* Who grants cannot make room: it is made now. */
		if (!eresource_has_room(resource))
			return ERESOURCE_NO_ROOM;
		list_add_tail(&waiter->list, &resource->shared_waiters);
		WRITE_ONCE(resource->shared_waiter_count,
			   resource->shared_waiter_count + 1);
	}
	WRITE_ONCE(resource->contention_count, resource->contention_count + 1);
	return ERESOURCE_QUEUED;
}

/* Sleep until made an owner. */
static void eresource_wait(struct eresource *resource,
			   enum eresource_request request,
			   struct eresource_waiter *waiter, unsigned long caller)
{
	struct ntklog_resource_wait wait;

	/* Before the sleep from which there may be no return. */
	eresource_lockdep_acquire(resource, request, true, caller);
	lock_contended(&resource->dep_map, caller);
	wait.on = false;
	if (static_branch_unlikely(&ntklog_resource_key))
		ntklog_start_resource_wait(&wait, resource,
					   request == ERESOURCE_REQUEST_EXCLUSIVE ?
					   WMI_RESOURCE_ACTION_WAIT_FOR_EXCLUSIVE :
					   WMI_RESOURCE_ACTION_WAIT_FOR_SHARED);
	/*
	 * As for a mutex: neither signals nor the freezer end it. Its lock orders
	 * what the releaser did before what follows.
	 */
	wait_for_completion(&waiter->granted);
	ntklog_end_resource_wait(&wait);
	eresource_track_acquire(resource, waiter->depth, &wait);
	lock_acquired(&resource->dep_map, caller);
	/* Lockdep has this thread as the owner already. */
	if (waiter->again)
		lock_release(&resource->dep_map, caller);
}

/* All that is not done by one compare-exchange. */
static noinline bool
ex_acquire_resource_inner(struct eresource *resource, bool wait,
			  enum eresource_request request, unsigned long caller)
{
	struct eresource_waiter waiter = {
		.thread = ex_get_current_resource_thread(),
	};
	enum eresource_answer answer;
	unsigned long flags;
	u32 had;

	init_completion(&waiter.granted);
	for (;;) {
		flags = eresource_lock(resource);
		answer = eresource_enqueue_waiter(resource, request, wait, &waiter);
		had = resource->owner_table_size;
		eresource_unlock(resource, flags);
		if (answer != ERESOURCE_NO_ROOM)
			break;
		if (eresource_grow(resource, had))
			continue;
		if (!wait)
			return false;
		/* Owners go, and memory comes. */
		schedule_timeout_uninterruptible(1);
	}

	switch (answer) {
	case ERESOURCE_GRANTED:
		if (!waiter.again)
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

/* Not had at once: maybe the one owner wants it again. */
static noinline bool
ex_acquire_resource_slow(struct eresource *resource, bool wait,
			 enum eresource_request request, unsigned long word,
			 unsigned long caller)
{
	long old = word;

	while ((old & ERESOURCE_THREAD) == ex_get_current_resource_thread()) {
		if (request == ERESOURCE_REQUEST_EXCLUSIVE &&
		    !(old & ERESOURCE_EXCLUSIVE))
			break;
		if ((old & ERESOURCE_DEPTH) == ERESOURCE_DEPTH)
			break;
		/* Orders nothing: it is owned already. */
		if (!atomic_long_try_cmpxchg_relaxed(&resource->word, &old,
						     old + ERESOURCE_DEPTH_ONE))
			continue;
		eresource_track_acquire(resource, eresource_depth(old) + 1, NULL);
		return true;
	}
	return ex_acquire_resource_inner(resource, wait, request, caller);
}

/* It has been acquired at once: for who wants to know. */
static notrace noinline bool ex_acquired_resource_traced(struct eresource *resource)
{
	ntklog_track_resource_acquire(resource, READ_ONCE(resource->contention_count));
	return true;
}

/* All that it calls it calls last, so that it needs no frame of its own. */
static __always_inline bool
__ex_acquire_resource(struct eresource *resource, bool wait,
		      enum eresource_request request, unsigned long caller)
{
	bool exclusive = request == ERESOURCE_REQUEST_EXCLUSIVE;
	unsigned long mine = ex_get_current_resource_thread() | ERESOURCE_DEPTH_ONE |
			     (exclusive ? ERESOURCE_EXCLUSIVE : 0);
	long word = 0;

	/*
	 * Acquire; pairs with the releases in ex_release_resource(),
	 * ex_release_resource_slow() and eresource_unlock().
	 */
	if (unlikely(!atomic_long_try_cmpxchg_acquire(&resource->word, &word, mine)))
		return ex_acquire_resource_slow(resource, wait, request, word,
						caller);
	eresource_lockdep_acquire(resource, request, wait, caller);
	if (static_branch_unlikely(&ntklog_resource_key))
		return ex_acquired_resource_traced(resource);
	return true;
}

/*
 * At DISPATCH_LEVEL or above. Who would wait there is not let, but gets the resource
 * if it is to be had: NT stops, and if the caller does not look at the result it shall
 * run without owning no more often than can be helped. So the warning comes each time.
 */
static noinline bool
ex_acquire_resource_raised(struct eresource *resource, bool wait,
			   enum eresource_request request, unsigned long caller)
{
	u8 irql = ke_get_current_irql();

	WARN(wait || irql > DISPATCH_LEVEL,
	     "ExAcquireResource: resource %llx, wait %d, at IRQL %u from %pS\n",
	     ntklog_address((unsigned long)resource), wait, irql, ntklog_code(caller));
	return irql <= DISPATCH_LEVEL &&
		__ex_acquire_resource(resource, false, request, caller);
}

static __always_inline bool
ex_acquire_resource(struct eresource *resource, bool wait,
		    enum eresource_request request, unsigned long caller)
{
	if (wait)
		might_sleep();
	if (unlikely(__ke_raised()))
		return ex_acquire_resource_raised(resource, wait, request, caller);
	return __ex_acquire_resource(resource, wait, request, caller);
}

/**
 * ex_acquire_resource_exclusive_lite() - NT's ExAcquireResourceExclusiveLite
 * @resource: the resource
 * @wait: wait until it can be granted
 *
 * Granted at once if nobody owns it, or to the exclusive owner. A shared owner
 * that waits for it waits for himself, unless another thread releases for him.
 *
 * Context: IRQL <= APC_LEVEL if @wait, else <= DISPATCH_LEVEL. With @wait at
 * DISPATCH_LEVEL: a warning each time, and as without. Above: a warning each time,
 * false.
 * Return: true as the owner; false if it cannot be granted at once.
 */
bool ex_acquire_resource_exclusive_lite(struct eresource *resource, bool wait)
{
	return ex_acquire_resource(resource, wait, ERESOURCE_REQUEST_EXCLUSIVE,
				   _RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_acquire_resource_exclusive_lite);

/**
 * ex_try_to_acquire_resource_exclusive_lite() - NT's
 *	ExTryToAcquireResourceExclusiveLite
 * @resource: the resource
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: as ex_acquire_resource_exclusive_lite() without waiting.
 */
bool ex_try_to_acquire_resource_exclusive_lite(struct eresource *resource)
{
	return ex_acquire_resource(resource, false, ERESOURCE_REQUEST_EXCLUSIVE,
				   _RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_try_to_acquire_resource_exclusive_lite);

/**
 * ex_acquire_resource_shared_lite() - NT's ExAcquireResourceSharedLite
 * @resource: the resource
 * @wait: wait until it can be granted
 *
 * Granted at once to an owner, if nobody owns it, or if there are shared owners
 * and nobody waits for exclusive ownership. An exclusive owner owns it exclusively
 * once more.
 *
 * Context: IRQL <= APC_LEVEL if @wait, else <= DISPATCH_LEVEL. With @wait at
 * DISPATCH_LEVEL: a warning each time, and as without. Above: a warning each time,
 * false.
 * Return: true as an owner; false if it cannot be granted at once.
 */
bool ex_acquire_resource_shared_lite(struct eresource *resource, bool wait)
{
	return ex_acquire_resource(resource, wait, ERESOURCE_REQUEST_SHARED,
				   _RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_acquire_resource_shared_lite);

/**
 * ex_acquire_shared_starve_exclusive() - NT's ExAcquireSharedStarveExclusive
 * @resource: the resource
 * @wait: wait until it can be granted
 *
 * As ex_acquire_resource_shared_lite(), but passes those who wait for exclusive
 * ownership.
 *
 * Context: IRQL <= APC_LEVEL if @wait, else <= DISPATCH_LEVEL. With @wait at
 * DISPATCH_LEVEL: a warning each time, and as without. Above: a warning each time,
 * false.
 * Return: true as an owner; false if it cannot be granted at once.
 */
bool ex_acquire_shared_starve_exclusive(struct eresource *resource, bool wait)
{
	return ex_acquire_resource(resource, wait,
				   ERESOURCE_REQUEST_STARVE_EXCLUSIVE, _RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_acquire_shared_starve_exclusive);

/**
 * ex_acquire_shared_wait_for_exclusive() - NT's ExAcquireSharedWaitForExclusive
 * @resource: the resource
 * @wait: wait until it can be granted
 *
 * As ex_acquire_resource_shared_lite(), but also a shared owner waits behind those
 * who wait for exclusive ownership.
 *
 * Context: IRQL <= APC_LEVEL if @wait, else <= DISPATCH_LEVEL. With @wait at
 * DISPATCH_LEVEL: a warning each time, and as without. Above: a warning each time,
 * false.
 * Return: true as an owner; false if it cannot be granted at once.
 */
bool ex_acquire_shared_wait_for_exclusive(struct eresource *resource, bool wait)
{
	return ex_acquire_resource(resource, wait,
				   ERESOURCE_REQUEST_WAIT_FOR_EXCLUSIVE, _RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_acquire_shared_wait_for_exclusive);

/**
 * ex_enter_critical_region_and_acquire_resource_exclusive() - NT's
 *	ExEnterCriticalRegionAndAcquireResourceExclusive
 * @resource: the resource
 *
 * Context: thread at IRQL <= APC_LEVEL; waits.
 */
void ex_enter_critical_region_and_acquire_resource_exclusive(struct eresource *resource)
{
	ke_enter_critical_region();
	ex_acquire_resource(resource, true, ERESOURCE_REQUEST_EXCLUSIVE, _RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_enter_critical_region_and_acquire_resource_exclusive);

/**
 * ex_enter_critical_region_and_acquire_resource_shared() - NT's
 *	ExEnterCriticalRegionAndAcquireResourceShared
 * @resource: the resource
 *
 * Context: thread at IRQL <= APC_LEVEL; waits.
 */
void ex_enter_critical_region_and_acquire_resource_shared(struct eresource *resource)
{
	ke_enter_critical_region();
	ex_acquire_resource(resource, true, ERESOURCE_REQUEST_SHARED, _RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_enter_critical_region_and_acquire_resource_shared);

/**
 * ex_enter_region_and_acquire_shared_wait_for_exclusive() - what is called
 *	ex_enter_critical_region_and_acquire_shared_wait_for_exclusive()
 * @resource: the resource
 *
 * Context: thread at IRQL <= APC_LEVEL; waits.
 */
void ex_enter_region_and_acquire_shared_wait_for_exclusive(struct eresource *resource)
{
	ke_enter_critical_region();
	ex_acquire_resource(resource, true, ERESOURCE_REQUEST_WAIT_FOR_EXCLUSIVE,
			    _RET_IP_);
}
EXPORT_SYMBOL_GPL(ex_enter_region_and_acquire_shared_wait_for_exclusive);
