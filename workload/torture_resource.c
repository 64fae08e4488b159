// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntklog_torture with torture_type=resource: executive resources.
 *
 * Threads own a few resources at once, in all of the ways that there are: exclusive
 * and shared by each function, waiting or not, again and again, converted, put under
 * an owner pointer. Now and then a thread owns all of them, which is more than are
 * tracked, and now and then it ends and another one takes its place. Timers try in
 * softirqs, in the name of whichever thread they interrupt. A keeper releases what is
 * under owner pointers, starts the new threads, and lets resources come and go.
 *
 * Resources are waited for in the order of their numbers, so there is no deadlock.
 * Each has a shadow that says who owns it, set after each grant and cleared before
 * each release, by which it is seen if two own what only one may.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <ntklog/eresource.h>

#include "../module/compat.h"
#include "torture.h"

/* Longest recursion; over fifteen it no longer fits into the word. */
#define TORTURE_RECURSION	20

/* How long a thread may take to come to its end. */
#define TORTURE_PATIENCE	(60 * HZ)

/*
 * @owner: shadow of the exclusive owner; NULL: none
 * @shared_owners: shadow of the others
 * @granted: acquisitions, of all kinds
 * @released: and their releases
 */
struct torture_resource {
	struct eresource resource;
	const void *owner;
	atomic_t shared_owners;
	atomic64_t granted;
	atomic64_t released;
};

/*
 * What a user has put under an owner pointer, which is its address. The user makes
 * it, the keeper takes it.
 *
 * @count: releases to be made; 0: nothing there
 * @exclusive: how it is owned
 */
struct torture_handed {
	atomic_t count;
	bool exclusive;
};

/*
 * @ended: the thread is at its end
 * @timer: of a user that is none
 * @random: its own
 * @handed: one for each resource
 * @waits_for: the resource that it asks for, or -1; for others to look at
 * @ops: what it has done, to be told
 */
struct torture_resource_user {
	struct completion ended;
	struct hrtimer timer;
	struct rnd_state random;
	struct torture_handed handed[TORTURE_LOCKS_MAX];
	int waits_for;
	u64 nests;
	u64 waits;
	u64 conversions;
	u64 pointers;
	u64 deepest;
	u64 exits;
};

/* What a user owns of one resource. */
struct torture_ownership {
	int which;
	bool exclusive;
	u32 count;
};

static struct torture_parameters torture;
static struct torture_resource *torture_resources;
static struct lock_class_key torture_resource_keys[TORTURE_LOCKS_MAX];
static struct torture_resource_user *torture_resource_users;
static int torture_timers;
static struct task_struct *torture_keeper_task;
static bool torture_resources_stopping;
/* A thread is started anew only with it held, and not once all are to stop. */
static DEFINE_MUTEX(torture_restart_mutex);
static u64 torture_renewed;
/* Whether somebody has slept for stall_ms. */
static atomic_t torture_stalled = ATOMIC_INIT(0);

typedef bool (*torture_acquire_t)(struct eresource *resource, bool wait);

static const torture_acquire_t torture_shared_ways[] = {
	ex_acquire_resource_shared_lite,
	ex_acquire_shared_starve_exclusive,
	ex_acquire_shared_wait_for_exclusive,
};

static void torture_granted(struct torture_resource *resource, const void *user,
			    bool exclusive)
{
	const void *owner = READ_ONCE(resource->owner);
	int which = resource - torture_resources;

	if (owner)
		torture_fail("resource %d is granted and has an exclusive owner", which);
	if (!exclusive) {
		atomic_inc(&resource->shared_owners);
		return;
	}
	if (atomic_read(&resource->shared_owners))
		torture_fail("resource %d is granted exclusively and has shared owners",
			     which);
	WRITE_ONCE(resource->owner, user);
}

static void torture_let_go(struct torture_resource *resource, const void *user,
			   bool exclusive)
{
	if (exclusive) {
		if (READ_ONCE(resource->owner) != user)
			torture_fail("resource %td changed its owner",
				     resource - torture_resources);
		WRITE_ONCE(resource->owner, NULL);
	} else if (atomic_dec_return(&resource->shared_owners) < 0) {
		torture_fail("resource %td has lost a shared owner",
			     resource - torture_resources);
	}
}

