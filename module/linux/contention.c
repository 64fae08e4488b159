// SPDX-License-Identifier: GPL-2.0-only
/* See contention.h. */

#include <linux/tracepoint.h>
#include <trace/events/lock.h>

#include "../ground/tracepoint.h"
#include "contention.h"

static struct tracepoint *ntklog_contention_begin, *ntklog_contention_end;

/**
 * ntklog_check_contention_tracepoints() - does this kernel tell of it?
 *
 * Context: thread.
 * Return: NULL, or why not.
 */
const char *ntklog_check_contention_tracepoints(void)
{
	/* 6.1 does not export them. */
	if (!ntklog_contention_end) {
		ntklog_contention_begin = ntklog_find_tracepoint("contention_begin");
		ntklog_contention_end = ntklog_find_tracepoint("contention_end");
	}
	return ntklog_contention_begin && ntklog_contention_end ? NULL :
		"no tracepoints contention_begin and contention_end";
}

/**
 * ntklog_watch_contention() - be told of it
 * @begins: called when a wait begins, in any context in which one does
 * @ends: when it ends
 * @failed: set to what could not be
 *
 * Ends of waits are heard of before beginnings are.
 *
 * Context: thread; may sleep, and takes tracepoints_mutex. There are tracepoints.
 * Return: 0 or a negative errno.
 */
int ntklog_watch_contention(ntklog_contention_begins_t begins, ntklog_contention_ends_t ends,
			    const char **failed)
{
	int err;

	/* The probes are what their tracepoints call. */
	check_trace_callback_type_contention_begin(begins);
	check_trace_callback_type_contention_end(ends);
	*failed = ntklog_contention_end->name;
	err = tracepoint_probe_register(ntklog_contention_end, ends, NULL);
	if (err)
		return err;
	*failed = ntklog_contention_begin->name;
	err = tracepoint_probe_register(ntklog_contention_begin, begins, NULL);
	if (err) {
		tracepoint_probe_unregister(ntklog_contention_end, ends, NULL);
		tracepoint_synchronize_unregister();
		return err;
	}
	*failed = NULL;
	return 0;
}

/**
 * ntklog_stop_watching_contention() - undo ntklog_watch_contention()
 * @begins: as there
 * @ends: likewise
 *
 * Context: as there. At the return neither is being called.
 */
void ntklog_stop_watching_contention(ntklog_contention_begins_t begins,
				     ntklog_contention_ends_t ends)
{
	tracepoint_probe_unregister(ntklog_contention_begin, begins, NULL);
	tracepoint_probe_unregister(ntklog_contention_end, ends, NULL);
	tracepoint_synchronize_unregister();
}
