/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_CONTEXT_SWAP_H
#define _NTKLOG_PERF_CONTEXT_SWAP_H

#include <linux/types.h>

struct task_struct;
struct tracepoint;
struct wmi_contextswap;

u8 ntklog_convert_to_nt_priority(const struct task_struct *task, bool is_idle);

/* The tracepoint of the events; tests replace it. */
extern struct tracepoint *ntklog_sched_switch_tp;

bool ntklog_context_swaps_are_traced(void);
int ntklog_context_swap_init(void);
void ntklog_context_swap_exit(void);

#endif /* _NTKLOG_PERF_CONTEXT_SWAP_H */
