// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads acquire a few resources at a time; at random a thread tries to acquire all, or exits and
 * is replaced. Timers try to acquire in softirqs, on behalf of the interrupted thread. The janitor
 * thread releases resources that have an owner pointer, starts new threads in place of those that
 * have exited, and creates and deletes further resources.
 *
 * Threads wait for resources in the order of their numbers, so there is no deadlock.
 */

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

#include "../module/ground/compat.h"
#include "torture_common.h"
#include "torture_resource.h"
#include "torture_shadow.h"

/* Maximum recursion. The resource's state word cannot count so many. */
#define TORTURE_RECURSION	20

/* Maximum time until all threads have ended, jiffies. */
#define TORTURE_END_TIMEOUT	(60 * HZ)

/*
 * A resource that a user has left to the janitor. The address of the job is the owner pointer.
 *
 * @releases_due: number of releases that the janitor has to make. The user sets the number,
 *	which publishes @exclusive; the janitor resets it to 0
 */
struct torture_janitor_job {
	atomic_t releases_due;
	bool exclusive;
};

/*
 * @ended: completed when the thread ends
 * @timer: the timer, unless the user is a thread
 * @janitor_jobs: one for each resource
 * @awaited_resource: number of the resource for which the user waits, or -1; read at the end
 * @nest_count: number of nests that a thread has acquired, or of acquisitions of a timer
 * @wait_count: number of acquisitions that were allowed to wait
 * @max_depth: largest number of acquisitions of one resource
 */
struct torture_resource_user {
	struct completion ended;
	struct hrtimer timer;
	struct rnd_state random;
	struct torture_janitor_job janitor_jobs[TORTURE_LOCKS_MAX];
	int awaited_resource;
	u64 nest_count;
	u64 wait_count;
	u64 conversion_count;
	u64 pointer_set_count;
	u64 max_depth;
	u64 exit_count;
};

/* @count: number of acquisitions to be released */
struct torture_held_resource {
	int number;
	bool exclusive;
	u32 count;
};

static struct torture_parameters torture;
static struct torture_resource *torture_resources;
static struct lock_class_key torture_resource_keys[TORTURE_LOCKS_MAX];
static struct torture_resource_user *torture_resource_users;
static int torture_timer_count;
static struct task_struct *torture_janitor_task;
static bool torture_resources_stopping;
/* Held to set torture_resources_stopping, after which no thread is replaced. */
static DEFINE_MUTEX(torture_restart_mutex);
/* Written by the janitor alone. */
static u64 torture_renewed_resource_count;
/* Set to 1 by the first thread that sleeps for stall_ms. */
static atomic_t torture_stalled = ATOMIC_INIT(0);

typedef bool (*torture_acquire_t)(struct eresource *resource, bool wait);

static const torture_acquire_t torture_acquire_shared[] = {
	ex_acquire_resource_shared_lite,
	ex_acquire_shared_starve_exclusive,
	ex_acquire_shared_wait_for_exclusive,
};

static bool torture_try_or_wait(struct torture_resource_user *user, int number,
				bool exclusive, bool wait)
{
	struct eresource *resource = &torture_resources[number].resource;
	u32 variant_index = torture_random(&user->random, ARRAY_SIZE(torture_acquire_shared));
	bool granted;

	WRITE_ONCE(user->awaited_resource, wait ? number : -1);
	if (!exclusive)
		granted = torture_acquire_shared[variant_index](resource, wait);
	else if (wait || variant_index)
		granted = ex_acquire_resource_exclusive_lite(resource, wait);
	else
		granted = ex_try_to_acquire_resource_exclusive_lite(resource);
	WRITE_ONCE(user->awaited_resource, -1);
	if (wait && !granted)
		torture_fail("resource %d was not granted to a waiting user", number);
	return granted;
}

/* Acquire a held resource recursively, and check the number of acquisitions. */
static void torture_recurse(struct torture_resource_user *user, struct torture_held_resource *hold)
{
	struct torture_resource *resource = &torture_resources[hold->number];
	u32 times = torture_random(&user->random, 4) ? 0 :
		    torture_random(&user->random, TORTURE_RECURSION);

	while (times--) {
		bool exclusive = !torture_random(&user->random, 3);
		u32 variant_index = torture_random(&user->random,
						   ARRAY_SIZE(torture_acquire_shared));
		bool granted;

		if (exclusive && !hold->exclusive) {
			if (ex_try_to_acquire_resource_exclusive_lite(&resource->resource))
				torture_fail("resource %d: exclusive to a shared owner",
					     hold->number);
			continue;
		}
		granted = exclusive ?
			ex_acquire_resource_exclusive_lite(&resource->resource, true) :
			torture_acquire_shared[variant_index](&resource->resource, false);
		/* Only a shared owner that asks for WaitForExclusive may be refused. */
		if (!granted && (hold->exclusive || variant_index != 2))
			torture_fail("resource %d is refused to an owner", hold->number);
		if (granted) {
			hold->count++;
			atomic64_inc(&resource->granted);
		}
	}
	if (ex_is_resource_acquired_shared_lite(&resource->resource) != hold->count)
		torture_fail("resource %d is owned %u times, not %u", hold->number,
			     ex_is_resource_acquired_shared_lite(&resource->resource),
			     hold->count);
	if (ex_is_resource_acquired_exclusive_lite(&resource->resource) != hold->exclusive)
		torture_fail("resource %d is not owned in the mode that was granted",
			     hold->number);
	user->max_depth = max_t(u64, user->max_depth, hold->count);
}

