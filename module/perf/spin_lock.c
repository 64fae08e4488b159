// SPDX-License-Identifier: GPL-2.0-only
/*
 * NT's instrumentation of spin locks: its parameters, when it is on, and its event. What is
 * counted, tracked and sampled is in spin_lock.h and spin_lock_slots.c.
 */

#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <ntklog/irql.h>
#include <ntklog/spin_lock.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/identity.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../address.h"
#include "../compat.h"
#include "../etw/event.h"
#include "../etw/provider.h"
#include "../ground/identity.h"
#include "../ground/irql.h"
#include "../trace.h"
#include "spin_lock.h"
#include "spin_lock_slots.h"
#include "stack.h"
#include "want.h"

struct static_key_false ntklog_spin_lock_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(ntklog_spin_lock_key);
struct static_key_false ntklog_spin_lock_tracking_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(ntklog_spin_lock_tracking_key);

/* The least permitted values are the defaults. */
struct event_trace_spinlock_information ntklog_spin_lock_words = {
	.event_trace_information_class = EVENT_TRACE_SPINLOCK_INFORMATION_CLASS,
	.spin_lock_spin_threshold = EVENT_TRACE_SPINLOCK_MIN_SPIN_THRESHOLD,
	.spin_lock_acquire_sample_rate = EVENT_TRACE_SPINLOCK_MIN_ACQUIRE_SAMPLE_RATE,
	.spin_lock_contention_sample_rate =
		EVENT_TRACE_SPINLOCK_MIN_CONTENTION_SAMPLE_RATE,
	.spin_lock_hold_threshold = EVENT_TRACE_SPINLOCK_MIN_HOLD_THRESHOLD,
};

#define PERF_SPIN_LOCK_PARAMETER(_name, _member, _minimum, ...)			\
{										\
	.information = &ntklog_spin_lock_information,				\
	.name = _name,								\
	.offset = offsetof(struct event_trace_spinlock_information, _member),	\
	.minimum = _minimum,							\
	__VA_ARGS__								\
}

static const struct ntklog_parameter
ntklog_spin_lock_parameters[PERF_SPIN_LOCK_PARAMETERS] = {
	PERF_SPIN_LOCK_PARAMETER("spin_threshold", spin_lock_spin_threshold,
				 EVENT_TRACE_SPINLOCK_MIN_SPIN_THRESHOLD),
	PERF_SPIN_LOCK_PARAMETER("acquire_sample_rate",
				 spin_lock_acquire_sample_rate,
				 EVENT_TRACE_SPINLOCK_MIN_ACQUIRE_SAMPLE_RATE),
	PERF_SPIN_LOCK_PARAMETER("contention_sample_rate",
				 spin_lock_contention_sample_rate,
				 EVENT_TRACE_SPINLOCK_MIN_CONTENTION_SAMPLE_RATE),
	PERF_SPIN_LOCK_PARAMETER("hold_threshold", spin_lock_hold_threshold,
				 EVENT_TRACE_SPINLOCK_MIN_HOLD_THRESHOLD, .zero = true),
};

struct ntklog_information ntklog_spin_lock_information = {
	.lock = __MUTEX_INITIALIZER(ntklog_spin_lock_information.lock),
	.words = (u32 *)&ntklog_spin_lock_words,
	.length = sizeof(ntklog_spin_lock_words),
	.v1_length = sizeof(struct event_trace_spinlock_information_v1),
	.changed = ntklog_look_at_spin_lock_parameters,
	.parameters = ntklog_spin_lock_parameters,
	.parameter_count = ARRAY_SIZE(ntklog_spin_lock_parameters),
};
EXPORT_SYMBOL_IF_KUNIT(ntklog_spin_lock_information);

/* By PERF_SPIN_LOCK_WHOSE(). */
static const u32 ntklog_spin_lock_groups[] = {
	PERF_SPINLOCK,
	PERF_LINUX_SPINLOCK,
	PERF_LINUX_RWLOCK,
};

static_assert(PERF_SPIN_LOCK_WHOSE(PERF_SPIN_LOCK_LINUX_SPIN) == NTKLOG_IDENTITY_SPIN);
static_assert(PERF_SPIN_LOCK_WHOSE(PERF_SPIN_LOCK_LINUX_RW) == NTKLOG_IDENTITY_RW);

static __always_inline bool ntklog_spin_lock_is_traced(bool is_linux)
{
	return is_linux ? trace_linux_spinlock_enabled() : trace_spinlock_enabled();
}