static bool torture_try_or_wait(struct torture_resource_user *user, int which,
				bool exclusive, bool wait)
{
	struct eresource *resource = &torture_resources[which].resource;
	u32 way = torture_random(&user->random, ARRAY_SIZE(torture_shared_ways));
	bool granted;

	WRITE_ONCE(user->waits_for, wait ? which : -1);
	if (!exclusive)
		granted = torture_shared_ways[way](resource, wait);
	else if (wait || way)
		granted = ex_acquire_resource_exclusive_lite(resource, wait);
	else
		granted = ex_try_to_acquire_resource_exclusive_lite(resource);
	WRITE_ONCE(user->waits_for, -1);
	if (wait && !granted)
		torture_fail("resource %d was not granted to who waited", which);
	return granted;
}

/* Acquire what is owned again, in all ways, and see that it is counted. */
static void torture_again(struct torture_resource_user *user,
			  struct torture_ownership *own)
{
	struct torture_resource *resource = &torture_resources[own->which];
	u32 times = torture_random(&user->random, 4) ? 0 :
		    torture_random(&user->random, TORTURE_RECURSION);

	while (times--) {
		bool exclusive = !torture_random(&user->random, 3);
		u32 way = torture_random(&user->random, ARRAY_SIZE(torture_shared_ways));
		bool granted;

		if (exclusive && !own->exclusive) {
			if (ex_try_to_acquire_resource_exclusive_lite(&resource->resource))
				torture_fail("resource %d: exclusive to a shared owner",
					     own->which);
			continue;
		}
		granted = exclusive ?
			ex_acquire_resource_exclusive_lite(&resource->resource, true) :
			torture_shared_ways[way](&resource->resource, false);
		/* Only who waits behind exclusive waiters may be refused. */
		if (!granted && (own->exclusive || way != 2))
			torture_fail("resource %d is refused to an owner", own->which);
		if (granted) {
			own->count++;
			atomic64_inc(&resource->granted);
		}
	}
	if (ex_is_resource_acquired_shared_lite(&resource->resource) != own->count)
		torture_fail("resource %d is owned %u times, not %u", own->which,
			     ex_is_resource_acquired_shared_lite(&resource->resource),
			     own->count);
	if (ex_is_resource_acquired_exclusive_lite(&resource->resource) != own->exclusive)
		torture_fail("resource %d is owned otherwise than it was granted",
			     own->which);
	user->deepest = max_t(u64, user->deepest, own->count);
}

static bool torture_own_resource(struct torture_resource_user *user, int which,
				 bool wait, struct torture_ownership *own)
{
	struct torture_resource *resource = &torture_resources[which];

	own->which = which;
	own->exclusive = !torture_random(&user->random, 3);
	own->count = 1;
	if (!torture_try_or_wait(user, which, own->exclusive, wait))
		return false;
	user->waits += wait;
	atomic64_inc(&resource->granted);
	torture_granted(resource, user, own->exclusive);
	torture_again(user, own);
	return true;
}

static void torture_convert(struct torture_resource_user *user,
			    struct torture_ownership *own)
{
	struct torture_resource *resource = &torture_resources[own->which];

	if (!own->exclusive || torture_random(&user->random, 4))
		return;
	/* Others may be granted before the conversion has returned. */
	atomic_inc(&resource->shared_owners);
	torture_let_go(resource, user, true);
	own->exclusive = false;
	ex_convert_exclusive_to_shared_lite(&resource->resource);
	user->conversions++;
	torture_again(user, own);
}

/* Leave it to the keeper; whether it could be. */
static bool torture_hand_over(struct torture_resource_user *user,
			      struct torture_ownership *own)
{
	struct torture_resource *resource = &torture_resources[own->which];
	struct torture_handed *handed = &user->handed[own->which];

