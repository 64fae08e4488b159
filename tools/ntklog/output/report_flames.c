// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flame graphs of a page: nested lists of functions. A browser without style sheets shows these
 * lists, with their numbers. With the style sheet each function is as wide as its share, and its
 * callees are below it. The page shows the numbers of the function under the pointer or with the
 * focus; a click makes the function as wide as the page.
 */

#include <inttypes.h>

#include "flame.h"
#include "html.h"
#include "report_flames.h"

/* A function with a smaller share of all time is left out, with its callees. */
#define LEAST_SHARE	0.001

struct graph {
	const char *id;
	const char *title;
	const char *class;
	enum flame_of what;
};

static const struct graph graphs[FLAME_KINDS] = {
	{ "waiting", "Time that was waited", "wait", FLAME_WAIT },
	{ "holding", "Time that locks were held", "hold", FLAME_HOLD },
};

static void print_callees(const struct graph *graph, FILE *stream, const struct flame *flame,
			  double all)
{
	const struct flame *callee;
	bool any = false;

	for (callee = flame->callees; callee; callee = callee->hh.next) {
		double ns = callee->ns[graph->what];

		if (ns <= 0 || ns < LEAST_SHARE * all)
			continue;
		fputs(any ? "" : "<ul>", stream);
		any = true;
		/* The width is relative to the caller's. */
		fprintf(stream, "<li style=\"width:%.4g%%\"><span tabindex=\"0\" title=\"",
			100 * ns / flame->ns[graph->what]);
		html_print_escaped(stream, callee->name);
		fputs(": ", stream);
		html_print_time(stream, ns);
		fprintf(stream, ", %.1f %% of all; itself ", 100 * ns / all);
		html_print_time(stream, callee->own_ns[graph->what]);
		fprintf(stream, "; %" PRIu64 " records\">", callee->samples);
		html_print_escaped(stream, callee->name);
		fputs(" <small>", stream);
		html_print_time(stream, ns);
		fputs("</small></span>", stream);
		print_callees(graph, stream, callee, all);
		fputs("</li>\n", stream);
	}
	fputs(any ? "</ul>" : "", stream);
}

/**
 * report_print_flames() - print the flame graphs of a page
 * @report: report with its analysis
 * @stream: stream of the page
 */
void report_print_flames(const struct report *report, FILE *stream)
{
	struct flame root = { .name = "all" };
	size_t i;

	if (!flame_make(&root, report->analysis, report->file, report->names))
		fputs("<p>There was not enough memory for all stacks.</p>\n", stream);
	for (i = 0; i < FLAME_KINDS; i++) {
		const struct graph *graph = &graphs[i];
		double all = root.ns[graph->what];

		if (all <= 0)
			continue;
		fprintf(stream, "<h2 id=\"%s\">%s, by stack</h2>\n", graph->id, graph->title);
		fprintf(stream,
			"<p>A function is as wide as the time that was %s in it and in what it called; the outermost is on top. ",
			graph->what == FLAME_WAIT ? "waited" : "held");
		fputs("Those narrower than a thousandth of all are left out. In all ", stream);
		html_print_time(stream, all);
		fputs(".</p>\n", stream);
		fprintf(stream, "<div class=\"flame %s\" role=\"figure\" aria-labelledby=\"%s\">\n",
			graph->class, graph->id);
		print_callees(graph, stream, &root, all);
		fputs("</div>\n<p class=\"said\" aria-live=\"polite\"></p>\n", stream);
	}
	flame_free(&root);
}
