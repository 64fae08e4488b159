// SPDX-License-Identifier: GPL-2.0-only
/*
 * sleeping_locks: acquire Linux' sleeping locks by each function, and print the expected values of
 * each release's event:
 *
 *	sleeping_locks: truth NAME LOCK ACTION WAITED CONTENTIONS
 *				BEFORE ACQUIRED RELEASING AFTER THREAD
 *
 * BEFORE and ACQUIRED are clock times around the acquisition, RELEASING and AFTER around the
 * release. WAITED: another thread held the lock for at least `hold`. CONTENTIONS is the number of
 * threads that began to wait during the hold. `none`: no event is written. `long`: an event of a
 * long wait is written. `wrong`: a lock function has returned an unexpected result:
 *
 *	sleeping_locks: none NAME LOCK
 *	sleeping_locks: long NAME LOCK ACTION THREAD
 *	sleeping_locks: wrong NAME WHAT
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/percpu-rwsem.h>
#include <linux/pid.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/semaphore.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/tracepoint.h>
#include <linux/ww_mutex.h>
#include <trace/events/lock.h>
#include <uapi/ntklog/wmi_resource.h>

static unsigned int hold = 1500000;
module_param(hold, uint, 0444);
MODULE_PARM_DESC(hold, "minimum cycles for which each lock is held");

static unsigned int long_ms;
module_param(long_ms, uint, 0444);
MODULE_PARM_DESC(long_ms, "duration of the long waits, milliseconds; 0, the default: none");

static bool block;
module_param(block, bool, 0444);
MODULE_PARM_DESC(block, "only have a thread wait for a lock of each kind until the module is unloaded");

#define E(_class)	(WMI_RESOURCE_CLASS_LINUX_##_class | 0x22)
#define S(_class)	(WMI_RESOURCE_CLASS_LINUX_##_class | 0x42)

static void spend(cycles_t cycles)
{
	cycles_t start = get_cycles();

	while (get_cycles() - start < cycles)
		cpu_relax();
}

static void tell(const char *name, void *lock, u32 action, bool waited, int contentions,
		 const u64 time[4])
{
	pr_info("truth %s 0x%lx 0x%x %d %d %llu %llu %llu %llu %d\n", name, (unsigned long)lock,
		action, waited, contentions, time[0], time[1], time[2], time[3],
		task_pid_nr(current));
}

static void differs(const char *name, int result)
{
	pr_info("wrong %s %d\n", name, result);
}

/* A pair of functions for a kind of lock. @acquire returns 0 if it has acquired the lock. */
struct way {
	const char *name;
	u32 action;
	void *lock;
	int (*acquire)(void *lock);
	void (*release)(void *lock);
};

static DEFINE_WW_CLASS(ww_class);
static DEFINE_MUTEX(a_mutex);
static DECLARE_RWSEM(a_rwsem);
static DECLARE_RWSEM(read_for_another);
static DECLARE_RWSEM(read_for_interrupt);
static struct semaphore a_semaphore =
	__SEMAPHORE_INITIALIZER(a_semaphore, 1);
static DEFINE_RT_MUTEX(an_rt_mutex);
DEFINE_STATIC_PERCPU_RWSEM(a_percpu_rwsem);
static struct ww_mutex a_ww_mutex;

#define WAY(_name, _type, _acquire, _release)					\
static int acquire_##_name(void *data)						\
{										\
	typeof(_type) *lock = data;						\
										\
	return _acquire;							\
}										\
static void release_##_name(void *data)						\
{										\
	typeof(_type) *lock = data;						\
										\
	_release;								\
}

#define HAD(_acquire)	({ _acquire; 0; })

#define MUTEX(_name, _acquire)	WAY(_name, struct mutex, _acquire, mutex_unlock(lock))
#define RWSEM(_name, _acquire, _release) WAY(_name, struct rw_semaphore, _acquire, _release)
#define SEMAPHORE(_name, _acquire) WAY(_name, struct semaphore, _acquire, up(lock))
#define RT_MUTEX(_name, _acquire) WAY(_name, struct rt_mutex, _acquire, rt_mutex_unlock(lock))
#define WW_MUTEX(_name, _acquire) WAY(_name, struct ww_mutex, _acquire, ww_mutex_unlock(lock))

