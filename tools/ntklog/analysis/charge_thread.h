/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CHARGE_THREAD_H
#define _NTKLOG_CHARGE_THREAD_H

/*
 * Charging in a thread of its own, so that two CPUs share the work of a report: one reads the
 * events and sums them up by lock, the other charges the waits. Without a thread the functions
 * charge at once.
 */

#include "charge_sums.h"

void charging_thread_start(struct charge_sums *sums);
void charging_thread_add_hold(struct charge_sums *sums, const struct charge_hold *hold);
void charging_thread_add_switch(struct charge_sums *sums, const struct charge_absence *absence,
				uint32_t new_thread_id, uint64_t ready_for);
void charging_thread_join(struct charge_sums *sums);

#endif /* _NTKLOG_CHARGE_THREAD_H */
