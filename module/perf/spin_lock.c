// SPDX-License-Identifier: GPL-2.0-only
/*
 * NT's instrumentation of spin locks: count every acquisition, track up to
 * eight on each processor, and at the release decide by sampling whether a
 * WMI_SPINLOCK is written.
 *
 * Everything here runs on the lock's own processor with preemption off, between
 * the lock's own instructions, and takes no lock and no allocation. Interrupts
 * may come between any two instructions, except while an event is written. Why
 * that is safe without turning them off: struct ntklog_spin_lock_cpu.
 */

#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <ntklog/irql.h>
#include <ntklog/spin_lock.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../address.h"
#include "../compat.h"
#include "../etw/event.h"
#include "../etw/provider.h"
#include "../trace.h"
#include "spin_lock.h"
#include "want.h"

struct static_key_false ntklog_spin_lock_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(ntklog_spin_lock_key);
struct static_key_false ntklog_spin_lock_tracking_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_IF_KUNIT(ntklog_spin_lock_tracking_key);

DEFINE_PER_CPU_ALIGNED(struct ntklog_spin_lock_cpu, ntklog_spin_lock_cpu);
EXPORT_PER_CPU_SYMBOL_IF_KUNIT(ntklog_spin_lock_cpu);

/* The least permitted values are the defaults. */
static struct event_trace_spinlock_information ntklog_spin_lock_words = {
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
	.parameters = ntklog_spin_lock_parameters,
	.parameter_count = ARRAY_SIZE(ntklog_spin_lock_parameters),
};
EXPORT_SYMBOL_IF_KUNIT(ntklog_spin_lock_information);

/*
 * How many entries a processor may have: 0 unless all that is owned comes back to the
 * tracking when it is released. Read by the hooks, in any context.
 */
static u32 ntklog_spin_lock_limit __read_mostly;

/* All hooks see both keys on: what is acquired now will be released there too. */
static bool ntklog_spin_lock_hooked __read_mostly;

/* RCU's, of when the tracking key last went off. */
static unsigned long ntklog_spin_lock_off_state;

/*
 * Who runs, so that an interrupt does not take for its own what the thread below it owns:
 * the bits of preempt_count() that an interrupt of any kind changes and gives back.
 * Whether softirqs are disabled is not among them, since a thread may change that between
 * an acquisition and its release.
 */
static __always_inline u32 ntklog_spin_lock_context(void)
{
	return preempt_count() & (NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET);
}

static_assert(((NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET) & 0xFF) == 0);

static u8 ntklog_acquire_mode(const struct ntklog_spin_lock_entry *entry)
{
	return entry->context & 0xFF;
}

static __always_inline void
ntklog_make_entry(struct ntklog_spin_lock_cpu *cpu, u32 in_use, u32 i,
		  const void *lock, u32 acquire_mode, u32 spin_count,
		const struct ntklog_spin_lock_query *query, u64 acquire_time)
{
	struct ntklog_spin_lock_entry *entry = &cpu->entries[i];

	/*
	 * Take the entry, then fill it, then name its lock: an interrupt in
	 * between uses the entries above, and finds no lock in this one, since
	 * those not in use have none.
	 */
	WRITE_ONCE(cpu->in_use, in_use + 1);
	barrier();
	entry->acquire_time = acquire_time;
	entry->wait_time_in_cycles = acquire_time - query->query_time;
	entry->spin_count = spin_count;
	entry->interrupt_count = query->interrupt_count;
	WRITE_ONCE(entry->context, ntklog_spin_lock_context() | acquire_mode);
	barrier();
	WRITE_ONCE(entry->lock, lock);
}

/* No room, not armed, or some that had no room are still owned. */
static noinline void
ntklog_track_acquire_slowly(const void *lock, u32 acquire_mode, u32 spin_count,
			    const struct ntklog_spin_lock_query *query,
			  u64 acquire_time)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	u32 limit = READ_ONCE(ntklog_spin_lock_limit);
	u32 in_use = READ_ONCE(cpu->in_use);
	u32 entries = in_use % PERF_SPIN_LOCK_OWED;

	if (entries < limit) {
		ntklog_make_entry(cpu, in_use, entries, lock, acquire_mode,
				  spin_count, query, acquire_time);
		return;
	}
	if (limit)
		this_cpu_inc(ntklog_spin_lock_cpu.untracked);
	/* Remember that a release without an entry is to come, if it is sure to. */
	if (READ_ONCE(ntklog_spin_lock_hooked))
		WRITE_ONCE(cpu->in_use, in_use + PERF_SPIN_LOCK_OWED);
}

