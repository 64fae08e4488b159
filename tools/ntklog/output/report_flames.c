// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flame graphs of a page: lists of functions in lists of functions. Those who read the page
 * without style see just these, with their numbers; with it, each is as wide as its share, and
 * what it calls is below it. A function that is pointed at, or reached by the keyboard, says its
 * numbers in full; a click makes it as wide as the page.
 */

#include <inttypes.h>

#include "flame.h"
#include "report_html.h"

/* What is narrower is left out, with all that is below it. */
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

static void print_time(FILE *stream, double ns)
{
	const union cell cell = { .number = ns };
	char text[32];

	cell_format(CELL_TIME, &cell, text, sizeof(text));
	fputs(text, stream);
}

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
		/* Of its caller's width. */
		fprintf(stream, "<li style=\"width:%.4g%%\"><span tabindex=\"0\" title=\"",
			100 * ns / flame->ns[graph->what]);
		html_print_escaped(stream, callee->name);
		fputs(": ", stream);
		print_time(stream, ns);
		fprintf(stream, ", %.1f %% of all; itself ", 100 * ns / all);
		print_time(stream, callee->own_ns[graph->what]);
		fprintf(stream, "; %" PRIu64 " records\">", callee->samples);
		html_print_escaped(stream, callee->name);
		fputs(" <small>", stream);
		print_time(stream, ns);
		fputs("</small></span>", stream);
		print_callees(graph, stream, callee, all);
		fputs("</li>\n", stream);
	}
	fputs(any ? "</ul>" : "", stream);
}

/**
 * html_print_flames() - the flame graphs of a page
 * @report: made
 * @stream: where to
 */
void html_print_flames(const struct report *report, FILE *stream)
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
		print_time(stream, all);
		fputs(".</p>\n", stream);
		fprintf(stream, "<div class=\"flame %s\" role=\"figure\" aria-labelledby=\"%s\">\n",
			graph->class, graph->id);
		print_callees(graph, stream, &root, all);
		fputs("</div>\n<p class=\"said\" aria-live=\"polite\"></p>\n", stream);
	}
	flame_free(&root);
}
