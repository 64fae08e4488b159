// SPDX-License-Identifier: GPL-2.0-only
/* The spin lock event group, and the parameters. See spin_lock_cpu.h. */

#include <linux/export.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <ntklog/spin_lock.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../etw/group_mask.h"
#include "../trace.h"
#include "event_group.h"
#include "spin_lock.h"

struct static_key_false ntklog_spin_lock_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(ntklog_spin_lock_key);
struct static_key_false ntklog_spin_lock_tracking_key = STATIC_KEY_FALSE_INIT;
EXPORT_SYMBOL_GPL(ntklog_spin_lock_tracking_key);

#define PERF_SPIN_LOCK_PARAMETER(_name, _member, _minimum, ...)			\
{										\
	.parameter_set = &ntklog_spin_lock_parameter_set,			\
	.name = _name,								\
	.offset = offsetof(struct event_trace_spinlock_information, _member),	\
	.minimum = _minimum,							\
	__VA_ARGS__								\
}

static const struct ntklog_parameter
ntklog_spin_lock_parameters[PERF_SPIN_LOCK_PARAMETER_COUNT] = {
	PERF_SPIN_LOCK_PARAMETER("spin_threshold", spin_lock_spin_threshold,
				 EVENT_TRACE_SPINLOCK_MIN_SPIN_THRESHOLD),
	PERF_SPIN_LOCK_PARAMETER("acquire_sample_rate",
				 spin_lock_acquire_sample_rate,
				 EVENT_TRACE_SPINLOCK_MIN_ACQUIRE_SAMPLE_RATE),
	PERF_SPIN_LOCK_PARAMETER("contention_sample_rate",
				 spin_lock_contention_sample_rate,
				 EVENT_TRACE_SPINLOCK_MIN_CONTENTION_SAMPLE_RATE),
	PERF_SPIN_LOCK_PARAMETER("hold_threshold", spin_lock_hold_threshold,
				 EVENT_TRACE_SPINLOCK_MIN_HOLD_THRESHOLD, .zero_permitted = true),
};

struct ntklog_parameter_set ntklog_spin_lock_parameter_set = {
	.lock = __MUTEX_INITIALIZER(ntklog_spin_lock_parameter_set.lock),
	.words = (u32 *)&ntklog_spin_lock_parameter_values,
	.length = sizeof(ntklog_spin_lock_parameter_values),
	.v1_length = sizeof(struct event_trace_spinlock_information_v1),
	.on_change = ntklog_apply_spin_lock_parameters,
	.parameters = ntklog_spin_lock_parameters,
	.parameter_count = ARRAY_SIZE(ntklog_spin_lock_parameters),
};

static void ntklog_set_static_key(struct static_key_false *key, bool enable)
{
	if (enable)
		static_branch_enable(key);
	else
		static_branch_disable(key);
}

static void ntklog_update_spin_lock_keys(struct ntklog_event_group *group,
					 const struct perfinfo_groupmask *wanted_groups)
{
	bool needs_tracking = etw_group_mask_test(wanted_groups, PERF_SPINLOCK);
	bool needs_counting = needs_tracking ||
			      etw_group_mask_test(wanted_groups, PERF_SPINLOCK_CNTRS);
	bool is_tracking = static_key_enabled(&ntklog_spin_lock_tracking_key);

	/* The tracking key is enabled only while ntklog_spin_lock_key is enabled. */
	if (is_tracking && !needs_tracking) {
		ntklog_disarm_spin_lock_tracking();
		static_branch_disable(&ntklog_spin_lock_tracking_key);
		ntklog_stop_spin_lock_tracking();
	}
	ntklog_set_static_key(&ntklog_spin_lock_key, needs_counting);
	if (needs_tracking && !is_tracking) {
		ntklog_start_spin_lock_tracking();
		static_branch_enable(&ntklog_spin_lock_tracking_key);
		ntklog_arm_spin_lock_tracking();
	}
}

static struct ntklog_event_group ntklog_spin_lock_group = {
	.provider = {
		.group = PERF_SPINLOCK,
		.rundown = ntklog_fill_spin_lock_rundown,
	},
	.update = ntklog_update_spin_lock_keys,
	NTKLOG_EVENT_GROUP_INITIALIZER(ntklog_spin_lock_group),
};

int ntklog_spin_lock_tracepoint_reg(void)
{
	return ntklog_event_group_record_first_probe(&ntklog_spin_lock_group);
}

void ntklog_spin_lock_tracepoint_unreg(void)
{
	ntklog_event_group_record_no_probe(&ntklog_spin_lock_group);
}

/**
 * ntklog_spin_locks_are_tracked() - test whether NT's spin locks have a subscriber
 *
 * Context: task.
 * Return: true if tracking is on for a session or the tracepoint; false if it is off, or on only
 * because hooks of Linux locks are attached.
 */
bool ntklog_spin_locks_are_tracked(void)
{
	return static_key_enabled(&ntklog_spin_lock_tracking_key) &&
	       ntklog_event_group_has_subscribers(&ntklog_spin_lock_group);
}

/**
 * ntklog_begin_spin_lock_attach() - turn tracking on for hooks that are about to be attached
 *
 * Tracking is armed when this function returns. The caller then attaches the release hooks, and
 * after them the acquire hooks. Until ntklog_end_spin_lock_attach(), releases of locks that were
 * acquired without a hook are expected.
 *
 * Context: task, after module load; may sleep. The caller serialises the four attach and detach
 * functions and does not hold the mutex of the event group.
 */
void ntklog_begin_spin_lock_attach(void)
{
	ntklog_set_spin_lock_unmatched_is_expected(true);
	ntklog_event_group_get(&ntklog_spin_lock_group);
}

/**
 * ntklog_end_spin_lock_attach() - count releases without a slot as errors from now on
 *
 * Context: as for ntklog_begin_spin_lock_attach().
 */
void ntklog_end_spin_lock_attach(void)
{
	ntklog_set_spin_lock_unmatched_is_expected(false);
}

/**
 * ntklog_begin_spin_lock_detach() - expect releases without a slot while acquire hooks are detached
 *
 * Context: as for ntklog_begin_spin_lock_attach().
 */
void ntklog_begin_spin_lock_detach(void)
{
	ntklog_set_spin_lock_unmatched_is_expected(true);
}

/**
 * ntklog_end_spin_lock_detach() - undo ntklog_begin_spin_lock_attach(), when no hook runs
 *
 * Context: as for ntklog_begin_spin_lock_attach().
 */
void ntklog_end_spin_lock_detach(void)
{
	ntklog_set_spin_lock_unmatched_is_expected(false);
	ntklog_event_group_put(&ntklog_spin_lock_group);
}

/**
 * ntklog_spin_lock_init() - let subscribers turn spin lock tracking on
 *
 * Context: module load, before a session exists.
 */
void __init ntklog_spin_lock_init(void)
{
	ntklog_event_group_init(&ntklog_spin_lock_group);
}

/**
 * ntklog_spin_lock_exit() - turn spin lock tracking off for good
 *
 * Context: module unload, when no session is left; or a load that failed.
 */
void ntklog_spin_lock_exit(void)
{
	ntklog_event_group_exit(&ntklog_spin_lock_group);
}