/**
 * ntklog_track_spin_lock_acquire() - remember an acquisition until its release
 * @lock: the lock, now owned
 * @acquire_mode: WMI_SPINLOCK_*
 * @spin_count: additional tests of the lock; 0 if it was had at once
 * @query: what ntklog_query_spin_lock() noted before
 *
 * Context: as ntklog_log_spin_lock_acquire(), which has counted it.
 */
void ntklog_track_spin_lock_acquire(const void *lock, u32 acquire_mode,
				    u32 spin_count,
				  const struct ntklog_spin_lock_query *query)
{
	u64 acquire_time = get_cycles();
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	u32 in_use = READ_ONCE(cpu->in_use);

	if (unlikely(in_use >= READ_ONCE(ntklog_spin_lock_limit)))
		ntklog_track_acquire_slowly(lock, acquire_mode, spin_count, query,
					    acquire_time);
	else
		ntklog_make_entry(cpu, in_use, in_use, lock, acquire_mode,
				  spin_count, query, acquire_time);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_track_spin_lock_acquire);

/*
 * The index of a lock's entry, from the most recent down, and 1; 0: none. An interrupt's
 * own have been made since it came: those below, of the same lock shared with others, or
 * let go but not yet forgotten, are another context's.
 */
static u32 ntklog_find_entry(const struct ntklog_spin_lock_cpu *cpu, u32 in_use,
			     const void *lock)
{
	u32 context = ntklog_spin_lock_context();
	u32 i;

	for (i = in_use % PERF_SPIN_LOCK_OWED; i > 0; i--) {
		const struct ntklog_spin_lock_entry *entry = &cpu->entries[i - 1];

		if (READ_ONCE(entry->lock) == lock &&
		    (READ_ONCE(entry->context) & ~0xFFU) == context)
			break;
	}
	return i;
}

/**
 * ntklog_log_spin_lock_convert() - a tracked lock is now owned in another way
 * @lock: the lock
 * @acquire_mode: WMI_SPINLOCK_EXECUTIVE_CONVERTED
 *
 * Its acquisition counts from now. One that is not tracked is left so.
 *
 * Context: IRQL >= DISPATCH_LEVEL, right after the conversion.
 */
void ntklog_log_spin_lock_convert(const void *lock, u8 acquire_mode)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	struct ntklog_spin_lock_entry *entry;
	u32 i;

	if (!static_branch_likely(&ntklog_spin_lock_tracking_key))
		return;
	i = ntklog_find_entry(cpu, READ_ONCE(cpu->in_use), lock);
	if (!i)
		return;
	entry = &cpu->entries[i - 1];
	entry->acquire_time = get_cycles();
	WRITE_ONCE(entry->context, ntklog_spin_lock_context() | acquire_mode);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_log_spin_lock_convert);

static __always_inline bool
ntklog_spin_lock_sampled(const struct ntklog_spin_lock_cpu *cpu,
			 const struct ntklog_spin_lock_entry *entry, u64 release_time)
{
	const struct event_trace_spinlock_information *information =
		&ntklog_spin_lock_words;
	u32 hold_threshold = READ_ONCE(information->spin_lock_hold_threshold);
	u32 hold_time = release_time - entry->acquire_time;
	u32 contention_count = READ_ONCE(cpu->contention_count);
	u32 uncontended_count;

	if (hold_threshold && hold_time > hold_threshold)
		return true;

	if (entry->spin_count)
		return entry->spin_count >=
			READ_ONCE(information->spin_lock_spin_threshold) &&
			contention_count %
			READ_ONCE(information->spin_lock_contention_sample_rate) == 0;

	uncontended_count = READ_ONCE(cpu->acquire_count) - contention_count;
	return uncontended_count %
		READ_ONCE(information->spin_lock_acquire_sample_rate) == 0;
}

/* Each byte: a buffer has something else. */
static __always_inline void
ntklog_make_spin_lock_record(struct wmi_spinlock64 *record, u32 acquire_depth,
			     const struct ntklog_spin_lock_entry *entry,
			     u64 release_time, unsigned long caller)
{
	record->spin_lock_address = ntklog_address((unsigned long)entry->lock);
	record->caller_address = ntklog_address(caller);
	record->acquire_time = entry->acquire_time;
	record->release_time = release_time;
	record->wait_time_in_cycles = entry->wait_time_in_cycles;
	record->spin_count = entry->spin_count;
	record->thread_id = task_pid_nr(current);
	record->interrupt_count = ntklog_interrupt_count() - entry->interrupt_count;
	record->irql = ke_get_current_irql();
	record->acquire_depth = acquire_depth;
	/* As NT's, which is still in the DPC when one interrupts it. */
	record->flags = ntklog_acquire_mode(entry) |
			(in_serving_softirq() ? WMI_SPINLOCK_EXECUTE_DPC : 0) |
			(in_hardirq() ? WMI_SPINLOCK_EXECUTE_ISR : 0);
	memset(record->reserved, 0, sizeof(record->reserved));
}

