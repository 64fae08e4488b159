// SPDX-License-Identifier: GPL-2.0-only

#include <math.h>

#include "report_periods.h"
#include "report_rows.h"

/* Greatest number of lines; number of characters of the longest bar. */
#define PERIODS_MAX	20
#define BAR_WIDTH		40

static const char bar[BAR_WIDTH + 1] = "########################################";

/* Add up the slots of a period. The last period may have fewer than @count. */
static double sum_of_slots(const struct timeline *line, size_t first, size_t count)
{
	double sum = 0;
	size_t i;

	for (i = first; line && i < first + count && i < TIMELINE_SLOTS; i++)
		sum += line->slot_sums[i];
	return sum;
}

static void print_period(const struct report *report, FILE *stream, double from,
			 double begun_wait_count, double waited, double most)
{
	const union cell count = { .number = begun_wait_count };
	const union cell time = { .number = report_ticks_ns(report, waited) };
	char waits[32], wait[32];

	cell_format_text(CELL_COUNT, &count, waits, sizeof(waits));
	cell_format_text(CELL_TIME, &time, wait, sizeof(wait));
	fprintf(stream, "%11.6fs %9s", from, waits);
	if (waited > 0)
		fprintf(stream, " %9s  %.*s", wait, (int)ceil(waited / most * BAR_WIDTH), bar);
	fputc('\n', stream);
}

/**
 * report_print_periods() - print when a lock is waited for
 * @report: of one lock, with waits
 * @stream: stream to print to
 */
void report_print_periods(const struct report *report, FILE *stream)
{
	const struct analysis *analysis = report->analysis;
	const struct charge_sums *sums = &analysis->charge_sums;
	uint64_t slot_ticks = sums->timelines.slot_ticks;
	size_t slots, period, i;
	double most = 0;

	if (!sums->begun_wait_timeline)
		return;
	slots = (analysis->last_time - analysis->origin_time) / slot_ticks + 1;
	if (slots > TIMELINE_SLOTS)
		slots = TIMELINE_SLOTS;
	period = (slots + PERIODS_MAX - 1) / PERIODS_MAX;
	for (i = 0; i < slots; i += period)
		most = fmax(most, sum_of_slots(sums->wait_timeline, i, period));
	fprintf(stream, "When %s is waited for\n%12s %9s %9s\n", analysis->wanted_lock.name, "from",
		"waits", "wait");
	for (i = 0; i < slots; i += period)
		print_period(report, stream,
			     etl_seconds(report->file, analysis->origin_time + i * slot_ticks),
			     sum_of_slots(sums->begun_wait_timeline, i, period),
			     sum_of_slots(sums->wait_timeline, i, period), most);
}