MUTEX(mutex, HAD(mutex_lock(lock)))
MUTEX(mutex_interruptible, mutex_lock_interruptible(lock))
MUTEX(mutex_killable, mutex_lock_killable(lock))
MUTEX(mutex_io, HAD(mutex_lock_io(lock)))
MUTEX(mutex_nested, HAD(mutex_lock_nested(lock, SINGLE_DEPTH_NESTING)))
MUTEX(mutex_try, !mutex_trylock(lock))
RWSEM(read, HAD(down_read(lock)), up_read(lock))
RWSEM(read_interruptible, down_read_interruptible(lock), up_read(lock))
RWSEM(read_killable, down_read_killable(lock), up_read(lock))
RWSEM(read_try, !down_read_trylock(lock), up_read(lock))
RWSEM(write, HAD(down_write(lock)), up_write(lock))
RWSEM(write_killable, down_write_killable(lock), up_write(lock))
RWSEM(write_try, !down_write_trylock(lock), up_write(lock))
RWSEM(downgraded, HAD(down_write(lock); downgrade_write(lock)), up_read(lock))
SEMAPHORE(semaphore, HAD(down(lock)))
SEMAPHORE(semaphore_interruptible, down_interruptible(lock))
SEMAPHORE(semaphore_killable, down_killable(lock))
SEMAPHORE(semaphore_timeout, down_timeout(lock, HZ / 20))
SEMAPHORE(semaphore_try, down_trylock(lock))
RT_MUTEX(rt_mutex, HAD(rt_mutex_lock(lock)))
RT_MUTEX(rt_mutex_interruptible, rt_mutex_lock_interruptible(lock))
RT_MUTEX(rt_mutex_killable, rt_mutex_lock_killable(lock))
RT_MUTEX(rt_mutex_try, !rt_mutex_trylock(lock))
WAY(percpu_rwsem, struct percpu_rw_semaphore, HAD(percpu_down_write(lock)), percpu_up_write(lock))
WW_MUTEX(ww_mutex, ww_mutex_lock(lock, NULL))
WW_MUTEX(ww_mutex_interruptible, ww_mutex_lock_interruptible(lock, NULL))
WW_MUTEX(ww_mutex_try, !ww_mutex_trylock(lock, NULL))

