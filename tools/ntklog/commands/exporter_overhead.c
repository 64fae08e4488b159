// SPDX-License-Identifier: GPL-2.0-only

#include <sys/resource.h>
#include <unistd.h>

#include "exporter.h"
#include "linux_mode.h"
#include "message.h"

static double timeval_to_seconds(const struct timeval *time)
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
	return timeval_to_seconds(&usage.ru_utime) + timeval_to_seconds(&usage.ru_stime);
}

static void count_loss(struct exporter *exporter, const struct ntklog_session_counts *counts)
{
	const uint64_t *totals = exporter->counters.totals;
	uint64_t missing_buffer_count = exporter->live_sums.recording.drain.missing_count;
	unsigned int replaced_note_count = exporter->live_sums.identities.replaced_note_count;
	struct exporter_loss *loss = &exporter->loss;

	loss->lost_event_count += counts->lost - exporter->old_session_counts.lost;
	loss->suppressed_event_count = totals[COUNTER_SPINLOCK_SUPPRESSED] +
			   totals[COUNTER_RESOURCE_SUPPRESSED];
	loss->limited_release_count = totals[COUNTER_BLOCKERS_DROPPED] +
			totals[COUNTER_SLEEPING_BLOCKERS_DROPPED];
	loss->untracked_acquisition_count = totals[COUNTER_SPINLOCK_UNTRACKED] +
			  totals[COUNTER_RESOURCE_UNTRACKED] +
			  totals[COUNTER_SLEEPING_UNTRACKED];
	loss->missing_buffer_count += missing_buffer_count - exporter->old_missing_buffer_count;
	exporter->old_missing_buffer_count = missing_buffer_count;
	/* The file counts from 0 again when all notes are read once more. */
	loss->lost_note_count += replaced_note_count >= exporter->old_lost_note_count ?
			    replaced_note_count - exporter->old_lost_note_count :
			    replaced_note_count;
	exporter->old_lost_note_count = replaced_note_count;
}

/**
 * exporter_count_interval() - count the events, the loss and the overhead of an interval
 * @exporter: the events of the interval are read
 * @seconds: length of the interval
 *
 * Return: 0, or -1 after a message.
 */
int exporter_count_interval(struct exporter *exporter, double seconds)
{
	const struct overhead before = exporter->overhead;
	const uint64_t *totals = exporter->counters.totals;
	double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN), cpu_seconds = exporter_cpu_seconds();
	struct overhead *overhead = &exporter->overhead;
	struct ntklog_session_counts counts;
	struct overhead_counts now;
	uint32_t mode = 0;

	if (recording_read_counts(&exporter->live_sums.recording, &counts) ||
	    counters_read(&exporter->counters))
		return -1;
	count_loss(exporter, &counts);
	exporter->event_count += counts.generated - exporter->old_session_counts.generated;
	exporter->old_session_counts = counts;
	now = (struct overhead_counts) {
		.spin_acquisitions = totals[COUNTER_SPINLOCK_ACQUISITIONS],
		.spin_contentions = totals[COUNTER_SPINLOCK_CONTENTIONS],
		.sleep_acquisitions = totals[COUNTER_SLEEPING_ACQUISITIONS] +
				      totals[COUNTER_RESOURCE_EXCLUSIVE_RELEASES] +
				      totals[COUNTER_RESOURCE_SHARED_RELEASES],
		.sleep_contentions = totals[COUNTER_SLEEPING_WAITS],
		.events = exporter->event_count,
	};
	linux_mode_find(exporter_mode_name(exporter), &mode);
	overhead_add(overhead, &exporter->overhead_counts, &now, mode,
		     etl_cycles_ns(exporter->live_sums.file, 1) / 1e9);
	exporter->overhead_counts = now;
	overhead->tool_seconds += cpu_seconds - exporter->counted_cpu_seconds;
	exporter->counted_cpu_seconds = cpu_seconds;
	exporter->overhead_share =
		(overhead->hook_seconds - before.hook_seconds + overhead->event_seconds -
		 before.event_seconds + overhead->tool_seconds - before.tool_seconds) /
		(cpus * seconds);
	exporter->hook_share = (overhead->hook_seconds - before.hook_seconds) / (cpus * seconds);
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
	struct overhead_budget *budget = &exporter->budget;
	unsigned int mode = budget->mode;
	enum budget_change change = budget_take_step(budget, exporter->hook_share,
						exporter->overhead_share - exporter->hook_share);

	if (change == BUDGET_STAYS)
		return 0;
	exporter->budget_change_counts[change]++;
	if (exporter_apply_rates(exporter))
		return -1;
	if (budget->mode != mode && exporter_change_mode(exporter, mode))
		return -1;
	message("overhead %.2f%%, budget %.2f%%: recording %s from now on: mode %s, rates times %u, %s",
		exporter->overhead_share * 100, budget->overhead_limit * 100,
		change == BUDGET_DOWN ? "less" : "more", exporter_mode_name(exporter),
		budget_multiplier(budget), exporter->present_groups);
	return 0;
}
