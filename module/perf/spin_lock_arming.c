// SPDX-License-Identifier: GPL-2.0-only
/*
 * Start and stop of spin lock tracking, and changes of its parameters, on all CPUs.
 *
 * The two static keys of the hooks are patched one call site after the other. While a key changes,
 * an acquisition may see it on and the matching release see it off, or the reverse. A slot that is
 * taken in this time might stay in use. Tracking therefore starts and stops in steps:
 *
 *	step                                in_transition  may_take_slot  tracking key
 *	off                                 false          false          off
 *	ntklog_start_spin_lock_tracking()   true           false          off, then on
 *	ntklog_arm_spin_lock_tracking()     true           true           on
 *	armed, after a grace period         false          true           on
 *	ntklog_disarm_spin_lock_tracking()  true           true           on
 *	after a grace period                true           false          on, then off
 *	ntklog_stop_spin_lock_tracking()    false          false          off
 *
 * The columns stand for ntklog_spin_lock_in_transition, ntklog_spin_lock_may_take_slot and
 * ntklog_spin_lock_tracking_key. The countdown of each CPU is made negative after in_transition has
 * become true, so that acquisitions take the slow path, which tests the flags.
 *
 * Preemption is off from the acquire hook to the release hook, so a CPU between them is an RCU
 * reader: a grace period waits until each such pair that has begun has ended.
 */

#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "../ground/each_cpu.h"
#include "spin_lock_arming.h"
#include "spin_lock_parameters.h"
#include "spin_lock_sampled.h"
#include "spin_lock_slots.h"

/* Number of kinds of Linux' locks that are attached in mode "sampled". Changes are serialised. */
static unsigned int ntklog_sampled_kind_count;

static unsigned long ntklog_spin_lock_stop_rcu_state;

static void ntklog_restart_sampling_on_cpu(int cpu_number)
{
	struct ntklog_spin_lock_cpu *cpu = per_cpu_ptr(&ntklog_spin_lock_cpu, cpu_number);

	ntklog_set_uncontended_count(cpu, ntklog_get_uncontended_count(cpu));
	ntklog_restart_sampling_interval(cpu);
}

static void ntklog_free_all_slots(int cpu_number)
{
	struct ntklog_spin_lock_cpu *cpu = per_cpu_ptr(&ntklog_spin_lock_cpu, cpu_number);

	WRITE_ONCE(cpu->state, READ_ONCE(cpu->state) & ~PERF_SPIN_LOCK_USED_MASK);
	memset(cpu->slots, 0, sizeof(cpu->slots));
	memset(cpu->overflow_slots->slots, 0, sizeof(cpu->overflow_slots->slots));
	cpu->untracked_slots_in_use = 0;
	WRITE_ONCE(cpu->overflow_slots_in_use, 0);
	cpu->locks_without_slot = 0;
	ntklog_restart_sampling_on_cpu(cpu_number);
}

/**
 * ntklog_restart_spin_lock_sampling() - recompute all countdowns and choose new samples
 *
 * Context: task; may sleep.
 */
void ntklog_restart_spin_lock_sampling(void)
{
	ntklog_update_each_cpu(ntklog_restart_sampling_on_cpu);
}

/**
 * ntklog_apply_spin_lock_parameters() - make all CPUs use changed parameters
 *
 * Context: task; may sleep; the lock of the parameters is held.
 */
void ntklog_apply_spin_lock_parameters(void)
{
	u32 threshold = READ_ONCE(ntklog_spin_lock_parameter_values.spin_lock_hold_threshold);

	WRITE_ONCE(ntklog_spin_lock_hold_limit,
		   threshold && threshold < U32_MAX ? threshold + 1 : U32_MAX);
	ntklog_restart_spin_lock_sampling();
}

/**
 * ntklog_start_spin_lock_tracking() - prepare tracking, before the tracking key is enabled
 *
 * Context: task; may sleep. Calls are serialised: see struct ntklog_event_group.
 */
void ntklog_start_spin_lock_tracking(void)
{
	/* A slot may have been left in use: free it when the hooks have returned. */
	cond_synchronize_rcu(ntklog_spin_lock_stop_rcu_state);
	WRITE_ONCE(ntklog_spin_lock_in_transition, true);
	ntklog_update_each_cpu(ntklog_free_all_slots);
}

/**
 * ntklog_arm_spin_lock_tracking() - start tracking, after the tracking key has been enabled
 *
 * Context: as for ntklog_start_spin_lock_tracking(); all CPUs run the patched code.
 */
void ntklog_arm_spin_lock_tracking(void)
{
	WRITE_ONCE(ntklog_spin_lock_may_take_slot, true);
	/* Wait until locks that were acquired without a slot have been released. */
	synchronize_rcu();
	/* The next acquisition on each CPU takes the slow path and finds tracking armed. */
	WRITE_ONCE(ntklog_spin_lock_in_transition, false);
}

/**
 * ntklog_disarm_spin_lock_tracking() - stop tracking, before the tracking key is disabled
 *
 * Context: as for ntklog_start_spin_lock_tracking().
 */
void ntklog_disarm_spin_lock_tracking(void)
{
	WRITE_ONCE(ntklog_spin_lock_in_transition, true);
	ntklog_update_each_cpu(ntklog_restart_sampling_on_cpu);
	/* Wait until locks that had a tracked slot have been released. */
	synchronize_rcu();
	WRITE_ONCE(ntklog_spin_lock_may_take_slot, false);
}

/**
 * ntklog_set_spin_lock_unmatched_is_expected() - select how releases without a slot are counted
 * @is_expected: true if such a release is no error, because hooks are being attached or detached
 *
 * Context: as for ntklog_start_spin_lock_tracking().
 */
void ntklog_set_spin_lock_unmatched_is_expected(bool is_expected)
{
	WRITE_ONCE(ntklog_spin_lock_unmatched_is_expected, is_expected);
}

/**
 * ntklog_stop_spin_lock_tracking() - finish the stop, after the tracking key has been disabled
 *
 * Context: as for ntklog_start_spin_lock_tracking().
 */
void ntklog_stop_spin_lock_tracking(void)
{
	ntklog_spin_lock_stop_rcu_state = get_state_synchronize_rcu();
	WRITE_ONCE(ntklog_spin_lock_in_transition, false);
}

/**
 * ntklog_start_sampling_spin_locks() - prepare sampling, before the hooks of a kind are attached
 *
 * The call for the first kind frees slots that are still in use.
 *
 * Context: task; may sleep. Calls are serialised, also with ntklog_stop_sampling_spin_locks(). No
 * hook accesses the sampling state during the call for the first kind.
 */
void ntklog_start_sampling_spin_locks(void)
{
	int cpu_number;

	if (ntklog_sampled_kind_count++)
		return;
	for_each_possible_cpu(cpu_number) {
		struct ntklog_spin_lock_cpu *cpu = per_cpu_ptr(&ntklog_spin_lock_cpu, cpu_number);

		WRITE_ONCE(cpu->sampled_slots_in_use, 0);
	}
	ntklog_restart_spin_lock_sampling();
}

/**
 * ntklog_stop_sampling_spin_locks() - note that a kind is no longer sampled
 *
 * Context: as for ntklog_start_sampling_spin_locks(); the hooks of the kind have been detached.
 */
void ntklog_stop_sampling_spin_locks(void)
{
	ntklog_sampled_kind_count--;
}
