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
#include <ntklog/ex_spin_lock.h>
#include <ntklog/irql.h>
#include <ntklog/queued_spin_lock.h>
#include <ntklog/spin_lock.h>

#define torture_param(type, name, init, help)	\
	static type name = init;		\
	module_param(name, type, 0444);		\
	MODULE_PARM_DESC(name, help)

#define TORTURE_LOCKS_MAX	16
#define TORTURE_USERS_MAX	256

torture_param(int, threads, -1, "threads that take locks; -1: two for each processor");
torture_param(int, softirqs, 1, "timers in softirq on each processor");
torture_param(int, hardirqs, 1, "timers in hard interrupts on each processor");
torture_param(int, interval_us, 500, "time between two runs of a timer");
torture_param(int, locks, 6, "locks, 1 to 16");
torture_param(int, nest, 4, "most locks that a thread owns at once, 1 to the number of locks");
torture_param(int, hold_us, 5, "longest time that a nest of locks is held; 0: as short as can be");
torture_param(bool, out_of_order, true, "release half of the nests in random order");
torture_param(int, duration, 10, "seconds until the test ends by itself; 0: at rmmod");
torture_param(int, seed, 1, "of the random numbers");

static char *torture_type = "in_stack_queued";
module_param(torture_type, charp, 0444);
MODULE_PARM_DESC(torture_type, "which lock: in_stack_queued, queued, spin, ex, ex_exclusive");

enum torture_context { TORTURE_THREAD, TORTURE_SOFTIRQ, TORTURE_HARDIRQ, TORTURE_CONTEXTS };

static const char * const torture_context_names[TORTURE_CONTEXTS] = {
	"thread", "softirq", "hardirq",
};

/* How a nest is taken and let go. */
enum torture_style {
	TORTURE_RAISING,	/* each raises, released in reverse order */
	TORTURE_FOR_DPC,	/* likewise with the functions for DPCs */
	TORTURE_AT_LEVEL,	/* IRQL by hand, released in any order */
	TORTURE_STYLES,
};

/*
 * @lock: the lock, if it is a KSPIN_LOCK
 * @ex_lock: the lock, if it is an EX_SPIN_LOCK
 * @number: the lock, if it is a numbered one
 * @irql: at which it is owned, DISPATCH_LEVEL or SYNCH_LEVEL
 * @owner: who owns it exclusively; written by the owner
 * @shared_owners: who own it shared; written by them
 * @acquisitions: of both kinds; written by owners
 */
struct torture_lock {
	struct kspin_lock lock;
	struct ex_spin_lock ex_lock;
	unsigned int number;
	u8 irql;
	struct torture_user *owner;
	atomic_t shared_owners;
	atomic64_t acquisitions;
};

/*
 * One acquisition.
 *
 * @queue: of an in-stack queued lock
 * @old_irql: of the others
 * @shared: owned shared, with others
 */
