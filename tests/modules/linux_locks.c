// SPDX-License-Identifier: GPL-2.0-only
/*
 * linux_locks: acquire Linux' spin locks and rwlocks, hold them long enough for their releases to
 * be written, and print the expected values of each event:
 *
 *	linux_locks: truth NAME LOCK MODE DEPTH WAITED BEFORE ACQUIRED RELEASING AFTER THREAD \
 *		LEAST MOST
 *
 * MODE is the event's acquire_mode. DEPTH is the number of locks that the CPU holds just before the
 * release. BEFORE and ACQUIRED are clock times around the acquisition, RELEASING and AFTER around
 * the release; the event's times lie between them. WAITED is 1 if another CPU held the lock for at
 * least `hold` cycles meanwhile, else 0. LEAST and MOST are the numbers of interrupts that the
 * kernel counted from ACQUIRED to RELEASING and from BEFORE to AFTER; both are 0 if interrupts were
 * disabled from BEFORE to AFTER. If a trylock has an unexpected result, or a lock function leaves
 * an unexpected preemption count or interrupt state, the module prints:
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

static void do_nothing(struct irq_work *work)
{
}

static DEFINE_IRQ_WORK(empty_work, do_nothing);

static void spin_interrupted(cycles_t cycles)
{
	/* A call of the member would expand the macro smp_send_reschedule() of newer kernels. */
	void (*reschedule)(int cpu) = smp_ops.smp_send_reschedule;
	cycles_t start = get_cycles();

	irq_work_queue(&empty_work);
	reschedule(raw_smp_processor_id());
	while (get_cycles() - start < cycles)
		cpu_relax();
}

static void print_truth(const char *name, void *lock, int mode, int depth, bool waited,
			const u64 time[4], u32 least, u32 most)
{
	pr_info("truth %s 0x%lx %d %d %d %llu %llu %llu %llu %d %u %u\n", name,
		(unsigned long)lock, mode, depth, waited, time[0], time[1], time[2], time[3],
		task_pid_nr(current), least, most);
}

struct cpu_state {
	unsigned int preempt_count;
	bool irqs_disabled;
};

/* Not inlined, because of objtool's warning "PUSHF stack exhausted". */
static noinline struct cpu_state current_cpu_state(void)
{
	return (struct cpu_state){ preempt_count(), irqs_disabled() };
}

static void print_cpu_state_difference(const char *name, struct cpu_state actual,
				       struct cpu_state expected)
{
	if (actual.preempt_count != expected.preempt_count)
		pr_info("wrong %s preempt_count %x %x\n", name, actual.preempt_count,
			expected.preempt_count);
	if (actual.irqs_disabled != expected.irqs_disabled)
		pr_info("wrong %s irqs_disabled %d %d\n", name, actual.irqs_disabled,
			expected.irqs_disabled);
}

/*
 * The preemption count must be higher by _offset while the lock is held, and interrupts disabled if
 * _irqs_off.
 */
