// SPDX-License-Identifier: GPL-2.0-only

#include <math.h>
#include <stdlib.h>

#include "grow.h"
#include "page.h"
#include "page_flames.h"

/* A function with a smaller share of all time is left out, with its callees. */
#define LEAST_SHARE	0.001

/*
 * @least: functions with a smaller sum are left out
 * @all: number of functions with any sum
 */
struct function_selection {
	enum flame_kind what;
	double least;
	double *sums;
	size_t count;
	size_t all;
};

static bool collect_functions(struct function_selection *selection, const struct flame_node *caller)
{
	const struct flame_node *callee;
	double *more;

	for (callee = caller->callees; callee; callee = callee->hh.next) {
		double ns = callee->ns[selection->what];

		if (ns <= 0)
			continue;
		selection->all++;
		if (ns >= selection->least) {
			more = grow_by_one(selection->sums, selection->count, sizeof(*more));
			if (!more)
				return false;
			selection->sums = more;
			selection->sums[selection->count++] = ns;
		}
		if (!collect_functions(selection, callee))
			return false;
	}
	return true;
}

static int compare_sums(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left < right) - (left > right);
}

/*
 * Append the callees of a function: [depth, name, time, time in itself, records], each before its
 * own callees. Returns their number.
 */
static size_t append_callees(json_t *functions, const struct function_selection *selection,
			     const struct flame_node *caller, unsigned int depth)
{
	const struct flame_node *callee;
	size_t count = 0;

	for (callee = caller->callees; callee; callee = callee->hh.next) {
		double ns = callee->ns[selection->what];

		/* A callee's sum is not above its caller's: no caller of a function is missing. */
		if (ns <= 0 || ns < selection->least)
			continue;
		json_array_append_new(functions, json_pack("[i, o, f, f, I]", depth,
							   page_json_string(callee->name), ns,
							   callee->own_ns[selection->what],
							   (json_int_t)callee->sample_count));
		count += 1 + append_callees(functions, selection, callee, depth + 1);
	}
	return count;
}

/**
 * page_flame_json() - make a flame graph
 * @root: tree of the stacks
 * @what: sum that is the width of the functions
 * @most: most functions of the graph: the others, with the smallest sums, are counted as left out
 *
 * Return: a JSON object; NULL if the sum is 0, or without memory.
 */
json_t *page_flame_json(const struct flame_node *root, enum flame_kind what, size_t most)
{
	struct function_selection selection = {
		.what = what, .least = LEAST_SHARE * root->ns[what],
	};
	json_t *functions = json_array(), *graph = NULL;
	size_t count;

	if (root->ns[what] > 0 && collect_functions(&selection, root)) {
		if (selection.count)
			qsort(selection.sums, selection.count, sizeof(*selection.sums),
			      compare_sums);
		/* Of equal sums at the limit, leave out all. */
		if (selection.count > most)
			selection.least = nextafter(selection.sums[most], INFINITY);
		count = append_callees(functions, &selection, root, 0);
		graph = json_pack("{s:f, s:I, s:O}", "total", root->ns[what], "left_out",
				  (json_int_t)(selection.all - count), "functions", functions);
	}
	json_decref(functions);
	free(selection.sums);
	return graph;
}