#define WAY_OF(_name, _lock, _action)						\
	{ #_name, _action, &(_lock), acquire_##_name, release_##_name }

static const struct way ways[] = {
	WAY_OF(mutex, a_mutex, E(MUTEX)),
	WAY_OF(mutex_interruptible, a_mutex, E(MUTEX)),
	WAY_OF(mutex_killable, a_mutex, E(MUTEX)),
	WAY_OF(mutex_io, a_mutex, E(MUTEX)),
	WAY_OF(mutex_nested, a_mutex, E(MUTEX)),
	WAY_OF(mutex_try, a_mutex, E(MUTEX)),
	WAY_OF(read, a_rwsem, S(RWSEM)),
	WAY_OF(read_interruptible, a_rwsem, S(RWSEM)),
	WAY_OF(read_killable, a_rwsem, S(RWSEM)),
	WAY_OF(read_try, a_rwsem, S(RWSEM)),
	WAY_OF(write, a_rwsem, E(RWSEM)),
	WAY_OF(write_killable, a_rwsem, E(RWSEM)),
	WAY_OF(write_try, a_rwsem, E(RWSEM)),
	WAY_OF(downgraded, a_rwsem, S(RWSEM)),
	WAY_OF(semaphore, a_semaphore, E(SEMAPHORE)),
	WAY_OF(semaphore_interruptible, a_semaphore, E(SEMAPHORE)),
	WAY_OF(semaphore_killable, a_semaphore, E(SEMAPHORE)),
	WAY_OF(semaphore_timeout, a_semaphore, E(SEMAPHORE)),
	WAY_OF(semaphore_try, a_semaphore, E(SEMAPHORE)),
	WAY_OF(rt_mutex, an_rt_mutex, E(RT_MUTEX)),
	WAY_OF(rt_mutex_interruptible, an_rt_mutex, E(RT_MUTEX)),
	WAY_OF(rt_mutex_killable, an_rt_mutex, E(RT_MUTEX)),
	WAY_OF(rt_mutex_try, an_rt_mutex, E(RT_MUTEX)),
	WAY_OF(percpu_rwsem, a_percpu_rwsem, E(PERCPU_RWSEM)),
	WAY_OF(ww_mutex, a_ww_mutex, E(WW_MUTEX)),
	WAY_OF(ww_mutex_interruptible, a_ww_mutex, E(WW_MUTEX)),
	WAY_OF(ww_mutex_try, a_ww_mutex, E(WW_MUTEX)),
};

static const struct way *way_of(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		if (!strcmp(ways[i].name, name))
			return &ways[i];
	return NULL;
}

/* Acquire a lock, call @held unless it is NULL, hold for `hold` cycles, release and print. */
static void take(const struct way *way, bool waited, int contentions, void (*held)(void *),
		 void *data)
{
	int count = preempt_count(), result;
	u64 time[4];

	time[0] = get_cycles();
	result = way->acquire(way->lock);
	time[1] = get_cycles();
	if (result) {
		differs(way->name, result);
		return;
	}
	if (held)
		held(data);
	spend(hold);
	time[2] = get_cycles();
	way->release(way->lock);
	time[3] = get_cycles();
	if (count != preempt_count())
		differs(way->name, preempt_count());
	tell(way->name, way->lock, way->action, waited, contentions, time);
}

/* A thread that waits for a lock held by another one. */
struct waiter {
	const struct way *way;
	struct completion begins;
	struct completion ended;
	struct task_struct *task;
	int result;
	bool gives_up;
};

static int wait_for_it(void *data)
{
	struct waiter *waiter = data;

	allow_signal(SIGKILL);
	complete(&waiter->begins);
	if (waiter->gives_up)
		waiter->result = waiter->way->acquire(waiter->way->lock);
	else
		take(waiter->way, true, 0, NULL, NULL);
	flush_signals(current);
	complete(&waiter->ended);
	return 0;
}

static void start_waiter(void *data)
{
	struct waiter *waiter = data;
	struct task_struct *task;

	init_completion(&waiter->begins);
	init_completion(&waiter->ended);
	task = kthread_create(wait_for_it, waiter, "waiter");
	if (IS_ERR(task)) {
		differs(waiter->way->name, PTR_ERR(task));
		complete(&waiter->ended);
		return;
	}
	waiter->task = task;
	get_task_struct(task);
	wake_up_process(task);
	wait_for_completion(&waiter->begins);
	/* The waiter sleeps, because the owner is not running; or it has given up. */
	do {
		msleep(40);
	} while (task_is_running(task));
	put_task_struct(task);
}

static void start_waiters(void *data)
{
	struct waiter *waiter;

	for (waiter = data; waiter->way; waiter++)
		start_waiter(waiter);
}

/* Hold a lock by the functions of @owner while @count threads wait by those of @name. */
static void take_contended(const char *owner, const char *name, int count)
{
	struct waiter waiters[4] = { };
	int i, contentions = count;

	for (i = 0; i < count; i++)
		waiters[i].way = way_of(name);
	/* These locks do not record their owner, so its waiters cannot be counted. */
	if (way_of(owner)->lock == &a_semaphore || way_of(owner)->lock == &a_percpu_rwsem)
		contentions = 0;
	take(way_of(owner), false, contentions, start_waiters, waiters);
	for (i = 0; i < count; i++)
		wait_for_completion(&waiters[i].ended);
}

static void start_and_end_waiter(void *data)
{
	struct waiter *waiter = data;

	start_waiter(waiter);
	/* The wait for the semaphore times out by itself. */
	if (waiter->way != way_of("semaphore_timeout"))
		send_sig(SIGKILL, waiter->task, 1);
	wait_for_completion(&waiter->ended);
	if (!waiter->result)
		differs(waiter->way->name, waiter->result);
}

/* A wait that ends without the lock, by a signal or a timeout. */
static void give_up(const char *owner, const char *name)
{
	struct waiter waiter = { .way = way_of(name), .gives_up = true };

	take(way_of(owner), false, way_of(owner)->lock != &a_semaphore, start_and_end_waiter,
	     &waiter);
}

/* Hold ten mutexes, two of which get no slot; release them in the order of acquisition. */
static void take_ten(void)
{
	static struct mutex ten[10];
	static struct lock_class_key keys[10];
	u64 time[10][4];
	int i;

	for (i = 0; i < 10; i++) {
		__mutex_init(&ten[i], "ten", &keys[i]);
		time[i][0] = get_cycles();
		mutex_lock(&ten[i]);
		time[i][1] = get_cycles();
	}
	for (i = 0; i < 10; i++) {
		time[i][2] = get_cycles();
		mutex_unlock(&ten[i]);
		time[i][3] = get_cycles();
		if (i < 8)
			tell("one_of_ten", &ten[i], E(MUTEX), false, 0, time[i]);
		else
			pr_info("none one_of_ten 0x%lx\n", (unsigned long)&ten[i]);
	}
}

/* Read-lock an rwsem twice in one thread, and release it twice. */
static void read_twice(void)
{
	u64 time[2][4];
	int i;

	for (i = 0; i < 2; i++) {
		time[i][0] = get_cycles();
		if (i)
			down_read_nested(&a_rwsem, SINGLE_DEPTH_NESTING);
		else
			down_read(&a_rwsem);
		time[i][1] = get_cycles();
	}
	for (i = 1; i >= 0; i--) {
		time[i][2] = get_cycles();
		up_read(&a_rwsem);
		time[i][3] = get_cycles();
		tell("read_twice", &a_rwsem, S(RWSEM), false, 0, time[i]);
	}
}

static struct tracepoint *contention_begin, *contention_end;

static void find_contention(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "contention_begin"))
		contention_begin = tracepoint;
	else if (!strcmp(tracepoint->name, "contention_end"))
		contention_end = tracepoint;
}