struct torture_handle {
	struct klock_queue_handle queue;
	u8 old_irql;
	bool shared;
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

/*
 * One lock type. The test itself knows none.
 *
 * @name: for torture_type=
 * @init: make the lock
 * @acquire: own it, in one of the styles; the user is there for random choices
 * @convert: try to make a shared ownership exclusive; NULL if there is none
 * @release: let it go, in the same style
 * @is_queued: has the handle got its place in the order of asking, and not yet
 *	the lock? NULL if the type promises no order.
 * @is_free: does lock and handle look as if nobody owned them?
 */
struct torture_ops {
	const char *name;
	void (*init)(struct torture_lock *lock, struct lock_class_key *key);
	void (*acquire)(struct torture_user *user, struct torture_lock *lock,
			struct torture_handle *handle, enum torture_style style);
	bool (*convert)(struct torture_lock *lock);
	void (*release)(struct torture_lock *lock, struct torture_handle *handle,
			enum torture_style style);
	bool (*is_queued)(const struct torture_handle *handle);
	bool (*is_lock_free)(const struct torture_lock *lock);
	bool (*is_handle_free)(const struct torture_handle *handle);
};

static struct torture_lock torture_locks[TORTURE_LOCKS_MAX];
static struct lock_class_key torture_keys[TORTURE_LOCKS_MAX];
static struct torture_user *torture_users;
static int torture_user_count;
static const struct torture_ops *torture_ops;
static bool torture_stopping;
static bool torture_ended;
static DEFINE_MUTEX(torture_end_mutex);

/* The first failure is the one that is told, also if the test never ends. */
static atomic_t torture_failures = ATOMIC_INIT(0);
static char torture_failure[160];

#define torture_fail(fmt, ...)						\
do {									\
	if (atomic_inc_return(&torture_failures) == 1) {		\
		snprintf(torture_failure, sizeof(torture_failure), fmt,	\
			 ##__VA_ARGS__);				\
		pr_alert("FAILURE: " fmt "\n", ##__VA_ARGS__);		\
	}								\
} while (0)

static u32 torture_random(struct torture_user *user, u32 below)
{
	return prandom_u32_state(&user->random) % below;
}

static void word_init(struct torture_lock *lock, struct lock_class_key *key)
{
	ke_initialize_spin_lock_class(&lock->lock, "torture_lock", key);
}

static bool word_is_free(const struct torture_lock *lock)
{
	return ke_test_spin_lock(&lock->lock);
}

/* In-stack queued spin locks */

static void in_stack_acquire(struct torture_user *user, struct torture_lock *lock,
			     struct torture_handle *handle, enum torture_style style)
{
	struct klock_queue_handle *queue = &handle->queue;

	if (style == TORTURE_AT_LEVEL)
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock->lock, queue);
	else if (lock->irql == SYNCH_LEVEL)
		ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&lock->lock, queue);
	else if (style == TORTURE_FOR_DPC)
		ke_acquire_in_stack_queued_spin_lock_for_dpc(&lock->lock, queue);
	else
		ke_acquire_in_stack_queued_spin_lock(&lock->lock, queue);
}

static void in_stack_release(struct torture_lock *lock, struct torture_handle *handle,
			     enum torture_style style)
{
	if (style == TORTURE_AT_LEVEL)
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle->queue);
	else if (style == TORTURE_FOR_DPC && lock->irql != SYNCH_LEVEL)
		ke_release_in_stack_queued_spin_lock_for_dpc(&handle->queue);
	else
		ke_release_in_stack_queued_spin_lock(&handle->queue);
}

static bool in_stack_is_queued(const struct torture_handle *handle)
{
	/*
	 * The entry is somebody else's, who may make it anew at this moment:
	 * then it is not yet queued, whatever is read.
	 */
	return data_race(READ_ONCE(handle->queue.lock_queue.lock)) & LOCK_QUEUE_WAIT;
}

static bool in_stack_is_handle_free(const struct torture_handle *handle)
{
	return !handle->queue.lock_queue.next &&
		!(handle->queue.lock_queue.lock & LOCK_QUEUE_BITS);
}

/* Numbered queued spin locks; those at SYNCH_LEVEL are raised to it */

static void queued_init(struct torture_lock *lock, struct lock_class_key *key)
{
	int index = lock - torture_locks;

	/* Interrupts' from the top: the locks outlive a test, and so their use. */
	lock->number = lock->irql == SYNCH_LEVEL ?
		LOCK_QUEUE_MAXIMUM_LOCK - (locks - index) : index;
}

static void queued_acquire(struct torture_user *user, struct torture_lock *lock,
			   struct torture_handle *handle, enum torture_style style)
{
	bool try = !torture_random(user, 4);

	if (max(lock->irql, ke_get_current_irql()) == SYNCH_LEVEL) {
		if (!try ||
		    !ke_try_to_acquire_queued_spin_lock_raise_to_synch(lock->number,
								       &handle->old_irql))
			handle->old_irql =
				ke_acquire_queued_spin_lock_raise_to_synch(lock->number);
	} else if (!try ||
		   !ke_try_to_acquire_queued_spin_lock(lock->number,
						       &handle->old_irql)) {
		handle->old_irql = ke_acquire_queued_spin_lock(lock->number);
	}
}

static void queued_release(struct torture_lock *lock, struct torture_handle *handle,
			   enum torture_style style)
{
	ke_release_queued_spin_lock(lock->number, handle->old_irql);
}

/* Own all, each at SYNCH_LEVEL, to see that they are free. */
static bool queued_is_free(const struct torture_lock *lock)
{
	u8 old_irql;

	if (!ke_try_to_acquire_queued_spin_lock_raise_to_synch(lock->number, &old_irql))
		return false;
	ke_release_queued_spin_lock(lock->number, old_irql);
	return true;
}

/* Ordinary spin locks */