#define TAKE(_name, _type, _define, _mode, _offset, _irqs_off, _acquire, _release)	\
static void take_##_name(void)								\
{											\
	static _define(lock);								\
	unsigned long flags __maybe_unused;						\
	struct cpu_state before = current_cpu_state(), inside = before;			\
	u64 outer_snapshot = ntklog_snapshot_interrupts(), inner_snapshot, time[4];	\
	u32 least, most;								\
											\
	inside.preempt_count += _offset;						\
	inside.irqs_disabled |= _irqs_off;						\
	time[0] = get_cycles();								\
	_acquire;									\
	time[1] = get_cycles();								\
	inner_snapshot = ntklog_snapshot_interrupts();					\
	print_cpu_state_difference(#_name " inside", current_cpu_state(), inside);	\
	spin_interrupted(hold);								\
	least = ntklog_count_irqs_since(inner_snapshot);				\
	time[2] = get_cycles();								\
	_release;									\
	time[3] = get_cycles();								\
	most = ntklog_count_irqs_since(outer_snapshot);					\
	print_cpu_state_difference(#_name " after", current_cpu_state(), before);	\
	print_truth(#_name, &lock, _mode, 1, false, time, least, most);			\
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

#define PREEMPT_OFF	PREEMPT_LOCK_OFFSET
#define BH_OFF	SOFTIRQ_LOCK_OFFSET

static void report_failed_trylock(const char *name)
{
	pr_info("wrong %s a trylock of a free lock fails\n", name);
}

#define TRY(_try)	do { if (!(_try)) report_failed_trylock(#_try); } while (0)

SPIN(spin_lock, PREEMPT_OFF, false, raw_spin_lock(&lock), raw_spin_unlock(&lock))
SPIN(spin_lock_irq, PREEMPT_OFF, true, raw_spin_lock_irq(&lock), raw_spin_unlock_irq(&lock))
#define LOCK_SAVING	raw_spin_lock_irqsave(&lock, flags)
#define UNLOCK_RESTORING	raw_spin_unlock_irqrestore(&lock, flags)
SPIN(spin_lock_irqsave, PREEMPT_OFF, true, LOCK_SAVING, UNLOCK_RESTORING)
SPIN(spin_lock_bh, BH_OFF, false, raw_spin_lock_bh(&lock), raw_spin_unlock_bh(&lock))
SPIN(spin_trylock, PREEMPT_OFF, false, TRY(raw_spin_trylock(&lock)), raw_spin_unlock(&lock))
SPIN(spin_trylock_bh, BH_OFF, false, TRY(raw_spin_trylock_bh(&lock)), raw_spin_unlock_bh(&lock))
SPIN(spin_lock_nested, PREEMPT_OFF, false, raw_spin_lock_nested(&lock, 1), raw_spin_unlock(&lock))
SHARED(read_lock, PREEMPT_OFF, false, read_lock(&lock), read_unlock(&lock))
SHARED(read_lock_irq, PREEMPT_OFF, true, read_lock_irq(&lock), read_unlock_irq(&lock))
#define READ_LOCK_SAVING	read_lock_irqsave(&lock, flags)
#define READ_UNLOCK_RESTORING	read_unlock_irqrestore(&lock, flags)
SHARED(read_lock_irqsave, PREEMPT_OFF, true, READ_LOCK_SAVING, READ_UNLOCK_RESTORING)
SHARED(read_lock_bh, BH_OFF, false, read_lock_bh(&lock), read_unlock_bh(&lock))
SHARED(read_trylock, PREEMPT_OFF, false, TRY(read_trylock(&lock)), read_unlock(&lock))
EXCLUSIVE(write_lock, PREEMPT_OFF, false, write_lock(&lock), write_unlock(&lock))
EXCLUSIVE(write_lock_irq, PREEMPT_OFF, true, write_lock_irq(&lock), write_unlock_irq(&lock))
EXCLUSIVE(write_lock_irqsave, PREEMPT_OFF, true, write_lock_irqsave(&lock, flags),
	  write_unlock_irqrestore(&lock, flags))
EXCLUSIVE(write_lock_bh, BH_OFF, false, write_lock_bh(&lock), write_unlock_bh(&lock))
EXCLUSIVE(write_trylock, PREEMPT_OFF, false, TRY(write_trylock(&lock)), write_unlock(&lock))

static void take_nested(void)
{
	static const int release_order[] = { 1, 0, 2 };
	static raw_spinlock_t locks[3];
	unsigned long flags;
	u64 time[3][4];
	size_t i;

	for (i = 0; i < 3; i++) {
		raw_spin_lock_init(&locks[i]);
		/* Locks initialized by one line share a lockdep class. */
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
	spin_interrupted(hold);
	for (i = 0; i < 3; i++) {
		time[release_order[i]][2] = get_cycles();
		__acquire(&locks[release_order[i]]);
		raw_spin_unlock(&locks[release_order[i]]);
		time[release_order[i]][3] = get_cycles();
	}
	local_irq_restore(flags);
	for (i = 0; i < 3; i++)
		print_truth("nested", &locks[release_order[i]], WMI_SPINLOCK_QUEUED, 3 - i, false,
			    time[release_order[i]], 0, 0);
}

/* A failed trylock must write no event and restore the CPU's state. */
static void try_held_locks(void)
{
	static DEFINE_RAW_SPINLOCK(lock);
	static DEFINE_RWLOCK(rw_lock);
	struct cpu_state before;

	/* The rwlock first: with PREEMPT_RT it may sleep, which a raw spin lock forbids. */
	write_lock(&rw_lock);
	raw_spin_lock(&lock);
	before = current_cpu_state();
	if (_raw_spin_trylock(&lock) || _raw_spin_trylock_bh(&lock) ||
	    _raw_read_trylock(&rw_lock) || _raw_write_trylock(&rw_lock))
		pr_info("wrong trylock of a held lock succeeds\n");
	print_cpu_state_difference("trylock that failed", current_cpu_state(), before);
	raw_spin_unlock(&lock);
	write_unlock(&rw_lock);
}

static DEFINE_RAW_SPINLOCK(contended_lock);
static DEFINE_RWLOCK(contended_rw_lock);
static DECLARE_COMPLETION(owner_has_lock);
static bool waiter_is_ready;
static bool rw_lock_is_wanted;

/*
 * Hold the lock for 800 times `hold`, so that the waiter waits for `hold` even if the host stops
 * its virtual CPU just before the request. The owner cannot watch for the waiter instead, because
 * the lock word does not show a waiter in a virtual machine (virt_spin_lock()).
 */
static void hold_until_waited_for(void)
{
	if (!rw_lock_is_wanted)
		raw_spin_lock(&contended_lock);
	else
		write_lock(&contended_rw_lock);
	WRITE_ONCE(waiter_is_ready, false);
	complete(&owner_has_lock);
	while (!READ_ONCE(waiter_is_ready))
		cpu_relax();
	spin_interrupted(hold * 800ULL);
	if (!rw_lock_is_wanted)
		raw_spin_unlock(&contended_lock);
	else
		write_unlock(&contended_rw_lock);
}

static int owner_thread(void *unused)
{
	hold_until_waited_for();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* @request: 0 for a spin lock, 1 to read an rwlock, 2 to write it. */
static int take_contended_lock(int request, const char *name, int mode)
{
	struct task_struct *owner;
	unsigned long flags;
	u64 time[4];

	rw_lock_is_wanted = request > 0;
	reinit_completion(&owner_has_lock);
	owner = kthread_create(owner_thread, NULL, "linux_locks");
	if (IS_ERR(owner))
		return PTR_ERR(owner);
	kthread_bind(owner, 1);
	wake_up_process(owner);
	wait_for_completion(&owner_has_lock);
	local_irq_save(flags);
	WRITE_ONCE(waiter_is_ready, true);
	time[0] = get_cycles();
	if (request == 0)
		raw_spin_lock(&contended_lock);
	else if (request == 1)
		read_lock(&contended_rw_lock);
	else
		write_lock(&contended_rw_lock);
	time[1] = get_cycles();
	spin_interrupted(hold);
	time[2] = get_cycles();
	if (request == 0)
		raw_spin_unlock(&contended_lock);
	else if (request == 1)
		read_unlock(&contended_rw_lock);
	else
		write_unlock(&contended_rw_lock);
	time[3] = get_cycles();
	local_irq_restore(flags);
	print_truth(name, request ? (void *)&contended_rw_lock : &contended_lock, mode, 1, true,
		    time, 0, 0);
	kthread_stop(owner);
	return 0;
}

/* Run on CPU 0 only, so that one CPU's cycle counter gives all times. */
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
	try_held_locks();
	/*
	 * Owner and waiter wait for each other with preemption disabled. CPU hotplug would stop one
	 * of them: a deadlock.
	 */
	cpus_read_lock();
	err = take_contended_lock(0, "spin_wait", WMI_SPINLOCK_QUEUED);
	if (!err)
		err = take_contended_lock(1, "read_wait", WMI_SPINLOCK_EXECUTIVE_SHARED);
	if (!err)
		err = take_contended_lock(2, "write_wait", WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE);
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

MODULE_DESCRIPTION("Acquires Linux' spinning locks and prints the expected events");
MODULE_LICENSE("GPL");