/* Fire contention_begin or contention_end, which 6.1 does not export. */
static void fire(struct tracepoint *tracepoint, void *lock, int value)
{
	struct tracepoint_func *probe;

	preempt_disable();
	for (probe = rcu_dereference_raw(tracepoint->funcs); probe && probe->func; probe++)
		((void (*)(void *, void *, int))probe->func)(probe->data, lock, value);
	preempt_enable();
}

/*
 * With CONFIG_DEBUG_LOCK_ALLOC, mutex_lock() fires contention_begin while the mutex is free, and
 * contention_end when it has acquired it. Do the same on every kernel.
 */
static void fire_contention_without_a_wait(void)
{
	u64 time[4];
	long owner;

	for_each_kernel_tracepoint(find_contention, NULL);
	if (!contention_begin || !contention_end) {
		differs("contention without a wait", -ENOENT);
		return;
	}
	time[0] = get_cycles();
	mutex_lock(&a_mutex);
	owner = atomic_long_xchg(&a_mutex.owner, 0);
	fire(contention_begin, &a_mutex, LCB_F_MUTEX | LCB_F_SPIN);
	atomic_long_set(&a_mutex.owner, owner);
	fire(contention_end, &a_mutex, 0);
	time[1] = get_cycles();
	spend(hold);
	time[2] = get_cycles();
	mutex_unlock(&a_mutex);
	time[3] = get_cycles();
	tell("without_a_wait", &a_mutex, E(MUTEX), false, 0, time);
}

/* A second ww_mutex_lock() by the owner is refused and changes nothing. */
static void take_with_context(void)
{
	struct ww_acquire_ctx context;
	u64 time[4];
	int result;

	ww_acquire_init(&context, &ww_class);
	time[0] = get_cycles();
	result = ww_mutex_lock(&a_ww_mutex, &context);
	time[1] = get_cycles();
	if (result)
		differs("ww_mutex_context", result);
	result = ww_mutex_lock(&a_ww_mutex, &context);
	if (result != -EALREADY)
		differs("ww_mutex_context again", result);
	time[2] = get_cycles();
	ww_mutex_unlock(&a_ww_mutex);
	time[3] = get_cycles();
	ww_acquire_fini(&context);
	tell("ww_mutex_context", &a_ww_mutex, E(WW_MUTEX), false, 0, time);
}