/*
 * Who owns a lock of Linux' is not interrupted by its scheduler, so at DISPATCH_LEVEL; what NT's
 * IRQL is made of does not know that. And to ask for a thread's takes a lock, one of Linux'.
 */
static __always_inline bool ntklog_get_owner_irql(bool is_linux, u8 *irql)
{
	if (!is_linux)
		return ke_get_plain_irql(irql);
	*irql = in_hardirq() ? DIRQL_LEVEL : DISPATCH_LEVEL;
	return true;
}

/* The record's words that are written at once. What of the last one is reserved is 0. */
static_assert(offsetof(struct wmi_spinlock64, spin_count) ==
	      offsetof(struct wmi_spinlock64, wait_time_in_cycles) + 4);
static_assert(offsetof(struct wmi_spinlock64, acquire_depth) ==
	      offsetof(struct wmi_spinlock64, irql) + 1);
static_assert(offsetof(struct wmi_spinlock64, flags) == offsetof(struct wmi_spinlock64, irql) + 2);
static_assert(offsetof(struct wmi_spinlock64, rule) == offsetof(struct wmi_spinlock64, irql) + 3);
static_assert(offsetof(struct wmi_spinlock64, reserved) ==
	      offsetof(struct wmi_spinlock64, irql) + 4);
static_assert(offsetof(struct wmi_spinlock64, irql) + sizeof(u64) == sizeof(struct wmi_spinlock64));

/* Each byte: a buffer has something else. */
static __always_inline void
ntklog_make_spin_lock_record(struct wmi_spinlock64 *record,
			     const struct ntklog_spin_lock_slot *slot, u64 wait, u32 interrupts,
			     u32 sample, struct ntklog_time time, u64 lock, u64 caller, u8 irql)
{
	sample &= PERF_SPIN_LOCK_SAMPLE(U8_MAX, WMI_SPINLOCK_ACQUIRE_MODE, U8_MAX);
	/* As NT's, which is still in the DPC when one interrupts it. */
	if (unlikely(in_serving_softirq() || in_hardirq()))
		sample |= PERF_SPIN_LOCK_SAMPLE(0, (in_serving_softirq() ?
						    WMI_SPINLOCK_EXECUTE_DPC : 0) |
						   (in_hardirq() ? WMI_SPINLOCK_EXECUTE_ISR : 0),
						0);
	record->spin_lock_address = lock;
	record->caller_address = caller;
	record->acquire_time = ntklog_time_value(slot->time);
	record->release_time = ntklog_time_value(time);
	*(u64 *)&record->wait_time_in_cycles = wait;
	record->thread_id = task_pid_nr(current);
	record->interrupt_count = interrupts;
	*(u64 *)&record->irql = sample | irql;
}

static unsigned long ntklog_slot_lock(const struct ntklog_spin_lock_slot *slot)
{
	return slot->lock & ~PERF_SPIN_LOCK_TAGS;
}

/*
 * As ntklog_write_spin_lock(), whatever there is: the tracepoint, no session, a buffer that has to
 * be seen to, addresses that are hidden, another event being written.
 */
