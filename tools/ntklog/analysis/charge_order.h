/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CHARGE_ORDER_H
#define _NTKLOG_CHARGE_ORDER_H

/*
 * Holds in the order of their releases. A record is written after the release, without the lock. If
 * an interrupt comes in between, or a hypervisor stops the virtual CPU, the record arrives after
 * those of tasks that have got the lock since.
 */

#include <stdbool.h>
#include <stdint.h>

#include "charge_hold.h"

struct charge_order;

struct charge_order *charge_order_open(uint64_t ticks_per_second);
void charge_order_add(struct charge_order *order, const struct charge_hold *hold);
const struct charge_hold *charge_order_next(struct charge_order *order, bool all);
void charge_order_close(struct charge_order *order);

#endif /* _NTKLOG_CHARGE_ORDER_H */
