// SPDX-License-Identifier: GPL-2.0-only
/* The event of a spin lock that is sampled, where it is not what nearly all are: see the header. */

#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <ntklog/irql.h>

#include "spin_lock_event.h"

/**
 * ntklog_write_spin_lock_slow() - ntklog_write_spin_lock(), whatever there is
 * @slot: as there
 * @wait: as there
 * @interrupts: as there
 * @sample: as there
 * @time: as there
 * @caller: as there
 *
 * The tracepoint, no session, a buffer that has to be seen to, addresses that are hidden, another
 * event being written.
 *
 * Context: as there.
 */
void ntklog_write_spin_lock_slow(const struct ntklog_spin_lock_slot *slot, u64 wait, u32 interrupts,
				 u32 sample, struct ntklog_time time, unsigned long caller)
{
	u8 irql, whose = PERF_SPIN_LOCK_KIND(PERF_SPIN_LOCK_SAMPLE_MODE(sample));
	u64 wanted, lock, shown_caller;
	struct wmi_spinlock64 copy;
	struct etw_logged logged;
	void *record;

	if (in_nmi() || this_cpu_read(ntklog_spin_lock_cpu.writing) || !rcu_is_watching()) {
		this_cpu_inc(ntklog_spin_lock_cpu.suppressed);
		return;
	}
	wanted = etw_sessions_for_event(ntklog_spin_lock_groups[whose]);
	/* Tracked only because somebody wants the others' events. */
	if (!wanted && !ntklog_spin_lock_is_traced(whose))
		return;
	this_cpu_inc(ntklog_spin_lock_cpu.events);
	/* Before the event has its time: a note holds from its own time on. */
	if (whose)
		ntklog_record_identity(ntklog_slot_lock(slot), caller, whose);
	/* From here on nothing that is called logs, nor while a place is not filled. */
	this_cpu_write(ntklog_spin_lock_cpu.writing, true);
	lock = ntklog_address(ntklog_slot_lock(slot));
	shown_caller = ntklog_address(caller);
	if (!ntklog_get_owner_irql(whose, &irql))
		irql = ke_get_current_irql();
	/* A probe gets a record that nobody else writes to, however long it looks at it. */
	if (!ntklog_spin_lock_is_traced(whose) &&
	    etw_begin_event(wanted, PERFINFO_LOG_TYPE_SPINLOCK, PERFINFO_SPINLOCK_VERSION,
			    sizeof(copy), &record)) {
		ntklog_make_spin_lock_record(record, slot, wait, interrupts, sample, time, lock,
					     shown_caller, irql);
		logged = etw_end_event(wanted, record, sizeof(copy));
		ntklog_write_stack(ETW_STACKED_SPINLOCK, logged, caller, false);
	} else {
		ntklog_make_spin_lock_record(&copy, slot, wait, interrupts, sample, time, lock,
					     shown_caller, irql);
		logged = etw_log_event_to(wanted, PERFINFO_LOG_TYPE_SPINLOCK,
					  PERFINFO_SPINLOCK_VERSION, &copy, sizeof(copy));
		ntklog_write_stack(ETW_STACKED_SPINLOCK, logged, caller, false);
		if (whose)
			trace_linux_spinlock(&copy);
		else
			trace_spinlock(&copy);
	}
	this_cpu_write(ntklog_spin_lock_cpu.writing, false);
}

static noinline void ntklog_end_stacked_spin_lock_event(const struct wmi_spinlock64 *record,
							u64 wanted, unsigned long caller)
{
	ntklog_write_stack(ETW_STACKED_SPINLOCK, etw_end_event(wanted, record, sizeof(*record)),
			   caller, false);
}

/**
 * ntklog_end_spin_lock_event() - the event is in the first session's buffer; there are others, or
 *	stacks
 * @record: where it is
 * @wanted: by whom, from etw_sessions_for_event()
 * @caller: where its stack is to begin
 *
 * Context: as etw_end_event().
 */
void ntklog_end_spin_lock_event(const struct wmi_spinlock64 *record, u64 wanted,
				unsigned long caller)
{
	this_cpu_write(ntklog_spin_lock_cpu.writing, true);
	/* Without stacks nobody asks where the event has gone. */
	if (static_branch_unlikely(&etw_stacks_key))
		ntklog_end_stacked_spin_lock_event(record, wanted, caller);
	else
		etw_end_event(wanted, record, sizeof(*record));
	this_cpu_write(ntklog_spin_lock_cpu.writing, false);
}

static noinline void
ntklog_write_linux_spin_lock(const struct ntklog_spin_lock_slot *slot, u64 wait, u32 interrupts,
			     u32 sample, struct ntklog_time time, unsigned long caller)
{
	ntklog_write_spin_lock_fast(true, slot, ntklog_slot_lock(slot), wait, interrupts, sample,
				    time, caller);
}

/**
 * ntklog_write_spin_lock() - write the event of an acquisition that is sampled
 * @slot: its slot
 * @wait: what it tells, ntklog_slot_wait_words()
 * @interrupts: the record's InterruptCount
 * @sample: what else is known of it, PERF_SPIN_LOCK_SAMPLE()
 * @time: when it was released
 * @caller: where the function that releases returns to
 *
 * Context: interrupts off. So the flag is only ever seen set by what the writing itself
 * calls, such as a tracepoint's probe, or what makes a thread's room, with a lock of Linux'. An
 * interrupt's own events wait, they are not lost to the flag.
 *
 * Linux' locks are also taken where RCU does not watch - in the idle loop, on the way into the
 * kernel and out - and in NMIs. There sessions and probes cannot be relied on: those events are
 * counted as suppressed.
 */
notrace void ntklog_write_spin_lock(const struct ntklog_spin_lock_slot *slot, u64 wait,
				    u32 interrupts, u32 sample, struct ntklog_time time,
				    unsigned long caller)
{
	if (unlikely(in_nmi()))
		ntklog_write_spin_lock_slow(slot, wait, interrupts, sample, time, caller);
	else if (sample & PERF_SPIN_LOCK_SAMPLE(0, PERF_SPIN_LOCK_KIND_MASK, 0))
		ntklog_write_linux_spin_lock(slot, wait, interrupts, sample, time, caller);
	else
		ntklog_write_spin_lock_fast(false, slot, ntklog_slot_lock(slot), wait, interrupts,
					    sample, time, caller);
}
