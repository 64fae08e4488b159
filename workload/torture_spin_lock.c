// SPDX-License-Identifier: GPL-2.0-only
/*
 * A user is a thread, a softirq timer or a hard interrupt timer. Each user holds one nest of
 * locks at a time. A user acquires the locks of a nest in the order of their numbers, so there is
 * no deadlock. If there are hard interrupt timers, they acquire only the last third of the locks,
 * and all users acquire these locks at SYNCH_LEVEL. The other locks are acquired at DISPATCH_LEVEL,
 * unless a nest that raises the IRQL once has locks of both kinds.
 */

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <ntklog/irql.h>

#include "../module/ground/compat.h"
#include "torture_common.h"
#include "torture_locks.h"
#include "torture_spin_lock.h"

enum torture_context { TORTURE_THREAD, TORTURE_SOFTIRQ, TORTURE_HARDIRQ, TORTURE_CONTEXTS };

static const char * const torture_context_names[TORTURE_CONTEXTS] = {
	"thread", "softirq", "hardirq",
};

/*
 * A thread or timer that acquires locks.
 *
 * @task: the thread; NULL for a timer
 * @timer: the timer, unless the user is a thread
 * @waiting_lock: lock that the user is about to acquire, or NULL; other users read it to
 *	check the order of grants
 * @waiting_handle: handle with which the user acquires @waiting_lock; other users read it
 * @acquired_counts: number of the user's acquisitions of each lock; written with that lock held,
 *	read by other users
 * @nest_count: number of nests acquired
 * @max_depth: number of locks in the largest nest
 */
struct torture_user {
	enum torture_context context;
	struct task_struct *task;
	struct hrtimer timer;
	int cpu;
	struct rnd_state random;
	struct torture_handle handles[TORTURE_LOCKS_MAX];
	struct torture_lock *waiting_lock;
	struct torture_handle *waiting_handle;
	u64 acquired_counts[TORTURE_LOCKS_MAX];
	u64 nest_count;
	unsigned int max_depth;
};

static struct torture_parameters torture;
static struct torture_lock torture_locks[TORTURE_LOCKS_MAX];
static struct lock_class_key torture_keys[TORTURE_LOCKS_MAX];
static struct torture_user *torture_users;
static int torture_user_count;
static const struct torture_ops *torture_ops;
static bool torture_stopping;

/*
 * Record which users wait in the queue of @lock before @self asks for the lock. @acquired_before
 * gets the number of acquisitions of each such user, and U64_MAX for other users. The lock must be
 * granted to the waiting users first. They write acquired_counts[] with the lock held.
 */
static void torture_record_queue(const struct torture_lock *lock,
				 const struct torture_user *self, u64 *acquired_before)
{
	int i;

	for (i = 0; i < torture_user_count; i++) {
		const struct torture_user *user = &torture_users[i];
		const struct torture_handle *handle;
		u64 acquired = READ_ONCE(user->acquired_counts[lock - torture_locks]);

		/*
		 * Read acquired_counts[] before the handle. If the number is old although the user
		 * is queued, the check only becomes weaker. The lock orders the users' writes.
		 */
		smp_rmb();
		acquired_before[i] = U64_MAX;
		handle = READ_ONCE(user->waiting_handle);
		if (user == self || !handle ||
		    READ_ONCE(user->waiting_lock) != lock ||
		    !torture_ops->is_queued(handle))
			continue;
		/*
		 * If waiting_lock and waiting_handle are unchanged, the user has waited for @lock
		 * since the first read. Pairs with smp_wmb() in torture_acquire().
		 */
		smp_rmb();
		if (READ_ONCE(user->waiting_lock) == lock &&
		    READ_ONCE(user->waiting_handle) == handle)
			acquired_before[i] = acquired;
	}
}

static void torture_check_order(const struct torture_lock *lock,
				const u64 *acquired_before)
{
	int i;

	for (i = 0; i < torture_user_count; i++)
		if (acquired_before[i] != U64_MAX &&
		    READ_ONCE(torture_users[i].acquired_counts[lock - torture_locks]) ==
		    acquired_before[i])
			torture_fail("lock %td was granted to a later waiter before user %d",
				     lock - torture_locks, i);
}

