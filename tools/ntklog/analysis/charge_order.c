// SPDX-License-Identifier: GPL-2.0-only
/* Holds in the order of their releases: see charge_order.h. */

#include <stdlib.h>
#include <string.h>

#include <utlist.h>

#include "charge_order.h"

/* Holds that wait for late ones. If there are more, the first one waits no longer. */
#define HOLDS_MAX		0x4000

/* A second has this many of the times for which late records are waited for. */
#define LATE_PER_SECOND		10

/**
 * struct ordered_hold - a hold that waits for late ones
 * @hold: the hold; its stacks are in @frames and @block_frames
 * @frames: copy of charge_hold::frames
 * @block_frames: copy of charge_hold::block_frames
 * @prev: the hold that was released before, or the last one; a free entry has none
 * @next: the hold that was released after it, or the next free entry
 */
struct ordered_hold {
	struct charge_hold hold;
	uint64_t frames[CHARGE_FRAMES];
	uint64_t block_frames[CHARGE_FRAMES];
	struct ordered_hold *prev, *next;
};

/**
 * struct charge_order - the holds that wait for late ones
 * @entries: HOLDS_MAX of them, in @first or in @unused
 * @first: the holds, in the order of their releases
 * @unused: the other entries, and those given out
 * @late_max: how late a record may be, session clock
 * @newest: time stamp of the newest record
 */
struct charge_order {
	struct ordered_hold *entries;
	struct ordered_hold *first;
	struct ordered_hold *unused;
	uint64_t late_max;
	uint64_t newest;
};

/**
 * charge_order_open() - begin to order holds
 * @ticks_per_second: of the session clock
 *
 * Return: the order, to be freed with charge_order_close(), or NULL if there is no memory.
 */
struct charge_order *charge_order_open(uint64_t ticks_per_second)
{
	struct charge_order *order = calloc(1, sizeof(*order));
	size_t i;

	if (!order)
		return NULL;
	order->late_max = ticks_per_second / LATE_PER_SECOND;
	order->entries = calloc(HOLDS_MAX, sizeof(*order->entries));
	if (!order->entries) {
		free(order);
		return NULL;
	}
	for (i = 0; i < HOLDS_MAX; i++)
		LL_PREPEND(order->unused, &order->entries[i]);
	return order;
}

/**
 * charge_order_add() - add a hold
 * @order: charge_order_next() has returned NULL since the last hold was added
 * @hold: the hold; its @logged is not before that of the last one
 */
void charge_order_add(struct charge_order *order, const struct charge_hold *hold)
{
	struct ordered_hold *entry = order->unused;
	struct ordered_hold *before = order->first ? order->first->prev : NULL;

	LL_DELETE(order->unused, entry);
	entry->hold = *hold;
	if (hold->frames)
		entry->hold.frames = memcpy(entry->frames, hold->frames, sizeof(entry->frames));
	if (hold->block_frames)
		entry->hold.block_frames = memcpy(entry->block_frames, hold->block_frames,
						  sizeof(entry->block_frames));
	/* Nearly all holds come in order, so the place is near the end. */
	while (before && before->hold.released > hold->released)
		before = before == order->first ? NULL : before->prev;
	if (before)
		DL_APPEND_ELEM(order->first, before, entry);
	else
		DL_PREPEND(order->first, entry);
	order->newest = hold->logged;
}

/**
 * charge_order_next() - take the first hold, if none that was released before it may come
 * @order: open
 * @all: no hold comes any more
 *
 * Return: the hold, which stays until the next one is added; NULL: there is none.
 */
const struct charge_hold *charge_order_next(struct charge_order *order, bool all)
{
	struct ordered_hold *first = order->first;

	if (!first)
		return NULL;
	if (!all && order->unused && order->newest < order->late_max + first->hold.released)
		return NULL;
	DL_DELETE(order->first, first);
	LL_PREPEND(order->unused, first);
	return &first->hold;
}

/**
 * charge_order_close() - free an order
 * @order: open, or NULL
 */
void charge_order_close(struct charge_order *order)
{
	if (!order)
		return;
	free(order->entries);
	free(order);
}
