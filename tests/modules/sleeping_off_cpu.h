/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _SLEEPING_OFF_CPU_H
#define _SLEEPING_OFF_CPU_H

/*
 * Holders and waiters of mutexes that have no CPU.
 */

void hold_off_cpu(void);

#endif /* _SLEEPING_OFF_CPU_H */
