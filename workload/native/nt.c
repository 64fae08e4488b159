// SPDX-License-Identifier: GPL-2.0-only

#include <ntklog/ex_spin_lock.h>
#include <ntklog/queued_spin_lock.h>
#include <ntklog/spin_lock.h>

#include "etw/run.h"
#include "etw/session.h"
#include "ke/numbered_spin_lock.h"
#include "perf/spin_lock_arming.h"
#include "perf/spin_lock_cpu.h"
#include "perf/spin_lock_parameters.h"

#include "contestant.h"

#define SPIN_LOCK	((struct kspin_lock *)lock)
#define EX_LOCK		((struct ex_spin_lock *)lock)

/* A queue handle in its own cache line, like the entries of the other locks. */
struct handle_in_one_line {
	struct klock_queue_handle handle;
} __aligned(64);

NATIVE_CONTESTANT(in_stack, SPIN_LOCK->word = 0, struct handle_in_one_line one,
		  ke_acquire_in_stack_queued_spin_lock_at_dpc_level(SPIN_LOCK, &one.handle),
		  ke_release_in_stack_queued_spin_lock_from_dpc_level(&one.handle))

/* The worst alignment of a queue handle: a cache line ends between Next and Lock. */
struct two_lines {
	char padding[56];
	struct klock_queue_handle handle;
} __aligned(64);

NATIVE_CONTESTANT(two_lines, SPIN_LOCK->word = 0, struct two_lines two,
		  ke_acquire_in_stack_queued_spin_lock_at_dpc_level(SPIN_LOCK, &two.handle),
		  ke_release_in_stack_queued_spin_lock_from_dpc_level(&two.handle))

NATIVE_CONTESTANT(in_stack_raising, SPIN_LOCK->word = 0, struct handle_in_one_line one,
		  ke_acquire_in_stack_queued_spin_lock(SPIN_LOCK, &one.handle),
		  ke_release_in_stack_queued_spin_lock(&one.handle))

NATIVE_CONTESTANT(numbered_raising, (void)0, u8 old_irql,
		  old_irql = ke_acquire_queued_spin_lock(LOCK_QUEUE_IO_VPB_LOCK),
		  ke_release_queued_spin_lock(LOCK_QUEUE_IO_VPB_LOCK, old_irql))

NATIVE_CONTESTANT(ordinary, SPIN_LOCK->word = 0, (void)0,
		  ke_acquire_spin_lock_at_dpc_level(SPIN_LOCK),
		  ke_release_spin_lock_from_dpc_level(SPIN_LOCK))

NATIVE_CONTESTANT(ordinary_raising, SPIN_LOCK->word = 0, u8 old_irql,
		  old_irql = ke_acquire_spin_lock_raise_to_dpc(SPIN_LOCK),
		  ke_release_spin_lock(SPIN_LOCK, old_irql))

NATIVE_CONTESTANT(ex_exclusive, atomic_set(&EX_LOCK->value, 0), (void)0,
		  ex_acquire_spin_lock_exclusive_at_dpc_level(EX_LOCK),
		  ex_release_spin_lock_exclusive_from_dpc_level(EX_LOCK))

NATIVE_CONTESTANT(ex_shared, atomic_set(&EX_LOCK->value, 0), (void)0,
		  ex_acquire_spin_lock_shared_at_dpc_level(EX_LOCK),
		  ex_release_spin_lock_shared_from_dpc_level(EX_LOCK))

