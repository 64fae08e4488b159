/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_BENCH_NO_HOOKS_H
#define _NTKLOG_BENCH_NO_HOOKS_H

void bench_no_hooks_at_dpc_level(unsigned int times);
void bench_no_hooks_raising(unsigned int times);

#endif /* _NTKLOG_BENCH_NO_HOOKS_H */
