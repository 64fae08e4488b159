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
#include "eresource_private.h"

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
 * One who waits; on his stack.
 *
 * @list: among the waiters of his kind, then among those that are granted
 * @thread: who
 * @again: he owned the resource already when he asked
 * @depth: how often he owns it once he is granted
 * @granted: wakes him. Its own lock lets him go only when who completes it no
 *	longer looks at it
 */
struct eresource_waiter {
	struct list_head list;
	unsigned long thread;
	bool again;
	u32 depth;
	struct completion granted;
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

/* How often the current thread owns it, and whether exclusively. */
static u32 eresource_owned(struct eresource *resource, bool *exclusive)
{
	unsigned long thread = ex_get_current_resource_thread();
	unsigned long word = atomic_long_read(&resource->word);
	struct eresource_owner *owner = NULL;
	unsigned long flags;
	u32 count = 0;

	/* Whatever others do meanwhile, it does not change what this one owns. */
	if (word != ERESOURCE_INNER) {
		*exclusive = word & ERESOURCE_EXCLUSIVE;
		return (word & ERESOURCE_THREAD) == thread ? eresource_depth(word) : 0;
	}
	flags = eresource_lock(resource);
	owner = eresource_find_owner(resource, thread);
	if (owner)
		count = owner->count;
	*exclusive = resource->exclusive;
	eresource_unlock(resource, flags);
	return count;
}

/**
 * ex_is_resource_acquired_exclusive_lite() - NT's ExIsResourceAcquiredExclusiveLite
 * @resource: the resource
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: whether the current thread owns it exclusively.
 */
bool ex_is_resource_acquired_exclusive_lite(struct eresource *resource)
{
	bool exclusive;

	if (!resource)
		return eresource_refuse_null("ExIsResourceAcquiredExclusive", _RET_IP_);
	return eresource_owned(resource, &exclusive) && exclusive;
}
EXPORT_SYMBOL_GPL(ex_is_resource_acquired_exclusive_lite);

/**
 * ex_is_resource_acquired_shared_lite() - NT's ExIsResourceAcquiredSharedLite
 * @resource: the resource
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: how often the current thread owns it, shared or exclusively.
 */
u32 ex_is_resource_acquired_shared_lite(struct eresource *resource)
{
	bool exclusive;

	if (!resource)
		return eresource_refuse_null("ExIsResourceAcquiredShared", _RET_IP_);
	return eresource_owned(resource, &exclusive);
}
EXPORT_SYMBOL_GPL(ex_is_resource_acquired_shared_lite);

/* Owners of any kind, and whether it is one exclusive one. */
static u32 eresource_owners(struct eresource *resource, bool *exclusive)
{
	unsigned long word = atomic_long_read(&resource->word);
	unsigned long flags;
	u32 owners = !!word;

	*exclusive = word & ERESOURCE_EXCLUSIVE;
	if (word != ERESOURCE_INNER)
		return owners;
	flags = eresource_lock(resource);
	owners = resource->active_count;
	*exclusive = owners && resource->exclusive;
	eresource_unlock(resource, flags);
	return owners;
}

/**
 * ex_get_resource_active_count() - what NT has in ERESOURCE.ActiveCount
 * @resource: the resource
 *
 * Context: any.
 * Return: how many owners it has at this moment.
 */
u32 ex_get_resource_active_count(struct eresource *resource)
{
	bool exclusive;

	if (!resource)
		return eresource_refuse_null("ExGetResourceActiveCount", _RET_IP_);
	return eresource_owners(resource, &exclusive);
}
EXPORT_SYMBOL_GPL(ex_get_resource_active_count);

/**
 * ex_get_resource_flag() - what NT has in ERESOURCE.Flag
 * @resource: the resource
 *
 * Context: any.
 * Return: ERESOURCE_FLAG_*, of this moment.
 */
u16 ex_get_resource_flag(struct eresource *resource)
{
	bool exclusive;

	if (!resource)
		return eresource_refuse_null("ExGetResourceFlag", _RET_IP_);
	eresource_owners(resource, &exclusive);
	return READ_ONCE(resource->flag) |
		(exclusive ? ERESOURCE_FLAG_OWNED_EXCLUSIVE : 0);
}
EXPORT_SYMBOL_GPL(ex_get_resource_flag);
