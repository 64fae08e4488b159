// SPDX-License-Identifier: GPL-2.0-only

#include <math.h>
#include <string.h>

#include "report_distribution.h"
#include "report_histograms.h"
#include "resource_kind.h"

#define DISTRIBUTIONS_MAX	8

/* Greatest number of powers of ten; number of characters of the longest bar. */
#define DECADES_MAX	24
#define BAR_WIDTH		18

static const char bar[BAR_WIDTH + 1] = "##################";

static void compute_shares(const struct report *report, const struct histogram *times,
			   const struct histogram_axis *axis, double *shares)
{
	unsigned int i;

	memset(shares, 0, DECADES_MAX * sizeof(*shares));
	for (i = 0; i < times->capacity; i++) {
		uint64_t weight;
		double ns = etl_cycles_ns(report->file, histogram_bucket_middle(times, i, &weight));
		int decade = (ns >= 1 ? (int)floor(log10(ns)) : 0) - axis->first_power;

		if (weight && decade >= 0 && decade < DECADES_MAX)
			shares[decade] += (double)weight / (double)times->total_weight;
	}
}

/* Format a share, which is empty if it is 0. */
static const char *format_share(double share, char *text, size_t size)
{
	const union cell cell = { .number = share };

	*text = '\0';
	if (share > 0)
		cell_format_text(CELL_SHARE, &cell, text, size);
	return text;
}

static void print_line(FILE *stream, int power, double waits, double holds)
{
	const union cell from = { .number = pow(10, power) };
	char time[32], wait[32], hold[32], line[128];
	size_t length;

	cell_format_text(CELL_TIME, &from, time, sizeof(time));
	snprintf(line, sizeof(line), "from %-9s  %6s %-*.*s  %6s %.*s", time,
		 format_share(waits, wait, sizeof(wait)), BAR_WIDTH,
		 (int)ceil(waits * BAR_WIDTH), bar,
		 format_share(holds, hold, sizeof(hold)), (int)ceil(holds * BAR_WIDTH), bar);
	for (length = strlen(line); line[length - 1] == ' '; length--)
		line[length - 1] = '\0';
	fprintf(stream, "%s\n", line);
}

static void print_distribution(const struct report *report, FILE *stream, uint64_t lock,
			       const char *what, const struct histogram *wait,
			       const struct histogram *hold)
{
	double waits[DECADES_MAX], holds[DECADES_MAX];
	struct histogram_axis axis = { 0 };
	char text[NAME_SIZE];
	int i;

	report_widen_axis(report, wait, &axis);
	report_widen_axis(report, hold, &axis);
	if (!axis.decade_count)
		return;
	compute_shares(report, wait, &axis, waits);
	compute_shares(report, hold, &axis, holds);
	names_format_address(report->names, lock, text, sizeof(text));
	fprintf(stream, "\nHow long %s%s is waited for and held\n", text, what);
	fprintf(stream, "%-14s  %-*s  %s\n", "", BAR_WIDTH + 7, " waits", " holds");
	for (i = 0; i < axis.decade_count && i < DECADES_MAX; i++)
		print_line(stream, axis.first_power + i, waits[i], holds[i]);
}

/**
 * report_print_distributions() - print how long locks are waited for and held
 * @report: of one lock, which has an entry for each of its kinds
 * @stream: stream to print to
 *
 * Shares are of all waits, and of all holds, estimated like the numbers of the tables.
 */
void report_print_distributions(const struct report *report, FILE *stream)
{
	static const char *const access_names[RESOURCE_ACCESSES] = { "exclusive", "shared" };
	const struct resource_entry *entry;
	const struct spinlock_entry *lock;
	size_t count = 0, i;
	char what[64];

	for (lock = report->analysis->spinlocks.locks; lock && count < DISTRIBUTIONS_MAX;
	     lock = lock->hh.next, count++)
		print_distribution(report, stream, lock->address, "", &lock->sum.wait,
				   &lock->sum.hold);
	for (entry = report->analysis->resources.resources; entry && count < DISTRIBUTIONS_MAX;
	     entry = entry->hh.next, count++)
		for (i = 0; i < RESOURCE_ACCESSES; i++) {
			snprintf(what, sizeof(what), " (%s %s)",
				 resource_kinds[entry->key.kind].name, access_names[i]);
			print_distribution(report, stream, entry->key.address, what,
					   &entry->sums[i].wait, &entry->sums[i].hold);
		}
}