static void spin_acquire_lock(struct torture_user *user, struct torture_lock *lock,
			      struct torture_handle *handle, enum torture_style style)
{
	if (style == TORTURE_AT_LEVEL) {
		if (torture_random(user, 4) ||
		    !ke_try_to_acquire_spin_lock_at_dpc_level(&lock->lock))
			ke_acquire_spin_lock_at_dpc_level(&lock->lock);
	} else if (lock->irql == SYNCH_LEVEL) {
		handle->old_irql = ke_acquire_spin_lock_raise_to_synch(&lock->lock);
	} else {
		ke_acquire_spin_lock(&lock->lock, &handle->old_irql);
	}
}

static void spin_release_lock(struct torture_lock *lock, struct torture_handle *handle,
			      enum torture_style style)
{
	if (style == TORTURE_AT_LEVEL)
		ke_release_spin_lock_from_dpc_level(&lock->lock);
	else
		ke_release_spin_lock(&lock->lock, handle->old_irql);
}

/* Executive spin locks */

static void ex_init(struct torture_lock *lock, struct lock_class_key *key)
{
	__ex_initialize_spin_lock(&lock->ex_lock, "torture_ex_lock", key);
}

static void ex_acquire_exclusive(struct torture_user *user, struct torture_lock *lock,
				 struct torture_handle *handle,
				 enum torture_style style)
{
	handle->shared = false;
	/* There is no function that raises to SYNCH_LEVEL. */
	ke_raise_irql(max(lock->irql, ke_get_current_irql()), &handle->old_irql);
	if (torture_random(user, 4) ||
	    !ex_try_acquire_spin_lock_exclusive_at_dpc_level(&lock->ex_lock))
		ex_acquire_spin_lock_exclusive_at_dpc_level(&lock->ex_lock);
}

static void ex_acquire(struct torture_user *user, struct torture_lock *lock,
		       struct torture_handle *handle, enum torture_style style)
{
	if (!torture_random(user, 3)) {
		ex_acquire_exclusive(user, lock, handle, style);
		return;
	}
	handle->shared = true;
	ke_raise_irql(max(lock->irql, ke_get_current_irql()), &handle->old_irql);
	if (torture_random(user, 4) ||
	    !ex_try_acquire_spin_lock_shared_at_dpc_level(&lock->ex_lock))
		ex_acquire_spin_lock_shared_at_dpc_level(&lock->ex_lock);
}

static bool ex_convert(struct torture_lock *lock)
{
	return ex_try_convert_shared_spin_lock_exclusive(&lock->ex_lock);
}

static void ex_release(struct torture_lock *lock, struct torture_handle *handle,
		       enum torture_style style)
{
	if (handle->shared)
		ex_release_spin_lock_shared_from_dpc_level(&lock->ex_lock);
	else
		ex_release_spin_lock_exclusive_from_dpc_level(&lock->ex_lock);
	/* In any order only where the nest was raised by hand before. */
	ke_lower_irql(handle->old_irql);
}

static bool ex_is_free(const struct torture_lock *lock)
{
	return !atomic_read(&lock->ex_lock.value);
}

static bool any_handle_is_free(const struct torture_handle *handle)
{
	return true;
}

static const struct torture_ops torture_types[] = {
	{
		.name = "in_stack_queued",
		.init = word_init,
		.acquire = in_stack_acquire,
		.release = in_stack_release,
		.is_queued = in_stack_is_queued,
		.is_lock_free = word_is_free,
		.is_handle_free = in_stack_is_handle_free,
	}, {
		.name = "queued",
		.init = queued_init,
		.acquire = queued_acquire,
		.release = queued_release,
		.is_lock_free = queued_is_free,
		.is_handle_free = any_handle_is_free,
	}, {
		.name = "spin",
		.init = word_init,
		.acquire = spin_acquire_lock,
		.release = spin_release_lock,
		.is_lock_free = word_is_free,
		.is_handle_free = any_handle_is_free,
	}, {
		.name = "ex",
		.init = ex_init,
		.acquire = ex_acquire,
		.convert = ex_convert,
		.release = ex_release,
		.is_lock_free = ex_is_free,
		.is_handle_free = any_handle_is_free,
	}, {
		.name = "ex_exclusive",
		.init = ex_init,
		.acquire = ex_acquire_exclusive,
		.release = ex_release,
		.is_lock_free = ex_is_free,
		.is_handle_free = any_handle_is_free,
	},
};

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
	if (!torture_ops->convert || torture_random(user, 4))
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

	torture_ops->acquire(user, lock, handle, style);

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
		if (torture_random(user, locks - i) < depth - chosen)
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
		int other = torture_random(user, i + 1);

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
	enum torture_style style = torture_random(user, TORTURE_STYLES);
	struct torture_lock *nested[TORTURE_LOCKS_MAX];
	int first = user->context == TORTURE_HARDIRQ ?
		    torture_first_hardirq_lock() : 0;
	int most = user->context == TORTURE_THREAD ? nest : 2;
	int depth = 1 + torture_random(user, min(most, locks - first));
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
		udelay(torture_random(user, hold_us + 1));

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
		if (!before || !torture_random(user, 200))
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
						torture_random(user, interval_us)) *
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

