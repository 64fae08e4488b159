// SPDX-License-Identifier: GPL-2.0-only
/*
 * The waits for Linux' spin locks and rwlocks, from its tracepoints contention_begin and
 * contention_end: no function is redirected, nothing is known of holds, and what does not wait
 * pays nothing. They tell of what the kernel's slow paths do in the queue: the second in line for
 * a queued spin lock, who alone waits for its owner, comes by none (design.rst).
 *
 * A processor's waits nest: a reader waits for the lock of the queue of an rwlock, an interrupt
 * for another lock. Only its own processor writes them, with interrupts off, but while no probe
 * is registered: then ntklog_watch_waits() empties those of all. What the last probes wrote is
 * before that: tracepoint_synchronize_unregister() of ntklog_stop_watching_waits() has waited for
 * them.
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

/* More at once are not seen, but counted as untracked. */
#define LINUX_WAITS		8

/* From us to who asked for the lock. */
#define LINUX_WAIT_FRAMES	16

/**
 * struct ntklog_linux_waits - what a processor waits for
 * @depth: of @wait, so many
 * @wait: the last one is what it waits for now
 */
struct ntklog_linux_waits {
	unsigned int depth;
	struct {
		const void *lock;
		u8 acquire_mode;
		struct ntklog_spin_lock_wait_start query;
	} wait[LINUX_WAITS];
};

static DEFINE_PER_CPU(struct ntklog_linux_waits, ntklog_linux_waits);

/*
 * Bits by PERF_SPIN_LOCK_KIND(). Written by one at a time, read by the probes. Of whichever kind,
 * both kinds' waits are noted: the queue of an rwlock is known by the wait for that.
 */
static unsigned long ntklog_wait_kinds_enabled;

/* What the kernel says of a lock, as an AcquireMode; 0: it is none of these two kinds. */
static u8 ntklog_mode_of_wait(unsigned int flags)
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

/* Is it what waiters for the rwlock that is waited for queue up by? */
static bool ntklog_is_wait_lock_of_rwlock(const struct ntklog_linux_waits *waits, const void *lock)
{
#ifdef CONFIG_QUEUED_RWLOCKS
	const struct qrwlock *last;

	if (!waits->depth || PERF_SPIN_LOCK_KIND(waits->wait[waits->depth - 1].acquire_mode) !=
			     PERF_SPIN_LOCK_KIND(PERF_SPIN_LOCK_LINUX_RW))
		return false;
	last = waits->wait[waits->depth - 1].lock;
	return lock == &last->wait_lock;
#else
	return false;
#endif
}

static bool ntklog_wait_is_enabled(u8 mode)
{
	return READ_ONCE(ntklog_wait_kinds_enabled) & BIT(PERF_SPIN_LOCK_KIND(mode));
}

static notrace void ntklog_wait_begins(void *unused, void *lock, unsigned int flags)
{
	struct ntklog_linux_waits *waits;
	u8 mode = ntklog_mode_of_wait(flags);
	unsigned long irq_flags;

	if (!mode || in_nmi())
		return;
	local_irq_save(irq_flags);
	waits = this_cpu_ptr(&ntklog_linux_waits);
	if (ntklog_is_wait_lock_of_rwlock(waits, lock)) {
		/* It is part of the wait for that. */
	} else if (waits->depth < LINUX_WAITS) {
		waits->wait[waits->depth].lock = lock;
		waits->wait[waits->depth].acquire_mode = mode;
		ntklog_start_spin_lock_wait(&waits->wait[waits->depth].query);
		waits->depth++;
	} else if (ntklog_wait_is_enabled(mode)) {
		this_cpu_inc(ntklog_spin_lock_cpu.untracked);
	}
	local_irq_restore(irq_flags);
}

/* Who called the lock function that is waiting; 0: the stack does not tell. */
static unsigned long ntklog_lock_caller(void)
{
	unsigned long frames[LINUX_WAIT_FRAMES];
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

static notrace void ntklog_wait_ends(void *unused, void *lock, int err)
{
	struct ntklog_linux_waits *waits;
	unsigned long irq_flags;
	unsigned int number;
	u32 spins;
	u8 mode;

	/* So is most: of mutexes and other locks whose waiters sleep. */
	if (!this_cpu_read(ntklog_linux_waits.depth) || in_nmi())
		return;
	local_irq_save(irq_flags);
	waits = this_cpu_ptr(&ntklog_linux_waits);
	number = waits->depth;
	while (number && waits->wait[number - 1].lock != lock)
		number--;
	if (number--) {
		const struct ntklog_spin_lock_wait_start *query = &waits->wait[number].query;

		waits->depth = number;
		mode = waits->wait[number].acquire_mode;
		spins = ntklog_linux_spins(query);
		if (!err && ntklog_wait_is_enabled(mode) && ntklog_count_spin_lock_wait(spins))
			ntklog_log_spin_lock_wait(lock, mode, spins, query,
						  rcu_is_watching() ? ntklog_lock_caller() : 0);
	}
	local_irq_restore(irq_flags);
}

/**
 * ntklog_watch_waits() - write the waits for the locks of one kind
 * @whose: PERF_SPIN_LOCK_KIND() of the kind's
 * @failed: set to what could not be
 *
 * Context: thread; may sleep, and takes tracepoints_mutex. One at a time.
 * Return: 0 or a negative errno.
 */
int ntklog_watch_waits(u8 whose, const char **failed)
{
	int cpu, err;

	if (!ntklog_wait_kinds_enabled) {
		/* What had begun when it was last switched off has not ended here. */
		for_each_possible_cpu(cpu)
			per_cpu_ptr(&ntklog_linux_waits, cpu)->depth = 0;
		err = ntklog_watch_contention(ntklog_wait_begins, ntklog_wait_ends, failed);
		if (err)
			return err;
	}
	WRITE_ONCE(ntklog_wait_kinds_enabled, ntklog_wait_kinds_enabled | BIT(whose));
	return 0;
}

/**
 * ntklog_stop_watching_waits() - undo ntklog_watch_waits()
 * @whose: as there
 *
 * Context: as there. Waits that are under way are neither counted nor written, but for those that
 * end at this moment.
 */
void ntklog_stop_watching_waits(u8 whose)
{
	WRITE_ONCE(ntklog_wait_kinds_enabled, ntklog_wait_kinds_enabled & ~BIT(whose));
	if (!ntklog_wait_kinds_enabled)
		ntklog_stop_watching_contention(ntklog_wait_begins, ntklog_wait_ends);
}
