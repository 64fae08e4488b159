// SPDX-License-Identifier: GPL-2.0-only

#include <linux/compiler.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "spin_lock_blocker.h"
#include "spin_lock_cpu.h"
#include "spin_lock_event.h"
#include "spin_lock_parameters.h"

/**
 * ntklog_count_and_sample_blocker() - count a blocker, if the release is one, and sample it
 * @acquire_mode: WMI_SPINLOCK_* and PERF_SPIN_LOCK_*
 *
 * Counts nothing while the sample rate of blockers is 0.
 *
 * Context: interrupts off; also NMI.
 * Return: WMI_SPINLOCK_RULE_BLOCKER if the rate samples this release, otherwise 0.
 */
u8 ntklog_count_and_sample_blocker(u8 acquire_mode)
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
 * ntklog_admit_blocker() - apply the record limit to a record that no other rule would write
 *
 * In an NMI, which may have interrupted a change of the limit, every record is admitted.
 *
 * Context: interrupts off; also NMI.
 * Return: true if the record may be written.
 */
bool ntklog_admit_blocker(void)
{
	return in_nmi() ||
	       ntklog_admit_record(this_cpu_ptr(&ntklog_spin_lock_cpu.blocker_limit));
}

/**
 * ntklog_log_blocker() - write the event of a sampled blocker whose acquisition has no slot
 * @lock: address of the lock
 * @acquire_mode: WMI_SPINLOCK_*, PERF_SPIN_LOCK_LINUX_* and PERF_SPIN_LOCK_LEAVES_WAITER
 * @time: clock at the release
 * @caller: return address of the release function
 *
 * Counts a blocker. Writes nothing if it is not sampled, or beyond the limit of records.
 *
 * Context: interrupts off; also NMI.
 */
notrace void ntklog_log_blocker(const void *lock, u8 acquire_mode, struct ntklog_time time,
				unsigned long caller)
{
	const struct ntklog_spin_lock_slot slot = { .lock = (unsigned long)lock, .time = time };
	u8 rule = ntklog_count_and_sample_blocker(acquire_mode);

	if (!rule || !ntklog_admit_blocker())
		return;
	rule |= WMI_SPINLOCK_RULE_BLOCKER_ONLY | WMI_SPINLOCK_RULE_HOLD_UNKNOWN;
	ntklog_write_wmi_spinlock(&slot, 0, 0,
				  PERF_PACK_RULE_MODE_DEPTH(rule,
							    acquire_mode &
							    ~PERF_SPIN_LOCK_LEAVES_WAITER, 0),
				  time, caller);
}
