// SPDX-License-Identifier: GPL-2.0-only

#include <math.h>
#include <stdlib.h>

#include "grow.h"
#include "page.h"
#include "page_flames.h"

/* A function with a smaller share of all time is left out, with its callees. */
#define LEAST_SHARE	0.001

/*
 * @least_ns: functions with a smaller sum are left out
 * @function_count: number of functions with any sum
 */
struct function_selection {
	enum flame_kind flame_kind;
	double least_ns;
	double *sums;
	size_t count;
	size_t function_count;
};

static bool collect_functions(struct function_selection *selection, const struct flame_node *caller)
{
	const struct flame_node *callee;
	double *more;

	for (callee = caller->callees; callee; callee = callee->hh.next) {
		double ns = callee->ns[selection->flame_kind];

		if (ns <= 0)
			continue;
		selection->function_count++;
		if (ns >= selection->least_ns) {
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
		double ns = callee->ns[selection->flame_kind];

		/* A callee's sum is not above its caller's: no caller of a function is missing. */
		if (ns <= 0 || ns < selection->least_ns)
			continue;
		json_array_append_new(functions, json_pack("[i, o, f, f, I]", depth,
							   page_json_string(callee->name), ns,
							   callee->own_ns[selection->flame_kind],
							   (json_int_t)callee->sample_count));
		count += 1 + append_callees(functions, selection, callee, depth + 1);
	}
	return count;
}

/**
 * page_flame_json() - make a flame graph
 * @root: tree of the stacks
 * @flame_kind: sum that is the width of the functions
 * @functions_max: most functions of the graph: the others, with the smallest sums, are counted as
 *	left out
 *
 * Return: a JSON object; NULL if the sum is 0, or without memory.
 */
json_t *page_flame_json(const struct flame_node *root, enum flame_kind flame_kind,
			size_t functions_max)
{
	struct function_selection selection = {
		.flame_kind = flame_kind, .least_ns = LEAST_SHARE * root->ns[flame_kind],
	};
	json_t *functions = json_array(), *graph = NULL;
	size_t count;

	if (root->ns[flame_kind] > 0 && collect_functions(&selection, root)) {
		if (selection.count)
			qsort(selection.sums, selection.count, sizeof(*selection.sums),
			      compare_sums);
		/* Of equal sums at the limit, leave out all. */
		if (selection.count > functions_max)
			selection.least_ns = nextafter(selection.sums[functions_max], INFINITY);
		count = append_callees(functions, &selection, root, 0);
		graph = json_pack("{s:f, s:I, s:O}", "total", root->ns[flame_kind], "left_out",
				  (json_int_t)(selection.function_count - count), "functions",
				  functions);
	}
	json_decref(functions);
	free(selection.sums);
	return graph;
}