static void torture_record_owner(struct torture_user *user, struct torture_lock *lock)
{
	if (READ_ONCE(lock->owner))
		torture_fail("lock %td has two owners", lock - torture_locks);
	if (atomic_read(&lock->shared_owners))
		torture_fail("lock %td has a shared owner too", lock - torture_locks);
	WRITE_ONCE(lock->owner, user);
}

static void torture_record_or_convert_shared_owner(struct torture_user *user,
						   struct torture_lock *lock,
						   struct torture_handle *handle)
{
	if (READ_ONCE(lock->owner))
		torture_fail("lock %td has an exclusive owner too", lock - torture_locks);
	atomic_inc(&lock->shared_owners);
	if (!torture_ops->convert || torture_random(&user->random, 4))
		return;
	atomic_dec(&lock->shared_owners);
	if (torture_ops->convert(lock)) {
		handle->shared = false;
		torture_record_owner(user, lock);
	} else {
		atomic_inc(&lock->shared_owners);
	}
}

static void torture_acquire(struct torture_user *user, struct torture_lock *lock,
			    struct torture_handle *handle,
			    enum torture_style style, u64 *acquired_before)
{
	WRITE_ONCE(user->waiting_handle, handle);
	/*
	 * Publish the handle before the lock. Pairs with the second smp_rmb() in
	 * torture_record_queue().
	 */
	smp_wmb();
	WRITE_ONCE(user->waiting_lock, lock);
	if (acquired_before)
		torture_record_queue(lock, user, acquired_before);

	torture_ops->acquire(&user->random, lock, handle, style);

	if (handle->shared)
		torture_record_or_convert_shared_owner(user, lock, handle);
	else
		torture_record_owner(user, lock);
	atomic64_inc(&lock->acquisitions);
	WRITE_ONCE(user->acquired_counts[lock - torture_locks],
		   user->acquired_counts[lock - torture_locks] + 1);
	WRITE_ONCE(user->waiting_lock, NULL);
	if (acquired_before)
		torture_check_order(lock, acquired_before);
	if (ke_get_current_irql() < lock->irql)
		torture_fail("lock %td is owned at IRQL %u", lock - torture_locks,
			     ke_get_current_irql());
}

static void torture_release(struct torture_user *user, struct torture_lock *lock,
			    struct torture_handle *handle,
			    enum torture_style style)
{
	if (handle->shared) {
		atomic_dec(&lock->shared_owners);
	} else {
		if (READ_ONCE(lock->owner) != user)
			torture_fail("lock %td changed its owner", lock - torture_locks);
		WRITE_ONCE(lock->owner, NULL);
	}
	torture_ops->release(lock, handle, style);
	if (!torture_ops->is_handle_free(handle))
		torture_fail("lock %td left its handle in use", lock - torture_locks);
}

/* Choose @depth locks at random, numbered @first or higher, in the order of their numbers. */
static void torture_choose_locks(struct torture_user *user, int first, int depth,
				 struct torture_lock **nested)
{
	int i, chosen = 0;

	for (i = first; i < torture.lock_count && chosen < depth; i++)
		if (torture_random(&user->random, torture.lock_count - i) < depth - chosen)
			nested[chosen++] = &torture_locks[i];
}

/*
 * Choose a random order of release in which SYNCH_LEVEL locks come first. A release may wait
 * for the next waiter to link itself into the queue. An interrupt that waits for a SYNCH_LEVEL
 * lock may have interrupted this waiter, so a release of a DISPATCH_LEVEL lock with the
 * SYNCH_LEVEL lock still held could deadlock.
 */
static void torture_choose_release_order(struct torture_user *user,
					 struct torture_lock **nested, int *release_order,
					 int count)
{
	int i;

	for (i = 0; i < count; i++)
		release_order[i] = count - 1 - i;
	for (i = count - 1; i > 0; i--) {
		int other = torture_random(&user->random, i + 1);

		if (nested[release_order[i]]->irql == nested[release_order[other]]->irql)
			swap(release_order[i], release_order[other]);
	}
}

static int torture_first_hardirq_lock(void)
{
	return torture.lock_count - (torture.hardirqs ? DIV_ROUND_UP(torture.lock_count, 3) : 0);
}

