// SPDX-License-Identifier: GPL-2.0-only

#include <string.h>

#include "macros.h"
#include "report_rows.h"

/* @attribute_label: label of the attribute of --by */
struct thread_row {
	const struct thread_stats *thread;
	uint32_t id;
	const char *name;
	const char *attribute_label;
};

static const struct thread_stats *thread_of(const void *row)
{
	return ((const struct thread_row *)row)->thread;
}

static double thread_cell(const struct report *report, const void *row)
{
	return ((const struct thread_row *)row)->id;
}

static char *name_cell(const struct report *report, const void *row)
{
	const char *text = ((const struct thread_row *)row)->name;

	return strdup(text ? text : "");
}

static char *make_thread_attribute(const struct report *report, const void *row)
{
	return strdup(((const struct thread_row *)row)->attribute_label);
}

static double thread_switches_cell(const struct report *report, const void *row)
{
	return (double)thread_of(row)->switch_count;
}

static double preempted_cell(const struct report *report, const void *row)
{
	return share_of((double)thread_of(row)->preemption_count,
			(double)thread_of(row)->switch_out_count);
}

static double run_total_cell(const struct report *report, const void *row)
{
	return report_ticks_ns(report, thread_of(row)->run_times.sum);
}

static double run_mean_cell(const struct report *report, const void *row)
{
	return report_ticks_ns(report, histogram_mean(&thread_of(row)->run_times));
}

static double run_p95_cell(const struct report *report, const void *row)
{
	return report_ticks_ns(report, histogram_percentile(&thread_of(row)->run_times, 95));
}

static double run_max_cell(const struct report *report, const void *row)
{
	return report_ticks_ns(report, (double)thread_of(row)->run_times.max_value);
}

static double ready_total_cell(const struct report *report, const void *row)
{
	return (double)thread_of(row)->wait_ticks * (double)report->file->tick_ns;
}

static const struct column thread_columns[] = {
	NUMBER_COLUMN("thread", "thread", CELL_COUNT, thread_cell, "id of the thread"),
	TEXT_COLUMN("name", "name", name_cell, "name of the thread"),
	NUMBER_COLUMN("switches", "switches", CELL_COUNT, thread_switches_cell,
		      "context switches to the thread"),
	NUMBER_COLUMN("preempted", "preempted", CELL_SHARE, preempted_cell,
		      "share of the switches away while the thread was runnable",
		      .drop_order = 2),
	NUMBER_COLUMN("run_total", "run", CELL_TIME, run_total_cell, "time on a CPU"),
	NUMBER_COLUMN("run_mean", "run mean", CELL_TIME, run_mean_cell,
		      "mean time from a switch to the next",
		      .drop_order = 3),
	NUMBER_COLUMN("run_p95", "run p95", CELL_TIME, run_p95_cell,
		      "95 of 100 times on a CPU are not longer",
		      .drop_order = 4),
	NUMBER_COLUMN("run_max", "run max", CELL_TIME, run_max_cell, "longest time on a CPU"),
	NUMBER_COLUMN("ready_total", "ready", CELL_TIME, ready_total_cell,
		      "time runnable without a CPU, in whole ticks of the kernel"),
};

/* Return the sums of the threads. Only --by cpu splits them. */
static const struct switch_stats *stats_of(const struct report *report)
{
	const struct analysis *analysis = report->analysis;

	return analysis->split_sums && analysis->charge_attribute == CHARGE_BY_CPU ?
		&analysis->split_sums->switches : &analysis->switches;
}

static void add_thread(struct report *report, const struct thread_stats *thread)
{
	const struct analysis *analysis = report->analysis;
	struct thread_row row = { .thread = thread, .id = thread->thread_id };
	/* A thread may get another name or cgroup: the last one counts. */
	struct charge_hold hold = { .log_time = analysis->last_time };
	char text[CHARGE_LABEL_SIZE];

	if (stats_of(report) != &analysis->switches) {
		const struct split_pair split = report_split_pair(report, thread->thread_id);

		row.id = split.key;
		row.attribute_label = report_label_text(split.label);
	} else if (report->attribute_name) {
		hold.thread_id = thread->thread_id;
		charge_format_holder(report->names, analysis->charge_attribute, &hold, text,
				     sizeof(text));
		row.attribute_label = text;
	}
	row.name = names_find_thread_name(report->names, row.id);
	table_add_row(&report->tables[REPORT_THREADS], report, &row);
}