static bool torture_acquire_resource(struct torture_resource_user *user, int number,
				     bool wait, struct torture_held_resource *hold)
{
	struct torture_resource *resource = &torture_resources[number];

	hold->number = number;
	hold->exclusive = !torture_random(&user->random, 3);
	hold->count = 1;
	if (!torture_try_or_wait(user, number, hold->exclusive, wait))
		return false;
	user->wait_count += wait;
	atomic64_inc(&resource->granted);
	torture_set_shadow(resource, user, hold->exclusive);
	torture_recurse(user, hold);
	return true;
}

static void torture_convert(struct torture_resource_user *user, struct torture_held_resource *hold)
{
	struct torture_resource *resource = &torture_resources[hold->number];

	if (!hold->exclusive || torture_random(&user->random, 4))
		return;
	/* Change the shadow first: other users may be granted before the conversion returns. */
	atomic_inc(&resource->shared_owners);
	torture_clear_shadow(resource, user, true);
	hold->exclusive = false;
	ex_convert_exclusive_to_shared_lite(&resource->resource);
	user->conversion_count++;
	torture_recurse(user, hold);
}

/* Set an owner pointer or not, at random. Returns true if the janitor will release the resource. */
static bool torture_leave_to_janitor(struct torture_resource_user *user,
				     struct torture_held_resource *hold)
{
	struct torture_resource *resource = &torture_resources[hold->number];
	struct torture_janitor_job *job = &user->janitor_jobs[hold->number];

	/* Pairs with atomic_set_release() in torture_do_janitor_jobs(). */
	if (torture_random(&user->random, 8) || atomic_read_acquire(&job->releases_due))
		return false;
	job->exclusive = hold->exclusive;
	if (hold->exclusive)
		WRITE_ONCE(resource->owner, job);
	ex_set_resource_owner_pointer(&resource->resource, job);
	user->pointer_set_count++;
	/* Publishes job->exclusive to torture_do_janitor_jobs(). */
	atomic_set_release(&job->releases_due, hold->count);
	return true;
}

static void torture_release_all(struct torture_resource_user *user,
				struct torture_held_resource *hold)
{
	struct torture_resource *resource = &torture_resources[hold->number];

	while (hold->count) {
		if (hold->count == 1)
			torture_clear_shadow(resource, user, hold->exclusive);
		atomic64_inc(&resource->released);
		hold->count--;
		if (torture_random(&user->random, 4))
			ex_release_resource_lite(&resource->resource);
		else
			ex_release_resource_for_thread_lite(&resource->resource,
							    ex_get_current_resource_thread());
	}
}

static void torture_resource_nest(struct torture_resource_user *user)
{
	struct torture_held_resource holds[TORTURE_LOCKS_MAX];
	/* Do not wait when acquiring all resources: the number of lockdep's chains is limited. */
	bool acquires_all = !torture_random(&user->random, 16);
	int count_max = acquires_all ? torture.lock_count : min(torture.nest, torture.lock_count);
	int i, count = 0;

	for (i = 0; i < torture.lock_count && count < count_max; i++) {
		if (!acquires_all && torture_random(&user->random, torture.lock_count) >= count_max)
			continue;
		if (torture_acquire_resource(user, i,
					     !acquires_all && torture_random(&user->random, 4),
					     &holds[count]))
			count++;
	}
	for (i = 0; i < count; i++)
		torture_convert(user, &holds[i]);

	if (torture.hold_us)
		udelay(torture_random(&user->random, torture.hold_us + 1));
	if (!torture_random(&user->random, 50))
		schedule_timeout_uninterruptible(1);
	/* Sleep interruptibly, so that khungtaskd reports the waiters and not the owner. */
	if (count && torture.stall_ms && !atomic_xchg(&torture_stalled, 1))
		schedule_timeout_interruptible(msecs_to_jiffies(torture.stall_ms));

	for (i = count - 1; i > 0; i--) {
		int other = torture_random(&user->random, i + 1);

		swap(holds[i], holds[other]);
	}
	for (i = 0; i < count; i++)
		if (!torture_leave_to_janitor(user, &holds[i]))
			torture_release_all(user, &holds[i]);
	user->nest_count++;
}