static noinline void
ntklog_write_any_spin_lock(const struct ntklog_spin_lock_slot *slot, u64 wait, u32 interrupts,
			   u32 sample, struct ntklog_time time, unsigned long caller)
{
	u8 irql, whose = PERF_SPIN_LOCK_WHOSE(PERF_SPIN_LOCK_SAMPLE_MODE(sample));
	u64 wanted, lock, shown_caller;
	struct wmi_spinlock64 copy;
	struct etw_logged logged;
	void *record;

	if (in_nmi() || this_cpu_read(ntklog_spin_lock_cpu.writing) || !rcu_is_watching()) {
		this_cpu_inc(ntklog_spin_lock_cpu.suppressed);
		return;
	}
	wanted = etw_wanted(ntklog_spin_lock_groups[whose]);
	/* Tracked only because somebody wants the others' events. */
	if (!wanted && !ntklog_spin_lock_is_traced(whose))
		return;
	this_cpu_inc(ntklog_spin_lock_cpu.events);
	/* Before the event has its time: a note holds from its own time on. */
	if (whose)
		ntklog_note_identity(ntklog_slot_lock(slot), caller, whose);
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

/*
 * Does RCU watch, for sure? Of who may own a lock of NT's, which is a driver's, only the idle
 * threads are ever where it does not: they are asked elsewhere.
 */
static __always_inline bool ntklog_rcu_watches(bool is_linux)
{
	return is_linux ? rcu_is_watching() : !is_idle_task(current);
}

/* The event is in the first session's buffer; there are others, or stacks. */
static noinline void ntklog_end_spin_lock_event(const struct wmi_spinlock64 *record, u64 wanted,
						unsigned long caller)
{
	this_cpu_write(ntklog_spin_lock_cpu.writing, true);
	ntklog_write_stack(ETW_STACKED_SPINLOCK, etw_end_event(wanted, record, sizeof(*record)),
			   caller, false);
	this_cpu_write(ntklog_spin_lock_cpu.writing, false);
}

/*
 * As ntklog_write_spin_lock(). What is usual calls nothing that comes back, so that it needs next
 * to no registers that it would have to save, and nobody sees a place that is not filled.
 */
static __always_inline void
ntklog_write_usual_spin_lock(bool is_linux, const struct ntklog_spin_lock_slot *slot, u64 wait,
			     u32 interrupts, u32 sample, struct ntklog_time time,
			     unsigned long caller)
{
	u8 whose = is_linux ? PERF_SPIN_LOCK_WHOSE(PERF_SPIN_LOCK_SAMPLE_MODE(sample)) : 0;
	void *record;
	u64 wanted;
	u8 irql;

	if (unlikely(in_nmi() || this_cpu_read(ntklog_spin_lock_cpu.writing) ||
		     !ntklog_rcu_watches(is_linux)) ||
	    ntklog_spin_lock_is_traced(is_linux) || !ntklog_addresses_are_raw() ||
	    unlikely(!ntklog_get_owner_irql(is_linux, &irql)))
		goto any;
	wanted = etw_wanted(ntklog_spin_lock_groups[whose]);
	/* As there; once more is as good as once. */
	if (is_linux && wanted)
		ntklog_note_identity(ntklog_slot_lock(slot), caller, whose);
	if (!etw_begin_event(wanted, PERFINFO_LOG_TYPE_SPINLOCK, PERFINFO_SPINLOCK_VERSION,
			     sizeof(struct wmi_spinlock64), &record))
		goto any;
	this_cpu_inc(ntklog_spin_lock_cpu.events);
	ntklog_make_spin_lock_record(record, slot, wait, interrupts, sample, time,
				     ntklog_slot_lock(slot), caller, irql);
	if (!ntklog_event_is_whole(wanted))
		ntklog_end_spin_lock_event(record, wanted, caller);
	return;
any:
	ntklog_write_any_spin_lock(slot, wait, interrupts, sample, time, caller);
}

static noinline void
ntklog_write_linux_spin_lock(const struct ntklog_spin_lock_slot *slot, u64 wait, u32 interrupts,
			     u32 sample, struct ntklog_time time, unsigned long caller)
{
	ntklog_write_usual_spin_lock(true, slot, wait, interrupts, sample, time, caller);
}

/**
 * ntklog_write_spin_lock() - write the event of an acquisition that is sampled
 * @slot: its slot
 * @wait: what it tells, ntklog_slot_wait()
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
	if (sample & PERF_SPIN_LOCK_SAMPLE(0, PERF_SPIN_LOCK_WHOSE_MASK, 0)) {
		ntklog_write_linux_spin_lock(slot, wait, interrupts, sample, time, caller);
		return;
	}
	ntklog_write_usual_spin_lock(false, slot, wait, interrupts, sample, time, caller);
}

static void ntklog_set_key(struct static_key_false *key, bool on)
{
	if (on)
		static_branch_enable(key);
	else
		static_branch_disable(key);
}

/* One at a time: see struct ntklog_want. */
static void ntklog_update_spin_lock_keys(struct ntklog_want *want,
					 const struct perfinfo_groupmask *wanted)
{
	bool track = etw_group_mask_test(wanted, PERF_SPINLOCK);
	bool count = track || etw_group_mask_test(wanted, PERF_SPINLOCK_CNTRS);
	bool tracked = static_key_enabled(&ntklog_spin_lock_tracking_key);

	/* The tracking key is on only while the other one is. */
	if (tracked && !track) {
		ntklog_disarm_spin_lock_slots();
		static_branch_disable(&ntklog_spin_lock_tracking_key);
		ntklog_stop_spin_lock_slots();
	}
	ntklog_set_key(&ntklog_spin_lock_key, count);
	if (track && !tracked) {
		ntklog_start_spin_lock_slots();
		static_branch_enable(&ntklog_spin_lock_tracking_key);
		ntklog_arm_spin_lock_slots();
	}
}

/**
 * ntklog_spin_lock_rundown() - the parameters, for who reads the events
 * @event: that tells them
 * @end: it is the session's end
 *
 * Context: as struct etw_provider says.
 */
void ntklog_spin_lock_rundown(struct etw_rundown_event *event, bool end)
{
	const struct event_trace_spinlock_information *information =
		&ntklog_spin_lock_words;
	struct perfinfo_spinlock_dc record = {
		.spin_threshold =
			READ_ONCE(information->spin_lock_spin_threshold),
		.contention_sample_rate =
			READ_ONCE(information->spin_lock_contention_sample_rate),
		.acquire_sample_rate =
			READ_ONCE(information->spin_lock_acquire_sample_rate),
		.hold_threshold =
			READ_ONCE(information->spin_lock_hold_threshold),
	};

	event->hook_id = end ? PERFINFO_LOG_TYPE_SPINLOCK_DC_END :
			       PERFINFO_LOG_TYPE_SPINLOCK_DC_START;
	event->version = PERFINFO_SPINLOCK_DC_VERSION;
	event->length = sizeof(record);
	BUILD_BUG_ON(sizeof(record) > sizeof(event->data));
	memcpy(event->data, &record, sizeof(record));
}

static struct ntklog_want ntklog_spin_lock_want = {
	.provider = {
		.group = PERF_SPINLOCK,
		.rundown = ntklog_spin_lock_rundown,
	},
	.update = ntklog_update_spin_lock_keys,
	PERF_WANT_INITIALIZER(ntklog_spin_lock_want),
};

/* The tracepoint's. */
int ntklog_spin_lock_tracepoint_reg(void)
{
	return ntklog_want_register(&ntklog_spin_lock_want);
}

void ntklog_spin_lock_tracepoint_unreg(void)
{
	ntklog_want_unregister(&ntklog_spin_lock_want);
}

/**
 * ntklog_spin_locks_are_tracked() - are NT's locks, for a session or the tracepoint?
 *
 * Context: any.
 * Return: whether they are. Not if they are tracked only with others that have joined them.
 */
bool ntklog_spin_locks_are_tracked(void)
{
	return static_key_enabled(&ntklog_spin_lock_tracking_key) &&
	       ntklog_want_has_wanters(&ntklog_spin_lock_want);
}

/**
 * ntklog_join_spin_locks() - begin to track locks of another kind with these
 *
 * From the return on tracking is on and armed, for whoever calls the hooks. Their caller first
 * makes all releases come to them, then acquisitions; so an acquisition that does has a
 * release that does. Until ntklog_spin_locks_joined() releases of what was acquired before may
 * come: they are counted as that.
 *
 * Context: thread, after load, one at a time; may sleep. Not with the want's mutex held.
 */
void ntklog_join_spin_locks(void)
{
	ntklog_set_spin_lock_releases_only(true);
	ntklog_want_get(&ntklog_spin_lock_want);
}

/**
 * ntklog_spin_locks_joined() - from now on each release of theirs has an acquisition
 *
 * Context: as ntklog_join_spin_locks().
 */
void ntklog_spin_locks_joined(void)
{
	ntklog_set_spin_lock_releases_only(false);
}

/**
 * ntklog_part_from_spin_locks() - acquisitions of theirs are about to come no more
 *
 * Releases still do, also of what is acquired elsewhere from now on: those are counted as the
 * ones of before, until ntklog_leave_spin_locks().
 *
 * Context: as ntklog_join_spin_locks().
 */
void ntklog_part_from_spin_locks(void)
{
	ntklog_set_spin_lock_releases_only(true);
}

/**
 * ntklog_leave_spin_locks() - locks of another kind call the hooks no more
 *
 * All that they have acquired has been released, and nobody of them is in the hooks.
 *
 * Context: as ntklog_join_spin_locks().
 */
void ntklog_leave_spin_locks(void)
{
	ntklog_set_spin_lock_releases_only(false);
	ntklog_want_put(&ntklog_spin_lock_want);
}

/**
 * ntklog_spin_lock_init() - make those who want the events turn the tracking on
 *
 * Context: load, before there is a session.
 */
void __init ntklog_spin_lock_init(void)
{
	ntklog_want_init(&ntklog_spin_lock_want);
}

/**
 * ntklog_spin_lock_exit() - end counting and tracking for good
 *
 * Context: unload, when no session is left, or a load that failed.
 */
void ntklog_spin_lock_exit(void)
{
	ntklog_want_exit(&ntklog_spin_lock_want);
}