static void torture_nest(struct torture_user *user, u64 *acquired_before)
{
	enum torture_style style = torture_random(&user->random, TORTURE_STYLE_COUNT);
	struct torture_lock *nested[TORTURE_LOCKS_MAX];
	int first = user->context == TORTURE_HARDIRQ ?
		    torture_first_hardirq_lock() : 0;
	int depth_max = user->context == TORTURE_THREAD ? torture.nest : 2;
	int depth = 1 + torture_random(&user->random, min(depth_max, torture.lock_count - first));
	int release_order[TORTURE_LOCKS_MAX];
	u8 irql = ke_get_current_irql(), old_irql = irql;
	int i;

	if (!torture.out_of_order && style == TORTURE_AT_LEVEL)
		style = TORTURE_RAISING;
	torture_choose_locks(user, first, depth, nested);
	if (style == TORTURE_AT_LEVEL)
		ke_raise_irql(max(irql, nested[depth - 1]->irql), &old_irql);
	for (i = 0; i < depth; i++)
		torture_acquire(user, nested[i], &user->handles[i], style, acquired_before);

	if (torture.hold_us)
		udelay(torture_random(&user->random, torture.hold_us + 1));

	if (style == TORTURE_AT_LEVEL) {
		torture_choose_release_order(user, nested, release_order, depth);
		for (i = 0; i < depth; i++)
			torture_release(user, nested[release_order[i]],
					&user->handles[release_order[i]], style);
		ke_lower_irql(old_irql);
	} else {
		for (i = depth - 1; i >= 0; i--)
			torture_release(user, nested[i], &user->handles[i], style);
	}

	if (ke_get_current_irql() != irql)
		torture_fail("IRQL %u before, %u after (%s)", irql,
			     ke_get_current_irql(),
			     torture_context_names[user->context]);
	user->nest_count++;
	user->max_depth = max_t(unsigned int, user->max_depth, depth);
}

static int torture_thread(void *data)
{
	struct torture_user *user = data;
	u64 *acquired_before = kcalloc(torture_user_count, sizeof(*acquired_before), GFP_KERNEL);

	if (!acquired_before)
		torture_fail("no memory for a thread");
	while (!kthread_should_stop()) {
		if (acquired_before)
			torture_nest(user, torture_ops->is_queued ? acquired_before : NULL);
		/* Sleep sometimes, so that the locks also become uncontended. */
		if (!acquired_before || !torture_random(&user->random, 200))
			schedule_timeout_interruptible(1);
		cond_resched();
	}
	kfree(acquired_before);
	return 0;
}

static enum hrtimer_restart torture_timer(struct hrtimer *timer)
{
	struct torture_user *user = container_of(timer, struct torture_user, timer);

	if (READ_ONCE(torture_stopping))
		return HRTIMER_NORESTART;
	torture_nest(user, NULL);
	torture_forward_timer(timer, torture.interval_us, &user->random);
	return HRTIMER_RESTART;
}

static enum hrtimer_mode torture_timer_mode(const struct torture_user *user)
{
	return user->context == TORTURE_HARDIRQ ? HRTIMER_MODE_REL_PINNED_HARD :
						  HRTIMER_MODE_REL_PINNED_SOFT;
}

static void torture_start_user_timer(void *data)
{
	struct torture_user *user = data;

	torture_start_timer(&user->timer, torture.interval_us, torture_timer_mode(user));
}

static void torture_check_totals(u64 *nest_counts, u64 *acquisitions,
				 unsigned int *max_depth)
{
	int i, j;

	for (i = 0; i < torture.lock_count; i++) {
		const struct torture_lock *lock = &torture_locks[i];
		u64 acquired = 0;

		for (j = 0; j < torture_user_count; j++)
			acquired += torture_users[j].acquired_counts[i];
		if (acquired != atomic64_read(&lock->acquisitions))
			torture_fail("lock %d: %llu acquisitions, the users count %llu",
				     i, atomic64_read(&lock->acquisitions), acquired);
		if (!torture_ops->is_lock_free(lock))
			torture_fail("lock %d is not free", i);
		*acquisitions += acquired;
	}
	for (j = 0; j < torture_user_count; j++) {
		nest_counts[torture_users[j].context] += torture_users[j].nest_count;
		*max_depth = max(*max_depth, torture_users[j].max_depth);
	}
}

