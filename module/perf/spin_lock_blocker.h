/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_BLOCKER_H
#define _NTKLOG_PERF_SPIN_LOCK_BLOCKER_H

/* Blockers: releases of spin locks that leave a waiter behind, with a sample rate of their own. */

#include <linux/types.h>

#include "../ground/clock.h"

u8 ntklog_count_and_sample_blocker(u8 acquire_mode);
bool ntklog_admit_blocker(void);
void ntklog_log_blocker(const void *lock, u8 acquire_mode, struct ntklog_time time,
			unsigned long caller);

#endif /* _NTKLOG_PERF_SPIN_LOCK_BLOCKER_H */
