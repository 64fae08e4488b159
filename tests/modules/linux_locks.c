// SPDX-License-Identifier: GPL-2.0-only
/*
 * linux_locks: acquire Linux' spin locks and rwlocks by each function, hold them long enough for
 * their releases to be written, and print the expected values of each event:
 *
 *	linux_locks: truth NAME LOCK MODE DEPTH WAITED BEFORE ACQUIRED RELEASING AFTER THREAD \
 *		LEAST MOST
 *
 * BEFORE and ACQUIRED are clock times around the acquisition, RELEASING and AFTER around the
 * release; the event's times lie between. WAITED: another CPU held the lock for at least `hold`.
 * LEAST and MOST are the numbers of interrupts that the kernel counted from ACQUIRED to RELEASING
 * and from BEFORE to AFTER. A function that changed more than the lock prints:
 *
 *	linux_locks: wrong NAME WHAT
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/timex.h>
#include <linux/workqueue.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../../module/perf/interrupt_count.h"

static unsigned int hold = 1500000;
module_param(hold, uint, 0444);
MODULE_PARM_DESC(hold, "minimum cycles for which each lock is held");

/* Interrupt this CPU by irq_work and by the scheduler's interrupt, while a lock is held. */
static void interrupt(struct irq_work *work)
{
}

static DEFINE_IRQ_WORK(interrupting_work, interrupt);

static void spend(cycles_t cycles)
{
	/* A pointer, because smp_send_reschedule() is a macro in newer kernels. */
	void (*reschedule)(int cpu) = smp_ops.smp_send_reschedule;
	cycles_t start = get_cycles();

	irq_work_queue(&interrupting_work);
	reschedule(raw_smp_processor_id());
	while (get_cycles() - start < cycles)
		cpu_relax();
}

static void tell(const char *name, void *lock, int mode, int depth, bool waited,
		 const u64 time[4], u32 least, u32 most)
{
	pr_info("truth %s 0x%lx %d %d %d %llu %llu %llu %llu %d %u %u\n", name,
		(unsigned long)lock, mode, depth, waited, time[0], time[1], time[2], time[3],
		task_pid_nr(current), least, most);
}

/* The state of the CPU that a lock function may change, and must restore. */
struct state {
	unsigned int preempt_count;
	bool irqs_disabled;
};

/* Not inlined, because objtool checks how a function saves the flags. */
static noinline struct state state_now(void)
{
	return (struct state){ preempt_count(), irqs_disabled() };
}

static void compare(const char *name, struct state is, struct state should_be)
{
	if (is.preempt_count != should_be.preempt_count)
		pr_info("wrong %s preempt_count %x %x\n", name, is.preempt_count,
			should_be.preempt_count);
	if (is.irqs_disabled != should_be.irqs_disabled)
		pr_info("wrong %s irqs_disabled %d %d\n", name, is.irqs_disabled,
			should_be.irqs_disabled);
}

