// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks, by the kernel's own unwinder. It takes no lock: x86's finds what it needs of modules and
 * of ftrace's trampolines under RCU. Where RCU does not watch, and in NMIs, it is not asked. An
 * event has been logged to its last byte when its stack is walked: nothing is waited for, and what
 * the walk itself may log - an unwinder that warns prints - goes behind it.
 */

#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <uapi/ntklog/event.h>

#include "../address.h"
#include "../compat.h"
#include "stack.h"

DEFINE_PER_CPU(struct ntklog_stack_cpu, ntklog_stack_cpu);
EXPORT_PER_CPU_SYMBOL_IF_KUNIT(ntklog_stack_cpu);

/*
 * The frame that the event's stack begins with; @count: there is none. The record's caller is
 * looked for first: it is known, and found whatever is above it. A tracer may stand in for it on
 * the stack, which the unwinder sees through; then, and where there is none, all that is ours is
 * left out.
 */
static unsigned int ntklog_first_frame(const unsigned long *frames, unsigned int count,
				       unsigned long caller, bool is_hooked)
{
	unsigned int own = min_t(unsigned int, count, NTKLOG_OWN_FRAMES), i;

	for (i = 0; caller && i < own; i++)
		if (frames[i] == caller)
			return i;
	for (i = 0; i < own; i++)
		if (!within_module(frames[i], THIS_MODULE) && !in_lock_functions(frames[i]))
			break;
	return min(i + is_hooked, count);
}

/**
 * ntklog_walk_stack() - write the stack of the current thread, or count that it is left out
 * @sessions: which get it, a byte of 1 for each
 * @event_time: time stamp of the event that it is of
 * @caller: as for ntklog_write_stack()
 * @is_hooked: likewise
 *
 * A session without room loses it as any event.
 *
 * Context: as ntklog_write_stack().
 */
void ntklog_walk_stack(u64 sessions, u64 event_time, unsigned long caller, bool is_hooked)
{
	struct ntklog_stack_cpu *cpu = this_cpu_ptr(&ntklog_stack_cpu);
	unsigned int count, first, i;

	lockdep_assert_irqs_disabled();
	if (in_nmi() || !rcu_is_watching() || cpu->is_walking)
		goto left_out;
	/* Before the frames, for what the walk itself calls. */
	WRITE_ONCE(cpu->is_walking, true);
	count = stack_trace_save(cpu->frames, ARRAY_SIZE(cpu->frames), 0);
	first = ntklog_first_frame(cpu->frames, count, caller, is_hooked);
	count = min_t(unsigned int, count - first, NTKLOG_STACK_WALK_MAX);
	if (!count) {
		WRITE_ONCE(cpu->is_walking, false);
		goto left_out;
	}
	cpu->event.header = (struct stack_walk_event) {
		.event_time_stamp = event_time,
		.stack_process = task_tgid_nr(current),
		.stack_thread = task_pid_nr(current),
	};
	for (i = 0; i < count; i++)
		cpu->event.addresses[i] = ntklog_address(cpu->frames[first + i]);
	etw_log_event_to(sessions, PERFINFO_LOG_TYPE_STACKWALK, PERFINFO_STACKWALK_VERSION,
			 &cpu->event, sizeof(cpu->event.header) + count * sizeof(u64));
	this_cpu_inc(ntklog_stack_cpu.walked);
	WRITE_ONCE(cpu->is_walking, false);
	return;
left_out:
	this_cpu_inc(ntklog_stack_cpu.left_out);
}
