/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_CONTEXT_SWAP_H
#define _NTKLOG_PERF_CONTEXT_SWAP_H

/* Context swaps: a probe of the scheduler's switches, while somebody wants them. */

#include <linux/types.h>

struct task_struct;
struct wmi_contextswap;

u8 perf_nt_priority(const struct task_struct *thread, bool idle);
bool perf_context_swaps_are_on(void);
int perf_context_swap_init(void);
void perf_context_swap_exit(void);

#endif /* _NTKLOG_PERF_CONTEXT_SWAP_H */
