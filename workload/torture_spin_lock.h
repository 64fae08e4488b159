/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TORTURE_SPIN_LOCK_H
#define _NTKLOG_TORTURE_SPIN_LOCK_H

#include <linux/types.h>

struct torture_ops;
struct torture_parameters;

int torture_start_spin_locks(const struct torture_parameters *parameters,
			     const struct torture_ops *ops);
void torture_stop_spin_locks(void);
u64 torture_check_spin_locks(char *text, size_t size);

#endif /* _NTKLOG_TORTURE_SPIN_LOCK_H */
