/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_BENCH_OWNERS_H
#define _NTKLOG_BENCH_OWNERS_H

int bench_owners_start(unsigned int owners);
void bench_owners_stop(void);

#endif /* _NTKLOG_BENCH_OWNERS_H */
