// SPDX-License-Identifier: GPL-2.0-only
/* See spin_lock_blocker.h. */

#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../ground/compat.h"
#include "spin_lock_blocker.h"
#include "spin_lock_cpu.h"
#include "spin_lock_event.h"
#include "spin_lock_parameters.h"

/**
 * ntklog_count_blocker() - count a release if it leaves a waiter behind, and apply the sample rate
 * @acquire_mode: WMI_SPINLOCK_* and PERF_SPIN_LOCK_*
 *
 * Context: interrupts off; also NMI.
 * Return: WMI_SPINLOCK_RULE_BLOCKER if the rate samples this release, otherwise 0.
 */
u8 ntklog_count_blocker(u8 acquire_mode)
{
	u32 rate;

	if (likely(!(acquire_mode & PERF_SPIN_LOCK_LEAVES_WAITER)))
		return 0;
	rate = READ_ONCE(ntklog_spin_lock_blocker_rate);
	if (!rate)
		return 0;
	if (this_cpu_inc_return(ntklog_spin_lock_cpu.blocker_count) % rate)
		return 0;
	return WMI_SPINLOCK_RULE_BLOCKER;
}

/**
 * ntklog_blocker_is_within_limit() - count a record that no other rule would write
 *
 * In an NMI the limit is left alone, because the NMI may have interrupted a change of it.
 * ntklog_write_spin_lock() counts the record there as suppressed.
 *
 * Context: interrupts off; also NMI.
 * Return: true if the record may be written; false if it is dropped, which is counted.
 */
bool ntklog_blocker_is_within_limit(void)
{
	return in_nmi() ||
	       ntklog_record_is_within_limit(this_cpu_ptr(&ntklog_spin_lock_cpu.blocker_limit));
}

/**
 * ntklog_log_blocker() - write the release of a lock whose acquisition was not recorded
 * @lock: address of the lock
 * @acquire_mode: WMI_SPINLOCK_*, PERF_SPIN_LOCK_LINUX_* and PERF_SPIN_LOCK_LEAVES_WAITER
 * @time: clock at the release
 * @caller: return address of the release function
 *
 * The record is written if the blocker rate samples the release. It names the task and the caller.
 * The start of the hold is not known.
 *
 * Context: interrupts off; also NMI.
 */
notrace void ntklog_log_blocker(const void *lock, u8 acquire_mode, struct ntklog_time time,
				unsigned long caller)
{
	const struct ntklog_spin_lock_slot slot = { .lock = (unsigned long)lock, .time = time };
	u8 rule = ntklog_count_blocker(acquire_mode);

	if (!rule || !ntklog_blocker_is_within_limit())
		return;
	rule |= WMI_SPINLOCK_RULE_BLOCKER_ONLY | WMI_SPINLOCK_RULE_HOLD_UNKNOWN;
	ntklog_write_spin_lock(&slot, 0, 0,
			       PERF_SPIN_LOCK_SAMPLE(rule, acquire_mode &
						     ~PERF_SPIN_LOCK_LEAVES_WAITER, 0),
			       time, caller);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_log_blocker);
