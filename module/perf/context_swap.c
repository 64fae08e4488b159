// SPDX-License-Identifier: GPL-2.0-only
/*
 * Context switch events, NT's WMI_CONTEXTSWAP, from a probe of the tracepoint sched_switch. The
 * probe runs with the run queue's lock held and interrupts off, so it must not wake a task.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/export.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/prio.h>
#include <linux/tracepoint.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_contextswap.h>

#include "../etw/event.h"
#include "../etw/group_mask.h"
#include "../etw/observe.h"
#include "../etw/provider.h"
#include "../ground/clock.h"
#include "../ground/compat.h"
#include "../ground/run_queue.h"
#include "../ground/tracepoint.h"
#include "../trace.h"
#include "context_swap.h"
#include "event_group.h"
#include "stack.h"

/* Priorities from 16 on are real-time priorities in NT. */
#define NT_PRIORITY_REALTIME_MIN	16
#define NT_PRIORITY_MAX		31
static_assert((NT_PRIORITY_REALTIME_MIN - 1) * 8 == NICE_WIDTH * 3);

/* Both are written by ntklog_update_sched_probes(). */
static bool ntklog_context_swap_probes_are_registered;
static bool ntklog_idle_probe_registered;

struct tracepoint *ntklog_sched_switch_tp;
static struct tracepoint *ntklog_cpu_idle_tp;

/* C-state that this CPU entered last. Written by the cpu_idle probe. */
static DEFINE_PER_CPU(u8, ntklog_c_state);

/* NT priority of each Linux priority, indexed by its low byte: deadline tasks have priority -1. */
static u8 ntklog_nt_priorities[U8_MAX + 1] __ro_after_init;

static void __init ntklog_init_nt_priorities(void)
{
	int priority;

	for (priority = 0; priority < MAX_RT_PRIO; priority++)
		ntklog_nt_priorities[priority] = NT_PRIORITY_MAX -
			priority * (NT_PRIORITY_MAX - NT_PRIORITY_REALTIME_MIN + 1) / MAX_RT_PRIO;
	/* Map the 40 nice values to 15 priorities: 3 for 8. */
	for (; priority < MAX_PRIO; priority++)
		ntklog_nt_priorities[priority] =
			NT_PRIORITY_REALTIME_MIN - 1 - (priority - MAX_RT_PRIO) * 3 / 8;
	for (; priority <= U8_MAX; priority++)
		ntklog_nt_priorities[priority] = NT_PRIORITY_MAX;
}

static __always_inline u32 ntklog_convert_priority(const struct task_struct *task, bool is_idle)
{
	u32 priority = ntklog_nt_priorities[(u8)task->prio];

	if (unlikely(is_idle))
		priority = 0;
	else if (unlikely(task->policy == SCHED_IDLE))
		priority = priority < NT_PRIORITY_REALTIME_MIN ? 1 : priority;
	return priority;
}

/**
 * ntklog_convert_to_nt_priority() - convert a task's priority to NT's
 * @task: the task
 * @is_idle: the task is the idle task of a CPU
 *
 * Idle tasks have 0; nice 19 and the policy SCHED_IDLE have 1, nice 0 has 8, nice -20 has 15;
 * real-time tasks have 16 to 31, and deadline tasks 31.
 *
 * Return: 0 to 31.
 */
u8 ntklog_convert_to_nt_priority(const struct task_struct *task, bool is_idle)
{
	return ntklog_convert_priority(task, is_idle);
}

