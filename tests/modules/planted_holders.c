// SPDX-License-Identifier: GPL-2.0-only
/*
 * planted_holders: have tasks wait for locks that others hold for known reasons, and print which
 * function held which lock, and when:
 *
 *	planted_holders: hold LOCK ADDRESS FUNCTION CODE THREAD WAITED
 *				BEFORE ACQUIRED RELEASING AFTER
 *	planted_holders: planted LOCK FUNCTION PART FROM UNTIL
 *	planted_holders: free LOCK FROM UNTIL
 *	planted_holders: sleep FUNCTION SLEEP
 *
 * FUNCTION, at the address CODE, acquires and releases the lock in the task with the id THREAD.
 * BEFORE and ACQUIRED are clock times around the acquisition, RELEASING and AFTER around the
 * release. WAITED is 1 if the task had to wait. From FROM until UNTIL all waiters of the lock
 * waited, and the holder FUNCTION was blocked, was preempted, or ran, as PART says; or the lock was
 * free, because its next owner had no CPU. In the line `sleep` FUNCTION is planted_sleep() and
 * SLEEP its address. Most holders are blocked in planted_sleep().
 *
 * At the end of the module's init a task holds open_mutex, and another task waits for it. In a
 * virtual machine the kernel needs the parameter clearcpuid=159: see tests/steps/stacks.sh.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>
#include <linux/time64.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>

#define HELD_UP_MS	50
#define INTERRUPT_MS	2

/*
 * A task's part in a scene, which is an array of roles. The module wakes the first role's task,
 * which wakes the others.
 *
 * @play: the function that the task runs; NULL ends a scene
 * @has_arrived: the task is about to wait for a lock, has a lock that it shares, or occupies
 *	its CPU
 * @is_spinning: the task spins with preemption off, until it may go on
 * @may_go_on: ends the loop of a task that waits for this role: the role's own task, or the
 *	holder that preempts() has preempted
 * @task: the task; its structure stays valid until the scene ends
 * @ended: completed when @play has returned
 */
struct role {
	void (*play)(struct role *role);
	unsigned int cpu;
	bool is_fifo;
	bool has_arrived;
	bool is_spinning;
	bool may_go_on;
	struct task_struct *task;
	struct completion ended;
};

struct hold {
	const char *name;
	void *lock;
	void (*function)(struct role *role);
	bool waits;
	u64 time[4];
};

#define HOLD(_lock, _function, _waits) {					\
	.name = #_lock, .lock = &(_lock), .function = _function, .waits = _waits,	\
}

static void begin_hold(struct role *role, struct hold *hold)
{
	hold->time[0] = get_cycles();
	if (hold->waits)
		WRITE_ONCE(role->has_arrived, true);
}

static void print_hold(const struct hold *hold)
{
	pr_info("hold %s 0x%lx %ps 0x%lx %d %d %llu %llu %llu %llu\n", hold->name,
		(unsigned long)hold->lock, hold->function, (unsigned long)hold->function,
		task_pid_nr(current), hold->waits, hold->time[0], hold->time[1], hold->time[2],
		hold->time[3]);
}

static void print_planted(const struct hold *hold, const char *part, u64 from, u64 until)
{
	pr_info("planted %s %ps %s %llu %llu\n", hold->name, hold->function, part, from, until);
}

#define DEFINE_PLAY(_name, _lock, _waits, _acquire, _release, _while_held)	\
static noinline __noclone void _name(struct role *role)				\
{										\
	struct hold hold = HOLD(_lock, _name, _waits);				\
										\
	begin_hold(role, &hold);						\
	_acquire;								\
	hold.time[1] = get_cycles();						\
	_while_held;								\
	hold.time[2] = get_cycles();						\
	_release;								\
	hold.time[3] = get_cycles();						\
	print_hold(&hold);						\
}

#define DEFINE_MUTEX_PLAY(_name, _lock, _waits, _while_held)			\
	DEFINE_PLAY(_name, _lock, _waits, mutex_lock(&(_lock)), mutex_unlock(&(_lock)), _while_held)

/* Keep the CPU. In an emulated machine mdelay() may be too short. */
static void spin_for(unsigned int ms)
{
	u64 start = ktime_get_mono_fast_ns();

	while (ktime_get_mono_fast_ns() - start < ms * NSEC_PER_MSEC)
		cpu_relax();
}

static noinline void planted_sleep(void)
{
	msleep(HELD_UP_MS);
	/* No tail call, which would leave no frame of this function. */
	barrier();
}

static bool is_asleep(const struct role *role)
{
	return READ_ONCE(role->has_arrived) && !task_is_running(role->task);
}

