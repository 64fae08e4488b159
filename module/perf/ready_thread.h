/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_READY_THREAD_H
#define _NTKLOG_PERF_READY_THREAD_H

struct tracepoint;

/* The tracepoints of the events; tests replace them. */
extern struct tracepoint *ntklog_sched_waking_tp, *ntklog_sched_wakeup_new_tp;

void ntklog_ready_thread_init(void);
void ntklog_ready_thread_exit(void);

#endif /* _NTKLOG_PERF_READY_THREAD_H */