/* A failed trylock is no acquisition. */
static int try_in_vain(void *data)
{
	struct waiter *waiter = data;

	if (!waiter->way->acquire(waiter->way->lock))
		differs(waiter->way->name, 0);
	complete(&waiter->ended);
	return 0;
}

static void start_in_vain(void *data)
{
	struct waiter *waiter = data;

	init_completion(&waiter->ended);
	if (IS_ERR(kthread_run(try_in_vain, waiter, "in_vain")))
		differs(waiter->way->name, -ENOMEM);
	else
		wait_for_completion(&waiter->ended);
}

static void take_while_tried(const char *owner, const char *name)
{
	struct waiter waiter = { .way = way_of(name) };

	take(way_of(owner), false, 0, start_in_vain, &waiter);
}

static int release_for_another(void *data)
{
	struct waiter *waiter = data;

	waiter->way->release(waiter->way->lock);
	complete(&waiter->ended);
	return 0;
}

/* A semaphore may be released by any thread. */
static void be_released_by_another(void)
{
	struct waiter waiter = { .way = way_of("semaphore") };
	u64 time[4];

	init_completion(&waiter.ended);
	time[0] = get_cycles();
	down(&a_semaphore);
	time[1] = get_cycles();
	time[2] = time[1];
	if (IS_ERR(kthread_run(release_for_another, &waiter, "another")))
		differs("semaphore by another", -ENOMEM);
	else
		wait_for_completion(&waiter.ended);
	time[3] = get_cycles();
	tell("by_another", &a_semaphore, E(SEMAPHORE), false, 0, time);
	take(way_of("semaphore"), false, 0, NULL, NULL);
}

/*
 * Read-lock an rwsem until all slots are in use, and let another thread release it. An rwsem does
 * not record its readers, so the slots stay in use. Another lock must still get a slot.
 */
static int release_reads(void *data)
{
	struct waiter *waiter = data;
	int i;

	for (i = 0; i < 8; i++)
		up_read(&read_for_another);
	complete(&waiter->ended);
	return 0;
}

static void read_for_another_thread(void)
{
	struct waiter waiter = { };
	int i;

	init_completion(&waiter.ended);
	for (i = 0; i < 8; i++)
		down_read(&read_for_another);
	if (IS_ERR(kthread_run(release_reads, &waiter, "another")))
		differs("read for another", -ENOMEM);
	else
		wait_for_completion(&waiter.ended);
	pr_info("none read_for_another 0x%lx\n", (unsigned long)&read_for_another);
	take(way_of("mutex"), false, 0, NULL, NULL);
}

/* Release in an interrupt, as BPF does when it reads a task's memory. */
static void release_in_interrupt(struct irq_work *work)
{
	up_read(&read_for_interrupt);
}

static void read_with_interrupts_off(void)
{
	struct irq_work work = IRQ_WORK_INIT_HARD(release_in_interrupt);
	int i;

	for (i = 0; i < 9; i++) {
		local_irq_disable();
		if (down_read_trylock(&read_for_interrupt))
			irq_work_queue(&work);
		else
			differs("read with interrupts off", i);
		local_irq_enable();
		irq_work_sync(&work);
	}
	pr_info("none read_for_interrupt 0x%lx\n", (unsigned long)&read_for_interrupt);
	take(way_of("mutex"), false, 0, NULL, NULL);
}

static void hold_long(void *data)
{
	struct waiter *waiter = data;

	start_waiter(waiter);
	msleep(long_ms);
	pr_info("long %s 0x%lx 0x%x %d\n", waiter->way->name, (unsigned long)waiter->way->lock,
		(waiter->way->action & WMI_RESOURCE_ACTION_CLASS) |
		(waiter->way->action & 0x20 ? 0x224 : 0x244), task_pid_nr(waiter->task));
}

