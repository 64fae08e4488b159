// SPDX-License-Identifier: GPL-2.0-only
/*
 * ntklog_torture: hard work for NT's locks, and a verdict.
 *
 * In the manner of Linux' locktorture: threads, softirqs and hard interrupts
 * take and release a few locks for a while, in nests and out of order, and
 * check at each step what the locks promise. Nothing is measured here. It ends
 * by itself after `duration` seconds, or at rmmod, with one line:
 *
 *	ntklog_torture: End of test: SUCCESS: ...
 *	ntklog_torture: End of test: FAILURE: why
 *
 * A user is a thread or a timer; each uses one nest of locks at a time. Locks
 * are numbered, and nests are taken upwards, so there is no deadlock. The first
 * ones are for threads and softirqs (DISPATCH_LEVEL), the last third, if there
 * are hard interrupts, is for them too and so taken at SYNCH_LEVEL by everybody.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include <ntklog/irql.h>

#include "../module/compat.h"
#include "torture.h"
#include "torture_locks.h"

#define torture_param(type, name, init, help)	\
	static type name = init;		\
	module_param(name, type, 0444);		\
	MODULE_PARM_DESC(name, help)

torture_param(int, threads, -1, "threads that take locks; -1: two for each processor");
torture_param(int, softirqs, 1, "timers in softirq on each processor");
torture_param(int, hardirqs, 1, "timers in hard interrupts on each processor");
torture_param(int, interval_us, 500, "time between two runs of a timer");
torture_param(int, locks, 6, "locks, 1 to 16");
torture_param(int, nest, 4, "most locks that a thread owns at once, 1 to the number of locks");
torture_param(int, hold_us, 5, "longest time that a nest of locks is held; 0: as short as can be");
torture_param(int, stall_ms, 0, "sleep of a thread, once, while it owns resources; 0: none");
torture_param(bool, out_of_order, true, "release half of the nests in random order");
torture_param(int, duration, 10, "seconds until the test ends by itself; 0: at rmmod");
torture_param(int, seed, 1, "of the random numbers");

static char *torture_type = "in_stack_queued";
module_param(torture_type, charp, 0444);
MODULE_PARM_DESC(torture_type, "which lock: in_stack_queued, queued, spin, ex, ex_exclusive, resource");

enum torture_context { TORTURE_THREAD, TORTURE_SOFTIRQ, TORTURE_HARDIRQ, TORTURE_CONTEXTS };

static const char * const torture_context_names[TORTURE_CONTEXTS] = {
	"thread", "softirq", "hardirq",
};

/*
 * @context: where it runs
 * @task: of a thread
 * @timer: of the others
 * @cpu: where the timer runs
 * @random: its own
 * @handles: one for each lock of its nest
 * @waiting_lock: what it is about to own; for others to look at
 * @waiting_handle: with which handle
 * @acquired: how often it has owned each lock; written by it, as the owner
 * @nests: how many nests it has taken
 * @deepest: the most locks in one
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
	u64 acquired[TORTURE_LOCKS_MAX];
	u64 nests;
	unsigned int deepest;
};

static struct torture_lock torture_locks[TORTURE_LOCKS_MAX];
static struct lock_class_key torture_keys[TORTURE_LOCKS_MAX];
static struct torture_user *torture_users;
static int torture_user_count;
static const struct torture_ops *torture_ops;
static bool torture_stopping;
static bool torture_ended;
static DEFINE_MUTEX(torture_end_mutex);

atomic_t torture_failures = ATOMIC_INIT(0);
char torture_failure[160];

/*
 * Who must own a lock before us, since they were queued before we asked: for
 * each user how often it had owned the lock then, or U64_MAX. A user writes
 * acquired[] as the owner, so that by our own turn we see it.
 */
static void torture_note_queue(const struct torture_lock *lock,
			       const struct torture_user *self, u64 *before)
{
	int i;

	for (i = 0; i < torture_user_count; i++) {
		const struct torture_user *user = &torture_users[i];
		const struct torture_handle *handle;
		u64 acquired = READ_ONCE(user->acquired[lock - torture_locks]);

		/* The count first: it may only be too old. */
		smp_rmb();
		before[i] = U64_MAX;
		handle = READ_ONCE(user->waiting_handle);
		if (user == self || !handle ||
		    READ_ONCE(user->waiting_lock) != lock ||
		    !torture_ops->is_queued(handle))
			continue;
		/* Still the same lock: then it was this one that it waits for. */
		smp_rmb();
		if (READ_ONCE(user->waiting_lock) == lock &&
		    READ_ONCE(user->waiting_handle) == handle)
			before[i] = acquired;
	}
}

