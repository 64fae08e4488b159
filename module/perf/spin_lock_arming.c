// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all processors are to do from now on, told to each: the tracking of spin locks begins or
 * ends, or a parameter has changed.
 */

#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "../compat.h"
#include "../ground/each_cpu.h"
#include "spin_lock_arming.h"
#include "spin_lock_parameters.h"
#include "spin_lock_sampled.h"
#include "spin_lock_slots.h"

/* Kinds of locks that are sampled. One at a time: see ntklog_start_sampling_spin_locks(). */
static unsigned int ntklog_sampled_kinds;

/* RCU's, of when the slots were last given up. */
static unsigned long ntklog_spin_lock_off_state;

static void ntklog_restart_sampling_on_cpu(int number)
{
	struct ntklog_spin_lock_cpu *cpu = per_cpu_ptr(&ntklog_spin_lock_cpu, number);

	ntklog_set_uncontended_count(cpu, ntklog_uncontended_count(cpu));
	ntklog_restart_interval(cpu);
}

static void ntklog_empty_slots(int number)
{
	struct ntklog_spin_lock_cpu *cpu = per_cpu_ptr(&ntklog_spin_lock_cpu, number);

	WRITE_ONCE(cpu->state, READ_ONCE(cpu->state) & ~PERF_SPIN_LOCK_USED_MASK);
	memset(cpu->slot, 0, sizeof(cpu->slot));
	cpu->untracked_slots = 0;
	cpu->without_slot = 0;
	ntklog_restart_sampling_on_cpu(number);
}

/**
 * ntklog_restart_spin_lock_sampling() - let all processors look at their counts, and choose anew
 *
 * Context: thread; may sleep.
 */
void ntklog_restart_spin_lock_sampling(void)
{
	ntklog_update_each_cpu(ntklog_restart_sampling_on_cpu);
}

/**
 * ntklog_apply_spin_lock_parameters() - a parameter has changed
 *
 * Context: thread; may sleep; with the parameters' lock held. From its return on all processors
 * sample by what there is now.
 */
void ntklog_apply_spin_lock_parameters(void)
{
	u32 threshold = READ_ONCE(ntklog_spin_lock_parameter_values.spin_lock_hold_threshold);

	WRITE_ONCE(ntklog_spin_lock_hold_limit,
		   threshold && threshold < U32_MAX ? threshold + 1 : U32_MAX);
	ntklog_restart_spin_lock_sampling();
}

/**
 * ntklog_start_spin_lock_slots() - before the tracking key goes on
 *
 * Nobody has a slot, and nobody gets one without being looked at.
 *
 * Context: thread; may sleep. One at a time: see struct ntklog_event_group.
 */
void ntklog_start_spin_lock_slots(void)
{
	/*
	 * Who was in the tracking when it last went off has left. What a faulty owner
	 * has never released, or on another processor, is forgotten.
	 */
	cond_synchronize_rcu(ntklog_spin_lock_off_state);
	WRITE_ONCE(ntklog_spin_lock_in_transition, true);
	ntklog_update_each_cpu(ntklog_empty_slots);
}

/**
 * ntklog_arm_spin_lock_slots() - after the tracking key has gone on: begin to track
 *
 * The sites of a key do not switch at one instant: an acquisition may see it on and its
 * release, a moment later, still off. So none is tracked before all are sure to see it
 * on. Each section from before an acquisition to after its release has preemption off,
 * which makes it a reader of RCU's.
 *
 * Context: as ntklog_start_spin_lock_slots(); all processors run the new text.
 */
void ntklog_arm_spin_lock_slots(void)
{
	/* From now on what is acquired gets a slot, though an untracked one. */
	WRITE_ONCE(ntklog_spin_lock_hooks_paired, true);
	/*
	 * Sections that began before have ended. The others have all of it: an acquisition
	 * that takes a slot, and a release that finds it.
	 */
	synchronize_rcu();
	/* Each processor's next acquisition is looked at, and so sees it. */
	WRITE_ONCE(ntklog_spin_lock_in_transition, false);
}

/**
 * ntklog_disarm_spin_lock_slots() - before the tracking key goes off: track nothing more
 *
 * Context: as ntklog_start_spin_lock_slots().
 */
void ntklog_disarm_spin_lock_slots(void)
{
	WRITE_ONCE(ntklog_spin_lock_in_transition, true);
	ntklog_update_each_cpu(ntklog_restart_sampling_on_cpu);
	/* What was tracked has been released, and those releases were hooked. */
	synchronize_rcu();
	WRITE_ONCE(ntklog_spin_lock_hooks_paired, false);
}

/**
 * ntklog_set_spin_lock_expect_unmatched() - may releases come whose acquisitions have not?
 * @only: whether they may
 *
 * Context: as ntklog_start_spin_lock_slots().
 */
void ntklog_set_spin_lock_expect_unmatched(bool only)
{
	WRITE_ONCE(ntklog_spin_lock_expect_unmatched, only);
}

/**
 * ntklog_stop_spin_lock_slots() - after the tracking key has gone off
 *
 * Context: as ntklog_start_spin_lock_slots().
 */
void ntklog_stop_spin_lock_slots(void)
{
	ntklog_spin_lock_off_state = get_state_synchronize_rcu();
	WRITE_ONCE(ntklog_spin_lock_in_transition, false);
}

/**
 * ntklog_start_sampling_spin_locks() - before acquisitions and releases of a kind come here
 *
 * What a faulty owner has never released, or on another processor, is forgotten.
 *
 * Context: thread; one at a time, as ntklog_stop_sampling_spin_locks(). While none is sampled
 * nobody else touches the words, on any processor.
 */
void ntklog_start_sampling_spin_locks(void)
{
	int number;

	if (ntklog_sampled_kinds++)
		return;
	for_each_possible_cpu(number) {
		struct ntklog_spin_lock_cpu *cpu = per_cpu_ptr(&ntklog_spin_lock_cpu, number);

		WRITE_ONCE(cpu->sampled_in_use, 0);
	}
	ntklog_restart_spin_lock_sampling();
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_start_sampling_spin_locks);

/**
 * ntklog_stop_sampling_spin_locks() - when they have come for the last time
 *
 * Context: as ntklog_start_sampling_spin_locks().
 */
void ntklog_stop_sampling_spin_locks(void)
{
	ntklog_sampled_kinds--;
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_stop_sampling_spin_locks);