static void wait_long(const char *owner, const char *name)
{
	struct waiter waiter = { .way = way_of(name) };

	if (!long_ms)
		return;
	take(way_of(owner), false, way_of(owner)->lock != &a_percpu_rwsem, hold_long, &waiter);
	wait_for_completion(&waiter.ended);
}

/* One thread holds a lock of each kind; another thread waits for each of them. */
static const char *const blocked[] = {
	"mutex", "read", "semaphore", "rt_mutex", "percpu_rwsem", "ww_mutex",
};

static struct waiter blocked_waiters[ARRAY_SIZE(blocked)];
static DECLARE_COMPLETION(all_owned);
static DECLARE_COMPLETION(let_go);
static DECLARE_COMPLETION(all_released);

static const struct way *owned_while_blocked(size_t i)
{
	return strcmp(blocked[i], "read") ? way_of(blocked[i]) : way_of("write");
}

static int own_all(void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(blocked); i++)
		if (owned_while_blocked(i)->acquire(owned_while_blocked(i)->lock))
			differs(blocked[i], 0);
	complete(&all_owned);
	wait_for_completion(&let_go);
	for (i = 0; i < ARRAY_SIZE(blocked); i++)
		owned_while_blocked(i)->release(owned_while_blocked(i)->lock);
	complete(&all_released);
	return 0;
}

static int block_all(void)
{
	size_t i;

	if (IS_ERR(kthread_run(own_all, NULL, "owner")))
		return -ENOMEM;
	wait_for_completion(&all_owned);
	for (i = 0; i < ARRAY_SIZE(blocked); i++) {
		blocked_waiters[i].way = way_of(blocked[i]);
		start_waiter(&blocked_waiters[i]);
	}
	return 0;
}

static void unblock_all(void)
{
	size_t i;

	complete(&let_go);
	wait_for_completion(&all_released);
	for (i = 0; i < ARRAY_SIZE(blocked); i++)
		wait_for_completion(&blocked_waiters[i].ended);
}

static int __init sleeping_locks_init(void)
{
	size_t i;

	ww_mutex_init(&a_ww_mutex, &ww_class);
	if (block)
		return block_all();
	for (i = 0; i < ARRAY_SIZE(ways); i++)
		take(&ways[i], false, 0, NULL, NULL);
	for (i = 1; i <= 3; i++)
		take_contended("mutex", "mutex", i);
	take_contended("mutex", "mutex_interruptible", 1);
	take_contended("write", "read", 2);
	take_contended("write", "write", 1);
	take_contended("semaphore", "semaphore", 2);
	take_contended("semaphore", "semaphore_interruptible", 1);
	take_contended("rt_mutex", "rt_mutex", 2);
	take_contended("percpu_rwsem", "percpu_rwsem", 1);
	take_contended("ww_mutex", "ww_mutex", 1);
	give_up("mutex", "mutex_interruptible");
	give_up("mutex", "mutex_killable");
	give_up("write", "read_interruptible");
	give_up("write", "read_killable");
	give_up("write", "write_killable");
	give_up("semaphore", "semaphore_interruptible");
	give_up("semaphore", "semaphore_killable");
	give_up("semaphore", "semaphore_timeout");
	give_up("rt_mutex", "rt_mutex_interruptible");
	give_up("ww_mutex", "ww_mutex_interruptible");
	take_while_tried("mutex", "mutex_try");
	take_while_tried("write", "read_try");
	take_while_tried("read", "write_try");
	take_while_tried("semaphore", "semaphore_try");
	take_while_tried("rt_mutex", "rt_mutex_try");
	take_while_tried("ww_mutex", "ww_mutex_try");
	take_ten();
	read_twice();
	fire_contention_without_a_wait();
	take_with_context();
	be_released_by_another();
	read_with_interrupts_off();
	read_for_another_thread();
	wait_long("mutex", "mutex");
	wait_long("write", "read");
	wait_long("write", "write");
	return 0;
}

static void __exit sleeping_locks_exit(void)
{
	if (block)
		unblock_all();
}

module_init(sleeping_locks_init);
module_exit(sleeping_locks_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Takes Linux' own locks that sleep and says so");
MODULE_LICENSE("GPL");
