/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_ARMING_H
#define _NTKLOG_PERF_SPIN_LOCK_ARMING_H

#include <linux/types.h>

void ntklog_start_spin_lock_tracking(void);
void ntklog_arm_spin_lock_tracking(void);
void ntklog_disarm_spin_lock_tracking(void);
void ntklog_stop_spin_lock_tracking(void);
void ntklog_set_spin_lock_unmatched_is_expected(bool is_expected);
void ntklog_restart_spin_lock_sampling(void);
void ntklog_apply_spin_lock_parameters(void);

void ntklog_start_sampling_spin_locks(void);
void ntklog_stop_sampling_spin_locks(void);

#endif /* _NTKLOG_PERF_SPIN_LOCK_ARMING_H */