	/* Acquire; pairs with the keeper's release of what was there before. */
	if (torture_random(&user->random, 8) || atomic_read_acquire(&handed->count))
		return false;
	handed->exclusive = own->exclusive;
	if (own->exclusive)
		WRITE_ONCE(resource->owner, handed);
	ex_set_resource_owner_pointer(&resource->resource, handed);
	user->pointers++;
	/* Release; pairs with the keeper's acquire. */
	atomic_set_release(&handed->count, own->count);
	return true;
}

static void torture_release_all(struct torture_resource_user *user,
				struct torture_ownership *own)
{
	struct torture_resource *resource = &torture_resources[own->which];

	while (own->count) {
		if (own->count == 1)
			torture_let_go(resource, user, own->exclusive);
		atomic64_inc(&resource->released);
		own->count--;
		/* The same by another name. */
		if (torture_random(&user->random, 4))
			ex_release_resource_lite(&resource->resource);
		else
			ex_release_resource_for_thread_lite(&resource->resource,
							    ex_get_current_resource_thread());
	}
}

static void torture_resource_nest(struct torture_resource_user *user)
{
	struct torture_ownership owned[TORTURE_LOCKS_MAX];
	/* All of them, but without waiting: lockdep has room for so many chains. */
	bool wide = !torture_random(&user->random, 16);
	int most = wide ? torture.locks : min(torture.nest, torture.locks);
	int i, count = 0;

	for (i = 0; i < torture.locks && count < most; i++) {
		if (!wide && torture_random(&user->random, torture.locks) >= most)
			continue;
		if (torture_own_resource(user, i, !wide && torture_random(&user->random, 4),
					 &owned[count]))
			count++;
	}
	for (i = 0; i < count; i++)
		torture_convert(user, &owned[i]);

	if (torture.hold_us)
		udelay(torture_random(&user->random, torture.hold_us + 1));
	if (!torture_random(&user->random, 50))
		schedule_timeout_uninterruptible(1);
	/* Interruptibly: not the owner is what hangs, but who waits for it. */
	if (count && torture.stall_ms && !atomic_xchg(&torture_stalled, 1))
		schedule_timeout_interruptible(msecs_to_jiffies(torture.stall_ms));

	for (i = count - 1; i > 0; i--) {
		int other = torture_random(&user->random, i + 1);

		swap(owned[i], owned[other]);
	}
	for (i = 0; i < count; i++)
		if (!torture_hand_over(user, &owned[i]))
			torture_release_all(user, &owned[i]);
	user->nests++;
}

static int torture_resource_thread(void *data)
{
	struct torture_resource_user *user = data;

	do {
		torture_resource_nest(user);
		if (!torture_random(&user->random, 100))
			schedule_timeout_interruptible(1);
		cond_resched();
	} while (!READ_ONCE(torture_resources_stopping) &&
		 torture_random(&user->random, 500));
	/* Not to return into a module that may be gone. */
	kthread_complete_and_exit(&user->ended, 0);
}

/*
 * In the name of the interrupted thread, which may own the resource itself, or be
 * about to: then this is one more of its acquisitions.
 */
static void torture_resource_softirq(struct torture_resource_user *user)
{
	int which = torture_random(&user->random, torture.locks);
	struct torture_resource *resource = &torture_resources[which];
	bool exclusive = !torture_random(&user->random, 3);
	bool again = ex_is_resource_acquired_shared_lite(&resource->resource);

	if (!torture_try_or_wait(user, which, exclusive, false))
		return;
	atomic64_inc(&resource->granted);
	if (!again) {
		torture_granted(resource, user, exclusive);
		torture_let_go(resource, user, exclusive);
	}
	atomic64_inc(&resource->released);
	ex_release_resource_lite(&resource->resource);
	user->nests++;
}

static enum hrtimer_restart torture_resource_timer(struct hrtimer *timer)
{
	struct torture_resource_user *user =
		container_of(timer, struct torture_resource_user, timer);