static void torture_end(void)
{
	u64 nests[TORTURE_CONTEXTS] = {};
	u64 acquisitions = 0;
	unsigned int deepest = 0;

	mutex_lock(&torture_end_mutex);
	if (torture_ended)
		goto out;
	torture_ended = true;
	torture_stop_users();
	torture_check_totals(nests, &acquisitions, &deepest);
	if (!acquisitions)
		torture_fail("no lock was acquired");
	if (atomic_read(&torture_failures))
		pr_alert("End of test: FAILURE: %s: %s (%d failures)\n",
			 torture_type, torture_failure,
			 atomic_read(&torture_failures));
	else
		pr_alert("End of test: SUCCESS: %s: %llu acquisitions, nests: %llu thread, %llu softirq, %llu hardirq, deepest %u, no two owners, %s\n",
			 torture_type, acquisitions, nests[TORTURE_THREAD],
			 nests[TORTURE_SOFTIRQ], nests[TORTURE_HARDIRQ], deepest,
			 torture_ops->is_queued ? "first come first served" :
						  "no order promised");
out:
	mutex_unlock(&torture_end_mutex);
}

static void torture_end_work(struct work_struct *work)
{
	torture_end();
}

static DECLARE_DELAYED_WORK(torture_work, torture_end_work);

static int __init torture_add_users(enum torture_context context, int count,
				    int cpu)
{
	for (; count > 0; count--) {
		struct torture_user *user = &torture_users[torture_user_count++];

		user->context = context;
		user->cpu = cpu;
		prandom_seed_state(&user->random, seed + torture_user_count);
		if (context == TORTURE_THREAD)
			continue;
		hrtimer_init(&user->timer, CLOCK_MONOTONIC,
			     context == TORTURE_HARDIRQ ?
			     HRTIMER_MODE_REL_PINNED_HARD :
			     HRTIMER_MODE_REL_PINNED_SOFT);
		user->timer.function = torture_timer;
	}
	return 0;
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(torture_types); i++)
		if (!strcmp(torture_type, torture_types[i].name))
			torture_ops = &torture_types[i];
	if (!torture_ops) {
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
	return 0;
}

static int __init torture_init(void)
{
	int err, cpu, i;

	err = torture_check_parameters();
	if (err)
		return err;
	torture_users = kcalloc(TORTURE_USERS_MAX, sizeof(*torture_users),
				GFP_KERNEL);
	if (!torture_users)
		return -ENOMEM;
	for (i = 0; i < locks; i++) {
		torture_locks[i].irql = i >= torture_first_hardirq_lock() ?
					SYNCH_LEVEL : DISPATCH_LEVEL;
		torture_ops->init(&torture_locks[i], &torture_keys[i]);
	}

	cpus_read_lock();
	torture_add_users(TORTURE_THREAD, threads, -1);
	for_each_online_cpu(cpu) {
		torture_add_users(TORTURE_SOFTIRQ, softirqs, cpu);
		torture_add_users(TORTURE_HARDIRQ, hardirqs, cpu);
	}
	pr_alert("Start of test: torture_type=%s threads=%d softirqs=%d hardirqs=%d interval_us=%d locks=%d nest=%d hold_us=%d out_of_order=%d duration=%d seed=%d\n",
		 torture_type, threads, softirqs, hardirqs, interval_us, locks,
		 nest, hold_us, out_of_order, duration, seed);
	err = torture_start_users();
	cpus_read_unlock();
	if (err) {
		torture_stop_users();
		kfree(torture_users);
		return err;
	}
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