static bool later_roles_are_asleep(const struct role *role)
{
	const struct role *next;

	for (next = role + 1; next->play; next++)
		if (!is_asleep(next))
			return false;
	return true;
}

static void start_role(const struct role *role)
{
	wake_up_process(role->task);
	while (!is_asleep(role))
		planted_sleep();
}

static void start_others(const struct role *role)
{
	const struct role *next;

	for (next = role + 1; next->play; next++)
		start_role(next);
}

/*
 * If the CPU stalls between the start of the timer and the switch to another task, the sleep is
 * shorter or none at all. Then sleep again.
 */
static void be_blocked(const struct hold *hold)
{
	u64 from, time_on_cpu;

	do {
		from = get_cycles();
		time_on_cpu = current->se.sum_exec_runtime;
		planted_sleep();
		time_on_cpu = current->se.sum_exec_runtime - time_on_cpu;
	} while (time_on_cpu > HELD_UP_MS * NSEC_PER_MSEC / 2);
	print_planted(hold, "holder_blocked", from, get_cycles());
}

/* A mutex whose holder is blocked, and a mutex for which no task waits. */

static DEFINE_MUTEX(blocked_mutex);
static DEFINE_MUTEX(lonely_mutex);

DEFINE_MUTEX_PLAY(blocks_alone, lonely_mutex, false, planted_sleep())
DEFINE_MUTEX_PLAY(blocks, blocked_mutex, false, start_others(role); be_blocked(&hold))
DEFINE_MUTEX_PLAY(waits_for_blocked, blocked_mutex, true, be_blocked(&hold))
DEFINE_MUTEX_PLAY(waits_for_both, blocked_mutex, true, barrier())

static struct role lonely_scene[] = { { blocks_alone }, { } };
static struct role blocked_scene[] = {
	{ blocks }, { waits_for_blocked, 1 }, { waits_for_both, 1 }, { },
};

/* A mutex whose holder is preempted. */

static DEFINE_MUTEX(preempted_mutex);
static u64 preempted_from, preempted_until;

/* Occupy the CPU of the holder, which is the role before this one, after the waiters are asleep. */
static noinline void preempts(struct role *role)
{
	while (!later_roles_are_asleep(role))
		cpu_relax();
	preempted_from = get_cycles();
	spin_for(HELD_UP_MS);
	preempted_until = get_cycles();
	WRITE_ONCE(role->may_go_on, true);
}

static void be_preempted(const struct role *role, const struct hold *hold)
{
	const struct role *next;

	for (next = role + 2; next->play; next++)
		wake_up_process(next->task);
	for (next = role + 2; next->play; next++)
		while (!READ_ONCE(next->has_arrived))
			cond_resched();
	wake_up_process(role[1].task);
	while (!READ_ONCE(role[1].may_go_on))
		cond_resched();
	print_planted(hold, "holder_preempted", preempted_from, preempted_until);
}

DEFINE_MUTEX_PLAY(is_preempted, preempted_mutex, false, be_preempted(role, &hold))
DEFINE_MUTEX_PLAY(waits_for_preempted, preempted_mutex, true, barrier())

static struct role preempted_scene[] = {
	{ is_preempted }, { preempts, 0, true }, { waits_for_preempted, 1 }, { },
};

/* A mutex that is handed over to a task without a CPU, while another one waits behind it. */

static DEFINE_MUTEX(handed_mutex);

static noinline void occupies(struct role *role)
{
	WRITE_ONCE(role->has_arrived, true);
	while (!READ_ONCE(role->may_go_on))
		cpu_relax();
}

static noinline __noclone void hands_over(struct role *role)
{
	struct hold hold = HOLD(handed_mutex, hands_over, false);
	struct role *occupier = role + 3;
	int i;

	begin_hold(role, &hold);
	mutex_lock(&handed_mutex);
	hold.time[1] = get_cycles();
	for (i = 1; i <= 2; i++)
		start_role(&role[i]);
	wake_up_process(occupier->task);
	while (!READ_ONCE(occupier->has_arrived))
		cond_resched();
	hold.time[2] = get_cycles();
	mutex_unlock(&handed_mutex);
	hold.time[3] = get_cycles();
	spin_for(HELD_UP_MS);
	pr_info("free handed_mutex %llu %llu\n", hold.time[3], (u64)get_cycles());
	WRITE_ONCE(occupier->may_go_on, true);
	print_hold(&hold);
}

DEFINE_MUTEX_PLAY(takes_over, handed_mutex, true, be_blocked(&hold))
DEFINE_MUTEX_PLAY(waits_behind, handed_mutex, true, barrier())