/* For the tracepoint, or a session whose buffer has to be seen to. Interrupts off. */
static noinline void
ntklog_write_spin_lock_slowly(struct ntklog_spin_lock_cpu *cpu, u32 acquire_depth,
			      const struct ntklog_spin_lock_entry *entry,
			      u64 release_time, unsigned long caller)
{
	struct wmi_spinlock64 record;

	ntklog_make_spin_lock_record(&record, acquire_depth, entry, release_time, caller);
	cpu->writing = true;
	etw_log_event(PERF_SPINLOCK, PERFINFO_LOG_TYPE_SPINLOCK, PERFINFO_SPINLOCK_VERSION,
		      &record, sizeof(record));
	trace_spinlock(&record);
	cpu->writing = false;
}

static noinline void
ntklog_write_spin_lock(struct ntklog_spin_lock_cpu *cpu, u32 acquire_depth,
		       const struct ntklog_spin_lock_entry *entry, u64 release_time,
		     unsigned long caller)
{
	unsigned long flags;
	void *record;
	u64 wanted;

	/*
	 * With interrupts off the flag is only ever seen set by what the
	 * writing itself calls, such as a tracepoint's probe. An interrupt's
	 * own events wait, they are not lost to the flag.
	 */
	local_irq_save(flags);
	if (unlikely(cpu->writing)) {
		this_cpu_inc(ntklog_spin_lock_cpu.suppressed);
		goto out;
	}
	this_cpu_inc(ntklog_spin_lock_cpu.events);
	wanted = etw_wanted(PERF_SPINLOCK);
	/* A probe gets a record that nobody else writes to, however long it looks at it. */
	if (!trace_spinlock_enabled() && !in_nmi() &&
	    etw_begin_event(wanted, PERFINFO_LOG_TYPE_SPINLOCK, PERFINFO_SPINLOCK_VERSION,
			    sizeof(struct wmi_spinlock64), &record)) {
		ntklog_make_spin_lock_record(record, acquire_depth, entry, release_time,
					     caller);
		etw_end_event(wanted, record, sizeof(struct wmi_spinlock64));
	} else {
		ntklog_write_spin_lock_slowly(cpu, acquire_depth, entry, release_time, caller);
	}
out:
	local_irq_restore(flags);
}

static void ntklog_move_entry(struct ntklog_spin_lock_entry *to,
			      const struct ntklog_spin_lock_entry *from)
{
	to->acquire_time = from->acquire_time;
	to->wait_time_in_cycles = from->wait_time_in_cycles;
	to->spin_count = from->spin_count;
	to->interrupt_count = from->interrupt_count;
	WRITE_ONCE(to->context, from->context);
	WRITE_ONCE(to->lock, from->lock);
}

/* Forget entry i of those in use: an interrupt may come between any two lines. */
static __always_inline void ntklog_forget_entry(struct ntklog_spin_lock_cpu *cpu,
						u32 i, u32 in_use)
{
	/*
	 * Move, clear, then give back: an interrupt in between uses the entries
	 * above in_use, and looks only for its own below.
	 */
	for (; i < in_use % PERF_SPIN_LOCK_OWED - 1; i++)
		ntklog_move_entry(&cpu->entries[i], &cpu->entries[i + 1]);
	WRITE_ONCE(cpu->entries[i].lock, NULL);
	barrier();
	WRITE_ONCE(cpu->in_use, in_use - 1);
}

static noinline void ntklog_write_last_entry(struct ntklog_spin_lock_cpu *cpu,
					     u64 release_time, unsigned long caller)
{
	u32 in_use = READ_ONCE(cpu->in_use);

	ntklog_write_spin_lock(cpu, in_use, &cpu->entries[in_use - 1],
			       release_time, caller);
	ntklog_forget_entry(cpu, in_use - 1, in_use);
}

/* Not the last acquired, or some that had no room are still owned. */
static noinline void
ntklog_track_release_slowly(struct ntklog_spin_lock_cpu *cpu, const void *lock,
			    u64 release_time, unsigned long caller)
{
	u32 in_use = READ_ONCE(cpu->in_use);
	u32 i = ntklog_find_entry(cpu, in_use, lock);

	if (!i) {
		/*
		 * Before tracking is armed, it may have been acquired before there
		 * were hooks.
		 */
		if (in_use >= PERF_SPIN_LOCK_OWED)
			WRITE_ONCE(cpu->in_use, in_use - PERF_SPIN_LOCK_OWED);
		else if (READ_ONCE(ntklog_spin_lock_limit))
			this_cpu_inc(ntklog_spin_lock_cpu.unmatched);
		return;
	}
	i--;
	if (ntklog_spin_lock_sampled(cpu, &cpu->entries[i], release_time))
		ntklog_write_spin_lock(cpu, in_use % PERF_SPIN_LOCK_OWED,
				       &cpu->entries[i], release_time, caller);
	ntklog_forget_entry(cpu, i, in_use);
}

