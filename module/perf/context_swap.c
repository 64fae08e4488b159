// SPDX-License-Identifier: GPL-2.0-only
/*
 * NT's WMI_CONTEXTSWAP, from Linux' scheduler. Nothing of ours is in the way of a
 * switch unless somebody wants the events: then there is a probe of sched_switch, and
 * one of cpu_idle that notes the C-state.
 *
 * The probe runs with the run queue's lock held and interrupts off. It wakes nobody.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/prio.h>
#include <linux/tracepoint.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_contextswap.h>

#include "../compat.h"
#include "../etw/event.h"
#include "../etw/provider.h"
#include "../ground/clock.h"
#include "../ground/tracepoint.h"
#include "../trace.h"
#include "context_swap.h"
#include "stack.h"
#include "event_group.h"

/* Linux' priorities, 0 to 139, to NT's: 16 to 31 are real-time ones in both. */
#define NT_PRIORITY_REALTIME	16
#define NT_PRIORITY_MAX		31
static_assert((NT_PRIORITY_REALTIME - 1) * 8 == NICE_WIDTH * 3);

/* Written by ntklog_update_context_swaps(); the first is read by any. */
static bool ntklog_probes_are_on;
/* Whether the cpu_idle probe is there too. */
static bool ntklog_cpu_idle_is_on;

static struct tracepoint *ntklog_sched_switch, *ntklog_cpu_idle;

/* The C-state that the processor entered last; written by its cpu_idle probe. */
static DEFINE_PER_CPU(u8, ntklog_c_state);

/* Of Linux' priorities, by their low byte; deadlines have -1. Written at load. */
static u8 ntklog_nt_priorities[U8_MAX + 1] __ro_after_init;

static void __init ntklog_make_nt_priorities(void)
{
	int priority;

	for (priority = 0; priority < MAX_RT_PRIO; priority++)
		ntklog_nt_priorities[priority] = NT_PRIORITY_MAX -
			priority * (NT_PRIORITY_MAX - NT_PRIORITY_REALTIME + 1) / MAX_RT_PRIO;
	/* 15 priorities for 40 of nice, which is 3 for 8. */
	for (; priority < MAX_PRIO; priority++)
		ntklog_nt_priorities[priority] =
			NT_PRIORITY_REALTIME - 1 - (priority - MAX_RT_PRIO) * 3 / 8;
	for (; priority <= U8_MAX; priority++)
		ntklog_nt_priorities[priority] = NT_PRIORITY_MAX;
}

static __always_inline u32 ntklog_nt_priority_of(const struct task_struct *thread, bool idle)
{
	/* Nobody changes the priorities of the two threads of a switch. */
	u32 priority = ntklog_nt_priorities[(u8)thread->prio];

	if (unlikely(idle))
		priority = 0;
	else if (unlikely(thread->policy == SCHED_IDLE))
		priority = priority < NT_PRIORITY_REALTIME ? 1 : priority;
	return priority;
}

/**
 * ntklog_nt_priority() - a thread's priority as NT would have it
 * @thread: the thread
 * @idle: it is the idle thread of a processor
 *
 * Monotone: who goes first in Linux has no lower one. The idle thread has 0; the
 * policy SCHED_IDLE and nice 19 have 1, nice 0 has 8, nice -20 has 15; real-time ones
 * have 16 to 31, and deadlines 31.
 *
 * Return: 0 to 31.
 */
u8 ntklog_nt_priority(const struct task_struct *thread, bool idle)
{
	return ntklog_nt_priority_of(thread, idle);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_nt_priority);