/**
 * torture_stop_spin_locks() - stop all users and wait until they have ended
 *
 * Context: task.
 */
void torture_stop_spin_locks(void)
{
	int i;

	WRITE_ONCE(torture_stopping, true);
	for (i = 0; i < torture_user_count; i++) {
		if (torture_users[i].task)
			kthread_stop(torture_users[i].task);
		else if (torture_users[i].context != TORTURE_THREAD)
			hrtimer_cancel(&torture_users[i].timer);
	}
}

/**
 * torture_check_spin_locks() - check the locks at the end of the test, and free the users
 * @text: buffer for a summary of the test
 * @size: size of @text, bytes
 *
 * Context: task, after torture_stop_spin_locks().
 * Return: number of acquisitions.
 */
u64 torture_check_spin_locks(char *text, size_t size)
{
	u64 nest_counts[TORTURE_CONTEXTS] = {};
	u64 acquisitions = 0;
	unsigned int max_depth = 0;

	torture_check_totals(nest_counts, &acquisitions, &max_depth);
	snprintf(text, size,
		 "nests: %llu thread, %llu softirq, %llu hardirq, deepest %u, no two owners, %s",
		 nest_counts[TORTURE_THREAD], nest_counts[TORTURE_SOFTIRQ],
		 nest_counts[TORTURE_HARDIRQ], max_depth, torture_ops->is_queued ?
		 "first come first served" : "no order promised");
	kfree(torture_users);
	return acquisitions;
}

static void __init torture_add_users(enum torture_context context, int count,
				     int cpu)
{
	for (; count > 0; count--) {
		struct torture_user *user = &torture_users[torture_user_count++];

		user->context = context;
		user->cpu = cpu;
		prandom_seed_state(&user->random, torture.seed + torture_user_count);
		if (context == TORTURE_THREAD)
			continue;
		hrtimer_setup(&user->timer, torture_timer, CLOCK_MONOTONIC,
			      torture_timer_mode(user));
	}
}

static int __init torture_start_users(void)
{
	int i;

	for (i = 0; i < torture_user_count; i++) {
		struct torture_user *user = &torture_users[i];
		struct task_struct *task;

		if (user->context != TORTURE_THREAD) {
			smp_call_function_single(user->cpu, torture_start_user_timer, user, 1);
			continue;
		}
		task = kthread_run(torture_thread, user, "ntklog_torture/%d", i);
		if (IS_ERR(task))
			return PTR_ERR(task);
		user->task = task;
	}
	return 0;
}

static void __init torture_init_locks(void)
{
	int i;

	for (i = 0; i < torture.lock_count; i++) {
		torture_locks[i].irql = i >= torture_first_hardirq_lock() ?
					SYNCH_LEVEL : DISPATCH_LEVEL;
		/*
		 * Numbered locks exist after the test, and lockdep remembers the IRQL at which each
		 * was held. Use the highest numbers for the SYNCH_LEVEL locks.
		 */
		torture_locks[i].number = i >= torture_first_hardirq_lock() ?
			LOCK_QUEUE_MAXIMUM_LOCK - (torture.lock_count - i) : i;
		torture_ops->init(&torture_locks[i], &torture_keys[i]);
	}
}

/**
 * torture_start_spin_locks() - initialize the locks and start all users
 * @parameters: parameters, copied
 * @ops: type of the locks
 *
 * Context: task, cpus_read_lock() held.
 * Return: 0, or a negative errno if no user runs.
 */
int __init torture_start_spin_locks(const struct torture_parameters *parameters,
				    const struct torture_ops *ops)
{
	int cpu, err;

	torture = *parameters;
	torture_ops = ops;
	torture_users = kcalloc(TORTURE_USERS_MAX, sizeof(*torture_users), GFP_KERNEL);
	if (!torture_users)
		return -ENOMEM;
	torture_init_locks();
	torture_add_users(TORTURE_THREAD, torture.threads, -1);
	for_each_online_cpu(cpu) {
		torture_add_users(TORTURE_SOFTIRQ, torture.softirqs, cpu);
		torture_add_users(TORTURE_HARDIRQ, torture.hardirqs, cpu);
	}
	err = torture_start_users();
	if (err) {
		torture_stop_spin_locks();
		kfree(torture_users);
	}
	return err;
}
