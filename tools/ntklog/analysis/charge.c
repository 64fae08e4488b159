// SPDX-License-Identifier: GPL-2.0-only
/* Charging waits to holds: see charge.h. */

#include <stdlib.h>
#include <string.h>

#include "charge.h"
#include "charge_rings.h"

/* Parts of a time: the task ran, was ready without a CPU, and was blocked. */
#define OFF_CPU_PARTS	3

/*
 * Holds that the searches of one kind visit for one wait, divided among the holds that the wait is
 * charged to. Otherwise a wait for thousands of holds, each of which looks back over all newer
 * records of its task, takes a second. A search in a wait for a few holds visits all that are kept.
 */
#define VISITS_MAX		(4 * CHARGE_KEPT_MAX)

/* @number less the number of @link's hold; 0: the ring has lost that hold, or there is none. */
static int32_t distance_from(const struct charges *charges, uint64_t link, uint64_t number)
{
	return hold_at(charges, link) ? (int32_t)(number + 1 - link) : 0;
}

/**
 * charges_open() - begin charging waits
 * @callback: gets each piece of each wait, from charges_charge_wait()
 * @argument: for @callback
 * @ticks_per_second: of the session clock
 *
 * Return: the state, to be freed with charges_close(), or NULL if there is no memory.
 */
struct charges *charges_open(charge_callback callback, void *argument,
			     uint64_t ticks_per_second)
{
	struct charges *charges = calloc(1, sizeof(*charges));

	if (!charges)
		return NULL;
	charges->holds = calloc(CHARGE_KEPT_MAX, sizeof(*charges->holds));
	charges->hold_frames = calloc(CHARGE_KEPT_MAX, sizeof(*charges->hold_frames));
	charges->block_frames = calloc(CHARGE_KEPT_MAX, sizeof(*charges->block_frames));
	charges->absences = calloc(CHARGE_KEPT_MAX, sizeof(*charges->absences));
	charges->absence_frames = calloc(CHARGE_KEPT_MAX, sizeof(*charges->absence_frames));
	charge_order_init(&charges->order, ticks_per_second);
	charges->callback = callback;
	charges->argument = argument;
	if (charges->holds && charges->hold_frames && charges->block_frames && charges->absences &&
	    charges->absence_frames)
		return charges;
	charges_close(charges);
	return NULL;
}

/* Holds of other owners in a bucket that are passed in search of one owner's newest hold. */
#define BUCKET_VISITS_MAX	8

/*
 * Whether it is known when the task had no CPU during a hold and the wait before it. A task that
 * spins for a lock, or holds a spin lock, is not switched out.
 */
static bool off_cpu_times_are_known(const struct charges *charges, const struct charge_hold *hold)
{
	return !hold->is_sleeping || charges->absence_count || hold->has_off_cpu;
}

/*
 * Whether the known context switches of the task lack more than a quarter of @sum, its time without
 * a CPU: switches may be lost, overwritten, or before --from. Otherwise the switches divide the
 * time, because they also tell when the task had no CPU. The two clocks differ a little.
 */
static bool switches_are_missing(const struct charges *charges, const struct charge_hold *hold,
				 uint64_t from, uint64_t until, uint64_t sum)
{
	const struct charge_absence *absence = NULL;
	uint64_t known = 0;

	while (sum && until > from) {
		uint64_t begin;

		absence = charges_last_absence(charges, absence, hold->thread_id, until);
		if (!absence || absence->until <= from)
			break;
		begin = max_u64(absence->from, from);
		known += min_u64(absence->until, until) - begin;
		until = begin;
	}
	return known < sum - sum / 4;
}

/*
 * Choose whether the sums in the record or the context switches divide the hold, and the wait. All
 * context switches before the release have been added.
 */
static void choose_sums_or_switches(const struct charges *charges, struct charge_hold *hold)
{
	hold->hold_uses_sums = hold->has_off_cpu &&
			       switches_are_missing(charges, hold, hold->acquire_time,
						    hold->release_time,
						    hold->ready_ticks + hold->blocked_ticks);
	hold->wait_uses_sums = hold->has_off_cpu &&
			       switches_are_missing(charges, hold, hold->wait_start,
						    hold->acquire_time,
						    hold->ready_ticks_at_end +
						    hold->wait_blocked_ticks);
}

static void emit_piece(struct charges *charges, const struct charge_hold *waiter,
		       const struct charge_hold *holder, const struct charge_absence *absence,
		       enum charge_part part, uint64_t from, uint64_t ticks)
{
	const struct charge_piece piece = {
		.part = part,
		.from = from,
		.ticks = ticks,
		.until = from + ticks,
		.is_divided = holder && off_cpu_times_are_known(charges, holder),
		.holder = holder,
		.absence = absence,
	};