/* What a thread goes away for, as three bytes of a record, from the lowest on. */
#define NT_OLD_THREAD(_wait_reason, _wait_mode, _state)			\
	(KWAIT_REASON_##_wait_reason | KPROCESSOR_MODE_##_wait_mode << 8 |	\
	 KTHREAD_STATE_##_state << 16)

/* It does not run again, or not before a debugger or a signal lets it. */
#define NT_RARE_STATES	(TASK_DEAD | EXIT_ZOMBIE | EXIT_DEAD | __TASK_STOPPED | __TASK_TRACED)

/* Whatever it does but wait in the state that most wait in. */
static __always_inline u32 ntklog_old_thread_word_slow(unsigned int state)
{
	if (state == TASK_RUNNING)
		return NT_OLD_THREAD(WR_YIELD_EXECUTION, KERNEL, READY);
	if (state & NT_RARE_STATES) {
		bool terminated = state & (TASK_DEAD | EXIT_ZOMBIE | EXIT_DEAD);

		if (state & (__TASK_STOPPED | __TASK_TRACED))
			return terminated ? NT_OLD_THREAD(SUSPENDED, KERNEL, TERMINATED) :
					    NT_OLD_THREAD(SUSPENDED, KERNEL, WAITING);
		return NT_OLD_THREAD(EXECUTIVE, KERNEL, TERMINATED);
	}
	return NT_OLD_THREAD(EXECUTIVE, KERNEL, WAITING);
}

/*
 * A process that sleeps goes straight through. The others are not as rare as is said here:
 * it keeps their numbers out of its way.
 */
static __always_inline u32 ntklog_old_thread_word(const struct task_struct *thread, bool idle,
						  bool preempted, unsigned int state)
{
	u32 old_thread = NT_OLD_THREAD(USER_REQUEST, USER, WAITING);

	/* Idle threads wait for nothing and are in no queue: NT leaves them as they were. */
	if (unlikely(idle))
		return NT_OLD_THREAD(EXECUTIVE, KERNEL, RUNNING);
	if (unlikely(preempted))
		return NT_OLD_THREAD(WR_PREEMPTED, KERNEL, READY);
	if (unlikely(state != TASK_INTERRUPTIBLE) &&
	    (!(state & TASK_INTERRUPTIBLE) || state & NT_RARE_STATES))
		return ntklog_old_thread_word_slow(state);
	/* A kernel thread's is for work to do; what a process waits for is its own wish. */
	if (unlikely(thread->flags & PF_KTHREAD)) {
		old_thread = NT_OLD_THREAD(WR_QUEUE, KERNEL, WAITING);
		/* A branch, or all threads would pay for the choice. */
		OPTIMIZER_HIDE_VAR(old_thread);
	}
	return old_thread;
}

/*
 * How long it has waited for the processor since it became ready, in clock ticks. The
 * scheduler notes that only if it keeps statistics (CONFIG_SCHED_INFO), and for no idle
 * thread.
 */
static u32 ntklog_wait_ticks(const struct task_struct *thread)
{
#ifdef CONFIG_SCHED_INFO
	u64 queued = thread->sched_info.last_queued;
	u64 now;

	if (!queued)
		return 0;
	now = cpu_clock(smp_processor_id());
	/* The clocks of two processors may differ a little. */
	if (now > queued)
		return div_u64(now - queued, TICK_NSEC);
#endif
	return 0;
}

/* What is left of its time slice, in units of 1024 cycles; can be negative. */
static s32 ntklog_remaining_quantum(const struct task_struct *thread)
{
	return ntklog_ns_to_kilocycles(ntklog_remaining_slice(thread));
}

/*
 * Version 1 is the beginning of the others, but for what Linux has nothing for. Versions
 * 2 to 4 differ in flags that Linux has nothing for either.
 */
static_assert(offsetofend(struct wmi_contextswap, old_thread_ideal_processor) ==
	      sizeof(struct wmi_contextswap_v1));
static_assert(offsetof(struct wmi_contextswap, previous_c_state) ==
	      offsetof(struct wmi_contextswap_v1, new_thread_quantum));

/* What all versions have, each byte: a buffer has something else. */
static __always_inline void
ntklog_make_context_swap_v1(struct wmi_contextswap_v1 *record, bool preempted,
			    struct task_struct *old, struct task_struct *new,
			    unsigned int old_state)
{
	/* Only the idle threads of processors have no id. */
	u32 id = task_pid_nr(new), priorities, old_thread;

	record->new_thread_id = id;
	priorities = ntklog_nt_priority_of(new, !id);
	id = task_pid_nr(old);
	record->old_thread_id = id;
	priorities |= ntklog_nt_priority_of(old, !id) << 8;
	/* Four bytes in a register, and one store of them. There are no quanta. */
	OPTIMIZER_HIDE_VAR(priorities);
	record->new_thread_priority = priorities;
	record->old_thread_priority = priorities >> 8;
	record->new_thread_quantum = priorities >> 16;
	record->old_thread_quantum = priorities >> 24;
	old_thread = ntklog_old_thread_word(old, !id, preempted, old_state);
	/* Likewise; the compiler would carry three bytes of each case. */
	OPTIMIZER_HIDE_VAR(old_thread);
	old_thread |= (u32)old->wake_cpu << 24;
	record->old_thread_wait_reason = old_thread;
	record->old_thread_wait_mode = old_thread >> 8;
	record->old_thread_state = old_thread >> 16;
	record->old_thread_ideal_processor = old_thread >> 24;
}

/* What versions 2 to 4 have besides, of which the C-state stands in the first part. */
static __always_inline void
ntklog_make_context_swap_v2_fields(struct wmi_contextswap *record, const struct task_struct *old,
				   const struct task_struct *new)
{
	record->new_thread_wait_time = ntklog_wait_ticks(new);
	if (old->pid) {
		record->old_thread_remaining_quantum = ntklog_remaining_quantum(old);
	} else {
		record->old_thread_remaining_quantum = 0;
		record->previous_c_state = this_cpu_read(ntklog_c_state);
	}
}

/*
 * For the tracepoint, several versions, or a session whose buffer has to be seen to. The probe's
 * arguments are in their places: for what it does not call it moves none.
 */
static noinline void
ntklog_log_context_swap(u64 sessions, bool preempted, struct task_struct *old,
			struct task_struct *new, unsigned int old_state)
{
	const u64 wanted = etw_sessions_by_version(sessions);
	struct wmi_contextswap record = {};
	struct wmi_contextswap_v1 first;
	struct etw_logged logged;

	ntklog_make_context_swap_v1(&first, preempted, old, new, old_state);
	memcpy(&record, &first, sizeof(first));
	if (wanted & ETW_LATER_WANTED || trace_contextswap_enabled())
		ntklog_make_context_swap_v2_fields(&record, old, new);
	logged = etw_log_event_versions(wanted, PERFINFO_LOG_TYPE_CONTEXTSWAP,
					&first, sizeof(first), &record, sizeof(record));
	ntklog_write_stack(ETW_STACKED_CONTEXTSWAP, logged, 0, false);
	trace_contextswap(&record);
}

/* Not inline: with one session there is no call, and nothing to save for it. */
static noinline void ntklog_copy_context_swap(u64 wanted, const struct wmi_contextswap_v1 *first)
{
	ntklog_write_stack(ETW_STACKED_CONTEXTSWAP,
			   etw_end_event(wanted, first, sizeof(*first)), 0, false);
}

/* One session's: there is nobody to copy it for. */
static noinline void ntklog_stack_later_context_swap(u64 wanted,
						     const struct wmi_contextswap *record)
{
	ntklog_write_stack(ETW_STACKED_CONTEXTSWAP,
			   etw_end_event(wanted, record, sizeof(*record)), 0, false);
}

/* For one session, which wants version 2, 3 or 4. */
static noinline void
ntklog_log_context_swap_v2_up(u64 wanted, bool preempted, struct task_struct *old,
			      struct task_struct *new, unsigned int old_state)
{
	const u8 *versions = etw_contextswap_versions.of_session;
	u8 version = READ_ONCE(versions[etw_first_session(wanted)]) + 1;
	void *data;

	/* It may be another one by now. */
	if (version == 1 || !etw_begin_event(wanted, PERFINFO_LOG_TYPE_CONTEXTSWAP, version,
					     sizeof(struct wmi_contextswap), &data)) {
		ntklog_log_context_swap(wanted, preempted, old, new, old_state);
		return;
	}
	ntklog_make_context_swap_v1(data, preempted, old, new, old_state);
	ntklog_make_context_swap_v2_fields(data, old, new);
	if (unlikely(etw_stack_sessions_for_event(ETW_STACKED_CONTEXTSWAP, wanted)))
		ntklog_stack_later_context_swap(wanted, data);
}

static void ntklog_sched_switch_probe(void *data, bool preempted,
				      struct task_struct *old, struct task_struct *new,
				      unsigned int old_state)
{
	const u64 wanted = etw_sessions_for_event(PERF_CONTEXT_SWITCH);
	void *first;

	if (trace_contextswap_enabled()) {
		ntklog_log_context_swap(wanted, preempted, old, new, old_state);
	} else if (etw_versions_above_1_wanted(wanted)) {
		if (wanted & (wanted - 1))
			ntklog_log_context_swap(wanted, preempted, old, new, old_state);
		else
			ntklog_log_context_swap_v2_up(wanted, preempted, old, new, old_state);
	} else if (etw_begin_event(wanted, PERFINFO_LOG_TYPE_CONTEXTSWAP, 1,
				   sizeof(struct wmi_contextswap_v1), &first)) {
		/* The scheduler does not run in an NMI. */
		ntklog_make_context_swap_v1(first, preempted, old, new, old_state);
		if (unlikely(wanted & (wanted - 1) ||
			     etw_stack_sessions_for_event(ETW_STACKED_CONTEXTSWAP, wanted)))
			ntklog_copy_context_swap(wanted, first);
	} else {
		ntklog_log_context_swap(wanted, preempted, old, new, old_state);
	}
}

static void ntklog_cpu_idle_probe(void *data, unsigned int state, unsigned int cpu)
{
	/* -1: left again. */
	if (state != (unsigned int)-1)
		this_cpu_write(ntklog_c_state, state);
}

/* One at a time: see struct ntklog_event_group. */
static void ntklog_update_context_swaps(struct ntklog_event_group *want,
					const struct perfinfo_groupmask *wanted)
{
	bool on = etw_group_mask_test(wanted, PERF_CONTEXT_SWITCH);
	int err;

	if (on == ntklog_probes_are_on)
		return;
	if (on) {
		err = tracepoint_probe_register(ntklog_sched_switch,
						ntklog_sched_switch_probe, NULL);
		if (err) {
			pr_err("no context swaps: sched_switch has not been attached: %d\n",
			       err);
			return;
		}
		/* Without it C-states are 0: no reason to do without the events. */
		ntklog_cpu_idle_is_on = ntklog_cpu_idle &&
			!tracepoint_probe_register(ntklog_cpu_idle,
						   ntklog_cpu_idle_probe, NULL);
	} else {
		tracepoint_probe_unregister(ntklog_sched_switch,
					    ntklog_sched_switch_probe, NULL);
		if (ntklog_cpu_idle_is_on)
			tracepoint_probe_unregister(ntklog_cpu_idle,
						    ntklog_cpu_idle_probe, NULL);
	}
	WRITE_ONCE(ntklog_probes_are_on, on);
}

/**
 * ntklog_context_swaps_are_on() - are the probes there?
 *
 * Context: any.
 * Return: whether they are.
 */
bool ntklog_context_swaps_are_on(void)
{
	return READ_ONCE(ntklog_probes_are_on);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_context_swaps_are_on);

static struct ntklog_event_group ntklog_context_swap_group = {
	.provider.group = PERF_CONTEXT_SWITCH,
	.update = ntklog_update_context_swaps,
	.by_work = true,
	PERF_WANT_INITIALIZER(ntklog_context_swap_group),
};

/* The tracepoint's. */
int ntklog_context_swap_tracepoint_reg(void)
{
	return ntklog_event_group_add_probe(&ntklog_context_swap_group);
}

void ntklog_context_swap_tracepoint_unreg(void)
{
	ntklog_event_group_remove_probe(&ntklog_context_swap_group);
}

/**
 * ntklog_context_swap_init() - make those who want the events turn the probes on
 *
 * Context: load, before there is a session.
 * Return: 0, or -ENOENT if the kernel does not tell of context switches.
 */
int __init ntklog_context_swap_init(void)
{
	ntklog_cpu_idle = ntklog_find_tracepoint("cpu_idle");
	ntklog_sched_switch = ntklog_find_tracepoint("sched_switch");
	if (!ntklog_sched_switch)
		return -ENOENT;
	ntklog_make_nt_priorities();
	ntklog_event_group_init(&ntklog_context_swap_group);
	return 0;
}

/**
 * ntklog_context_swap_exit() - take the probes away for good
 *
 * Context: unload, when no session is left, or a load that failed.
 */
void ntklog_context_swap_exit(void)
{
	ntklog_event_group_exit(&ntklog_context_swap_group);
	tracepoint_synchronize_unregister();
}
