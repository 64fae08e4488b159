/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_H
#define _NTKLOG_PERF_SPIN_LOCK_H

#include <ntklog/spin_lock.h>

#include "information.h"
#include "spin_lock_arming.h"
#include "spin_lock_cpu.h"
#include "spin_lock_parameters.h"
#include "spin_lock_slots.h"
#include "spin_lock_wait.h"

extern struct ntklog_parameter_set ntklog_spin_lock_parameter_set;

#define PERF_SPIN_LOCK_PARAMETER_COUNT	4

bool ntklog_spin_locks_are_tracked(void);
void ntklog_begin_spin_lock_attach(void);
void ntklog_end_spin_lock_attach(void);
void ntklog_begin_spin_lock_detach(void);
void ntklog_end_spin_lock_detach(void);

void ntklog_spin_lock_init(void);
void ntklog_spin_lock_exit(void);

#endif /* _NTKLOG_PERF_SPIN_LOCK_H */
