/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KE_NUMBERED_SPIN_LOCK_H
#define _NTKLOG_KE_NUMBERED_SPIN_LOCK_H

void ke_numbered_spin_lock_init(void);

#endif /* _NTKLOG_KE_NUMBERED_SPIN_LOCK_H */