	if (ticks)
		charges->callback(charges->argument, waiter, &piece);
}

/* Emit the three @parts of a time of which only their sums, @ticks, are known. */
static void emit_parts(struct charges *charges, const struct charge_hold *waiter,
		       const struct charge_hold *task, uint64_t from, uint64_t until,
		       const enum charge_part *parts, const uint64_t *ticks)
{
	size_t i;

	for (i = 0; i < OFF_CPU_PARTS; i++) {
		const struct charge_piece piece = {
			.part = parts[i],
			.from = from,
			.ticks = ticks[i],
			.until = until,
			.is_divided = true,
			.holder = task,
		};

		if (ticks[i])
			charges->callback(charges->argument, waiter, &piece);
	}
}

/* The part of @sum that belongs to @ticks of @all, in proportion; at most @most. */
static uint64_t part_of_sum(uint64_t sum, uint64_t ticks, uint64_t all, uint64_t most)
{
	double part = (double)sum * ((double)ticks / (double)all);

	if (ticks == all)
		return min_u64(sum, most);
	return part < (double)most ? (uint64_t)part : most;
}

/* Divide a time of a hold by the sums of the hold. */
static void divide_hold_by_sums(struct charges *charges, const struct charge_hold *waiter,
				const struct charge_hold *hold, uint64_t from, uint64_t until)
{
	static const enum charge_part parts[OFF_CPU_PARTS] = {
		CHARGE_HOLDER_RAN, CHARGE_HOLDER_PREEMPTED, CHARGE_HOLDER_BLOCKED,
	};
	uint64_t held = hold->release_time - hold->acquire_time, ticks = until - from;
	uint64_t blocked = part_of_sum(hold->blocked_ticks, ticks, held, ticks);
	uint64_t ready = part_of_sum(hold->ready_ticks, ticks, held, ticks - blocked);

	emit_parts(charges, waiter, hold, from, until, parts,
		   (const uint64_t []) { ticks - blocked - ready, ready, blocked });
}

/*
 * Divide the time from @from to the end of the next owner's wait by the sums of that wait. The
 * owner was ready just before it took the lock, and blocked before that.
 */
static void divide_free_time_by_sums(struct charges *charges, const struct charge_hold *waiter,
				     const struct charge_hold *owner, uint64_t from, uint64_t until)
{
	static const enum charge_part parts[OFF_CPU_PARTS] = {
		CHARGE_FREE_SPINNING, CHARGE_FREE_READY, CHARGE_FREE_ASLEEP,
	};
	uint64_t ticks = until - from;
	uint64_t ready = min_u64(owner->ready_ticks_at_end, ticks);
	uint64_t asleep = min_u64(owner->wait_blocked_ticks, ticks - ready);

	emit_parts(charges, waiter, owner, from, until, parts,
		   (const uint64_t []) { ticks - asleep - ready, ready, asleep });
}

/* Split a piece into the times in which @task ran, was ready and slept; the last one first. */
static void divide_by_switches(struct charges *charges, const struct charge_hold *waiter,
			       const struct charge_hold *task, uint64_t from, uint64_t until,
			       enum charge_part asleep, enum charge_part ready,
			       enum charge_part running)
{
	const struct charge_absence *absence = NULL;
	uint64_t ran = 0;

	while (task->is_sleeping && until > from) {
		uint64_t begin, end, ready_from;

		absence = charges_last_absence(charges, absence, task->thread_id, until);
		if (!absence || absence->until <= from)
			break;
		begin = max_u64(absence->from, from);
		end = min_u64(absence->until, until);
		ready_from = min_u64(max_u64(absence->ready_from, begin), end);
		if (charges->emits_runs)
			emit_piece(charges, waiter, task, NULL, running, end, until - end);
		else
			ran += until - end;
		emit_piece(charges, waiter, task, absence, ready, ready_from, end - ready_from);
		emit_piece(charges, waiter, task, absence, asleep, begin, ready_from - begin);
		until = begin;
	}
	emit_piece(charges, waiter, task, NULL, running, from, ran + (until - from));
}

static int compare_acquire_times(const void *a, const void *b)
{
	const struct charge_hold *left = *(const struct charge_hold *const *)a;
	const struct charge_hold *right = *(const struct charge_hold *const *)b;

	if (left->acquire_time != right->acquire_time)
		return left->acquire_time < right->acquire_time ? -1 : 1;
	return (left->release_time > right->release_time) -
	       (left->release_time < right->release_time);
}