static void torture_check_order(const struct torture_lock *lock,
				const u64 *before)
{
	int i;

	for (i = 0; i < torture_user_count; i++)
		if (before[i] != U64_MAX &&
		    READ_ONCE(torture_users[i].acquired[lock - torture_locks]) ==
		    before[i])
			torture_fail("lock %td was given to a later comer before user %d",
				     lock - torture_locks, i);
}

static void torture_own(struct torture_user *user, struct torture_lock *lock)
{
	if (READ_ONCE(lock->owner))
		torture_fail("lock %td has two owners", lock - torture_locks);
	if (atomic_read(&lock->shared_owners))
		torture_fail("lock %td has a shared owner too", lock - torture_locks);
	WRITE_ONCE(lock->owner, user);
}

static void torture_own_shared(struct torture_user *user, struct torture_lock *lock,
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
		torture_own(user, lock);
	} else {
		atomic_inc(&lock->shared_owners);
	}
}

static void torture_acquire(struct torture_user *user, struct torture_lock *lock,
			    struct torture_handle *handle,
			    enum torture_style style, u64 *before)
{
	WRITE_ONCE(user->waiting_handle, handle);
	/* is_queued() of the old lock must not be taken for the new one's. */
	smp_wmb();
	WRITE_ONCE(user->waiting_lock, lock);
	if (before)
		torture_note_queue(lock, user, before);

	torture_ops->acquire(&user->random, lock, handle, style);

	if (handle->shared)
		torture_own_shared(user, lock, handle);
	else
		torture_own(user, lock);
	atomic64_inc(&lock->acquisitions);
	WRITE_ONCE(user->acquired[lock - torture_locks],
		   user->acquired[lock - torture_locks] + 1);
	WRITE_ONCE(user->waiting_lock, NULL);
	if (before)
		torture_check_order(lock, before);
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

/* Choose a nest: so many of the locks from first on, upwards. */
static void torture_choose(struct torture_user *user, int first, int depth,
			   struct torture_lock **nested)
{
	int i, chosen = 0;

	for (i = first; i < locks && chosen < depth; i++)
		if (torture_random(&user->random, locks - i) < depth - chosen)
			nested[chosen++] = &torture_locks[i];
}

/*
 * Any order, but locks of interrupts first: a release may wait for a waiter that
 * is half-way in, and that one may have been interrupted by who waits for them.
 */
static void torture_release_order(struct torture_user *user,
				  struct torture_lock **nested, int *order,
				  int count)
{
	int i;

	for (i = 0; i < count; i++)
		order[i] = count - 1 - i;
	for (i = count - 1; i > 0; i--) {
		int other = torture_random(&user->random, i + 1);

		if (nested[order[i]]->irql == nested[order[other]]->irql)
			swap(order[i], order[other]);
	}
}

static int torture_first_hardirq_lock(void)
{
	return hardirqs ? locks - DIV_ROUND_UP(locks, 3) : locks;
}

/* Take a nest of locks, hold it, let it go. */
static void torture_nest(struct torture_user *user, u64 *before)
{
	enum torture_style style = torture_random(&user->random, TORTURE_STYLES);
	struct torture_lock *nested[TORTURE_LOCKS_MAX];
	int first = user->context == TORTURE_HARDIRQ ?
		    torture_first_hardirq_lock() : 0;
	int most = user->context == TORTURE_THREAD ? nest : 2;
	int depth = 1 + torture_random(&user->random, min(most, locks - first));
	int order[TORTURE_LOCKS_MAX];
	u8 irql = ke_get_current_irql(), old_irql = irql;
	int i;

	if (!out_of_order && style == TORTURE_AT_LEVEL)
		style = TORTURE_RAISING;
	torture_choose(user, first, depth, nested);
	if (style == TORTURE_AT_LEVEL)
		ke_raise_irql(max(irql, nested[depth - 1]->irql), &old_irql);
	for (i = 0; i < depth; i++)
		torture_acquire(user, nested[i], &user->handles[i], style, before);

	if (hold_us)
		udelay(torture_random(&user->random, hold_us + 1));

	if (style == TORTURE_AT_LEVEL) {
		torture_release_order(user, nested, order, depth);
		for (i = 0; i < depth; i++)
			torture_release(user, nested[order[i]],
					&user->handles[order[i]], style);
		ke_lower_irql(old_irql);
	} else {
		for (i = depth - 1; i >= 0; i--)
			torture_release(user, nested[i], &user->handles[i], style);
	}

	if (ke_get_current_irql() != irql)
		torture_fail("IRQL %u before, %u after (%s)", irql,
			     ke_get_current_irql(),
			     torture_context_names[user->context]);
	user->nests++;
	user->deepest = max_t(unsigned int, user->deepest, depth);
}

static int torture_thread(void *data)
{
	struct torture_user *user = data;
	u64 *before = kcalloc(torture_user_count, sizeof(*before), GFP_KERNEL);

	if (!before)
		torture_fail("no memory for a thread");
	while (!kthread_should_stop()) {
		if (before)
			torture_nest(user, torture_ops->is_queued ? before : NULL);
		/* Now and then the queues run empty. */
		if (!before || !torture_random(&user->random, 200))
			schedule_timeout_interruptible(1);
		cond_resched();
	}
	kfree(before);
	return 0;
}

static enum hrtimer_restart torture_timer(struct hrtimer *timer)
{
	struct torture_user *user = container_of(timer, struct torture_user, timer);

