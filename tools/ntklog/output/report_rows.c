// SPDX-License-Identifier: GPL-2.0-only

#include <math.h>
#include <string.h>

#include "report_rows.h"

/**
 * share_of() - divide a part by the whole
 * @part: part
 * @all: whole
 *
 * Return: the quotient, or 0 if @all is 0.
 */
double share_of(double part, double all)
{
	return all > 0 ? part / all : 0;
}

/**
 * report_cycles_ns() - convert cycles into nanoseconds
 * @report: its file is set
 * @cycles: cycles of the CPU's counter
 *
 * Return: nanoseconds.
 */
double report_cycles_ns(const struct report *report, double cycles)
{
	return etl_cycles_ns(report->file, cycles);
}

/**
 * report_ticks_ns() - convert ticks of the session clock into nanoseconds
 * @report: its file is set
 * @ticks: ticks of the session clock
 *
 * Return: nanoseconds.
 */
double report_ticks_ns(const struct report *report, double ticks)
{
	return ticks * 1e9 / (double)report->file->perf_freq;
}

/**
 * report_symbol_text() - name an address of data
 * @report: its names are set
 * @address: address, or class of locks
 *
 * Return: a string for free(), or NULL without memory.
 */
char *report_symbol_text(const struct report *report, uint64_t address)
{
	char text[NAME_SIZE];

	names_format_address(report->names, address, text, sizeof(text));
	return strdup(text);
}

/**
 * report_code_text() - name an address of code
 * @report: its names are set
 * @address: address in a function
 *
 * Return: a string for free(), or NULL without memory.
 */
char *report_code_text(const struct report *report, uint64_t address)
{
	char text[NAME_SIZE];

	names_format_code_address(report->names, address, text, sizeof(text));
	return strdup(text);
}

/**
 * report_split_pair() - find the lock or the thread that a key of the sums stands for, and its
 * label
 * @report: its analysis is set
 * @key: key of the sums that the tables are made of
 *
 * Return: the key and no label if --by splits nothing.
 */
struct split_pair report_split_pair(const struct report *report, uint64_t key)
{
	const struct split_sums *split_sums = report->analysis->split_sums;

	return split_sums ? *split_sums_pair_at(split_sums,
						key) : (struct split_pair) { .key = key };
}

/**
 * report_label_text() - get the text of a label of report_split_pair()
 * @label: the label, or NULL
 *
 * Return: the text.
 */
const char *report_label_text(const struct charge_label *label)
{
	return label ? label->text : "(others)";
}

/**
 * report_lock_count() - count the addresses of a class of locks
 * @report: its analysis is set
 * @key: class
 *
 * Return: the number of addresses in the selected records; 1 if the lock has no class.
 */
double report_lock_count(const struct report *report, uint64_t key)
{
	return (double)lock_classes_lock_count(&report->analysis->classes, key);
}

/**
 * find_sampling_kind() - tell how records were chosen
 * @is_known: the file says the rates
 * @rate: one record of @rate was written
 *
 * Return: enum sampling_kind.
 */
enum sampling_kind find_sampling_kind(uint32_t is_known, uint32_t rate)
{
	if (!is_known)
		return SAMPLING_UNKNOWN;
	return rate > 1 ? SAMPLING_SOME : SAMPLING_ALL;
}

/**
 * compute_relative_error() - standard error of a sum, relative to it
 * @variance: variance of the sum
 * @sum: the sum
 * @number_variance: variance of the number of its events
 * @sampling: which of the events were written: all, some, or not known
 *
 * If each record stands for itself alone, @number_variance is 0. The records of a sample then do
 * not tell how many events were not written.
 *
 * Return: the error, INFINITY if no record tells it, or NAN if the rates are not known.
 */
double compute_relative_error(double variance, double sum, double number_variance,
			      enum sampling_kind sampling)
{
	if (sampling == SAMPLING_UNKNOWN)
		return NAN;
	if (sampling == SAMPLING_SOME && number_variance == 0)
		return INFINITY;
	return share_of(sqrt(variance), sum);
}

/**
 * set_time_figures() - compute figures from a histogram
 * @figures: result
 * @report: its file is set
 * @times: histogram, cycles
 * @sampling: which of the events were written: all, some, or not known
 */
void set_time_figures(struct time_figures *figures, const struct report *report,
		      const struct histogram *times, enum sampling_kind sampling)
{
	figures->total = report_cycles_ns(report, times->sum);
	figures->error = sampling == SAMPLING_SOME && times->total_variance > 0 ?
		histogram_sum_error(times) :
		compute_relative_error(times->sum_variance, times->sum, times->total_variance,
				       sampling);
	figures->mean = report_cycles_ns(report, histogram_mean(times));
	figures->p50 = report_cycles_ns(report, histogram_percentile(times, 50));
	figures->p95 = report_cycles_ns(report, histogram_percentile(times, 95));
	figures->p99 = report_cycles_ns(report, histogram_percentile(times, 99));
	figures->max = report_cycles_ns(report, (double)times->max_value);
}

/**
 * set_unknown_time_figures() - set all figures to not known
 * @figures: result
 */
void set_unknown_time_figures(struct time_figures *figures)
{
	*figures = (struct time_figures) { NAN, NAN, NAN, NAN, NAN, NAN, NAN };
}

/**
 * make_lock_row_attribute() - make the text of the column by
 * @report: not used
 * @row: row that begins with a struct lock_row
 *
 * Return: a string for free(), or NULL without memory.
 */
char *make_lock_row_attribute(const struct report *report, const void *row)
{
	return strdup(((const struct lock_row *)row)->attribute_label);
}

