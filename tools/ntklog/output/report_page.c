// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>

#include "answer.h"
#include "page.h"
#include "page_flames.h"
#include "page_locks.h"
#include "page_timelines.h"
#include "report_distribution.h"
#include "report_longest.h"

/* Most functions of a flame graph of all locks. */
#define FUNCTIONS_MAX	3000

static const enum report_table_kind page_order[REPORT_TABLES] = {
	REPORT_LOCKS, REPORT_RESOURCES, REPORT_BLOCKERS, REPORT_WAITERS, REPORT_CALLERS,
	REPORT_LONGEST, REPORT_STACKS, REPORT_THREADS, REPORT_PROCESSORS, REPORT_UNKNOWN,
};

static void print_preformatted(const struct report *report, FILE *stream, const char *class,
			       void (*print)(const struct report *report, FILE *stream))
{
	char *text = NULL;
	size_t size;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	print(report, memory);
	if (!fclose(memory))
		page_print_block(stream, class, text);
	free(text);
}

static json_t *flames_json(const struct report *report)
{
	struct flame_node root = { 0 };
	json_t *flames = NULL;

	if (flame_make_tree(&root, report, NULL))
		flames = json_pack("{s:o*, s:o*}", "waits",
				   page_flame_json(&root, FLAME_WAIT, FUNCTIONS_MAX), "holds",
				   page_flame_json(&root, FLAME_HOLD, FUNCTIONS_MAX));
	flame_free(&root);
	return flames;
}

static json_t *pictures_json(const struct report *report, unsigned int tables)
{
	const struct analysis *analysis = report->analysis;
	json_t *pictures = json_object();
	struct page_lock *locks;
	size_t count;

	locks = page_locks_find(report, tables, &count);
	if (analysis->charge_sums.total.wait_ticks) {
		json_object_set_new(pictures, "parts",
				    page_parts_json(report, &analysis->charge_sums.total));
		json_object_set_new(pictures, "longest", report_longest_json(report));
	}
	if (locks) {
		json_object_set_new(pictures, "timelines",
				    page_timelines_json(report, locks, count, tables));
		json_object_set_new(pictures, "locks", page_locks_json(report, locks, count));
		json_object_set_new(pictures, "lock_count", json_integer(count));
	}
	if (tables & 1 << REPORT_STACKS && analysis->stacks.has_any)
		json_object_set_new(pictures, "flames", flames_json(report));
	free(locks);
	return pictures;
}

/**
 * report_print_page() - write the page of a report
 * @report: report with sorted tables
 * @path: path of the page; "-" is the standard output
 * @rows_visible: most rows of a table that are visible before a click; 0 for all
 * @rows_max: most rows of a table in the page; 0 for all
 * @tables: tables to show, as bits, which also choose the pictures
 *
 * Return: 0, or -1 after a message.
 */
int report_print_page(const struct report *report, const char *path, size_t rows_visible,
		      size_t rows_max, unsigned int tables)
{
	FILE *stream = page_open(path, report->file->path);
	size_t i;

	if (!stream)
		return -1;
	fputs("<section id=\"answer\">", stream);
	if (tables == REPORT_ALL_TABLES) {
		fputs("<h2>Answer</h2>\n", stream);
		print_preformatted(report, stream, "answer", answer_print);
	}
	fputs("<ul class=\"facts\">\n", stream);
	report_print_facts(report, stream, "<li>", "</li>");
	fputs("</ul></section>\n", stream);
	for (i = 0; i < REPORT_TABLES; i++)
		if (tables & 1 << page_order[i] && table_has_cells(&report->tables[page_order[i]]))
			page_print_table(stream, &report->tables[page_order[i]], rows_visible,
					 rows_max);
	if (report->analysis->wanted_lock.name) {
		fputs("<section id=\"distributions\"><h2>Distributions</h2>\n", stream);
		print_preformatted(report, stream, "distributions", report_print_distributions);
		fputs("</section>\n", stream);
	}
	return page_close(stream, path, pictures_json(report, tables));
}