	if (READ_ONCE(torture_stopping))
		return HRTIMER_NORESTART;
	torture_nest(user, NULL);
	/* On average an interval apart, and never in step with each other. */
	hrtimer_forward_now(timer, ns_to_ktime((interval_us / 2 +
						torture_random(&user->random, interval_us)) *
					       NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static void torture_start_timer(void *data)
{
	struct torture_user *user = data;

	hrtimer_start(&user->timer, ns_to_ktime(interval_us * NSEC_PER_USEC),
		      user->context == TORTURE_HARDIRQ ?
		      HRTIMER_MODE_REL_PINNED_HARD : HRTIMER_MODE_REL_PINNED_SOFT);
}

static void torture_check_totals(u64 *nests, u64 *acquisitions,
				 unsigned int *deepest)
{
	int i, j;

	for (i = 0; i < locks; i++) {
		const struct torture_lock *lock = &torture_locks[i];
		u64 acquired = 0;

		for (j = 0; j < torture_user_count; j++)
			acquired += torture_users[j].acquired[i];
		if (acquired != atomic64_read(&lock->acquisitions))
			torture_fail("lock %d: %llu acquisitions, the users count %llu",
				     i, atomic64_read(&lock->acquisitions), acquired);
		if (!torture_ops->is_lock_free(lock))
			torture_fail("lock %d is not free", i);
		*acquisitions += acquired;
	}
	for (j = 0; j < torture_user_count; j++) {
		nests[torture_users[j].context] += torture_users[j].nests;
		*deepest = max(*deepest, torture_users[j].deepest);
	}
}

static void torture_stop_users(void)
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

/* What has been done, in words. Returns the acquisitions. */
static u64 torture_summary(char *text, size_t size)
{
	u64 nests[TORTURE_CONTEXTS] = {};
	u64 acquisitions = 0;
	unsigned int deepest = 0;

	torture_check_totals(nests, &acquisitions, &deepest);
	snprintf(text, size,
		 "nests: %llu thread, %llu softirq, %llu hardirq, deepest %u, no two owners, %s",
		 nests[TORTURE_THREAD], nests[TORTURE_SOFTIRQ],
		 nests[TORTURE_HARDIRQ], deepest, torture_ops->is_queued ?
		 "first come first served" : "no order promised");
	return acquisitions;
}

static void torture_end(void)
{
	u64 acquisitions;
	char text[240];

	mutex_lock(&torture_end_mutex);
	if (torture_ended)
		goto out;
	torture_ended = true;
	if (torture_ops) {
		torture_stop_users();
		acquisitions = torture_summary(text, sizeof(text));
	} else {
		torture_stop_resources();
		acquisitions = torture_check_resources(text, sizeof(text));
	}
	if (!acquisitions)
		torture_fail("no lock was acquired");
	if (atomic_read(&torture_failures))
		pr_alert("End of test: FAILURE: %s: %s (%d failures)\n",
			 torture_type, torture_failure,
			 atomic_read(&torture_failures));
	else
		pr_alert("End of test: SUCCESS: %s: %llu acquisitions, %s\n",
			 torture_type, acquisitions, text);
out:
	mutex_unlock(&torture_end_mutex);
}

static void torture_end_work(struct work_struct *work)
{
	torture_end();
}

static DECLARE_DELAYED_WORK(torture_work, torture_end_work);

static void __init torture_add_users(enum torture_context context, int count,
				     int cpu)
{
	for (; count > 0; count--) {
		struct torture_user *user = &torture_users[torture_user_count++];

		user->context = context;
		user->cpu = cpu;
		prandom_seed_state(&user->random, seed + torture_user_count);
		if (context == TORTURE_THREAD)
			continue;
		hrtimer_setup(&user->timer, torture_timer, CLOCK_MONOTONIC,
			      context == TORTURE_HARDIRQ ?
			      HRTIMER_MODE_REL_PINNED_HARD :
			      HRTIMER_MODE_REL_PINNED_SOFT);
	}
}

static int __init torture_start_users(void)
{
	int i;

	for (i = 0; i < torture_user_count; i++) {
		struct torture_user *user = &torture_users[i];
		struct task_struct *task;

		if (user->context != TORTURE_THREAD) {
			smp_call_function_single(user->cpu, torture_start_timer,
						 user, 1);
			continue;
		}
		task = kthread_run(torture_thread, user, "ntklog_torture/%d", i);
		if (IS_ERR(task))
			return PTR_ERR(task);
		user->task = task;
	}
	return 0;
}

static int __init torture_check_parameters(void)
{
	torture_ops = torture_find_type(torture_type);
	if (!torture_ops && strcmp(torture_type, "resource")) {
		pr_err("torture_type=%s is unknown\n", torture_type);
		return -EINVAL;
	}
	if (threads == -1)
		threads = 2 * num_online_cpus();
	if (threads < 0 || softirqs < 0 || hardirqs < 0 ||
	    threads + (softirqs + hardirqs) * (int)num_online_cpus() < 1 ||
	    threads > TORTURE_USERS_MAX || softirqs > 16 || hardirqs > 16 ||
	    threads + (softirqs + hardirqs) * (int)num_online_cpus() > TORTURE_USERS_MAX) {
		pr_err("threads=%d softirqs=%d hardirqs=%d are not 1 to %d users\n",
		       threads, softirqs, hardirqs, TORTURE_USERS_MAX);
		return -EINVAL;
	}
	if (locks < 1 || locks > TORTURE_LOCKS_MAX || nest < 1 || nest > locks) {
		pr_err("locks=%d is not 1 to %d, or nest=%d not 1 to that\n",
		       locks, TORTURE_LOCKS_MAX, nest);
		return -EINVAL;
	}
	if (hold_us < 0 || hold_us > 1000 || interval_us < 10 ||
	    interval_us > 1000000 || duration < 0 || duration > 86400) {
		pr_err("hold_us=%d is not 0 to 1000, interval_us=%d not 10 to 1000000, or duration=%d not 0 to 86400\n",
		       hold_us, interval_us, duration);
		return -EINVAL;
	}
	if (stall_ms < 0 || stall_ms > 60000) {
		pr_err("stall_ms=%d is not 0 to 60000\n", stall_ms);
		return -EINVAL;
	}
	return 0;
}

static void __init torture_init_locks(void)
{
	int i;

	for (i = 0; i < locks; i++) {
		torture_locks[i].irql = i >= torture_first_hardirq_lock() ?
					SYNCH_LEVEL : DISPATCH_LEVEL;
		/* Interrupts' from the top: numbered locks outlive a test. */
		torture_locks[i].number = i >= torture_first_hardirq_lock() ?
			LOCK_QUEUE_MAXIMUM_LOCK - (locks - i) : i;
		torture_ops->init(&torture_locks[i], &torture_keys[i]);
	}
}

static int __init torture_start_spin_locks(void)
{
	int cpu, err;

	torture_users = kcalloc(TORTURE_USERS_MAX, sizeof(*torture_users),
				GFP_KERNEL);
	if (!torture_users)
		return -ENOMEM;
	torture_init_locks();
	torture_add_users(TORTURE_THREAD, threads, -1);
	for_each_online_cpu(cpu) {
		torture_add_users(TORTURE_SOFTIRQ, softirqs, cpu);
		torture_add_users(TORTURE_HARDIRQ, hardirqs, cpu);
	}
	err = torture_start_users();
	if (err) {
		torture_stop_users();
		kfree(torture_users);
	}
	return err;
}

static int __init torture_start_eresources(void)
{
	const struct torture_parameters parameters = {
		.threads = threads,
		.softirqs = softirqs,
		.interval_us = interval_us,
		.locks = locks,
		.nest = nest,
		.hold_us = hold_us,
		.stall_ms = stall_ms,
		.seed = seed,
	};
	int err = torture_start_resources(&parameters);
	char text[240];

	if (err && err != -ENOMEM) {
		torture_stop_resources();
		torture_check_resources(text, sizeof(text));
	}
	return err;
}

static int __init torture_init(void)
{
	int err;

	err = torture_check_parameters();
	if (err)
		return err;
	pr_alert("Start of test: torture_type=%s threads=%d softirqs=%d hardirqs=%d interval_us=%d locks=%d nest=%d hold_us=%d out_of_order=%d duration=%d seed=%d\n",
		 torture_type, threads, softirqs, hardirqs, interval_us, locks,
		 nest, hold_us, out_of_order, duration, seed);
	cpus_read_lock();
	err = torture_ops ? torture_start_spin_locks() : torture_start_eresources();
	cpus_read_unlock();
	if (err)
		return err;
	if (duration)
		schedule_delayed_work(&torture_work, duration * HZ);
	return 0;
}

static void __exit torture_exit(void)
{
	cancel_delayed_work_sync(&torture_work);
	torture_end();
	kfree(torture_users);
}

module_init(torture_init);
module_exit(torture_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Torture test of ntklog's locks");
MODULE_LICENSE("GPL");