/* Define take_NAME(), which holds an uncontended lock of its own. */
#define TAKE(_name, _type, _define, _mode, _offset, _irqs_off, _acquire, _release)	\
static void take_##_name(void)								\
{											\
	static _define(lock);								\
	unsigned long flags __maybe_unused;						\
	struct state before = state_now(), inside = before;				\
	u64 outer = ntklog_snapshot_interrupts(), inner, time[4];				\
	u32 least, most;								\
											\
	inside.preempt_count += _offset;						\
	inside.irqs_disabled |= _irqs_off;						\
	time[0] = get_cycles();								\
	_acquire;									\
	time[1] = get_cycles();								\
	inner = ntklog_snapshot_interrupts();						\
	compare(#_name " inside", state_now(), inside);					\
	spend(hold);									\
	least = ntklog_interrupts_since(inner);						\
	time[2] = get_cycles();								\
	_release;									\
	time[3] = get_cycles();								\
	most = ntklog_interrupts_since(outer);						\
	compare(#_name " after", state_now(), before);					\
	tell(#_name, &lock, _mode, 1, false, time, least, most);				\
}

#define SPIN(_name, _offset, _irqs_off, _acquire, _release)				\
	TAKE(_name, raw_spinlock_t, DEFINE_RAW_SPINLOCK, WMI_SPINLOCK_QUEUED, _offset,	\
	     _irqs_off, _acquire, _release)
#define SHARED(_name, _offset, _irqs_off, _acquire, _release)			\
	TAKE(_name, rwlock_t, DEFINE_RWLOCK, WMI_SPINLOCK_EXECUTIVE_SHARED, _offset,	\
	     _irqs_off, _acquire, _release)
#define EXCLUSIVE(_name, _offset, _irqs_off, _acquire, _release)			\
	TAKE(_name, rwlock_t, DEFINE_RWLOCK, WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE, _offset,	\
	     _irqs_off, _acquire, _release)

#define P	PREEMPT_LOCK_OFFSET
#define B	SOFTIRQ_LOCK_OFFSET

static void failed(const char *name)
{
	pr_info("wrong %s a trylock of a free lock fails\n", name);
}

#define TRY(_try)	do { if (!(_try)) failed(#_try); } while (0)

SPIN(spin_lock, P, false, raw_spin_lock(&lock), raw_spin_unlock(&lock))
SPIN(spin_lock_irq, P, true, raw_spin_lock_irq(&lock), raw_spin_unlock_irq(&lock))
#define LOCK_SAVING	raw_spin_lock_irqsave(&lock, flags)
#define UNLOCK_SAVED	raw_spin_unlock_irqrestore(&lock, flags)
SPIN(spin_lock_irqsave, P, true, LOCK_SAVING, UNLOCK_SAVED)
SPIN(spin_lock_bh, B, false, raw_spin_lock_bh(&lock), raw_spin_unlock_bh(&lock))
SPIN(spin_trylock, P, false, TRY(raw_spin_trylock(&lock)), raw_spin_unlock(&lock))
SPIN(spin_trylock_bh, B, false, TRY(raw_spin_trylock_bh(&lock)), raw_spin_unlock_bh(&lock))
SPIN(spin_lock_nested, P, false, raw_spin_lock_nested(&lock, 1), raw_spin_unlock(&lock))
SHARED(read_lock, P, false, read_lock(&lock), read_unlock(&lock))
SHARED(read_lock_irq, P, true, read_lock_irq(&lock), read_unlock_irq(&lock))
#define READ_SAVING	read_lock_irqsave(&lock, flags)
#define READ_SAVED	read_unlock_irqrestore(&lock, flags)
SHARED(read_lock_irqsave, P, true, READ_SAVING, READ_SAVED)
SHARED(read_lock_bh, B, false, read_lock_bh(&lock), read_unlock_bh(&lock))
SHARED(read_trylock, P, false, TRY(read_trylock(&lock)), read_unlock(&lock))
EXCLUSIVE(write_lock, P, false, write_lock(&lock), write_unlock(&lock))
EXCLUSIVE(write_lock_irq, P, true, write_lock_irq(&lock), write_unlock_irq(&lock))
EXCLUSIVE(write_lock_irqsave, P, true, write_lock_irqsave(&lock, flags),
	  write_unlock_irqrestore(&lock, flags))
EXCLUSIVE(write_lock_bh, B, false, write_lock_bh(&lock), write_unlock_bh(&lock))
EXCLUSIVE(write_trylock, P, false, TRY(write_trylock(&lock)), write_unlock(&lock))

/* Hold three locks with interrupts disabled, and release the middle one first. */
static void take_nested(void)
{
	static const int order[] = { 1, 0, 2 };
	static raw_spinlock_t locks[3];
	unsigned long flags;
	u64 time[3][4];
	size_t i;

	for (i = 0; i < 3; i++) {
		raw_spin_lock_init(&locks[i]);
		/* Lockdep gives locks of one line one class, and would report recursion. */
		lockdep_set_subclass(&locks[i], i);
	}
	local_irq_save(flags);
	for (i = 0; i < 3; i++) {
		time[i][0] = get_cycles();
		raw_spin_lock(&locks[i]);
		/* Sparse cannot count releases in a loop. */
		__release(&locks[i]);
		time[i][1] = get_cycles();
	}
	spend(hold);
	for (i = 0; i < 3; i++) {
		time[order[i]][2] = get_cycles();
		__acquire(&locks[order[i]]);
		raw_spin_unlock(&locks[order[i]]);
		time[order[i]][3] = get_cycles();
	}
	local_irq_restore(flags);
	for (i = 0; i < 3; i++)
		tell("nested", &locks[order[i]], WMI_SPINLOCK_QUEUED, 3 - i, false,
		     time[order[i]], 0, 0);
}

/* A failed trylock makes no event. */
static void fail_to_take(void)
{
	static DEFINE_RAW_SPINLOCK(lock);
	static DEFINE_RWLOCK(rw_lock);
	struct state before;

	/* The rwlock first: with PREEMPT_RT it may sleep, which a raw spin lock forbids. */
	write_lock(&rw_lock);
	raw_spin_lock(&lock);
	before = state_now();
	if (_raw_spin_trylock(&lock) || _raw_spin_trylock_bh(&lock) ||
	    _raw_read_trylock(&rw_lock) || _raw_write_trylock(&rw_lock))
		pr_info("wrong trylock of an owned lock succeeds\n");
	compare("trylock that failed", state_now(), before);
	raw_spin_unlock(&lock);
	write_unlock(&rw_lock);
}

static DEFINE_RAW_SPINLOCK(wanted_lock);
static DEFINE_RWLOCK(wanted_rw_lock);
static DECLARE_COMPLETION(owned);
static bool is_wanted;
static int way;

/*
 * Hold a lock until the other CPU is about to wait for it, and then for 200 times `hold`, at least
 * a tenth of a second. The waiter then waits even if the host stops its virtual CPU. The lock's
 * word does not show a waiter in a virtual machine.
 */
static long own(void *unused)
{
	if (way == 0)
		raw_spin_lock(&wanted_lock);
	else
		write_lock(&wanted_rw_lock);
	WRITE_ONCE(is_wanted, false);
	complete(&owned);
	while (!READ_ONCE(is_wanted))
		cpu_relax();
	spend(hold * 200ULL);
	if (way == 0)
		raw_spin_unlock(&wanted_lock);
	else
		write_unlock(&wanted_rw_lock);
	return 0;
}

static int owner_thread(void *unused)
{
	own(NULL);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* Wait for a lock for at least `hold`, with interrupts disabled. */
static int take_waiting(int which, const char *name, int mode)
{
	struct task_struct *owner;
	unsigned long flags;
	u64 time[4];

	way = which > 0;
	reinit_completion(&owned);
	owner = kthread_create(owner_thread, NULL, "linux_locks");
	if (IS_ERR(owner))
		return PTR_ERR(owner);
	kthread_bind(owner, 1);
	wake_up_process(owner);
	wait_for_completion(&owned);
	local_irq_save(flags);
	WRITE_ONCE(is_wanted, true);
	time[0] = get_cycles();
	if (which == 0)
		raw_spin_lock(&wanted_lock);
	else if (which == 1)
		read_lock(&wanted_rw_lock);
	else
		write_lock(&wanted_rw_lock);
	time[1] = get_cycles();
	spend(hold);
	time[2] = get_cycles();
	if (which == 0)
		raw_spin_unlock(&wanted_lock);
	else if (which == 1)
		read_unlock(&wanted_rw_lock);
	else
		write_unlock(&wanted_rw_lock);
	time[3] = get_cycles();
	local_irq_restore(flags);
	tell(name, which ? (void *)&wanted_rw_lock : &wanted_lock, mode, 1, true, time, 0, 0);
	kthread_stop(owner);
	return 0;
}

/* Run on one CPU, so that all times come from one clock. */
static long take_all(void *unused)
{
	int err;

	take_spin_lock();
	take_spin_lock_irq();
	take_spin_lock_irqsave();
	take_spin_lock_bh();
	take_spin_trylock();
	take_spin_trylock_bh();
	take_spin_lock_nested();
	take_read_lock();
	take_read_lock_irq();
	take_read_lock_irqsave();
	take_read_lock_bh();
	take_read_trylock();
	take_write_lock();
	take_write_lock_irq();
	take_write_lock_irqsave();
	take_write_lock_bh();
	take_write_trylock();
	take_nested();
	fail_to_take();
	/*
	 * Owner and waiter wait for each other with preemption disabled. A CPU that comes online
	 * meanwhile would stop all other CPUs, and deadlock.
	 */
	cpus_read_lock();
	err = take_waiting(0, "spin_wait", WMI_SPINLOCK_QUEUED);
	if (!err)
		err = take_waiting(1, "read_wait", WMI_SPINLOCK_EXECUTIVE_SHARED);
	if (!err)
		err = take_waiting(2, "write_wait", WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE);
	cpus_read_unlock();
	return err;
}

static int __init linux_locks_init(void)
{
	return work_on_cpu(0, take_all, NULL);
}
module_init(linux_locks_init);

static void __exit linux_locks_exit(void)
{
}
module_exit(linux_locks_exit);

MODULE_DESCRIPTION("Takes Linux' locks and tells what is true of it");
MODULE_LICENSE("GPL");