const struct native_contestant native_nt[] = {
	NATIVE_ENTRY(in_stack, "in-stack"),
	NATIVE_ENTRY(in_stack, "in-stack, the same again"),
	NATIVE_ENTRY(two_lines, "in-stack, entry in two lines"),
	NATIVE_ENTRY(in_stack_raising, "in-stack raising"),
	NATIVE_ENTRY(numbered_raising, "numbered raising"),
	NATIVE_ENTRY(ordinary, "ordinary"),
	NATIVE_ENTRY(ordinary_raising, "ordinary raising", .uncontended_only = true),
	NATIVE_ENTRY(ex_exclusive, "executive exclusive"),
	NATIVE_ENTRY(ex_shared, "executive shared", .shared = true),
	NATIVE_ENTRY(in_stack, "in-stack, counted", NATIVE_COUNTED, .uncontended_only = true),
	NATIVE_ENTRY(ordinary, "ordinary, counted", NATIVE_COUNTED, .uncontended_only = true),
	NATIVE_ENTRY(ex_exclusive, "executive exclusive, counted", NATIVE_COUNTED,
		     .uncontended_only = true),
	NATIVE_ENTRY(ex_shared, "executive shared, counted", NATIVE_COUNTED,
		     .uncontended_only = true),
	NATIVE_ENTRY(in_stack, "in-stack, tracked", NATIVE_TRACKED),
	NATIVE_ENTRY(ordinary, "ordinary, tracked", NATIVE_TRACKED),
	NATIVE_ENTRY(ex_exclusive, "executive exclusive, tracked", NATIVE_TRACKED),
	NATIVE_ENTRY(ex_shared, "executive shared, tracked", NATIVE_TRACKED, .shared = true),
	{ }
};

/* Enable and disable the hooks in the same order as module/perf/spin_lock.c. */
void native_set_tracing(enum native_tracing tracing)
{
	bool was_tracked = static_key_enabled(&ntklog_spin_lock_tracking_key);
	bool is_tracked = tracing == NATIVE_TRACKED || tracing == NATIVE_LINUX_FULL;
	bool is_counted = is_tracked || tracing == NATIVE_COUNTED;

	if (was_tracked && !is_tracked) {
		ntklog_disarm_spin_lock_tracking();
		static_branch_disable(&ntklog_spin_lock_tracking_key);
		ntklog_stop_spin_lock_tracking();
	}
	if (static_key_enabled(&ntklog_spin_lock_key) != is_counted)
		shim_set_key(&ntklog_spin_lock_key, is_counted);
	if (is_tracked && !was_tracked) {
		ntklog_start_spin_lock_tracking();
		static_branch_enable(&ntklog_spin_lock_tracking_key);
		ntklog_arm_spin_lock_tracking();
	}
	native_redirect_linux(tracing);
}

/* Sample contended acquisitions at this rate, others at the defaults; 0: sample nothing. */
void native_set_sampling(unsigned int contention_sample_rate)
{
	struct event_trace_spinlock_information *values = &ntklog_spin_lock_parameter_values;
	bool is_sampled = contention_sample_rate;

	values->spin_lock_spin_threshold =
		is_sampled ? EVENT_TRACE_SPINLOCK_MIN_SPIN_THRESHOLD : U32_MAX;
	values->spin_lock_acquire_sample_rate =
		is_sampled ? EVENT_TRACE_SPINLOCK_MIN_ACQUIRE_SAMPLE_RATE : U32_MAX;
	values->spin_lock_contention_sample_rate = is_sampled ? contention_sample_rate : U32_MAX;
	values->spin_lock_hold_threshold =
		is_sampled ? EVENT_TRACE_SPINLOCK_MIN_HOLD_THRESHOLD : U32_MAX;
	ntklog_apply_spin_lock_parameters();
}

/*
 * No lock may be held. Returns false if a slot is in use, or a counter of errors is not 0. The
 * caller prints the error, because this code keeps the stack aligned for the kernel only.
 */
bool native_count_events(unsigned long *events)
{
	int number;

	*events = 0;
	for_each_possible_cpu(number) {
		const struct ntklog_spin_lock_cpu *cpu = per_cpu_ptr(&ntklog_spin_lock_cpu, number);

		if (ntklog_count_spin_lock_slots_in_use(number) || cpu->unmatched_count ||
		    cpu->untracked_count || cpu->suppressed_count ||
		    per_cpu_ptr(etw_sessions[0].run->cpus, number)->lost)
			return false;
		*events += cpu->event_count;
	}
	return true;
}

void native_start(void)
{
	static_assert(SHIM_CPUS == NATIVE_THREADS_MAX);
	shim_start();
	shim_become_cpu(0);
	if (ntklog_alloc_spin_lock_slots() || ke_numbered_spin_lock_init())
		abort();
	native_set_sampling(0);
	shim_start_session();
}

void native_become_cpu(int cpu)
{
	shim_become_cpu(cpu);
}
