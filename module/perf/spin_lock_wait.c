// SPDX-License-Identifier: GPL-2.0-only

#include <linux/export.h>

#include "spin_lock_event.h"
#include "spin_lock_wait.h"

/**
 * ntklog_count_and_sample_wait() - count a contended acquisition, and apply NT's sampling rule
 * @spin_count: number of additional tests of the lock, at least 1
 *
 * Context: interrupts off, right after the acquisition.
 * Return: true if NT's rule samples this acquisition.
 */
notrace bool ntklog_count_and_sample_wait(u32 spin_count)
{
	ntklog_count_wait(spin_count);
	return ntklog_wait_is_sampled(spin_count);
}

/**
 * ntklog_log_spin_lock_wait() - write the event of a wait without a hold
 * @lock: address of the lock, which is held
 * @acquire_mode: WMI_SPINLOCK_* and PERF_SPIN_LOCK_LINUX_*
 * @spin_count: number of additional tests of the lock, at least 1
 * @wait_start: state at the start of the wait
 * @caller: return address of the lock function
 *
 * Context: interrupts off, right after the acquisition.
 */
notrace void ntklog_log_spin_lock_wait(const void *lock, u8 acquire_mode, u32 spin_count,
				       const struct ntklog_spin_lock_wait_start *wait_start,
				       unsigned long caller)
{
	struct ntklog_time time = ntklog_read_time();
	struct ntklog_spin_lock_slot slot = { .lock = (unsigned long)lock, .time = time };
	u32 wait_time = ntklog_time_to_cycles(time) - ntklog_time_to_cycles(wait_start->time);

	ntklog_write_wmi_spinlock(&slot, PERF_SPIN_LOCK_PACK_WAIT(spin_count, wait_time),
				  ntklog_count_irqs_since(wait_start->interrupt_snapshot),
				  PERF_PACK_RULE_MODE_DEPTH(WMI_SPINLOCK_RULE_WAIT, acquire_mode,
							    0),
				  time, caller);
}
