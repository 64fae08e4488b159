// SPDX-License-Identifier: GPL-2.0-only
/* Spin lock events: the cases that the fast path of spin_lock_event.h does not handle. */

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <ntklog/irql.h>

#include "spin_lock_event.h"

/**
 * ntklog_write_wmi_spinlock_slow() - slow path of ntklog_write_wmi_spinlock()
 * @slot: slot of the acquisition
 * @wait_words: wait of the slot, from ntklog_get_slot_wait_words()
 * @interrupt_count: InterruptCount of the record
 * @rule_mode_depth: PERF_PACK_RULE_MODE_DEPTH()
 * @time: as for ntklog_write_wmi_spinlock()
 * @caller: as for ntklog_write_wmi_spinlock()
 *
 * Context: as for ntklog_write_wmi_spinlock().
 */
void ntklog_write_wmi_spinlock_slow(const struct ntklog_spin_lock_slot *slot, u64 wait_words,
				    u32 interrupt_count, u32 rule_mode_depth,
				    struct ntklog_time time, unsigned long caller)
{
	u8 irql, kind = PERF_SPIN_LOCK_KIND(PERF_SPIN_LOCK_GET_MODE(rule_mode_depth));
	u64 sessions, lock, shown_caller;
	struct wmi_spinlock64 copy;
	struct etw_logged_event logged_event;
	void *record;

	if (in_nmi() || this_cpu_read(ntklog_spin_lock_cpu.is_writing) || !rcu_is_watching()) {
		this_cpu_inc(ntklog_spin_lock_cpu.suppressed_count);
		return;
	}
	sessions = etw_find_sessions_for_event(ntklog_spin_lock_group_by_kind[kind]);
	/* For example, the lock is tracked only because another kind of lock needs the tracking. */
	if (!sessions && !ntklog_spin_tracepoint_enabled(kind))
		return;
	this_cpu_inc(ntklog_spin_lock_cpu.event_count);
	/* An identity is valid from its own time on, which must not be after that of the event. */
	if (kind)
		ntklog_record_identity(ntklog_get_slot_lock_address(slot), caller, kind);
	/* An event of a lock that the following functions take would break the buffer's order. */
	this_cpu_write(ntklog_spin_lock_cpu.is_writing, true);
	lock = ntklog_get_displayed_address(ntklog_get_slot_lock_address(slot));
	shown_caller = ntklog_get_displayed_address(caller);
	if (!ntklog_get_holder_irql_fast(kind, &irql))
		irql = ke_get_current_irql();
	/* A probe gets a copy, because a session's buffer may be overwritten while it reads. */
	if (!ntklog_spin_tracepoint_enabled(kind) &&
	    etw_begin_event(sessions, PERFINFO_LOG_TYPE_SPINLOCK, PERFINFO_SPINLOCK_VERSION,
			    sizeof(copy), &record)) {
		ntklog_fill_spin_lock_record(record, slot, wait_words, interrupt_count,
					     rule_mode_depth, time, lock, shown_caller, irql);
		logged_event = etw_end_event(sessions, record, sizeof(copy));
		ntklog_write_stack(ETW_STACKED_SPINLOCK, logged_event, caller, false);
	} else {
		ntklog_fill_spin_lock_record(&copy, slot, wait_words, interrupt_count,
					     rule_mode_depth, time, lock, shown_caller, irql);
		logged_event = etw_log_event(sessions, PERFINFO_LOG_TYPE_SPINLOCK,
					     PERFINFO_SPINLOCK_VERSION, &copy, sizeof(copy));
		ntklog_write_stack(ETW_STACKED_SPINLOCK, logged_event, caller, false);
		if (kind)
			trace_linux_spinlock(&copy);
		else
			trace_spinlock(&copy);
	}
	this_cpu_write(ntklog_spin_lock_cpu.is_writing, false);
}

static noinline void ntklog_end_stacked_spin_lock_event(const struct wmi_spinlock64 *record,
							u64 sessions, unsigned long caller)
{
	ntklog_write_stack(ETW_STACKED_SPINLOCK, etw_end_event(sessions, record, sizeof(*record)),
			   caller, false);
}

/**
 * ntklog_end_spin_lock_event() - copy an event to the other sessions and write its stack
 * @record: the record, in the first session's buffer
 * @sessions: sessions that need the event, from etw_find_sessions_for_event()
 * @caller: return address of the unlock or lock function, where the stack begins
 *
 * Context: as for etw_end_event().
 */
void ntklog_end_spin_lock_event(const struct wmi_spinlock64 *record, u64 sessions,
				unsigned long caller)
{
	this_cpu_write(ntklog_spin_lock_cpu.is_writing, true);
	if (static_branch_unlikely(&etw_stacks_key))
		ntklog_end_stacked_spin_lock_event(record, sessions, caller);
	else
		etw_end_event(sessions, record, sizeof(*record));
	this_cpu_write(ntklog_spin_lock_cpu.is_writing, false);
}

static noinline void ntklog_write_linux_spinlock(const struct ntklog_spin_lock_slot *slot,
						 u64 wait_words, u32 interrupt_count,
						 u32 rule_mode_depth, struct ntklog_time time,
						 unsigned long caller)
{
	ntklog_write_wmi_spinlock_fast(true, slot, ntklog_get_slot_lock_address(slot), wait_words,
				       interrupt_count, rule_mode_depth, time, caller);
}

/**
 * ntklog_write_wmi_spinlock() - write a spin lock event
 * @slot: slot of the acquisition
 * @wait_words: wait of the slot, from ntklog_get_slot_wait_words()
 * @interrupt_count: InterruptCount of the record
 * @rule_mode_depth: PERF_PACK_RULE_MODE_DEPTH()
 * @time: clock at the release; for a wait without a hold, at the acquisition
 * @caller: return address of the unlock function; for a wait without a hold, of the lock function
 *
 * Events in an NMI, where RCU is not watching, or while this CPU writes another one are suppressed.
 *
 * Context: interrupts off; also NMI.
 */
notrace void ntklog_write_wmi_spinlock(const struct ntklog_spin_lock_slot *slot, u64 wait_words,
				       u32 interrupt_count, u32 rule_mode_depth,
				       struct ntklog_time time, unsigned long caller)
{
	if (unlikely(in_nmi()))
		ntklog_write_wmi_spinlock_slow(slot, wait_words, interrupt_count, rule_mode_depth,
					       time, caller);
	else if (rule_mode_depth & PERF_PACK_RULE_MODE_DEPTH(0, PERF_SPIN_LOCK_KIND_MASK, 0))
		ntklog_write_linux_spinlock(slot, wait_words, interrupt_count, rule_mode_depth,
					    time, caller);
	else
		ntklog_write_wmi_spinlock_fast(false, slot, ntklog_get_slot_lock_address(slot),
					       wait_words, interrupt_count, rule_mode_depth, time,
					       caller);
}
