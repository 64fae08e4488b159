// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waits for Linux' spin locks and rwlocks, from the tracepoints contention_begin and
 * contention_end. The kernel calls them when a waiter enters and leaves the queue of a lock. The
 * first waiter for a queued spin lock may not enter the queue; then its wait is not recorded.
 *
 * The waits of a CPU nest: a waiter for an rwlock may wait for the spin lock of its queue, and an
 * interrupt handler may wait for another lock.
 */

#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <trace/events/lock.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "contention.h"
#include "kind.h"
#include "waits.h"

/* Maximal depth of nested waits. Deeper waits are not recorded but counted as untracked. */
#define NTKLOG_NESTED_WAITS_MAX		8

/* Number of stack frames in which the caller of the lock function is searched. */
#define NTKLOG_WAIT_FRAMES_MAX	16

/**
 * struct ntklog_wait_cpu - nested waits of a CPU
 * @entries: the waits, the innermost one last; ntklog_wait_depth of them are in use
 *
 * Written by its own CPU only, with interrupts off. Freed when no probe runs.
 */
struct ntklog_wait_cpu {
	struct {
		const void *lock;
		u8 acquire_mode;
		struct ntklog_spin_lock_wait_start wait_start;
	} entries[NTKLOG_NESTED_WAITS_MAX];
};

static struct ntklog_wait_cpu __percpu *ntklog_wait_cpu;

/* Number of nested waits of a CPU. Written by the CPU; cleared while no probe is registered. */
static DEFINE_PER_CPU(unsigned int, ntklog_wait_depth);

/*
 * Bitmap of the kinds whose waits are recorded, by PERF_SPIN_LOCK_KIND(). Written with
 * ntklog_linux_mutex held, read by the probes. The probes keep track of the waits of both kinds,
 * even if only one kind is recorded, because the wait for an rwlock tells that the spin lock of its
 * queue is no spin lock of the user.
 */
static unsigned long ntklog_wait_kind_bits;

/* Convert LCB_F_* to an AcquireMode. Returns 0 if the lock is of another kind. */
static u8 ntklog_flags_to_acquire_mode(unsigned int flags)
{
	switch (flags) {
	case LCB_F_SPIN:
		return WMI_SPINLOCK_QUEUED | PERF_SPIN_LOCK_LINUX_SPIN;
	case LCB_F_SPIN | LCB_F_READ:
		return WMI_SPINLOCK_EXECUTIVE_SHARED | PERF_SPIN_LOCK_LINUX_RW;
	case LCB_F_SPIN | LCB_F_WRITE:
		return WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE | PERF_SPIN_LOCK_LINUX_RW;
	default:
		return 0;
	}
}

/**
 * ntklog_is_wait_lock_of_rwlock() - test whether a lock belongs to an rwlock that is waited for
 * @lock: address of a spin lock
 *
 * Context: interrupts off; the waits of a kind are watched.
 * Return: true if @lock is the spin lock of the queue of the rwlock that this CPU waits for.
 */
bool ntklog_is_wait_lock_of_rwlock(const void *lock)
{
#ifdef CONFIG_QUEUED_RWLOCKS
	const struct ntklog_wait_cpu *waits = this_cpu_ptr(ntklog_wait_cpu);
	unsigned int depth = this_cpu_read(ntklog_wait_depth);
	const struct qrwlock *innermost_rwlock;

	if (!depth || PERF_SPIN_LOCK_KIND(waits->entries[depth - 1].acquire_mode) !=
		      PERF_SPIN_LOCK_KIND(PERF_SPIN_LOCK_LINUX_RW))
		return false;
	innermost_rwlock = waits->entries[depth - 1].lock;
	return lock == &innermost_rwlock->wait_lock;
#else
	return false;
#endif
}

static bool ntklog_wait_is_enabled(u8 mode)
{
	return READ_ONCE(ntklog_wait_kind_bits) & BIT(PERF_SPIN_LOCK_KIND(mode));
}

