// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stack events, by the kernel's unwinder, which may need RCU and is not used in NMIs. An event is
 * complete before its stack is walked, so an event that the walk itself causes comes between the
 * event and its stack.
 */

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <uapi/ntklog/event.h>
#ifdef CONFIG_X86
#include <asm/unwind.h>
#endif

#include "../ground/address.h"
#include "stack.h"

DEFINE_PER_CPU(struct ntklog_stack_cpu, ntklog_stack_cpu);

struct ntklog_stack_buffer {
	unsigned long frames[NTKLOG_OWN_FRAMES_MAX + NTKLOG_STACK_WALK_MAX];
	struct {
		struct stack_walk_event header;
		u64 addresses[NTKLOG_STACK_WALK_MAX];
	} event;
};

/* Allocated, because static per-CPU memory is scarce. */
static struct ntklog_stack_buffer __percpu *ntklog_stack_buffers;

/**
 * ntklog_stack_init() - allocate the buffers of stack events
 *
 * Context: module load, before a session exists.
 * Return: 0 or -ENOMEM.
 */
int __init ntklog_stack_init(void)
{
	ntklog_stack_buffers = alloc_percpu(struct ntklog_stack_buffer);
	return ntklog_stack_buffers ? 0 : -ENOMEM;
}

/**
 * ntklog_stack_exit() - free the buffers of stack events
 *
 * Context: module unload, when no session is left; or a load that failed.
 */
void ntklog_stack_exit(void)
{
	free_percpu(ntklog_stack_buffers);
}

/*
 * Return the index of the first frame of the event's stack; @count if no frame is left. If @caller
 * is not among the first NTKLOG_OWN_FRAMES_MAX frames, those of this module and of lock functions
 * are skipped, and with @is_hooked also the next frame, that of the kernel's lock function.
 */
static unsigned int ntklog_find_first_frame(const unsigned long *frames, unsigned int count,
					    unsigned long caller, bool is_hooked)
{
	unsigned int search_end = min_t(unsigned int, count, NTKLOG_OWN_FRAMES_MAX), i;

	for (i = 0; caller && i < search_end; i++)
		if (frames[i] == caller)
			return i;
	for (i = 0; i < search_end; i++)
		if (!within_module(frames[i], THIS_MODULE) && !in_lock_functions(frames[i]))
			break;
	return min(i + is_hooked, count);
}

/*
 * Walk the stack of the current task. Returns the number of frames.
 *
 * On x86 this function is stack_trace_save(), inlined: otherwise the walk begins with the frames of
 * stack_trace_save() and arch_stack_walk(), which takes a tenth of its time.
 */
static __always_inline unsigned int ntklog_walk_stack(unsigned long *frames,
						      unsigned int max_frames)
{
#ifdef CONFIG_X86
	struct unwind_state state;
	unsigned int count = 0;

	for (unwind_start(&state, current, NULL, NULL); count < max_frames;
	     unwind_next_frame(&state)) {
		frames[count] = unwind_get_return_address(&state);
		if (!frames[count])
			break;
		count++;
	}
	return count;
#else
	return stack_trace_save(frames, max_frames, 0);
#endif
}

/*
 * Fill this CPU's buffer. Returns the number of frames. If it is 0, no stack can be walked,
 * otherwise the caller clears is_walking. The function is inlined, because the unwinder needs
 * longest for frames of a module.
 */
static __always_inline unsigned int ntklog_fill_stack_buffer(unsigned int max_frames)
{
	struct ntklog_stack_cpu *cpu = this_cpu_ptr(&ntklog_stack_cpu);
	unsigned int count;

	lockdep_assert_irqs_disabled();
	if (in_nmi() || !rcu_is_watching() || cpu->is_walking)
		return 0;
	/* A second walk, for an event that the walk causes, would overwrite the buffer. */
	WRITE_ONCE(cpu->is_walking, true);
	count = ntklog_walk_stack(this_cpu_ptr(ntklog_stack_buffers)->frames, max_frames);
	if (!count)
		WRITE_ONCE(cpu->is_walking, false);
	return count;
}

/**
 * ntklog_save_stack() - save the stack of the current task, from outside of this module
 * @frames: the result: return addresses, the innermost first, and then zeros; unchanged if no stack
 *	can be walked
 * @max_frames: length of @frames
 *
 * Context: interrupts off.
 * Return: the number of addresses; 0 if there are none, or no stack can be walked.
 */
unsigned int ntklog_save_stack(unsigned long *frames, unsigned int max_frames)
{
	const unsigned long *walked_frames = this_cpu_ptr(ntklog_stack_buffers)->frames;
	unsigned int count = ntklog_fill_stack_buffer(NTKLOG_OWN_FRAMES_MAX + max_frames);
	unsigned int first;

	if (!count)
		return 0;
	first = ntklog_find_first_frame(walked_frames, count, 0, false);
	count = min(count - first, max_frames);
	memset(frames, 0, max_frames * sizeof(*frames));
	memcpy(frames, walked_frames + first, count * sizeof(*frames));
	WRITE_ONCE(this_cpu_ptr(&ntklog_stack_cpu)->is_walking, false);
	return count;
}

/**
 * ntklog_write_stack_slow() - slow path of ntklog_write_stack(): a session needs the stack
 * @sessions: sessions that need the stack, a byte of 1 for each
 * @event_time: time stamp of the event
 * @caller: as for ntklog_write_stack()
 * @is_hooked: as for ntklog_write_stack()
 *
 * Context: as for ntklog_write_stack().
 */
void ntklog_write_stack_slow(u64 sessions, u64 event_time, unsigned long caller, bool is_hooked)
{
	struct ntklog_stack_cpu *cpu = this_cpu_ptr(&ntklog_stack_cpu);
	struct ntklog_stack_buffer *buffer = this_cpu_ptr(ntklog_stack_buffers);
	unsigned int count, first, i;

	count = ntklog_fill_stack_buffer(ARRAY_SIZE(buffer->frames));
	if (!count)
		goto left_out;
	first = ntklog_find_first_frame(buffer->frames, count, caller, is_hooked);
	count = min_t(unsigned int, count - first, NTKLOG_STACK_WALK_MAX);
	if (!count) {
		WRITE_ONCE(cpu->is_walking, false);
		goto left_out;
	}
	buffer->event.header = (struct stack_walk_event) {
		.event_time_stamp = event_time,
		.stack_process = task_tgid_nr(current),
		.stack_thread = task_pid_nr(current),
	};
	for (i = 0; i < count; i++)
		buffer->event.addresses[i] =
			ntklog_get_displayed_address(buffer->frames[first + i]);
	etw_log_event(sessions, PERFINFO_LOG_TYPE_STACKWALK, PERFINFO_STACKWALK_VERSION,
		      &buffer->event, sizeof(buffer->event.header) + count * sizeof(u64));
	this_cpu_inc(ntklog_stack_cpu.walked_stacks);
	WRITE_ONCE(cpu->is_walking, false);
	return;
left_out:
	this_cpu_inc(ntklog_stack_cpu.left_out_stacks);
}