/**
 * ntklog_track_spin_lock_release() - forget an acquisition, and maybe write it
 * @lock: the lock, let go already
 * @release_time: TSC, read before it was let go
 * @caller: where the function that releases returns to
 *
 * Context: as ntklog_log_spin_lock_release().
 */
void ntklog_track_spin_lock_release(const void *lock, u64 release_time,
				    unsigned long caller)
{
	struct ntklog_spin_lock_cpu *cpu = this_cpu_ptr(&ntklog_spin_lock_cpu);
	u32 last = READ_ONCE(cpu->in_use) - 1;

	/*
	 * Most are the last acquired, and not written: a leaf for those. While all
	 * that is owned has an entry, the last one of a lock is of this context.
	 */
	if (unlikely(last >= PERF_SPIN_LOCK_DEPTH ||
		     READ_ONCE(cpu->entries[last].lock) != lock))
		ntklog_track_release_slowly(cpu, lock, release_time, caller);
	else if (unlikely(ntklog_spin_lock_sampled(cpu, &cpu->entries[last],
						   release_time)))
		ntklog_write_last_entry(cpu, release_time, caller);
	else
		ntklog_forget_entry(cpu, last, last + 1);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_track_spin_lock_release);

static void ntklog_set_key(struct static_key_false *key, bool on)
{
	if (on)
		static_branch_enable(key);
	else
		static_branch_disable(key);
}

/*
 * Called with ntklog_spin_lock_key on; one at a time: see struct ntklog_want.
 *
 * The sites of a key do not switch at one instant: an acquisition may see it on and its
 * release, a moment later, still off. So none is tracked before all are sure to see it
 * on. Each section from before an acquisition to after its release has preemption off,
 * which makes it a reader of RCU's.
 */
static void ntklog_start_spin_lock_tracking(void)
{
	int cpu, i;

	/*
	 * Who was in the tracking when it last went off has left. What a faulty owner
	 * has never released, or on another processor, is forgotten.
	 */
	cond_synchronize_rcu(ntklog_spin_lock_off_state);
	for_each_possible_cpu(cpu) {
		struct ntklog_spin_lock_cpu *spin_lock_cpu =
			per_cpu_ptr(&ntklog_spin_lock_cpu, cpu);

		WRITE_ONCE(spin_lock_cpu->in_use, 0);
		for (i = 0; i < PERF_SPIN_LOCK_DEPTH; i++)
			WRITE_ONCE(spin_lock_cpu->entries[i].lock, NULL);
	}

	static_branch_enable(&ntklog_spin_lock_tracking_key);
	/*
	 * All processors run the new text when that returns. From now on what is
	 * acquired without an entry is owed.
	 */
	WRITE_ONCE(ntklog_spin_lock_hooked, true);
	/*
	 * Sections that began before have ended. The others have all of it: a query,
	 * an acquisition that has an entry or is owed, and a hooked release.
	 */
	synchronize_rcu();
	WRITE_ONCE(ntklog_spin_lock_limit, PERF_SPIN_LOCK_DEPTH);
}

static void ntklog_stop_spin_lock_tracking(void)
{
	WRITE_ONCE(ntklog_spin_lock_limit, 0);
	/* Sections that made entries have ended, and their releases were hooked. */
	synchronize_rcu();
	WRITE_ONCE(ntklog_spin_lock_hooked, false);
	static_branch_disable(&ntklog_spin_lock_tracking_key);
	ntklog_spin_lock_off_state = get_state_synchronize_rcu();
}

/* One at a time: see struct ntklog_want. */
static void ntklog_update_spin_lock_keys(const struct perfinfo_groupmask *wanted)
{
	bool track = etw_group_mask_test(wanted, PERF_SPINLOCK);
	bool count = track || etw_group_mask_test(wanted, PERF_SPINLOCK_CNTRS);
	bool tracked = ntklog_spin_lock_limit;

	/* The tracking key is on only while the other one is. */
	if (tracked && !track)
		ntklog_stop_spin_lock_tracking();
	ntklog_set_key(&ntklog_spin_lock_key, count);
	if (track && !tracked)
		ntklog_start_spin_lock_tracking();
}

static void ntklog_spin_lock_rundown(struct etw_session *session, bool end)
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

	etw_log_session_event(session,
			      end ? PERFINFO_LOG_TYPE_SPINLOCK_DC_END :
				    PERFINFO_LOG_TYPE_SPINLOCK_DC_START,
			      PERFINFO_SPINLOCK_DC_VERSION, &record,
			      sizeof(record));
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