static struct role handed_scene[] = {
	{ hands_over, 1 }, { takes_over, 0 }, { waits_behind, 1 }, { occupies, 0, true }, { },
};

/* Three mutexes: the second's holder waits for the first, the third's holder for the second. */

static DEFINE_MUTEX(first_mutex);
static DEFINE_MUTEX(second_mutex);
static DEFINE_MUTEX(third_mutex);

DEFINE_MUTEX_PLAY(begins_chain, first_mutex, false, start_others(role); be_blocked(&hold))
DEFINE_MUTEX_PLAY(waits_for_first, first_mutex, true, barrier())
DEFINE_MUTEX_PLAY(links_second, second_mutex, false, waits_for_first(role))
DEFINE_MUTEX_PLAY(waits_for_second, second_mutex, true, barrier())
DEFINE_MUTEX_PLAY(links_third, third_mutex, false, waits_for_second(role))
DEFINE_MUTEX_PLAY(ends_chain, third_mutex, true, barrier())

static struct role chain_scene[] = {
	{ begins_chain }, { links_second, 1 }, { links_third, 1 }, { ends_chain, 1 }, { },
};

/* An rwsem with two readers, a writer that waits for both, and a reader behind the writer. */

static DECLARE_RWSEM(shared_rwsem);

static bool first_reader_has_gone;

static void outlast_first_reader(struct role *role, const struct hold *hold)
{
	WRITE_ONCE(role->has_arrived, true);
	while (!READ_ONCE(first_reader_has_gone))
		planted_sleep();
	be_blocked(hold);
}

DEFINE_PLAY(reads_first, shared_rwsem, false, down_read(&shared_rwsem),
	    up_read(&shared_rwsem); WRITE_ONCE(first_reader_has_gone, true),
	    start_others(role); be_blocked(&hold))
DEFINE_PLAY(reads_longest, shared_rwsem, false, down_read(&shared_rwsem), up_read(&shared_rwsem),
	    outlast_first_reader(role, &hold))
DEFINE_PLAY(writes, shared_rwsem, true, down_write(&shared_rwsem), up_write(&shared_rwsem),
	    be_blocked(&hold))
DEFINE_PLAY(reads_last, shared_rwsem, true, down_read(&shared_rwsem), up_read(&shared_rwsem),
	    barrier())

static struct role shared_scene[] = {
	{ reads_first }, { reads_longest, 1 }, { writes, 1 }, { reads_last, 1 }, { },
};

/*
 * Spin locks and rwlocks. The waiter spins on CPU 1, so the lock's word shows when it waits. A
 * holder prints after its release, because printing takes locks and time.
 */

static DEFINE_SPINLOCK(interrupted_lock);
static DEFINE_SPINLOCK(undisturbed_lock);
static DEFINE_RWLOCK(written_lock);
static DEFINE_RWLOCK(read_rwlock);
static bool interrupt_has_ended;

static void interrupt_for_long(struct irq_work *work)
{
	spin_for(INTERRUPT_MS);
	WRITE_ONCE(interrupt_has_ended, true);
}

static DEFINE_IRQ_WORK(long_interrupt, interrupt_for_long);

static void be_interrupted(void)
{
	irq_work_queue(&long_interrupt);
	while (!READ_ONCE(interrupt_has_ended))
		cpu_relax();
}

/*
 * The holder waits for this task with interrupts off, so this task must not have to wait for a CPU
 * by then: that could be a deadlock.
 */
static void await_holder(struct role *role)
{
	preempt_disable();
	WRITE_ONCE(role->is_spinning, true);
	while (!READ_ONCE(role->may_go_on))
		cpu_relax();
}

static void start_spinner(const struct role *role)
{
	wake_up_process(role->task);
	while (!READ_ONCE(role->is_spinning))
		cond_resched();
}

#define DEFINE_SPIN_HOLD(_name, _lock, _acquire, _release, _is_contended, _while_held)	\
static noinline __noclone void _name(struct role *role)				\
{										\
	struct hold hold = HOLD(_lock, _name, false);				\
	unsigned long __maybe_unused flags;					\
	u64 from;								\
										\
	start_spinner(role + 1);						\
	begin_hold(role, &hold);						\
	_acquire;								\
	hold.time[1] = get_cycles();						\
	WRITE_ONCE(role[1].may_go_on, true);					\
	while (!(_is_contended))						\
		cpu_relax();							\
	from = get_cycles();							\
	_while_held;								\
	hold.time[2] = get_cycles();						\
	_release;								\
	hold.time[3] = get_cycles();						\
	print_planted(&hold, "holder_ran", from, hold.time[2]);			\
	print_hold(&hold);							\
}

