/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_EACH_CPU_H
#define _NTKLOG_GROUND_EACH_CPU_H

/* Update of per-CPU state that only the CPU itself may write while it is online. */

void ntklog_update_each_cpu(void (*update)(int cpu));

#endif /* _NTKLOG_GROUND_EACH_CPU_H */