/* The recorded holds that overlap a wait, in the order of their acquisition. */
static size_t find_overlapping_holds(struct charges *charges, const struct charge_hold *waiter)
{
	uint64_t link = charges->lock_heads[ring_bucket(waiter->lock)];
	const struct charge_hold *hold;
	size_t count = 0;

	/* Holds are linked in the order of their releases, unless a record is very late. */
	for (; (hold = hold_at(charges, link)) && hold->release_time > waiter->wait_start &&
	     count < CHARGE_OVERLAPS_MAX; link = older_link(link, hold->lock_list_distance))
		if (hold->lock == waiter->lock && hold->is_sleeping == waiter->is_sleeping &&
		    hold->acquire_time < waiter->acquire_time &&
		    (hold->release_time > hold->acquire_time || hold->start_unknown))
			charges->overlaps[count++] = hold;
	qsort(charges->overlaps, count, sizeof(*charges->overlaps), compare_acquire_times);
	return count;
}

/*
 * Charge the time from a release, or from the begin of the wait, until @owner acquires the lock.
 * The part before @owner waits counts as overtaken, or as unknown if no recorded hold precedes it.
 * The rest counts as handed over.
 */
static void charge_free_time(struct charges *charges, const struct charge_hold *waiter,
			     const struct charge_hold *owner, uint64_t from, uint64_t until,
			     bool after_hold)
{
	uint64_t waits_from = min_u64(max_u64(owner->wait_start, from), until);

	if (waits_from > from)
		emit_piece(charges, waiter, after_hold ? owner : NULL, NULL,
			   after_hold ? CHARGE_OVERTAKEN : CHARGE_UNKNOWN, from, waits_from - from);
	if (owner->wait_uses_sums)
		divide_free_time_by_sums(charges, waiter, owner, waits_from, until);
	else
		divide_by_switches(charges, waiter, owner, waits_from, until, CHARGE_FREE_ASLEEP,
				   CHARGE_FREE_READY, CHARGE_FREE_SPINNING);
}

/*
 * Whether the hold has no time stamp of its acquisition, or one that came late. A waiter of a
 * queued spin lock enters the lock's word when its wait begins, and such a word prevents an
 * acquisition without a wait. So if the owner did not wait, but left a waiter, it acquired the lock
 * before the waiter came. An interrupt, or a hypervisor that stopped the virtual CPU, may come
 * between an acquisition and its time stamp. A waiter of an rwlock enters the word only at the head
 * of the queue, so an owner that left one may have come later.
 */
static bool hold_began_earlier(const struct charge_hold *hold)
{
	return hold->start_unknown || (hold->left_waiter && hold->wait_start == hold->acquire_time);
}

static void charge_wait(struct charges *charges, const struct charge_hold *waiter)
{
	uint64_t at = waiter->wait_start;
	size_t count = find_overlapping_holds(charges, waiter), i;

	charges->visits_max = VISITS_MAX / max_u64(count, 1);
	for (i = 0; i < count; i++) {
		const struct charge_hold *hold = charges->overlaps[i];
		uint64_t begin = hold_began_earlier(hold) ? at :
				 max_u64(hold->acquire_time, waiter->wait_start);
		uint64_t end = min_u64(hold->release_time, waiter->acquire_time);

		if (begin > at) {
			charge_free_time(charges, waiter, hold, at, begin, i);
			at = begin;
		}
		if (end > at) {
			if (hold->hold_uses_sums)
				divide_hold_by_sums(charges, waiter, hold, at, end);
			else
				divide_by_switches(charges, waiter, hold, at, end,
						   CHARGE_HOLDER_BLOCKED, CHARGE_HOLDER_PREEMPTED,
						   CHARGE_HOLDER_RAN);
			at = end;
		}
	}
	if (at == waiter->acquire_time)
		return;
	if (count)
		charge_free_time(charges, waiter, waiter, at, waiter->acquire_time, true);
	else
		emit_piece(charges, waiter, NULL, NULL, CHARGE_UNKNOWN, at,
			   waiter->acquire_time - at);
}

/**
 * charges_add_hold() - add the record of a hold, for charges_next_hold()
 * @charges: open; charges_next_hold() has returned NULL since the last hold was added
 * @hold: the hold; its @log_time is not before that of the last one; its links, @has_inner_wait,
 *	@hold_uses_sums and @wait_uses_sums are not used
 */
void charges_add_hold(struct charges *charges, const struct charge_hold *hold)
{
	size_t at = charges->hold_count % CHARGE_KEPT_MAX;
	struct charge_hold *kept = &charges->holds[at];

	*kept = *hold;
	if (hold->frames)
		kept->frames = memcpy(charges->hold_frames[at], hold->frames,
				      sizeof(*charges->hold_frames));
	if (hold->block_frames)
		kept->block_frames = memcpy(charges->block_frames[at], hold->block_frames,
					    sizeof(*charges->block_frames));
	charge_order_add(&charges->order, hold->release_time, hold->log_time,
			 charges->hold_count++);
}

