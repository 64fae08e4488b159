// SPDX-License-Identifier: GPL-2.0-only

#include <sys/resource.h>
#include <unistd.h>

#include "exporter.h"
#include "linux_mode.h"
#include "message.h"

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

/**
 * exporter_cpu_seconds() - read the CPU time of this process
 *
 * Return: CPU seconds of the process since its start, in user mode and in the kernel.
 */
double exporter_cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return seconds_of(&usage.ru_utime) + seconds_of(&usage.ru_stime);
}

static void count_loss(struct exporter *exporter, const struct ntklog_session_counts *counts)
{
	const uint64_t *totals = exporter->counters.totals;
	uint64_t missing = exporter->live.recording.drain.missing;
	unsigned int notes = exporter->live.identities.replaced;
	struct exporter_loss *loss = &exporter->loss;

	loss->no_space += counts->lost - exporter->before.lost;
	loss->suppressed = totals[COUNTER_SPINLOCK_SUPPRESSED] +
			   totals[COUNTER_RESOURCE_SUPPRESSED];
	loss->limited = totals[COUNTER_BLOCKERS_DROPPED] +
			totals[COUNTER_SLEEPING_BLOCKERS_DROPPED];
	loss->untracked = totals[COUNTER_SPINLOCK_UNTRACKED] +
			  totals[COUNTER_RESOURCE_UNTRACKED] +
			  totals[COUNTER_SLEEPING_UNTRACKED];
	loss->missing_buffers += missing - exporter->missing_before;
	exporter->missing_before = missing;
	/* The file counts from 0 again when all notes are read once more. */
	loss->notes += notes >= exporter->notes_before ? notes - exporter->notes_before : notes;
	exporter->notes_before = notes;
}

/**
 * exporter_count() - count the events, the loss and the overhead of an interval
 * @exporter: the events of the interval are read
 * @seconds: length of the interval
 *
 * Return: 0, or -1 after a message.
 */
int exporter_count(struct exporter *exporter, double seconds)
{
	const struct overhead before = exporter->overhead;
	const uint64_t *totals = exporter->counters.totals;
	double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN), cpu_seconds = exporter_cpu_seconds();
	struct overhead *overhead = &exporter->overhead;
	struct ntklog_session_counts counts;
	struct overhead_counts now;
	uint32_t mode = 0;

	if (recording_counts(&exporter->live.recording, &counts) ||
	    counters_read(&exporter->counters))
		return -1;
	count_loss(exporter, &counts);
	exporter->events += counts.generated - exporter->before.generated;
	exporter->before = counts;
	now = (struct overhead_counts) {
		.spins = totals[COUNTER_SPINLOCK_ACQUISITIONS],
		.spin_contentions = totals[COUNTER_SPINLOCK_CONTENTIONS],
		.sleeps = totals[COUNTER_SLEEPING_ACQUISITIONS] +
			  totals[COUNTER_RESOURCE_EXCLUSIVE_RELEASES] +
			  totals[COUNTER_RESOURCE_SHARED_RELEASES],
		.sleep_contentions = totals[COUNTER_SLEEPING_WAITS],
		.events = exporter->events,
	};
	linux_mode_find(exporter_mode_name(exporter), &mode);
	overhead_add(overhead, &exporter->counts, &now, mode,
		     etl_cycles_ns(exporter->live.file, 1) / 1e9);
	exporter->counts = now;
	overhead->tool += cpu_seconds - exporter->tool_begin;
	exporter->tool_begin = cpu_seconds;
	exporter->share = (overhead->hooks - before.hooks + overhead->events - before.events +
			   overhead->tool - before.tool) / (cpus * seconds);
	exporter->hooks_share = (overhead->hooks - before.hooks) / (cpus * seconds);
	return 0;
}

/**
 * exporter_keep_budget() - change the mode or the rates as the overhead of the interval demands
 * @exporter: the interval is counted, and its sums are freed
 *
 * Events between the end of the interval and a change of rates are weighted with the new rates.
 *
 * Return: 0, or -1 after a message.
 */
int exporter_keep_budget(struct exporter *exporter)
{
	struct budget *budget = &exporter->budget;
	unsigned int mode = budget->mode;
	enum recording_change change = budget_step(budget, exporter->hooks_share,
						exporter->share - exporter->hooks_share);

	if (change == BUDGET_STAYS)
		return 0;
	exporter->changes[change]++;
	if (exporter_apply_rates(exporter))
		return -1;
	if (budget->mode != mode && exporter_change_mode(exporter, mode))
		return -1;
	message("overhead %.2f%%, budget %.2f%%: recording %s from now on: mode %s, rates times %u, %s",
		exporter->share * 100, budget->limit * 100,
		change == BUDGET_DOWN ? "less" : "more", exporter_mode_name(exporter),
		budget_multiplier(budget), exporter->present_groups);
	return 0;
}
