// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>
#include <string.h>

#include "longest_waits.h"

/**
 * longest_waits_open() - allocate an empty list of longest waits
 *
 * Return: the waits, to be freed with free(); NULL without memory.
 */
struct longest_waits *longest_waits_open(void)
{
	struct longest_waits *longest = calloc(1, sizeof(*longest));
	size_t i;

	for (i = 0; longest && i < LONGEST_WAITS_MAX; i++)
		longest->waits_by_length[i] = &longest->waits[i];
	return longest;
}

/* Find room for a step, or replace the shortest one. Returns NULL if the new one is not longer. */
static struct longest_step *find_step_slot(struct longest_wait *wait, uint64_t ticks)
{
	struct longest_step *shortest = wait->steps;
	uint64_t dropped;
	size_t i;

	if (wait->step_count < LONGEST_STEPS_MAX)
		return &wait->steps[wait->step_count++];
	for (i = 1; i < LONGEST_STEPS_MAX; i++)
		if (wait->steps[i].piece.ticks < shortest->piece.ticks)
			shortest = &wait->steps[i];
	dropped = shortest->piece.ticks < ticks ? shortest->piece.ticks : ticks;
	wait->other_step_count++;
	wait->other_ticks += dropped;
	return shortest->piece.ticks < ticks ? shortest : NULL;
}

struct step_context {
	struct longest_wait *wait;
	const struct charger *charger;
};

static void keep_step(void *argument, const struct charge_hold *waiter,
		      const struct wait_piece *piece)
{
	struct step_context *step_context = argument;
	struct longest_wait *wait = step_context->wait;
	struct longest_step *step;

	step = find_step_slot(wait, piece->ticks);
	if (!step)
		return;
	memset(step, 0, sizeof(*step));
	step->piece = *piece;
	step->piece.holder = NULL;
	step->piece.absence = NULL;
	if (piece->absence)
		step->preempter_id = piece->absence->preempter_id;
	if (piece->absence && piece->absence->frames)
		memcpy(step->absence_frames, piece->absence->frames,
		       sizeof(step->absence_frames));
	if (!piece->holder)
		return;
	step->has_holder = true;
	step->holder = *piece->holder;
	if (piece->holder->frames)
		memcpy(step->holder_frames, piece->holder->frames, sizeof(step->holder_frames));
	step->holder.block_frames = NULL;
	/* Pieces that sums have made share one time: of these only the blocked one gets a chain. */
	if (piece->part_kind <= CHARGE_HOLDER_BLOCKED &&
	    (piece->part_kind == CHARGE_HOLDER_BLOCKED || piece->until == piece->from +
	     piece->ticks))
		step->link_count = charger_find_chain(step_context->charger, piece, step->links,
						      LONGEST_LINKS_MAX);
	if (piece->part_kind == CHARGE_HOLDER_BLOCKED && !piece->absence && !step->link_count &&
	    piece->holder->block_frames)
		memcpy(step->absence_frames, piece->holder->block_frames,
		       sizeof(step->absence_frames));
}

static int compare_steps(const void *a, const void *b)
{
	const struct wait_piece *left = &((const struct longest_step *)a)->piece;
	const struct wait_piece *right = &((const struct longest_step *)b)->piece;

	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	return (int)left->part_kind - (int)right->part_kind;
}

/**
 * longest_waits_add() - keep a wait if it is one of the longest
 * @longest: the waits
 * @charger: open
 * @waiter: the hold that charger_next_hold() has returned last
 */
void longest_waits_add(struct longest_waits *longest, struct charger *charger,
		       const struct charge_hold *waiter)
{
	struct longest_wait *wait = longest->waits_by_length[LONGEST_WAITS_MAX - 1];
	uint64_t ticks = waiter->acquire_time - waiter->wait_start;
	struct step_context step_context = { .wait = wait, .charger = charger };
	size_t at, i;

	if (ticks <= wait->ticks)
		return;
	for (at = LONGEST_WAITS_MAX - 1; at && ticks > longest->waits_by_length[at -
										1]->ticks; at--)
		longest->waits_by_length[at] = longest->waits_by_length[at - 1];
	longest->waits_by_length[at] = wait;
	wait->ticks = ticks;
	wait->waiter = *waiter;
	memset(wait->waiter_frames, 0, sizeof(wait->waiter_frames));
	if (waiter->frames)
		memcpy(wait->waiter_frames, waiter->frames, sizeof(wait->waiter_frames));
	wait->step_count = 0;
	wait->other_step_count = 0;
	wait->other_ticks = 0;
	charger_repeat_steps(charger, waiter, keep_step, &step_context);
	qsort(wait->steps, wait->step_count, sizeof(*wait->steps), compare_steps);
	/* The steps have their places now: let the holds point to the copies of their stacks. */
	wait->waiter.frames = wait->waiter_frames;
	for (i = 0; i < wait->step_count; i++)
		wait->steps[i].holder.frames = wait->steps[i].holder_frames;
}

/**
 * longest_waits_add_chain() - keep the chain that begins with a piece of a wait if it is longest
 * @longest: the waits
 * @waiter: the hold that followed the wait
 * @piece: time inside a hold of the lock
 * @links: the locks that charger_find_chain() has found for @piece
 * @count: number of @links, from 1 to LONGEST_LINKS_MAX
 *
 * A chain in which a task or a CPU occurs twice is not kept.
 */
void longest_waits_add_chain(struct longest_waits *longest, const struct charge_hold *waiter,
			     const struct wait_piece *piece, const struct chain_link *links,
			     size_t count)
{
	struct longest_chain *kept = &longest->chain;
	uint64_t owner = find_charge_owner(piece->holder);
	size_t i, j;

	if (count + 1 < kept->link_count ||
	    (count + 1 == kept->link_count && piece->ticks <= kept->ticks))
		return;
	for (i = 0; i < count; i++) {
		if (!links[i].has_holder)
			break;
		if (links[i].owner == find_charge_owner(waiter) || links[i].owner == owner)
			return;
		for (j = 0; j < i; j++)
			if (links[j].owner == links[i].owner)
				return;
	}
	kept->from = piece->from;
	kept->ticks = piece->ticks;
	kept->thread_id = waiter->thread_id;
	kept->link_count = count + 1;
	kept->links[0] = (struct chain_link) {
		.class = waiter->class,
		.from = piece->from,
		.ticks = piece->ticks,
		.owner = owner,
		.thread_id = piece->holder->thread_id,
		.has_holder = true,
		.in_softirq = piece->holder->in_softirq,
		.in_interrupt = piece->holder->in_interrupt,
	};
	memcpy(&kept->links[1], links, count * sizeof(*links));
}