/**
 * charges_next_hold() - take the added hold that was released first, and link it
 * @charges: open
 * @all: take also a hold that others may precede whose records are late
 *
 * Return: the hold, which stays until CHARGE_ORDER_MAX newer holds were added; NULL: there is none.
 */
const struct charge_hold *charges_next_hold(struct charges *charges, bool all)
{
	struct charge_hold *hold;
	uint64_t *of_lock, number;

	if (!charge_order_next(&charges->order, all, &number))
		return NULL;
	hold = &charges->holds[number % CHARGE_KEPT_MAX];
	choose_sums_or_switches(charges, hold);
	of_lock = &charges->lock_heads[ring_bucket(hold->lock)];
	hold->lock_list_distance = distance_from(charges, *of_lock, number);
	*of_lock = number + 1;
	if (!hold->is_sleeping || hold->acquire_time > hold->wait_start) {
		uint64_t *of_owner = &charges->wait_heads[ring_bucket(charge_owner(hold))];
		const struct charge_hold *inner = hold_at(charges, *of_owner);
		uint64_t link = *of_owner;
		size_t visits;

		hold->older_wait = inner ? number + 1 - *of_owner : 0;
		/* The bucket may have holds of other owners. */
		for (visits = 0; inner && charge_owner(inner) != charge_owner(hold); visits++) {
			link = older_link(link, inner->older_wait);
			inner = visits < BUCKET_VISITS_MAX ? hold_at(charges, link) : NULL;
		}
		hold->has_inner_wait = !hold->is_sleeping && !hold->start_unknown && inner &&
				       inner->acquire_time > hold->acquire_time;
		if (hold->acquire_time > hold->wait_start)
			*of_owner = number + 1;
	}
	return hold;
}

/**
 * charges_charge_wait() - charge the wait before a hold
 * @charges: open
 * @hold: the hold that charges_next_hold() has returned
 */
void charges_charge_wait(struct charges *charges, const struct charge_hold *hold)
{
	if (hold->weight && hold->acquire_time > hold->wait_start)
		charge_wait(charges, hold);
}

/**
 * charges_tell_steps() - tell again what a wait is charged to, each piece by itself
 * @charges: open
 * @waiter: the hold that charges_next_hold() has returned last
 * @callback: gets each piece, not in the order of time
 * @argument: for @callback
 */
void charges_tell_steps(struct charges *charges, const struct charge_hold *waiter,
			charge_callback callback, void *argument)
{
	charge_callback usual_callback = charges->callback;
	void *usual_argument = charges->argument;

	charges->callback = callback;
	charges->argument = argument;
	charges->emits_runs = true;
	charge_wait(charges, waiter);
	charges->callback = usual_callback;
	charges->argument = usual_argument;
	charges->emits_runs = false;
}

/**
 * charges_switch_out() - a task loses its CPU
 * @charges: open
 * @absence: the time that begins. @until and @older_link are not used. @ready_from equals @from if
 *	the task is preempted, and is UINT64_MAX if it blocks
 */
void charges_switch_out(struct charges *charges, const struct charge_absence *absence)
{
	uint64_t *head = &charges->absence_heads[ring_bucket(absence->thread_id)];
	size_t at = charges->absence_count % CHARGE_KEPT_MAX;
	struct charge_absence *kept = &charges->absences[at];

	*kept = *absence;
	if (absence->frames)
		kept->frames = memcpy(charges->absence_frames[at], absence->frames,
				      sizeof(*charges->absence_frames));
	kept->until = UINT64_MAX;
	kept->older_link = *head;
	charges->absence_count++;
	*head = charges->absence_count;
}

/**
 * charges_switch_in() - a task gets a CPU
 * @charges: open
 * @thread_id: the task
 * @time: session clock
 * @ready_for: how long the task has been ready to run, session clock; 0: not known
 */
void charges_switch_in(struct charges *charges, uint32_t thread_id, uint64_t time,
		       uint64_t ready_for)
{
	struct charge_absence *absence;

	absence = absence_at(charges, charges->absence_heads[ring_bucket(thread_id)]);
	while (absence && absence->thread_id != thread_id)
		absence = absence_at(charges, absence->older_link);
	if (!absence || absence->until != UINT64_MAX)
		return;
	absence->until = time;
	if (absence->ready_from == UINT64_MAX)
		absence->ready_from = ready_for < time - absence->from ? time - ready_for :
									 absence->from;
}

/**
 * charges_close() - free what charging uses
 * @charges: open
 */
void charges_close(struct charges *charges)
{
	free(charges->holds);
	free(charges->hold_frames);
	free(charges->block_frames);
	free(charges->absences);
	free(charges->absence_frames);
	free(charges);
}