static int torture_resource_thread(void *data)
{
	struct torture_resource_user *user = data;

	do {
		torture_resource_nest(user);
		if (!torture_random(&user->random, 100))
			schedule_timeout_interruptible(1);
		cond_resched();
	} while (!READ_ONCE(torture_resources_stopping) && torture_random(&user->random, 500));
	/* The module may be unloaded before a return into it. */
	kthread_complete_and_exit(&user->ended, 0);
}

/*
 * If the interrupted thread holds the resource, the acquisition is recursive and does not change
 * the shadow.
 */
static void torture_resource_softirq(struct torture_resource_user *user)
{
	int number = torture_random(&user->random, torture.lock_count);
	struct torture_resource *resource = &torture_resources[number];
	bool exclusive = !torture_random(&user->random, 3);
	bool is_recursive = ex_is_resource_acquired_shared_lite(&resource->resource);

	if (!torture_try_or_wait(user, number, exclusive, false))
		return;
	atomic64_inc(&resource->granted);
	if (!is_recursive) {
		torture_set_shadow(resource, user, exclusive);
		torture_clear_shadow(resource, user, exclusive);
	}
	atomic64_inc(&resource->released);
	ex_release_resource_lite(&resource->resource);
	user->nest_count++;
}

static enum hrtimer_restart torture_resource_timer(struct hrtimer *timer)
{
	struct torture_resource_user *user =
		container_of(timer, struct torture_resource_user, timer);

	if (READ_ONCE(torture_resources_stopping))
		return HRTIMER_NORESTART;
	torture_resource_softirq(user);
	torture_forward_timer(timer, torture.interval_us, &user->random);
	return HRTIMER_RESTART;
}

static void torture_start_resource_timer(void *data)
{
	struct torture_resource_user *user = data;

	torture_start_timer(&user->timer, torture.interval_us, HRTIMER_MODE_REL_PINNED_SOFT);
}