static void make_threads(struct report *report)
{
	const struct switch_stats *stats = stats_of(report);
	const struct thread_row others = {
		.thread = &stats->others, .name = "(others)", .attribute_label = "(others)",
	};
	const struct thread_stats *thread;

	for (thread = stats->threads; thread; thread = thread->hh.next)
		add_thread(report, thread);
	if (stats->others.switch_count || stats->others.switch_out_count)
		table_add_row(&report->tables[REPORT_THREADS], report, &others);
}

const struct table_class report_threads_class = {
	.name = "threads",
	.title = "Threads",
	.missing_events_text = "context switches (record -e contextswap)",
	.columns = thread_columns,
	.column_count = ARRAY_SIZE(thread_columns),
	.sort_column_name = "run_total",
	.make_attribute_text = make_thread_attribute,
	.make_table = make_threads,
};

/* A row of the table processors is a struct processor_stats. */
static double processor_cell(const struct report *report, const void *row)
{
	const struct processor_stats *cpu = row;

	return (double)(cpu - report->analysis->switches.processors);
}

static double switches_cell(const struct report *report, const void *row)
{
	return (double)((const struct processor_stats *)row)->switch_count;
}

static double per_second_cell(const struct report *report, const void *row)
{
	const struct processor_stats *cpu = row;
	double ticks = switch_stats_known_ticks(&report->analysis->switches, cpu);

	return share_of((double)cpu->switch_count * 1e9, report_ticks_ns(report, ticks));
}

static double busy_share_cell(const struct report *report, const void *row)
{
	const struct processor_stats *cpu = row;

	return share_of(cpu->busy_ticks, cpu->busy_ticks + cpu->idle_ticks);
}

static double busy_total_cell(const struct report *report, const void *row)
{
	return report_ticks_ns(report, ((const struct processor_stats *)row)->busy_ticks);
}

static double idle_total_cell(const struct report *report, const void *row)
{
	return report_ticks_ns(report, ((const struct processor_stats *)row)->idle_ticks);
}

static double gap_count_cell(const struct report *report, const void *row)
{
	return (double)((const struct processor_stats *)row)->gap_count;
}

static const struct column processor_columns[] = {
	NUMBER_COLUMN("processor", "processor", CELL_COUNT, processor_cell, "number of the CPU"),
	NUMBER_COLUMN("switches", "switches", CELL_COUNT, switches_cell,
		      "context switches of the CPU"),
	NUMBER_COLUMN("per_second", "per second", CELL_COUNT, per_second_cell,
		      "switches per second of busy and idle time"),
	NUMBER_COLUMN("busy", "busy", CELL_SHARE, busy_share_cell,
		      "share of the time with a thread that is not the idle one"),
	NUMBER_COLUMN("busy_total", "busy time", CELL_TIME, busy_total_cell,
		      "time with a thread that is not the idle one"),
	NUMBER_COLUMN("idle_total", "idle time", CELL_TIME, idle_total_cell,
		      "time with the idle thread",
		      .drop_order = 2),
	NUMBER_COLUMN("unknown", "gaps", CELL_COUNT, gap_count_cell,
		      "places where switches are missing, lost or left out",
		      .drop_order = 1),
};

/* A CPU without a switch in the window may have run a thread all the time. */
static bool has_row(const struct processor_stats *cpu)
{
	return cpu->switch_count || cpu->gap_count || cpu->busy_ticks > 0 || cpu->idle_ticks > 0;
}

static void make_processors(struct report *report)
{
	const struct switch_stats *stats = &report->analysis->switches;
	size_t i;

	for (i = 0; i < stats->processor_count; i++)
		if (has_row(&stats->processors[i]) &&
		    !table_add_row(&report->tables[REPORT_PROCESSORS], report,
				   &stats->processors[i]))
			return;
}

const struct table_class report_processors_class = {
	.name = "processors",
	.title = "Context switches of processors",
	.missing_events_text = "context switches (record -e contextswap)",
	.columns = processor_columns,
	.column_count = ARRAY_SIZE(processor_columns),
	.sort_column_name = "switches",
	.attribute_refusal = "its rows are CPUs; see --table threads --by cpu",
	.make_table = make_processors,
};
