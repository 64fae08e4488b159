/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CHARGE_SUMS_H
#define _NTKLOG_CHARGE_SUMS_H

/* Sums of the charged pieces of all waits: by class of lock, by waiter and by holder. */

#include <stdbool.h>
#include <stdint.h>

#include "charge_tables.h"

bool charge_sums_open(struct charge_sums *sums, const struct names *names,
		      enum charge_attribute attribute, uint64_t ticks_per_second);
void charge_sums_add_hold(struct charge_sums *sums, const struct charge_hold *hold);
void charge_sums_flush(struct charge_sums *sums);
void charge_sums_add_switch(struct charge_sums *sums, const struct charge_absence *absence,
			    uint32_t new_thread_id, uint64_t ready_for);
void charge_sums_finish(struct charge_sums *sums);
void charge_sums_free(struct charge_sums *sums);

#endif /* _NTKLOG_CHARGE_SUMS_H */