static void torture_do_janitor_jobs(void)
{
	int i, j, count;

	for (i = 0; i < torture.threads; i++) {
		for (j = 0; j < torture.lock_count; j++) {
			struct torture_janitor_job *job =
				&torture_resource_users[i].janitor_jobs[j];
			struct torture_resource *resource = &torture_resources[j];

			/* Pairs with atomic_set_release() in torture_leave_to_janitor(). */
			count = atomic_read_acquire(&job->releases_due);
			if (!count)
				continue;
			while (count--) {
				if (!count)
					torture_clear_shadow(resource, job, job->exclusive);
				atomic64_inc(&resource->released);
				ex_release_resource_for_thread_lite(&resource->resource,
								    (unsigned long)job | 3);
			}
			/* Pairs with atomic_read_acquire() in torture_leave_to_janitor(). */
			atomic_set_release(&job->releases_due, 0);
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

/* Create and delete a resource, perhaps while a reader of debugfs walks the live resources. */
static void torture_create_and_delete_resource(void)
{
	struct eresource *resource = kmalloc(sizeof(*resource), GFP_KERNEL);

	if (!resource)
		return;
	ex_initialize_resource_lite(resource);
	if (!ex_acquire_resource_exclusive_lite(resource, true) ||
	    ex_reinitialize_resource_lite(resource))
		torture_fail("a new resource cannot be acquired and reinitialised");
	if (ex_delete_resource_lite(resource))
		torture_fail("a resource without an owner cannot be deleted");
	kfree(resource);
	torture_renewed_resource_count++;
}

static void torture_restart_threads(void)
{
	int i;

	mutex_lock(&torture_restart_mutex);
	for (i = 0; i < torture.threads && !torture_resources_stopping; i++) {
		if (!completion_done(&torture_resource_users[i].ended))
			continue;
		torture_resource_users[i].exit_count++;
		torture_start_resource_thread(i);
	}
	mutex_unlock(&torture_restart_mutex);
}

static int torture_janitor(void *data)
{
	while (!kthread_should_stop()) {
		torture_do_janitor_jobs();
		torture_create_and_delete_resource();
		torture_restart_threads();
		schedule_timeout_interruptible(1);
	}
	torture_do_janitor_jobs();
	return 0;
}

static void torture_end_resource_threads(void)
{
	unsigned long end = jiffies + TORTURE_END_TIMEOUT;
	int i;

	mutex_lock(&torture_restart_mutex);
	WRITE_ONCE(torture_resources_stopping, true);
	mutex_unlock(&torture_restart_mutex);
	for (i = 0; i < torture.threads; i++) {
		struct torture_resource_user *user = &torture_resource_users[i];

		if (!wait_for_completion_timeout(&user->ended, time_before(jiffies, end) ?
						 end - jiffies : 1)) {
			torture_fail("user %d waits for resource %d and is not granted it",
				     i, READ_ONCE(user->awaited_resource));
			wait_for_completion(&user->ended);
		}
	}
	for (i = torture.threads; i < torture.threads + torture_timer_count; i++)
		hrtimer_cancel(&torture_resource_users[i].timer);
}

/**
 * torture_stop_resources() - stop all users and wait until they have ended
 *
 * Context: task.
 */
void torture_stop_resources(void)
{
	torture_end_resource_threads();
	if (torture_janitor_task)
		kthread_stop(torture_janitor_task);
	torture_janitor_task = NULL;
}

/**
 * torture_check_resources() - check the resources at the end of the test, and free resources and
 *	users
 * @text: buffer for a summary of the test
 * @size: size of @text, bytes
 *
 * Context: task, after torture_stop_resources().
 * Return: number of acquisitions.
 */
u64 torture_check_resources(char *text, size_t size)
{
	struct torture_resource_user sum = {};
	u64 granted = 0, tries = 0;
	int i;

	for (i = 0; i < torture.lock_count; i++) {
		struct torture_resource *resource = &torture_resources[i];

		if (atomic64_read(&resource->granted) != atomic64_read(&resource->released))
			torture_fail("resource %d: %lld grants, %lld releases", i,
				     atomic64_read(&resource->granted),
				     atomic64_read(&resource->released));
		if (resource->owner || atomic_read(&resource->shared_owners))
			torture_fail("resource %d: the shadow is owned", i);
		if (ex_get_exclusive_waiter_count(&resource->resource) ||
		    ex_get_shared_waiter_count(&resource->resource))
			torture_fail("resource %d has a waiter", i);
		if (ex_delete_resource_lite(&resource->resource))
			torture_fail("resource %d is owned", i);
		granted += atomic64_read(&resource->granted);
	}
	for (i = 0; i < torture.threads + torture_timer_count; i++) {
		const struct torture_resource_user *user = &torture_resource_users[i];

		if (i >= torture.threads)
			tries += user->nest_count;
		else
			sum.nest_count += user->nest_count;
		sum.wait_count += user->wait_count;
		sum.conversion_count += user->conversion_count;
		sum.pointer_set_count += user->pointer_set_count;
		sum.exit_count += user->exit_count;
		sum.max_depth = max(sum.max_depth, user->max_depth);
	}
	if (torture.threads && (!sum.conversion_count || !sum.pointer_set_count))
		torture_fail("no conversion, or no owner pointer");
	snprintf(text, size,
		 "nests: %llu thread, %llu softirq; %llu waiting requests, %llu conversions, ",
		 sum.nest_count, tries, sum.wait_count, sum.conversion_count);
	snprintf(text + strlen(text), size - strlen(text),
		 "%llu owner pointers, %llu threads ended, deepest %llu, %llu came and went",
		 sum.pointer_set_count, sum.exit_count, sum.max_depth,
		 torture_renewed_resource_count);
	kfree(torture_resource_users);
	kfree(torture_resources);
	return granted;
}

/**
 * torture_start_resources() - initialize the resources and start all users
 * @parameters: parameters, copied
 *
 * Context: task, cpus_read_lock() held.
 * Return: 0, or a negative errno if no user runs.
 */
int torture_start_resources(const struct torture_parameters *parameters)
{
	int err = 0, cpu, i;
	char text[240];

	torture = *parameters;
	torture_timer_count = torture.softirqs * num_online_cpus();
	torture_resources = kcalloc(torture.lock_count, sizeof(*torture_resources), GFP_KERNEL);
	torture_resource_users = kcalloc(torture.threads + torture_timer_count,
					 sizeof(*torture_resource_users), GFP_KERNEL);
	if (!torture_resources || !torture_resource_users) {
		kfree(torture_resources);
		kfree(torture_resource_users);
		return -ENOMEM;
	}
	for (i = 0; i < torture.lock_count; i++) {
		torture_resources[i].number = i;
		__ex_initialize_resource_lite(&torture_resources[i].resource,
					      "torture_resource",
					      &torture_resource_keys[i]);
	}
	for (i = 0; i < torture.threads + torture_timer_count; i++) {
		struct torture_resource_user *user = &torture_resource_users[i];

		prandom_seed_state(&user->random, torture.seed + i);
		init_completion(&user->ended);
		user->awaited_resource = -1;
		if (i >= torture.threads)
			continue;
		/* If no thread is started for the user, the user counts as ended. */
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
		torture_janitor_task = kthread_run(torture_janitor, NULL,
						   "ntklog_janitor");
		err = PTR_ERR_OR_ZERO(torture_janitor_task);
		if (err)
			torture_janitor_task = NULL;
	}
	if (err) {
		torture_stop_resources();
		torture_check_resources(text, sizeof(text));
	}
	return err;
}
