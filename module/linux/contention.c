// SPDX-License-Identifier: GPL-2.0-only
#include <linux/tracepoint.h>
#include <trace/events/lock.h>

#include "../ground/tracepoint.h"
#include "contention.h"

static struct tracepoint *ntklog_contention_begin_tp, *ntklog_contention_end_tp;

/**
 * ntklog_find_contention_tracepoints() - look up the contention tracepoints
 *
 * Context: task.
 * Return: NULL if the kernel has both, or the reason why waits cannot be observed.
 */
const char *ntklog_find_contention_tracepoints(void)
{
	/* Look up the tracepoints by name, because Linux 6.1 does not export them. */
	if (!ntklog_contention_end_tp) {
		ntklog_contention_begin_tp = ntklog_find_tracepoint("contention_begin");
		ntklog_contention_end_tp = ntklog_find_tracepoint("contention_end");
	}
	return ntklog_contention_begin_tp && ntklog_contention_end_tp ? NULL :
		"no tracepoints contention_begin and contention_end";
}

/**
 * ntklog_watch_contention() - register probes of the contention tracepoints
 * @begin_probe: probe of contention_begin; called in any context that waits for a lock
 * @end_probe: probe of contention_end; registered before @begin_probe
 * @failed_name: set to the name of the tracepoint whose probe cannot be registered, or to NULL
 *
 * Context: task; may sleep; takes tracepoints_mutex. The tracepoints have been found.
 * Return: 0 or a negative errno.
 */
int ntklog_watch_contention(ntklog_contention_begin_probe_t begin_probe,
			    ntklog_contention_end_probe_t end_probe, const char **failed_name)
{
	int err;

	/* Check at compile time that the probes have the types of their tracepoints. */
	check_trace_callback_type_contention_begin(begin_probe);
	check_trace_callback_type_contention_end(end_probe);
	*failed_name = ntklog_contention_end_tp->name;
	err = tracepoint_probe_register(ntklog_contention_end_tp, end_probe, NULL);
	if (err)
		return err;
	*failed_name = ntklog_contention_begin_tp->name;
	err = tracepoint_probe_register(ntklog_contention_begin_tp, begin_probe, NULL);
	if (err) {
		tracepoint_probe_unregister(ntklog_contention_end_tp, end_probe, NULL);
		tracepoint_synchronize_unregister();
		return err;
	}
	*failed_name = NULL;
	return 0;
}

/**
 * ntklog_stop_watching_contention() - undo ntklog_watch_contention()
 * @begin_probe: probe of contention_begin
 * @end_probe: probe of contention_end
 *
 * Context: task; may sleep; takes tracepoints_mutex. On return no CPU runs either probe.
 */
void ntklog_stop_watching_contention(ntklog_contention_begin_probe_t begin_probe,
				     ntklog_contention_end_probe_t end_probe)
{
	tracepoint_probe_unregister(ntklog_contention_begin_tp, begin_probe, NULL);
	tracepoint_probe_unregister(ntklog_contention_end_tp, end_probe, NULL);
	tracepoint_synchronize_unregister();
}