static notrace void ntklog_wait_begin_probe(void *unused, void *lock, unsigned int flags)
{
	struct ntklog_wait_cpu *waits;
	u8 mode = ntklog_flags_to_acquire_mode(flags);
	unsigned long irq_flags;
	unsigned int depth;

	if (!mode || in_nmi())
		return;
	local_irq_save(irq_flags);
	waits = this_cpu_ptr(ntklog_wait_cpu);
	depth = this_cpu_read(ntklog_wait_depth);
	if (ntklog_is_wait_lock_of_rwlock(lock)) {
		/* The wait for the lock of the queue is a part of the wait for the rwlock. */
	} else if (depth < NTKLOG_NESTED_WAITS_MAX) {
		waits->entries[depth].lock = lock;
		waits->entries[depth].acquire_mode = mode;
		ntklog_start_spin_lock_wait(&waits->entries[depth].wait_start);
		this_cpu_write(ntklog_wait_depth, depth + 1);
	} else if (ntklog_wait_is_enabled(mode)) {
		this_cpu_inc(ntklog_spin_lock_cpu.untracked_count);
	}
	local_irq_restore(irq_flags);
}

/* Return 0 if the caller is not in the innermost NTKLOG_WAIT_FRAMES_MAX frames of the stack. */
static unsigned long ntklog_find_lock_caller(void)
{
	unsigned long frames[NTKLOG_WAIT_FRAMES_MAX];
	unsigned int i, count = stack_trace_save(frames, ARRAY_SIZE(frames), 0);
	bool in_lock_function = false;

	for (i = 0; i < count; i++) {
		if (in_lock_functions(frames[i]))
			in_lock_function = true;
		else if (in_lock_function)
			return frames[i];
	}
	return 0;
}

static notrace void ntklog_wait_end_probe(void *unused, void *lock, int err)
{
	struct ntklog_wait_cpu *waits;
	unsigned long irq_flags;
	unsigned int number;
	u32 spin_count;
	u8 mode;

	/* Return early for sleeping locks. */
	if (!this_cpu_read(ntklog_wait_depth) || in_nmi())
		return;
	local_irq_save(irq_flags);
	waits = this_cpu_ptr(ntklog_wait_cpu);
	number = this_cpu_read(ntklog_wait_depth);
	while (number && waits->entries[number - 1].lock != lock)
		number--;
	if (number--) {
		const struct ntklog_spin_lock_wait_start *wait_start =
			&waits->entries[number].wait_start;

		this_cpu_write(ntklog_wait_depth, number);
		mode = waits->entries[number].acquire_mode;
		spin_count = ntklog_estimate_spin_count(wait_start);
		if (!err && ntklog_wait_is_enabled(mode) &&
		    ntklog_count_and_sample_wait(spin_count))
			ntklog_log_spin_lock_wait(lock, mode, spin_count, wait_start,
						  rcu_is_watching() ?
					  ntklog_find_lock_caller() : 0);
	}
	local_irq_restore(irq_flags);
}

/**
 * ntklog_watch_waits() - record the waits for locks of a kind
 * @spin_kind: PERF_SPIN_LOCK_KIND() of the kind
 * @failed_name: after an error, set to the name of a tracepoint
 *
 * Context: task; may sleep; takes tracepoints_mutex. Callers are serialized.
 * Return: 0 or a negative errno.
 */
int ntklog_watch_waits(u8 spin_kind, const char **failed_name)
{
	int cpu, err;

	if (!ntklog_wait_kind_bits) {
		ntklog_wait_cpu = alloc_percpu(struct ntklog_wait_cpu);
		if (!ntklog_wait_cpu) {
			*failed_name = "contention_begin";
			return -ENOMEM;
		}
		/* Forget waits that had not ended when the probes were last unregistered. */
		for_each_possible_cpu(cpu)
			per_cpu(ntklog_wait_depth, cpu) = 0;
		err = ntklog_watch_contention(ntklog_wait_begin_probe, ntklog_wait_end_probe,
					      failed_name);
		if (err) {
			free_percpu(ntklog_wait_cpu);
			return err;
		}
	}
	WRITE_ONCE(ntklog_wait_kind_bits, ntklog_wait_kind_bits | BIT(spin_kind));
	return 0;
}

/**
 * ntklog_stop_watching_waits() - undo ntklog_watch_waits()
 * @spin_kind: PERF_SPIN_LOCK_KIND() of the kind
 *
 * Context: task; may sleep; takes tracepoints_mutex. Callers are serialized.
 */
void ntklog_stop_watching_waits(u8 spin_kind)
{
	WRITE_ONCE(ntklog_wait_kind_bits, ntklog_wait_kind_bits & ~BIT(spin_kind));
	if (!ntklog_wait_kind_bits) {
		ntklog_stop_watching_contention(ntklog_wait_begin_probe, ntklog_wait_end_probe);
		free_percpu(ntklog_wait_cpu);
	}
}