#define DEFINE_SPIN_WAIT(_name, _lock, _acquire, _release)			\
	DEFINE_PLAY(_name, _lock, true, await_holder(role); _acquire(&(_lock)),	\
		    _release(&(_lock)); preempt_enable(), barrier())

DEFINE_SPIN_HOLD(is_interrupted, interrupted_lock, spin_lock(&interrupted_lock),
		 spin_unlock(&interrupted_lock), spin_is_contended(&interrupted_lock),
		 be_interrupted())
DEFINE_SPIN_WAIT(spins_for_interrupted, interrupted_lock, spin_lock, spin_unlock)
DEFINE_SPIN_HOLD(is_undisturbed, undisturbed_lock, spin_lock_irqsave(&undisturbed_lock, flags),
		 spin_unlock_irqrestore(&undisturbed_lock, flags),
		 spin_is_contended(&undisturbed_lock), spin_for(INTERRUPT_MS))
DEFINE_SPIN_WAIT(spins_for_undisturbed, undisturbed_lock, spin_lock, spin_unlock)
DEFINE_SPIN_HOLD(writes_spinning, written_lock, write_lock(&written_lock),
		 write_unlock(&written_lock), rwlock_is_contended(&written_lock),
		 spin_for(INTERRUPT_MS))
DEFINE_SPIN_WAIT(spins_for_writer, written_lock, read_lock, read_unlock)
DEFINE_SPIN_HOLD(reads_spinning, read_rwlock, read_lock(&read_rwlock), read_unlock(&read_rwlock),
		 rwlock_is_contended(&read_rwlock), spin_for(INTERRUPT_MS))
DEFINE_SPIN_WAIT(spins_for_reader, read_rwlock, write_lock, write_unlock)

static struct role interrupted_scene[] = { { is_interrupted }, { spins_for_interrupted, 1 }, { } };
static struct role undisturbed_scene[] = { { is_undisturbed }, { spins_for_undisturbed, 1 }, { } };
static struct role written_scene[] = { { writes_spinning }, { spins_for_writer, 1 }, { } };
static struct role read_scene[] = { { reads_spinning }, { spins_for_reader, 1 }, { } };

/* A mutex that is held, and waited for, until the module is unloaded. */

static DEFINE_MUTEX(open_mutex);
static DECLARE_COMPLETION(all_are_waiting);
static DECLARE_COMPLETION(unload_has_begun);

static void keep_lock(const struct role *role)
{
	start_others(role);
	complete(&all_are_waiting);
	wait_for_completion(&unload_has_begun);
}

DEFINE_MUTEX_PLAY(keeps, open_mutex, false, keep_lock(role))
DEFINE_MUTEX_PLAY(waits_in_vain, open_mutex, true, barrier())

static struct role open_scene[] = { { keeps }, { waits_in_vain, 1 }, { } };

static int role_thread(void *data)
{
	struct role *role = data;

	if (role->is_fifo)
		sched_set_fifo(current);
	role->play(role);
	kthread_complete_and_exit(&role->ended, 0);
}

static void end_scene(struct role *role)
{
	for (; role->play && role->task; role++) {
		wait_for_completion(&role->ended);
		put_task_struct(role->task);
	}
}

static int begin_scene(struct role *roles)
{
	struct role *role;

	for (role = roles; role->play; role++) {
		struct task_struct *task = kthread_create(role_thread, role, "planted");

		/* Tasks that never run stay: this module is not for a machine without memory. */
		if (IS_ERR(task))
			return PTR_ERR(task);
		init_completion(&role->ended);
		kthread_bind(task, role->cpu);
		role->task = get_task_struct(task);
	}
	wake_up_process(roles->task);
	return 0;
}

static int __init planted_holders_init(void)
{
	static struct role *const scenes[] = {
		lonely_scene, blocked_scene, preempted_scene, handed_scene, chain_scene,
		shared_scene, interrupted_scene, undisturbed_scene, written_scene, read_scene,
	};
	size_t i;
	int err;

	pr_info("sleep %ps 0x%lx\n", planted_sleep, (unsigned long)planted_sleep);
	for (i = 0; i < ARRAY_SIZE(scenes); i++) {
		err = begin_scene(scenes[i]);
		if (err)
			return err;
		end_scene(scenes[i]);
	}
	err = begin_scene(open_scene);
	if (!err)
		wait_for_completion(&all_are_waiting);
	return err;
}
module_init(planted_holders_init);

static void __exit planted_holders_exit(void)
{
	complete(&unload_has_begun);
	end_scene(open_scene);
}
module_exit(planted_holders_exit);

MODULE_DESCRIPTION("Has tasks hold locks for known reasons while others wait");
MODULE_LICENSE("GPL");
