/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_EVENT_H
#define _NTKLOG_PERF_SPIN_LOCK_EVENT_H

/*
 * Spin lock events. The fast path handles an event that a session needs and no probe of the
 * tracepoint: it fills the record in the session's buffer. spin_lock_event.c has the other cases.
 */

#include <linux/build_bug.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/types.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/identity.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../etw/event.h"
#include "../ground/address.h"
#include "../ground/clock.h"
#include "../ground/identity.h"
#include "../ground/irql.h"
#include "../trace.h"
#include "spin_lock_cpu.h"
#include "stack.h"

static const u32 ntklog_spin_lock_group_by_kind[] = {
	PERF_SPINLOCK,
	PERF_LINUX_SPINLOCK,
	PERF_LINUX_RWLOCK,
};

static_assert(PERF_SPIN_LOCK_KIND(PERF_SPIN_LOCK_LINUX_SPIN) == NTKLOG_IDENTITY_SPIN);
static_assert(PERF_SPIN_LOCK_KIND(PERF_SPIN_LOCK_LINUX_RW) == NTKLOG_IDENTITY_RW);

void ntklog_write_wmi_spinlock(const struct ntklog_spin_lock_slot *slot, u64 wait_words,
			       u32 interrupt_count, u32 rule_mode_depth, struct ntklog_time time,
			       unsigned long caller);
void ntklog_write_wmi_spinlock_slow(const struct ntklog_spin_lock_slot *slot, u64 wait_words,
				    u32 interrupt_count, u32 rule_mode_depth,
				    struct ntklog_time time, unsigned long caller);
void ntklog_end_spin_lock_event(const struct wmi_spinlock64 *record, u64 sessions,
				unsigned long caller);

static __always_inline bool ntklog_spin_tracepoint_enabled(bool is_linux)
{
	return is_linux ? trace_linux_spinlock_enabled() : trace_spinlock_enabled();
}

/*
 * Returns false if the caller must call ke_get_current_irql(). The holder of a Linux spin lock
 * cannot be preempted, so its IRQL is at least DISPATCH_LEVEL.
 */
static __always_inline bool ntklog_get_holder_irql_fast(bool is_linux, u8 *irql)
{
	if (!is_linux)
		return ke_get_current_irql_fast(irql);
	*irql = in_hardirq() ? DIRQL_LEVEL : DISPATCH_LEVEL;
	return true;
}

/*
 * Drivers take NT's locks. RCU is watching them, except perhaps in an idle task, so the cheaper
 * test suffices. In an idle task the slow path calls rcu_is_watching().
 */
static __always_inline bool ntklog_rcu_is_watching(bool is_linux)
{
	return is_linux ? rcu_is_watching() : !is_idle_task(current);
}

/* Two groups of members, each of which ntklog_fill_spin_lock_record() writes with one store. */
static_assert(offsetof(struct wmi_spinlock64, spin_count) ==
	      offsetof(struct wmi_spinlock64, wait_time_in_cycles) + 4);
static_assert(offsetof(struct wmi_spinlock64, acquire_depth) ==
	      offsetof(struct wmi_spinlock64, irql) + 1);
static_assert(offsetof(struct wmi_spinlock64, flags) == offsetof(struct wmi_spinlock64, irql) + 2);
static_assert(offsetof(struct wmi_spinlock64, rule) == offsetof(struct wmi_spinlock64, irql) + 3);
static_assert(offsetof(struct wmi_spinlock64, reserved) ==
	      offsetof(struct wmi_spinlock64, irql) + 4);
static_assert(offsetof(struct wmi_spinlock64, irql) + sizeof(u64) == sizeof(struct wmi_spinlock64));

