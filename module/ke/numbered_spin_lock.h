/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KE_NUMBERED_SPIN_LOCK_H
#define _NTKLOG_KE_NUMBERED_SPIN_LOCK_H

int ke_numbered_spin_lock_init(void);
void ke_numbered_spin_lock_exit(void);

#endif /* _NTKLOG_KE_NUMBERED_SPIN_LOCK_H */