#define LOCK_ROW_COLUMN(times, figure) \
double lock_row_##times##_##figure(const struct report *report, const void *row) \
{ \
	return ((const struct lock_row *)row)->times.figure; \
}

LOCK_ROW_COLUMN(wait, total)
LOCK_ROW_COLUMN(wait, error)
LOCK_ROW_COLUMN(wait, mean)
LOCK_ROW_COLUMN(wait, p50)
LOCK_ROW_COLUMN(wait, p95)
LOCK_ROW_COLUMN(wait, p99)
LOCK_ROW_COLUMN(wait, max)
LOCK_ROW_COLUMN(hold, total)
LOCK_ROW_COLUMN(hold, error)
LOCK_ROW_COLUMN(hold, mean)
LOCK_ROW_COLUMN(hold, p50)
LOCK_ROW_COLUMN(hold, p95)
LOCK_ROW_COLUMN(hold, p99)
LOCK_ROW_COLUMN(hold, max)

/**
 * report_covered_seconds() - tell for how long a CPU is covered and a group is observed
 * @report: its analysis is set
 * @groups: event groups, PERF_*
 * @cpu: number of the CPU, or COVERAGE_LONGEST_CPU
 *
 * Without coverage the report's seconds stand in for it.
 *
 * Return: seconds.
 */
double report_covered_seconds(const struct report *report, uint32_t groups, size_t cpu)
{
	if (!report->has_coverage ||
	    (!report->analysis->coverage.cpu_begins_differ &&
	     !coverage_knows_group(&report->analysis->coverage, groups)))
		return report->seconds;
	return (double)coverage_ticks(&report->analysis->coverage, groups, cpu) /
	       (double)report->file->perf_freq;
}

/* The part of a CPU's sum from outside the time in which the groups were observed. */
static double compute_unobserved_sum(const struct report *report, uint32_t groups,
				     const struct cpu_sums *sums, enum cpu_sum_kind sum_kind,
				     size_t cpu)
{
	bool is_known = coverage_is_observed_at_begin(&report->analysis->coverage, groups);

	return sums->sums[cpu][OBSERVATION_OFF][sum_kind] +
	       (is_known ? 0 : sums->sums[cpu][OBSERVATION_UNKNOWN][sum_kind]);
}

/**
 * report_per_second() - divide the observed part of a sum by the time in which it was observed
 * @report: its analysis is set
 * @groups: event groups of the sum, PERF_*
 * @sums: the sum's parts by CPU
 * @sum_kind: part
 * @all: the sum of all CPUs
 *
 * Return: the rate; the sum of the CPUs' rates if CPUs are covered for different times.
 */
double report_per_second(const struct report *report, uint32_t groups,
			 const struct cpu_sums *sums, enum cpu_sum_kind sum_kind, double all)
{
	bool cpu_begins_differ =
		report->has_coverage && report->analysis->coverage.cpu_begins_differ;
	double rate = 0;
	size_t cpu, i;

	for (cpu = 0; report->has_coverage && cpu < sums->cpu_count; cpu++) {
		double part = -compute_unobserved_sum(report, groups, sums, sum_kind, cpu);

		if (!cpu_begins_differ) {
			all += part;
			continue;
		}
		for (i = 0; i < OBSERVATION_STATES; i++)
			part += sums->sums[cpu][i][sum_kind];
		rate += share_of(part, report_covered_seconds(report, groups, cpu));
	}
	return cpu_begins_differ ? rate :
	       share_of(all, report_covered_seconds(report, groups, COVERAGE_LONGEST_CPU));
}

/**
 * report_mean_waiting() - compute the average number of waiters
 * @report: its analysis is set
 * @groups: event groups of the waits, PERF_*
 * @sums: the waits' parts by CPU
 * @wait: the waits, cycles
 *
 * Return: the number, 1 for a single waiter all the time.
 */
double report_mean_waiting(const struct report *report, uint32_t groups,
			   const struct cpu_sums *sums, const struct histogram *wait)
{
	return report_cycles_ns(report, report_per_second(report, groups, sums, CPU_SUM_WAIT,
							  wait->sum)) / 1e9;
}

/**
 * report_interval_begin() - tell when a stretch of constant rates begins
 * @report: its analysis is set
 * @i: number of the stretch
 *
 * Return: seconds since the session's start.
 */
double report_interval_begin(const struct report *report, size_t i)
{
	const struct rates_interval *interval = &report->analysis->rates_history.intervals[i];

	return interval->from ? etl_seconds(report->file, interval->from) : 0;
}

static bool is_kernel_address(const struct report *report, uint64_t address)
{
	return address >> (8 * report->file->pointer_size - 1) & 1;
}

/**
 * report_lacks_names() - test whether locks of the kernel have no names, as without FILE.names
 * @report: its analysis is set
 *
 * Only recordings of ntklog have a FILE.names.
 *
 * Return: true if a lock is at an address of the kernel, and no address has a name.
 */
bool report_lacks_names(const struct report *report)
{
	const struct analysis *analysis = report->analysis;
	const struct resource_entry *resource;
	const struct spinlock_entry *lock;

	if (!analysis->is_of_ntklog || names_have_addresses(report->names))
		return false;
	for (lock = analysis->spinlocks.locks; lock; lock = lock->hh.next)
		if (is_kernel_address(report, lock->address))
			return true;
	for (resource = analysis->resources.resources; resource; resource = resource->hh.next)
		if (is_kernel_address(report, resource->key.address))
			return true;
	return false;
}
