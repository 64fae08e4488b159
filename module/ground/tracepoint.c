// SPDX-License-Identifier: GPL-2.0-only

#include <linux/string.h>
#include <linux/tracepoint.h>

#include "tracepoint.h"

struct ntklog_tracepoint_search {
	const char *name;
	struct tracepoint *found;
};

static void ntklog_match_tracepoint(struct tracepoint *tracepoint, void *data)
{
	struct ntklog_tracepoint_search *search = data;

	if (!strcmp(tracepoint->name, search->name))
		search->found = tracepoint;
}

/**
 * ntklog_find_tracepoint() - look up a tracepoint of the kernel
 * @name: name of the tracepoint, such as "sched_switch", without its trace system
 *
 * Context: task.
 * Return: the tracepoint, or NULL. Tracepoints of modules are not found.
 */
struct tracepoint *ntklog_find_tracepoint(const char *name)
{
	struct ntklog_tracepoint_search search = { .name = name };

	for_each_kernel_tracepoint(ntklog_match_tracepoint, &search);
	return search.found;
}
