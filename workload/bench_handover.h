/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_BENCH_HANDOVER_H
#define _NTKLOG_BENCH_HANDOVER_H

/* Time from a release until a sleeping waiter on another CPU has the lock. */

int bench_measure_handovers(const char *state);

#endif /* _NTKLOG_BENCH_HANDOVER_H */
