// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rundown events of sessions with Linux' locks. A session with NT's spin locks, which are tracked
 * as in mode "full", and without Linux' gets the mode and the blocker rate if the rate is not 0.
 */

#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kernel_stat.h>
#include <linux/percpu.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>

#include "../etw/group_mask.h"
#include "../etw/provider.h"
#include "../perf/resource.h"
#include "../perf/sleeping_lock.h"
#include "../perf/spin_lock.h"
#include "../perf/spin_lock_cpu.h"
#include "held_locks.h"
#include "rundown.h"

static void ntklog_fill_mode_rundown(struct etw_rundown_event *event, bool is_end, u32 mode)
{
	struct ntklog_dc record = {
		.linux_mode = mode,
		.blockers = READ_ONCE(ntklog_spin_lock_blocker_rate),
	};

	etw_fill_rundown_event(event, is_end ? NTKLOG_LOG_TYPE_DC_END :
					    NTKLOG_LOG_TYPE_DC_START,
			       NTKLOG_DC_VERSION, &record, sizeof(record));
}

static void ntklog_fill_linux_mode_rundown(struct etw_rundown_event *event, bool is_end)
{
	ntklog_fill_mode_rundown(event, is_end, READ_ONCE(ntklog_linux_mode));
}

static void ntklog_fill_mode_rundown_for_nt(struct etw_rundown_event *event, bool is_end)
{
	ntklog_fill_mode_rundown(event, is_end, NTKLOG_LINUX_MODE_FULL);
	if (!READ_ONCE(ntklog_spin_lock_blocker_rate) ||
	    etw_group_mask_test(event->groups, PERF_LINUX_SPINLOCK | PERF_LINUX_RWLOCK))
		event->length = 0;
}

#define LINUX_SLEEPING_GROUPS	(PERF_LINUX_MUTEX | PERF_LINUX_RWSEM | PERF_LINUX_SEMAPHORE | \
				 PERF_LINUX_RT_MUTEX | PERF_LINUX_PERCPU_RWSEM | \
				 PERF_LINUX_WW_MUTEX)

/* A session that also has NT's resources gets the rates from the provider of resources. */
static void ntklog_fill_sleeping_rundown(struct etw_rundown_event *event, bool is_end)
{
	ntklog_fill_resource_rundown(event, is_end);
	if (etw_group_mask_test(event->groups, PERF_SYNC_OBJECTS))
		event->length = 0;
}

static u64 ntklog_read_steal_time(int cpu)
{
	return kcpustat_cpu(cpu).cpustat[CPUTIME_STEAL];
}

/* A variable, so that a KUnit case may replace the function: emulated CPUs have no steal time. */
ntklog_steal_time_func_t ntklog_steal_time_func = ntklog_read_steal_time;

static void ntklog_fill_dropped_blockers_rundown(struct etw_rundown_event *event, bool is_end)
{
	struct ntklog_dropped_dc record = { 0 };
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct ntklog_record_limit *spin_limit =
			&per_cpu_ptr(&ntklog_spin_lock_cpu, cpu)->blocker_limit;
		const struct ntklog_record_limit *sleeping_limit =
			&per_cpu_ptr(&ntklog_sleeping_lock_cpu, cpu)->blocker_limit;

		record.spin_locks += READ_ONCE(spin_limit->dropped_records);
		record.sleeping_locks += READ_ONCE(sleeping_limit->dropped_records);
		record.steal_time += ntklog_steal_time_func(cpu);
	}
	etw_fill_rundown_event(event, is_end ? NTKLOG_LOG_TYPE_DROPPED_DC_END :
					    NTKLOG_LOG_TYPE_DROPPED_DC_START,
			       NTKLOG_DROPPED_DC_VERSION, &record, sizeof(record));
}

static struct etw_provider ntklog_rundown_providers[] = {
	{
		.group = PERF_LINUX_SPINLOCK | PERF_LINUX_RWLOCK,
		.rundown = ntklog_fill_linux_mode_rundown,
	},
	{
		.group = PERF_SPINLOCK,
		.rundown = ntklog_fill_mode_rundown_for_nt,
	},
	{
		.group = LINUX_SLEEPING_GROUPS,
		.rundown = ntklog_fill_sleeping_rundown,
		.list_holds = ntklog_list_held_locks,
	},
	{
		.group = PERF_LINUX_SPINLOCK | PERF_LINUX_RWLOCK | LINUX_SLEEPING_GROUPS,
		.rundown = ntklog_fill_dropped_blockers_rundown,
		.rundown_has_counts = true,
	},
};

/**
 * ntklog_linux_rundown_init() - register the providers of the rundown events
 *
 * Context: module load, before a session exists.
 */
void __init ntklog_linux_rundown_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ntklog_rundown_providers); i++)
		etw_register_provider(&ntklog_rundown_providers[i]);
}
