// SPDX-License-Identifier: GPL-2.0-only
/*
 * NT's ReadyThread events: a task is made ready to run. A probe of the tracepoint sched_waking
 * writes an event for a wake-up, and a probe of sched_wakeup_new one for a new task. The tracepoint
 * sched_wakeup is not used, because it may fire on the CPU of the woken task.
 *
 * The lock pi_lock of the task is usually held, so the probes must not wake a task.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/ready_thread.h>

#include "../etw/event.h"
#include "../etw/group_mask.h"
#include "../etw/provider.h"
#include "../ground/tracepoint.h"
#include "ready_thread.h"

struct tracepoint *ntklog_sched_waking_tp;
struct tracepoint *ntklog_sched_wakeup_new_tp;

/* Both are read and written with etw_mutex held. */
static bool ntklog_ready_thread_probes_are_registered;
static int ntklog_ready_thread_probe_err;

static void ntklog_log_ready_thread(struct task_struct *task, u8 adjust_reason)
{
	/* adjust_increment is 0: Linux does not boost the priority of a woken task. */
	const struct etw_ready_thread_event record = {
		.thread_id = task_pid_nr(task),
		.adjust_reason = adjust_reason,
		.flags = in_task() ? 0 : ETW_READY_THREAD_EXECUTING_DPC,
	};

	etw_log_event(etw_find_sessions_for_event(PERF_DISPATCHER), PERFINFO_LOG_TYPE_READY_THREAD,
		      ETW_READY_THREAD_VERSION, &record, sizeof(record));
}

static void ntklog_sched_waking_probe(void *data, struct task_struct *task)
{
	/* A task that wakes itself does not wait, although it may have set its state to sleep. */
	if (task != current)
		ntklog_log_ready_thread(task, ETW_READY_THREAD_ADJUST_UNWAIT);
}

static void ntklog_sched_wakeup_new_probe(void *data, struct task_struct *task)
{
	ntklog_log_ready_thread(task, ETW_READY_THREAD_ADJUST_NONE);
}

static int ntklog_register_waking_probes(void)
{
	int err;

	if (!ntklog_sched_waking_tp || !ntklog_sched_wakeup_new_tp)
		return -ENOENT;
	err = tracepoint_probe_register(ntklog_sched_waking_tp, ntklog_sched_waking_probe, NULL);
	if (err)
		return err;
	err = tracepoint_probe_register(ntklog_sched_wakeup_new_tp, ntklog_sched_wakeup_new_probe,
					NULL);
	if (err)
		tracepoint_probe_unregister(ntklog_sched_waking_tp, ntklog_sched_waking_probe,
					    NULL);
	return err;
}

static void ntklog_set_ready_thread_mask(struct etw_provider *provider,
					 const struct perfinfo_groupmask *mask)
{
	bool enable = etw_group_mask_test(mask, PERF_DISPATCHER);

	if (enable == ntklog_ready_thread_probes_are_registered)
		return;
	if (enable) {
		ntklog_ready_thread_probe_err = ntklog_register_waking_probes();
		if (ntklog_ready_thread_probe_err) {
			pr_err("no ReadyThread events: sched_waking and sched_wakeup_new have not been attached: %d\n",
			       ntklog_ready_thread_probe_err);
			return;
		}
	} else {
		tracepoint_probe_unregister(ntklog_sched_wakeup_new_tp,
					    ntklog_sched_wakeup_new_probe, NULL);
		tracepoint_probe_unregister(ntklog_sched_waking_tp, ntklog_sched_waking_probe,
					    NULL);
	}
	ntklog_ready_thread_probes_are_registered = enable;
}

static int ntklog_get_ready_thread_err(const struct etw_provider *provider)
{
	return ntklog_ready_thread_probe_err;
}

static struct etw_provider ntklog_ready_thread_provider = {
	.group = PERF_DISPATCHER,
	.set_mask = ntklog_set_ready_thread_mask,
	.get_err = ntklog_get_ready_thread_err,
};

/**
 * ntklog_ready_thread_init() - let sessions register the probes
 *
 * Context: module load, before a session exists.
 */
void __init ntklog_ready_thread_init(void)
{
	ntklog_sched_waking_tp = ntklog_find_tracepoint("sched_waking");
	ntklog_sched_wakeup_new_tp = ntklog_find_tracepoint("sched_wakeup_new");
	etw_register_provider(&ntklog_ready_thread_provider);
}

/**
 * ntklog_ready_thread_exit() - wait for the end of probes that still run
 *
 * Context: module unload, when no session is left. May sleep.
 */
void ntklog_ready_thread_exit(void)
{
	tracepoint_synchronize_unregister();
}
