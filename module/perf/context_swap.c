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
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/tsc.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_contextswap.h>

#include "../compat.h"
#include "../etw/event.h"
#include "../etw/provider.h"
#include "../trace.h"
#include "context_swap.h"
#include "want.h"

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
	int priority = READ_ONCE(thread->prio);

	if (idle)
		return 0;
	if (priority < 0)
		return NT_PRIORITY_MAX;
	if (priority < MAX_RT_PRIO)
		return NT_PRIORITY_MAX -
			(u32)priority * (NT_PRIORITY_MAX - NT_PRIORITY_REALTIME + 1) /
			MAX_RT_PRIO;
	if (thread->policy == SCHED_IDLE)
		return 1;
	/* 15 priorities for 40 of nice, which is 3 for 8. */
	return NT_PRIORITY_REALTIME - 1 - (u32)(priority - MAX_RT_PRIO) * 3 / 8;
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_nt_priority);

static u8 ntklog_thread_state(bool idle, bool preempted, unsigned int state)
{
	/* Idle threads wait for nothing and are in no queue: NT leaves them as they were. */
	if (idle)
		return KTHREAD_STATE_RUNNING;
	if (preempted || state == TASK_RUNNING)
		return KTHREAD_STATE_READY;
	if (state & (TASK_DEAD | EXIT_ZOMBIE | EXIT_DEAD))
		return KTHREAD_STATE_TERMINATED;
	return KTHREAD_STATE_WAITING;
}

static u8 ntklog_wait_reason(const struct task_struct *thread, bool idle,
			     bool preempted, unsigned int state)
{
	if (idle)
		return KWAIT_REASON_EXECUTIVE;
	if (preempted)
		return KWAIT_REASON_WR_PREEMPTED;
	if (state == TASK_RUNNING)
		return KWAIT_REASON_WR_YIELD_EXECUTION;
	if (state & (__TASK_STOPPED | __TASK_TRACED))
		return KWAIT_REASON_SUSPENDED;
	/* A kernel thread's interruptible sleep is for work to do. */
	if (state & TASK_INTERRUPTIBLE)
		return thread->flags & PF_KTHREAD ? KWAIT_REASON_WR_QUEUE :
						    KWAIT_REASON_USER_REQUEST;
	return KWAIT_REASON_EXECUTIVE;
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
	now = sched_clock_cpu(smp_processor_id());
	/* The clocks of two processors may differ a little. */
	if (now > queued)
		return div_u64(now - queued, TICK_NSEC);
#endif
	return 0;
}

/* What is left of its time slice, in units of 1024 cycles; can be negative. */
static s32 ntklog_remaining_quantum(const struct task_struct *thread)
{
	return div_s64(ntklog_remaining_slice(thread) * (s64)tsc_khz,
		       (s32)(USEC_PER_SEC * 1024));
}

/*
 * Version 1 is the beginning of the others, but for what Linux has nothing for. Versions
 * 2 to 4 differ in flags that Linux has nothing for either.
 */
static_assert(offsetofend(struct wmi_contextswap, old_thread_ideal_processor) ==
	      sizeof(struct wmi_contextswap_v1));
static_assert(offsetof(struct wmi_contextswap, previous_c_state) ==
	      offsetof(struct wmi_contextswap_v1, new_thread_quantum));

static void ntklog_sched_switch_probe(void *data, bool preempted,
				      struct task_struct *old, struct task_struct *new,
				      unsigned int old_state)
{
	/* Only the idle threads of processors have no id. */
	bool old_is_idle = !old->pid, new_is_idle = !new->pid;
	u8 wait_reason = ntklog_wait_reason(old, old_is_idle, preempted, old_state);
	struct wmi_contextswap record = {
		.new_thread_id = task_pid_nr(new),
		.old_thread_id = task_pid_nr(old),
		.new_thread_priority = ntklog_nt_priority(new, new_is_idle),
		.old_thread_priority = ntklog_nt_priority(old, old_is_idle),
		.old_thread_wait_reason = wait_reason,
		/* What a process waits for by its own wish. */
		.flags = wait_reason == KWAIT_REASON_USER_REQUEST ? KPROCESSOR_MODE_USER :
								    KPROCESSOR_MODE_KERNEL,
		.old_thread_state = ntklog_thread_state(old_is_idle, preempted, old_state),
		.old_thread_ideal_processor = old->wake_cpu,
	};
	const u64 wanted = etw_event_wanted(PERF_CONTEXT_SWITCH);
	const void *first = &record;
	struct wmi_contextswap_v1 record_v1;

	if (wanted & ETW_LATER_WANTED || trace_contextswap_enabled()) {
		record.new_thread_wait_time = ntklog_wait_ticks(new);
		if (old_is_idle) {
			memcpy(&record_v1, &record, sizeof(record_v1));
			first = &record_v1;
			record.previous_c_state = this_cpu_read(ntklog_c_state);
		} else {
			record.old_thread_remaining_quantum = ntklog_remaining_quantum(old);
		}
	}
	etw_log_event_versions(wanted, PERFINFO_LOG_TYPE_CONTEXTSWAP,
			       first, sizeof(record_v1), &record, sizeof(record));
	trace_contextswap(&record);
}

static void ntklog_cpu_idle_probe(void *data, unsigned int state, unsigned int cpu)
{
	/* -1: left again. */
	if (state != (unsigned int)-1)
		this_cpu_write(ntklog_c_state, state);
}

/* One at a time: see struct ntklog_want. */
static void ntklog_update_context_swaps(const struct perfinfo_groupmask *wanted)
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

static struct ntklog_want ntklog_context_swap_want = {
	.provider.group = PERF_CONTEXT_SWITCH,
	.update = ntklog_update_context_swaps,
	.by_work = true,
	PERF_WANT_INITIALIZER(ntklog_context_swap_want),
};

/* The tracepoint's. */
int ntklog_context_swap_tracepoint_reg(void)
{
	return ntklog_want_register(&ntklog_context_swap_want);
}

void ntklog_context_swap_tracepoint_unreg(void)
{
	ntklog_want_unregister(&ntklog_context_swap_want);
}

static void __init ntklog_find_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "sched_switch"))
		ntklog_sched_switch = tracepoint;
	else if (!strcmp(tracepoint->name, "cpu_idle"))
		ntklog_cpu_idle = tracepoint;
}

/**
 * ntklog_context_swap_init() - make those who want the events turn the probes on
 *
 * Context: load, before there is a session.
 * Return: 0, or -ENOENT if the kernel does not tell of context switches.
 */
int __init ntklog_context_swap_init(void)
{
	for_each_kernel_tracepoint(ntklog_find_tracepoint, NULL);
	if (!ntklog_sched_switch)
		return -ENOENT;
	ntklog_want_init(&ntklog_context_swap_want);
	return 0;
}

/**
 * ntklog_context_swap_exit() - take the probes away for good
 *
 * Context: unload, when no session is left, or a load that failed.
 */
void ntklog_context_swap_exit(void)
{
	ntklog_want_exit(&ntklog_context_swap_want);
	tracepoint_synchronize_unregister();
}