/* Fill every byte of the record, because a buffer has old data. */
static __always_inline void ntklog_fill_spin_lock_record(struct wmi_spinlock64 *record,
							 const struct ntklog_spin_lock_slot *slot,
							 u64 wait_words, u32 interrupt_count,
							 u32 rule_mode_depth,
							 struct ntklog_time time, u64 lock,
							 u64 caller, u8 irql)
{
	u32 context = irq_count();

	rule_mode_depth &= PERF_PACK_RULE_MODE_DEPTH(U8_MAX, WMI_SPINLOCK_ACQUIRE_MODE,
						     U8_MAX);
	/* In NT a DPC that is interrupted is still in the DPC, so both flags may be set. */
	if (unlikely(context & (SOFTIRQ_OFFSET | HARDIRQ_MASK)))
		rule_mode_depth |=
			PERF_PACK_RULE_MODE_DEPTH(0, (context & SOFTIRQ_OFFSET ?
						      WMI_SPINLOCK_EXECUTE_DPC : 0) |
							  (context & HARDIRQ_MASK ?
							   WMI_SPINLOCK_EXECUTE_ISR : 0),
						  0);
	record->spin_lock_address = lock;
	record->caller_address = caller;
	record->acquire_time = ntklog_time_to_cycles(slot->time);
	ntklog_store_time(&record->release_time, time);
	*(u64 *)&record->wait_time_in_cycles = wait_words;
	/* Keep the compiler from merging these two members, which takes more instructions. */
	WRITE_ONCE(record->thread_id, task_pid_nr(current));
	record->interrupt_count = interrupt_count;
	*(u64 *)&record->irql = rule_mode_depth | irql;
}

/**
 * ntklog_write_wmi_spinlock_fast() - fast path of ntklog_write_wmi_spinlock()
 * @is_linux: the lock is a Linux lock; a compile-time constant
 * @slot: slot of the acquisition
 * @lock: address of the lock, without tags
 * @wait_words: wait of the slot, from ntklog_get_slot_wait_words()
 * @interrupt_count: InterruptCount of the record
 * @rule_mode_depth: PERF_PACK_RULE_MODE_DEPTH()
 * @time: as for ntklog_write_wmi_spinlock()
 * @caller: as for ntklog_write_wmi_spinlock()
 *
 * Context: as for ntklog_write_wmi_spinlock(), but not NMI.
 */
static __always_inline void ntklog_write_wmi_spinlock_fast(bool is_linux,
							   const struct ntklog_spin_lock_slot *slot,
							   unsigned long lock, u64 wait_words,
							   u32 interrupt_count, u32 rule_mode_depth,
							   struct ntklog_time time,
							   unsigned long caller)
{
	u8 kind = is_linux ? PERF_SPIN_LOCK_KIND(PERF_SPIN_LOCK_GET_MODE(rule_mode_depth)) : 0;
	void *record;
	u64 sessions;
	u8 irql;

	if (unlikely(this_cpu_read(ntklog_spin_lock_cpu.is_writing) ||
		     !ntklog_rcu_is_watching(is_linux)) ||
	    ntklog_spin_tracepoint_enabled(is_linux) || !ntklog_addresses_are_raw() ||
	    unlikely(!ntklog_get_holder_irql_fast(is_linux, &irql)))
		goto slow;
	sessions = etw_find_sessions_for_event(ntklog_spin_lock_group_by_kind[kind]);
	/* The slow path may record the same identity again, which has no effect. */
	if (is_linux && sessions)
		ntklog_record_identity(lock, caller, kind);
	if (!etw_begin_event(sessions, PERFINFO_LOG_TYPE_SPINLOCK, PERFINFO_SPINLOCK_VERSION,
			     sizeof(struct wmi_spinlock64), &record))
		goto slow;
	this_cpu_inc(ntklog_spin_lock_cpu.event_count);
	ntklog_fill_spin_lock_record(record, slot, wait_words, interrupt_count, rule_mode_depth,
				     time, lock, caller, irql);
	if (!ntklog_event_is_complete(sessions))
		ntklog_end_spin_lock_event(record, sessions, caller);
	return;
slow:
	ntklog_write_wmi_spinlock_slow(slot, wait_words, interrupt_count, rule_mode_depth, time,
				       caller);
}

#endif /* _NTKLOG_PERF_SPIN_LOCK_EVENT_H */