/* WaitReason, WaitMode and State of the old thread: three bytes of the record, in this order. */
#define NT_PACK_OLD_STATE(_wait_reason, _wait_mode, _state)			\
	(KWAIT_REASON_##_wait_reason | KPROCESSOR_MODE_##_wait_mode << 8 |	\
	 KTHREAD_STATE_##_state << 16)

/* States of a task that has ended, or that waits for a debugger or a signal to continue. */
#define NT_RARE_STATES	(TASK_DEAD | EXIT_ZOMBIE | EXIT_DEAD | __TASK_STOPPED | __TASK_TRACED)

static __always_inline u32 ntklog_pack_old_state_slow(unsigned int state)
{
	if (state == TASK_RUNNING)
		return NT_PACK_OLD_STATE(WR_YIELD_EXECUTION, KERNEL, READY);
	if (state & NT_RARE_STATES) {
		bool is_terminated = state & (TASK_DEAD | EXIT_ZOMBIE | EXIT_DEAD);

		if (state & (__TASK_STOPPED | __TASK_TRACED))
			return is_terminated ? NT_PACK_OLD_STATE(SUSPENDED, KERNEL, TERMINATED) :
					    NT_PACK_OLD_STATE(SUSPENDED, KERNEL, WAITING);
		return NT_PACK_OLD_STATE(EXECUTIVE, KERNEL, TERMINATED);
	}
	return NT_PACK_OLD_STATE(EXECUTIVE, KERNEL, WAITING);
}

/* unlikely() keeps all but a user task in an interruptible sleep out of line. */
static __always_inline u32 ntklog_pack_old_state(const struct task_struct *task, bool is_idle,
						 bool preempted, unsigned int state)
{
	u32 packed_old_state = NT_PACK_OLD_STATE(USER_REQUEST, USER, WAITING);

	/* An idle task does not wait, and it keeps the state of a running thread, as in NT. */
	if (unlikely(is_idle))
		return NT_PACK_OLD_STATE(EXECUTIVE, KERNEL, RUNNING);
	if (unlikely(preempted))
		return NT_PACK_OLD_STATE(WR_PREEMPTED, KERNEL, READY);
	if (unlikely(state != TASK_INTERRUPTIBLE) &&
	    (!(state & TASK_INTERRUPTIBLE) || state & NT_RARE_STATES))
		return ntklog_pack_old_state_slow(state);
	/* Interruptible sleep of a kernel thread is usually a wait for work. */
	if (unlikely(task->flags & PF_KTHREAD)) {
		packed_old_state = NT_PACK_OLD_STATE(WR_QUEUE, KERNEL, WAITING);
		/* Force a branch: a conditional move would cost all tasks an instruction. */
		OPTIMIZER_HIDE_VAR(packed_old_state);
	}
	return packed_old_state;
}

/* NewThreadWaitTime, in clock ticks. */
static u32 ntklog_get_wait_ticks(const struct task_struct *task)
{
	return div_u64(ntklog_ns_since_queued(task), TICK_NSEC);
}

/* OldThreadRemainingQuantum, in units of 1024 cycles; may be negative. */
static s32 ntklog_get_remaining_quantum(const struct task_struct *task)
{
	return ntklog_ns_to_kilocycles(ntklog_remaining_slice(task));
}

/* Version 1 is a prefix of the later versions, in which one of its bytes may be the C-state. */
static_assert(offsetofend(struct wmi_contextswap, old_thread_ideal_processor) ==
	      sizeof(struct wmi_contextswap_v1));
static_assert(offsetof(struct wmi_contextswap, previous_c_state) ==
	      offsetof(struct wmi_contextswap_v1, new_thread_quantum));

/* Fills all bytes, because the buffer has old data. */
static __always_inline void
ntklog_fill_context_swap_v1(struct wmi_contextswap_v1 *record, bool preempted,
			    struct task_struct *old, struct task_struct *new,
			    unsigned int old_state)
{
	/* Only idle tasks have PID 0. */
	u32 id = task_pid_nr(new), priorities, packed_old_state;

	record->new_thread_id = id;
	priorities = ntklog_convert_priority(new, !id);
	id = task_pid_nr(old);
	record->old_thread_id = id;
	priorities |= ntklog_convert_priority(old, !id) << 8;
	/* Combine four bytes in a register for one store. */
	OPTIMIZER_HIDE_VAR(priorities);
	record->new_thread_priority = priorities;
	record->old_thread_priority = priorities >> 8;
	record->new_thread_quantum = priorities >> 16;
	record->old_thread_quantum = priorities >> 24;
	packed_old_state = ntklog_pack_old_state(old, !id, preempted, old_state);
	/* Keep the compiler from storing the three bytes of each case separately. */
	OPTIMIZER_HIDE_VAR(packed_old_state);
	packed_old_state |= (u32)old->wake_cpu << 24;
	record->old_thread_wait_reason = packed_old_state;
	record->old_thread_wait_mode = packed_old_state >> 8;
	record->old_thread_state = packed_old_state >> 16;
	record->old_thread_ideal_processor = packed_old_state >> 24;
}

/* The C-state is a byte of the prefix. */
static __always_inline void
ntklog_fill_context_swap_v2_fields(struct wmi_contextswap *record, const struct task_struct *old,
				   const struct task_struct *new)
{
	record->new_thread_wait_time = ntklog_get_wait_ticks(new);
	if (old->pid) {
		record->old_thread_remaining_quantum = ntklog_get_remaining_quantum(old);
	} else {
		record->old_thread_remaining_quantum = 0;
		record->previous_c_state = this_cpu_read(ntklog_c_state);
	}
}

/* The order of the arguments is that of the probe, so that the call moves no register. */
static noinline void
ntklog_log_context_swap_slow(u64 sessions, bool preempted, struct task_struct *old,
			     struct task_struct *new, unsigned int old_state)
{
	const u64 versions = etw_get_contextswap_versions(sessions);
	struct wmi_contextswap record = {};
	struct wmi_contextswap_v1 record_v1;
	struct etw_logged_event logged_event;

	ntklog_fill_context_swap_v1(&record_v1, preempted, old, new, old_state);
	memcpy(&record, &record_v1, sizeof(record_v1));
	if (versions & ETW_VERSION_ABOVE_1_BITS || trace_contextswap_enabled())
		ntklog_fill_context_swap_v2_fields(&record, old, new);
	logged_event = etw_log_event_in_versions(versions, PERFINFO_LOG_TYPE_CONTEXTSWAP,
						 &record_v1, sizeof(record_v1), &record,
						 sizeof(record));
	ntklog_write_stack(ETW_STACKED_CONTEXTSWAP, logged_event, 0, false);
	trace_contextswap(&record);
}

/* Not inline, so that the probe usually needs no stack frame. */
static noinline void ntklog_end_context_swap_v1(u64 sessions,
						const struct wmi_contextswap_v1 *record)
{
	ntklog_write_stack(ETW_STACKED_CONTEXTSWAP,
			   etw_end_event(sessions, record, sizeof(*record)), 0, false);
}

static noinline void ntklog_end_context_swap_v2plus(u64 sessions,
						    const struct wmi_contextswap *record)
{
	ntklog_write_stack(ETW_STACKED_CONTEXTSWAP,
			   etw_end_event(sessions, record, sizeof(*record)), 0, false);
}

static noinline void
ntklog_log_context_swap_v2plus(u64 sessions, bool preempted, struct task_struct *old,
			       struct task_struct *new, unsigned int old_state)
{
	const u8 *versions = etw_contextswap_versions.by_session;
	u8 version = READ_ONCE(versions[etw_find_first_session(sessions)]) + 1;
	void *record;

	/* The session may have selected version 1 meanwhile. */
	if (version == 1 || !etw_begin_event(sessions, PERFINFO_LOG_TYPE_CONTEXTSWAP, version,
					     sizeof(struct wmi_contextswap), &record)) {
		ntklog_log_context_swap_slow(sessions, preempted, old, new, old_state);
		return;
	}
	ntklog_fill_context_swap_v1(record, preempted, old, new, old_state);
	ntklog_fill_context_swap_v2_fields(record, old, new);
	if (unlikely(etw_find_stack_sessions_for_event(ETW_STACKED_CONTEXTSWAP, sessions)))
		ntklog_end_context_swap_v2plus(sessions, record);
}

static void ntklog_sched_switch_probe(void *data, bool preempted,
				      struct task_struct *old, struct task_struct *new,
				      unsigned int old_state)
{
	const u64 sessions = etw_find_sessions_for_event(PERF_CONTEXT_SWITCH);
	void *record;

	if (trace_contextswap_enabled()) {
		ntklog_log_context_swap_slow(sessions, preempted, old, new, old_state);
	} else if (etw_has_contextswap_version_above_1(sessions)) {
		if (sessions & (sessions - 1))
			ntklog_log_context_swap_slow(sessions, preempted, old, new, old_state);
		else
			ntklog_log_context_swap_v2plus(sessions, preempted, old, new, old_state);
	} else if (etw_begin_event(sessions, PERFINFO_LOG_TYPE_CONTEXTSWAP, 1,
				   sizeof(struct wmi_contextswap_v1), &record)) {
		/* etw_begin_event() may be used, because the scheduler does not run in an NMI. */
		ntklog_fill_context_swap_v1(record, preempted, old, new, old_state);
		if (unlikely(sessions & (sessions - 1) ||
			     etw_find_stack_sessions_for_event(ETW_STACKED_CONTEXTSWAP, sessions)))
			ntklog_end_context_swap_v1(sessions, record);
	} else {
		ntklog_log_context_swap_slow(sessions, preempted, old, new, old_state);
	}
}

static void ntklog_cpu_idle_probe(void *data, unsigned int state, unsigned int cpu)
{
	/* PWR_EVENT_EXIT: the CPU leaves the idle state. */
	if (state != (unsigned int)-1)
		this_cpu_write(ntklog_c_state, state);
}

static int ntklog_context_swap_probe_err;

static int ntklog_get_context_swap_err(const struct etw_provider *provider)
{
	return READ_ONCE(ntklog_context_swap_probe_err);
}

static void ntklog_update_sched_probes(struct ntklog_event_group *group,
				       const struct perfinfo_groupmask *wanted_groups)
{
	bool enable = etw_group_mask_test(wanted_groups, PERF_CONTEXT_SWITCH);
	int err;

	if (enable == ntklog_context_swap_probes_are_registered)
		return;
	if (enable) {
		err = tracepoint_probe_register(ntklog_sched_switch_tp,
						ntklog_sched_switch_probe, NULL);
		WRITE_ONCE(ntklog_context_swap_probe_err, err);
		if (err) {
			pr_err("no context swaps: sched_switch has not been attached: %d\n",
			       err);
			return;
		}
		/* The C-state is optional. */
		ntklog_idle_probe_registered = ntklog_cpu_idle_tp &&
			!tracepoint_probe_register(ntklog_cpu_idle_tp,
						   ntklog_cpu_idle_probe, NULL);
	} else {
		tracepoint_probe_unregister(ntklog_sched_switch_tp,
					    ntklog_sched_switch_probe, NULL);
		if (ntklog_idle_probe_registered)
			tracepoint_probe_unregister(ntklog_cpu_idle_tp,
						    ntklog_cpu_idle_probe, NULL);
	}
	WRITE_ONCE(ntklog_context_swap_probes_are_registered, enable);
	/* A session that was started without the probe observes the group from now on. */
	etw_schedule_observing();
}

/**
 * ntklog_context_swaps_are_traced() - test whether the probes are registered
 *
 * Context: any.
 * Return: true if context switches are being traced.
 */
bool ntklog_context_swaps_are_traced(void)
{
	return READ_ONCE(ntklog_context_swap_probes_are_registered);
}

static struct ntklog_event_group ntklog_context_swap_group = {
	.provider.group = PERF_CONTEXT_SWITCH,
	.provider.get_err = ntklog_get_context_swap_err,
	.update = ntklog_update_sched_probes,
	.updates_by_work = true,
	NTKLOG_EVENT_GROUP_INITIALIZER(ntklog_context_swap_group),
};

int ntklog_context_swap_tracepoint_reg(void)
{
	return ntklog_event_group_record_first_probe(&ntklog_context_swap_group);
}

void ntklog_context_swap_tracepoint_unreg(void)
{
	ntklog_event_group_record_no_probe(&ntklog_context_swap_group);
}

/**
 * ntklog_context_swap_init() - let subscribers enable the probes
 *
 * Context: module load, before a session exists.
 * Return: 0, or -ENOENT if the kernel has no tracepoint sched_switch.
 */
int __init ntklog_context_swap_init(void)
{
	ntklog_cpu_idle_tp = ntklog_find_tracepoint("cpu_idle");
	ntklog_sched_switch_tp = ntklog_find_tracepoint("sched_switch");
	if (!ntklog_sched_switch_tp)
		return -ENOENT;
	ntklog_init_nt_priorities();
	ntklog_event_group_init(&ntklog_context_swap_group);
	return 0;
}

/**
 * ntklog_context_swap_exit() - remove the probes for good
 *
 * Context: module unload, when no session is left; or a load that failed.
 */
void ntklog_context_swap_exit(void)
{
	ntklog_event_group_exit(&ntklog_context_swap_group);
	tracepoint_synchronize_unregister();
}