	if (READ_ONCE(torture_resources_stopping))
		return HRTIMER_NORESTART;
	torture_resource_softirq(user);
	hrtimer_forward_now(timer, ns_to_ktime((torture.interval_us / 2 +
						torture_random(&user->random,
							       torture.interval_us)) *
					       NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static void torture_start_resource_timer(void *data)
{
	struct torture_resource_user *user = data;

	hrtimer_start(&user->timer, ns_to_ktime(torture.interval_us * NSEC_PER_USEC),
		      HRTIMER_MODE_REL_PINNED_SOFT);
}

/* Release what users have put under owner pointers. */
static void torture_take_handed(void)
{
	int i, j, count;

	for (i = 0; i < torture.threads; i++) {
		for (j = 0; j < torture.locks; j++) {
			struct torture_handed *handed = &torture_resource_users[i].handed[j];
			struct torture_resource *resource = &torture_resources[j];

			/* Acquire; pairs with torture_hand_over(). */
			count = atomic_read_acquire(&handed->count);
			if (!count)
				continue;
			while (count--) {
				if (!count)
					torture_let_go(resource, handed, handed->exclusive);
				atomic64_inc(&resource->released);
				ex_release_resource_for_thread_lite(&resource->resource,
								    (unsigned long)handed | 3);
			}
			/* Release; pairs with torture_hand_over(). */
			atomic_set_release(&handed->count, 0);
		}
	}
}

static int torture_start_resource_thread(int i)
{
	struct torture_resource_user *user = &torture_resource_users[i];
	struct task_struct *task;

	reinit_completion(&user->ended);
	task = kthread_run(torture_resource_thread, user, "ntklog_torture/%d", i);
	if (IS_ERR(task)) {
		complete(&user->ended);
		return PTR_ERR(task);
	}
	return 0;
}

/* Some that come and go while others look at all that are live. */
static void torture_renew(void)
{
	struct eresource *resource = kmalloc(sizeof(*resource), GFP_KERNEL);

	if (!resource)
		return;
	ex_initialize_resource_lite(resource);
	if (!ex_acquire_resource_exclusive_lite(resource, true) ||
	    ex_reinitialize_resource_lite(resource))
		torture_fail("a new resource cannot be acquired and reinitialised");
	if (ex_delete_resource_lite(resource))
		torture_fail("a resource that nobody owns cannot be deleted");
	kfree(resource);
	torture_renewed++;
}

static void torture_restart_threads(void)
{
	int i;

	mutex_lock(&torture_restart_mutex);
	for (i = 0; i < torture.threads && !torture_resources_stopping; i++) {
		if (!completion_done(&torture_resource_users[i].ended))
			continue;
		torture_resource_users[i].exits++;
		torture_start_resource_thread(i);
	}
	mutex_unlock(&torture_restart_mutex);
}

static int torture_keeper(void *data)
{
	while (!kthread_should_stop()) {
		torture_take_handed();
		torture_renew();
		torture_restart_threads();
		schedule_timeout_interruptible(1);
	}
	torture_take_handed();
	return 0;
}

static void torture_end_resource_threads(void)
{
	unsigned long end = jiffies + TORTURE_PATIENCE;
	int i;

	mutex_lock(&torture_restart_mutex);
	WRITE_ONCE(torture_resources_stopping, true);
	mutex_unlock(&torture_restart_mutex);
	for (i = 0; i < torture.threads; i++) {
		struct torture_resource_user *user = &torture_resource_users[i];

		if (!wait_for_completion_timeout(&user->ended,
						 time_before(jiffies, end) ?
						 end - jiffies : 1)) {
			torture_fail("user %d waits for resource %d and is not served",
				     i, READ_ONCE(user->waits_for));
			wait_for_completion(&user->ended);
		}
	}
	for (i = torture.threads; i < torture.threads + torture_timers; i++)
		hrtimer_cancel(&torture_resource_users[i].timer);
}

/**
 * torture_stop_resources() - let all users come to their end
 *
 * Context: thread; waits for them.
 */
void torture_stop_resources(void)
{
	torture_end_resource_threads();
	if (torture_keeper_task)
		kthread_stop(torture_keeper_task);
	torture_keeper_task = NULL;
}

/**
 * torture_check_resources() - are all resources as they should be at the end?
 * @text: what has been done, to be told
 * @size: bytes there
 *
 * Context: after torture_stop_resources(). The resources are gone afterwards.
 * Return: acquisitions.
 */
u64 torture_check_resources(char *text, size_t size)
{
	struct torture_resource_user sum = {};
	u64 granted = 0, tries = 0;
	int i;

	for (i = 0; i < torture.locks; i++) {
		struct torture_resource *resource = &torture_resources[i];

		if (atomic64_read(&resource->granted) != atomic64_read(&resource->released))
			torture_fail("resource %d: %lld grants, %lld releases", i,
				     atomic64_read(&resource->granted),
				     atomic64_read(&resource->released));
		if (resource->owner || atomic_read(&resource->shared_owners))
			torture_fail("resource %d: the shadow is owned", i);
		if (ex_get_exclusive_waiter_count(&resource->resource) ||
		    ex_get_shared_waiter_count(&resource->resource))
			torture_fail("resource %d: somebody waits", i);
		if (ex_delete_resource_lite(&resource->resource))
			torture_fail("resource %d is owned", i);
		granted += atomic64_read(&resource->granted);
	}
	for (i = 0; i < torture.threads + torture_timers; i++) {
		const struct torture_resource_user *user = &torture_resource_users[i];

		if (i >= torture.threads)
			tries += user->nests;
		else
			sum.nests += user->nests;
		sum.waits += user->waits;
		sum.conversions += user->conversions;
		sum.pointers += user->pointers;
		sum.exits += user->exits;
		sum.deepest = max(sum.deepest, user->deepest);
	}
	if (torture.threads && (!sum.conversions || !sum.pointers))
		torture_fail("no conversion, or no owner pointer");
	snprintf(text, size,
		 "nests: %llu thread, %llu softirq; %llu waiting requests, %llu conversions, ",
		 sum.nests, tries, sum.waits, sum.conversions);
	snprintf(text + strlen(text), size - strlen(text),
		 "%llu owner pointers, %llu threads ended, deepest %llu, %llu came and went",
		 sum.pointers, sum.exits, sum.deepest, torture_renewed);
	kfree(torture_resource_users);
	kfree(torture_resources);
	return granted;
}

/**
 * torture_start_resources() - make resources and users, and let them go
 * @parameters: copied
 *
 * Context: thread, cpus_read_lock() held.
 * Return: 0 or a negative errno.
 */
int torture_start_resources(const struct torture_parameters *parameters)
{
	int err = 0, cpu, i;

	torture = *parameters;
	torture_timers = torture.softirqs * num_online_cpus();
	torture_resources = kcalloc(torture.locks, sizeof(*torture_resources),
				    GFP_KERNEL);
	torture_resource_users = kcalloc(torture.threads + torture_timers,
					 sizeof(*torture_resource_users), GFP_KERNEL);
	if (!torture_resources || !torture_resource_users) {
		kfree(torture_resources);
		kfree(torture_resource_users);
		return -ENOMEM;
	}
	for (i = 0; i < torture.locks; i++)
		__ex_initialize_resource_lite(&torture_resources[i].resource,
					      "torture_resource",
					      &torture_resource_keys[i]);
	for (i = 0; i < torture.threads + torture_timers; i++) {
		struct torture_resource_user *user = &torture_resource_users[i];

		prandom_seed_state(&user->random, torture.seed + i);
		init_completion(&user->ended);
		user->waits_for = -1;
		if (i >= torture.threads)
			continue;
		/* Until it is started it has ended. */
		complete(&user->ended);
		err = err ?: torture_start_resource_thread(i);
	}
	i = torture.threads;
	for_each_online_cpu(cpu) {
		int j;

		for (j = 0; j < torture.softirqs; j++, i++) {
			struct torture_resource_user *user = &torture_resource_users[i];

			hrtimer_setup(&user->timer, torture_resource_timer,
				      CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_SOFT);
			if (!err)
				smp_call_function_single(cpu, torture_start_resource_timer,
							 user, 1);
		}
	}
	if (!err) {
		torture_keeper_task = kthread_run(torture_keeper, NULL,
						  "ntklog_ftrace_guard");
		err = PTR_ERR_OR_ZERO(torture_keeper_task);
		if (err)
			torture_keeper_task = NULL;
	}
	return err;
}
