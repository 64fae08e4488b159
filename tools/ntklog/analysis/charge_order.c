// SPDX-License-Identifier: GPL-2.0-only
/* Holds in the order of their releases: see charge_order.h. */

#include "charge_order.h"

/**
 * charge_order_init() - begin to order holds
 * @order: all zero
 * @ticks_per_second: of the session clock
 */
void charge_order_init(struct charge_order *order, uint64_t ticks_per_second)
{
	order->late_ticks_max = ticks_per_second / CHARGE_LATE_PER_SECOND;
}

/**
 * charge_order_add() - add a hold
 * @order: charge_order_next() has returned false since the last hold was added
 * @released: when the hold ended
 * @logged: time stamp of the record, not before that of the last one
 * @number: of the hold, one more than that of the last one
 */
void charge_order_add(struct charge_order *order, uint64_t released, uint64_t logged,
		      uint64_t number)
{
	uint64_t at = order->taken_count + order->count;

	/* Nearly all holds come in order, so the place is near the end. */
	for (; at > order->taken_count; at--) {
		uint64_t before = (at - 1) % CHARGE_ORDER_MAX;

		if (order->queue[before].released <= released ||
		    number - order->queue[before].number > CHARGE_ORDER_MAX)
			break;
		order->queue[at % CHARGE_ORDER_MAX] = order->queue[before];
	}
	order->queue[at % CHARGE_ORDER_MAX].released = released;
	order->queue[at % CHARGE_ORDER_MAX].number = number;
	order->count++;
	order->newest_time = logged;
}

/**
 * charge_order_next() - take the first hold, if none that was released before it may come
 * @order: the order
 * @all: no hold comes any more
 * @number: set to the number of the hold
 *
 * Fewer than 3 * CHARGE_ORDER_MAX newer holds have been added.
 *
 * Return: false if there is none.
 */
bool charge_order_next(struct charge_order *order, bool all, uint64_t *number)
{
	uint64_t at = order->taken_count % CHARGE_ORDER_MAX;

	if (!order->count)
		return false;
	if (!all && order->count < CHARGE_ORDER_MAX &&
	    order->newest_time < order->late_ticks_max + order->queue[at].released)
		return false;
	*number = order->queue[at].number;
	order->taken_count++;
	order->count--;
	return true;
}
