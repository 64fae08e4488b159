// SPDX-License-Identifier: GPL-2.0-only
/* Charging waits to holds: see charge.h. */

#include <stdlib.h>
#include <string.h>

#include "charge.h"
#include "charge_rings.h"

/* Parts of a time: the task ran, was ready without a CPU, and was blocked. */
#define OFF_CPU_PARTS	3

/*
 * Holds that the searches for one link of a chain visit for one wait, divided among the holds that
 * the wait is charged to. Otherwise a wait for thousands of holds, each of which looks back over
 * all newer records of its task, takes a second. A search in a wait for a few holds may visit all
 * that are kept. The one for the waits during a hold of a spin lock visits fewer: see
 * NESTED_VISITS_MAX.
 */
#define VISITS_MAX		(4 * CHARGE_KEPT_MAX)

/* Return @number less the number of @link's hold; 0: the ring has lost it, or there is none. */
static int32_t link_distance(const struct charger *charger, uint64_t link, uint64_t number)
{
	return hold_at(charger, link) ? (int32_t)(number + 1 - link) : 0;
}

/**
 * charger_open() - begin charging waits
 * @callback: gets each piece of each wait, from charger_charge_wait()
 * @argument: for @callback
 * @ticks_per_second: of the session clock
 *
 * Return: the state, to be freed with charger_close(), or NULL if there is no memory.
 */
struct charger *charger_open(charge_callback callback, void *argument,
			     uint64_t ticks_per_second)
{
	struct charger *charger = calloc(1, sizeof(*charger));

	if (!charger)
		return NULL;
	charger->holds = calloc(CHARGE_KEPT_MAX, sizeof(*charger->holds));
	charger->hold_frames = calloc(CHARGE_KEPT_MAX, sizeof(*charger->hold_frames));
	charger->block_frames = calloc(CHARGE_KEPT_MAX, sizeof(*charger->block_frames));
	charger->absences = calloc(CHARGE_KEPT_MAX, sizeof(*charger->absences));
	charger->absence_frames = calloc(CHARGE_KEPT_MAX, sizeof(*charger->absence_frames));
	release_sorter_init(&charger->sorter, ticks_per_second);
	charger->callback = callback;
	charger->argument = argument;
	if (charger->holds && charger->hold_frames && charger->block_frames && charger->absences &&
	    charger->absence_frames)
		return charger;
	charger_close(charger);
	return NULL;
}

/* Holds of other owners in a bucket that are passed in search of one owner's newest hold. */
#define BUCKET_VISITS_MAX	8

/*
 * Test whether the file tells of times without a CPU: it has context switches, though some of this
 * task's may be missing, or the record has sums. A task that spins for a lock, or holds a spin
 * lock, is not switched out.
 */
static bool off_cpu_times_are_known(const struct charger *charger, const struct charge_hold *hold)
{
	return !hold->is_sleeping_lock || charger->absence_count || hold->has_off_cpu_times;
}

/*
 * Test whether the known context switches of the task lack more than a quarter of @sum, its time
 * without a CPU: switches may be lost, overwritten, or before --from. Otherwise the switches divide
 * the time, because they also tell when the task had no CPU. The two clocks differ a little.
 */
static bool switches_are_missing(const struct charger *charger, const struct charge_hold *hold,
				 uint64_t from, uint64_t until, uint64_t sum)
{
	const struct charge_absence *absence = NULL;
	uint64_t known_ticks = 0;

	while (sum && until > from) {
		uint64_t begin;

		absence = charger_find_last_absence(charger, absence, hold->thread_id, until);
		if (!absence || absence->until <= from)
			break;
		begin = max_u64(absence->from, from);
		known_ticks += min_u64(absence->until, until) - begin;
		until = begin;
	}
	return known_ticks < sum - sum / 4;
}

/*
 * Choose whether the sums in the record or the context switches divide the hold, and the wait. All
 * context switches before the release have been added.
 */
static void choose_sums_or_switches(const struct charger *charger, struct charge_hold *hold)
{
	hold->hold_uses_sums = hold->has_off_cpu_times &&
			       switches_are_missing(charger, hold, hold->acquire_time,
						    hold->release_time,
						    hold->ready_ticks + hold->blocked_ticks);
	hold->wait_uses_sums = hold->has_off_cpu_times &&
			       switches_are_missing(charger, hold, hold->wait_start,
						    hold->acquire_time,
						    hold->ready_ticks_at_end +
						    hold->blocked_ticks_in_wait);
}

static void emit_piece(struct charger *charger, const struct charge_hold *waiter,
		       const struct charge_hold *holder, const struct charge_absence *absence,
		       enum charge_part_kind part, uint64_t from, uint64_t ticks)
{
	const struct wait_piece piece = {
		.part_kind = part,
		.from = from,
		.ticks = ticks,
		.until = from + ticks,
		.state_is_known = holder && off_cpu_times_are_known(charger, holder),
		.holder = holder,
		.absence = absence,
	};

	if (ticks)
		charger->callback(charger->argument, waiter, &piece);
}

/* Emit the three @part_kinds of a time of which only their sums, @ticks, are known. */
static void emit_parts(struct charger *charger, const struct charge_hold *waiter,
		       const struct charge_hold *task, uint64_t from, uint64_t until,
		       const enum charge_part_kind *part_kinds, const uint64_t *ticks)
{
	size_t i;

	for (i = 0; i < OFF_CPU_PARTS; i++) {
		const struct wait_piece piece = {
			.part_kind = part_kinds[i],
			.from = from,
			.ticks = ticks[i],
			.until = until,
			.state_is_known = true,
			.holder = task,
		};

		if (ticks[i])
			charger->callback(charger->argument, waiter, &piece);
	}
}

/* Return the part of @sum that belongs to @ticks of @all_ticks, in proportion; at most @limit. */
static uint64_t scale_sum(uint64_t sum, uint64_t ticks, uint64_t all_ticks, uint64_t limit)
{
	double part = (double)sum * ((double)ticks / (double)all_ticks);

	if (ticks == all_ticks)
		return min_u64(sum, limit);
	return part < (double)limit ? (uint64_t)part : limit;
}

/* Divide a time of a hold by the sums of the hold. */
static void divide_hold_by_sums(struct charger *charger, const struct charge_hold *waiter,
				const struct charge_hold *hold, uint64_t from, uint64_t until)
{
	static const enum charge_part_kind part_kinds[OFF_CPU_PARTS] = {
		CHARGE_HOLDER_RAN, CHARGE_HOLDER_PREEMPTED, CHARGE_HOLDER_BLOCKED,
	};
	uint64_t held = hold->release_time - hold->acquire_time, ticks = until - from;
	uint64_t blocked = scale_sum(hold->blocked_ticks, ticks, held, ticks);
	uint64_t ready_ticks = scale_sum(hold->ready_ticks, ticks, held, ticks - blocked);

	emit_parts(charger, waiter, hold, from, until, part_kinds,
		   (const uint64_t []) { ticks - blocked - ready_ticks, ready_ticks, blocked });
}

/*
 * Divide the time from @from to the end of the next owner's wait by the sums of that wait. The
 * owner was ready just before it took the lock, and blocked before that.
 */
static void divide_free_time_by_sums(struct charger *charger, const struct charge_hold *waiter,
				     const struct charge_hold *owner, uint64_t from, uint64_t until)
{
	static const enum charge_part_kind part_kinds[OFF_CPU_PARTS] = {
		CHARGE_FREE_SPINNING, CHARGE_FREE_READY, CHARGE_FREE_ASLEEP,
	};
	uint64_t ticks = until - from;
	uint64_t ready_ticks = min_u64(owner->ready_ticks_at_end, ticks);
	uint64_t asleep_ticks = min_u64(owner->blocked_ticks_in_wait, ticks - ready_ticks);

	emit_parts(charger, waiter, owner, from, until, part_kinds,
		   (const uint64_t []) { ticks - asleep_ticks - ready_ticks, ready_ticks,
					 asleep_ticks });
}

/* Split a piece into the times in which @task ran, was ready and slept; the last one first. */
static void divide_by_switches(struct charger *charger, const struct charge_hold *waiter,
			       const struct charge_hold *task, uint64_t from, uint64_t until,
			       enum charge_part_kind asleep_kind,
			       enum charge_part_kind ready_kind, enum charge_part_kind ran_kind)
{
	const struct charge_absence *absence = NULL;
	uint64_t ran_ticks = 0;

	while (task->is_sleeping_lock && until > from) {
		uint64_t begin, end, ready_from;

		absence = charger_find_last_absence(charger, absence, task->thread_id, until);
		if (!absence || absence->until <= from)
			break;
		begin = max_u64(absence->from, from);
		end = min_u64(absence->until, until);
		ready_from = min_u64(max_u64(absence->ready_from, begin), end);
		if (charger->emits_runs)
			emit_piece(charger, waiter, task, NULL, ran_kind, end, until - end);
		else
			ran_ticks += until - end;
		emit_piece(charger, waiter, task, absence, ready_kind, ready_from, end -
			   ready_from);
		emit_piece(charger, waiter, task, absence, asleep_kind, begin, ready_from - begin);
		until = begin;
	}
	emit_piece(charger, waiter, task, NULL, ran_kind, from, ran_ticks + (until - from));
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

/*
 * Sort holds that are in the opposite order of their releases. Unless readers overlap, that is also
 * the opposite order of their acquisitions.
 */
static void sort_by_acquire_time(const struct charge_hold **holds, size_t count)
{
	size_t i;

	for (i = 1; i < count && holds[i]->acquire_time < holds[i - 1]->acquire_time; i++)
		;
	if (i >= count) {
		for (i = 0; i < count / 2; i++) {
			const struct charge_hold *hold = holds[i];

			holds[i] = holds[count - 1 - i];
			holds[count - 1 - i] = hold;
		}
		return;
	}
	qsort(holds, count, sizeof(*holds), compare_acquire_times);
}

/* Find the recorded holds that overlap a wait, in the order of their acquisition. */
static size_t find_overlapping_holds(struct charger *charger, const struct charge_hold *waiter)
{
	uint64_t link = charger->lock_heads[bucket_of_key(waiter->lock)];
	const struct charge_hold *hold;
	size_t count = 0;

	/* Holds are linked in the order of their releases, unless a record is very late. */
	for (; (hold = hold_at(charger, link)) && hold->release_time > waiter->wait_start &&
	     count < CHARGE_OVERLAPS_MAX; link = find_older_link(link, hold->older_hold_distance))
		if (hold->lock == waiter->lock &&
		    hold->is_sleeping_lock == waiter->is_sleeping_lock &&
		    hold->acquire_time < waiter->acquire_time &&
		    (hold->release_time > hold->acquire_time || hold->start_is_unknown))
			charger->overlaps[count++] = hold;
	sort_by_acquire_time(charger->overlaps, count);
	return count;
}

/*
 * Charge the time from a release, or from the begin of the wait, until @owner acquires the lock.
 * The part before @owner waits counts as overtaken, or as unknown if no recorded hold precedes it.
 * The rest counts as handed over.
 */
static void charge_free_time(struct charger *charger, const struct charge_hold *waiter,
			     const struct charge_hold *owner, uint64_t from, uint64_t until,
			     bool follows_hold)
{
	uint64_t wait_begin = min_u64(max_u64(owner->wait_start, from), until);

	if (wait_begin > from)
		emit_piece(charger, waiter, follows_hold ? owner : NULL, NULL,
			   follows_hold ? CHARGE_OVERTAKEN : CHARGE_UNKNOWN, from,
			   wait_begin - from);
	if (owner->wait_uses_sums)
		divide_free_time_by_sums(charger, waiter, owner, wait_begin, until);
	else
		divide_by_switches(charger, waiter, owner, wait_begin, until, CHARGE_FREE_ASLEEP,
				   CHARGE_FREE_READY, CHARGE_FREE_SPINNING);
}

/*
 * Test whether the hold has no time stamp of its acquisition, or one that came late. A waiter of a
 * queued spin lock enters the lock's word when its wait begins, and such a word prevents an
 * acquisition without a wait. So if the owner did not wait, but left a waiter, it acquired the lock
 * before the waiter came. An interrupt, or a hypervisor that stopped the virtual CPU, may come
 * between an acquisition and its time stamp. A waiter of an rwlock enters the word only at the head
 * of the queue, so an owner that left one may have come later.
 */
static bool hold_began_earlier(const struct charge_hold *hold)
{
	return hold->start_is_unknown || (hold->release_left_waiter &&
					  hold->wait_start == hold->acquire_time);
}

static void charge_wait(struct charger *charger, const struct charge_hold *waiter)
{
	uint64_t at = waiter->wait_start;
	size_t count = find_overlapping_holds(charger, waiter), i;

	charger->visits_max = VISITS_MAX / max_u64(count, 1);
	for (i = 0; i < count; i++) {
		const struct charge_hold *hold = charger->overlaps[i];
		uint64_t begin = hold_began_earlier(hold) ? at :
				 max_u64(hold->acquire_time, waiter->wait_start);
		uint64_t end = min_u64(hold->release_time, waiter->acquire_time);

		if (begin > at) {
			charge_free_time(charger, waiter, hold, at, begin, i);
			at = begin;
		}
		if (end > at) {
			if (hold->hold_uses_sums)
				divide_hold_by_sums(charger, waiter, hold, at, end);
			else
				divide_by_switches(charger, waiter, hold, at, end,
						   CHARGE_HOLDER_BLOCKED, CHARGE_HOLDER_PREEMPTED,
						   CHARGE_HOLDER_RAN);
			at = end;
		}
	}
	if (at == waiter->acquire_time)
		return;
	if (count)
		charge_free_time(charger, waiter, waiter, at, waiter->acquire_time, true);
	else
		emit_piece(charger, waiter, NULL, NULL, CHARGE_UNKNOWN, at,
			   waiter->acquire_time - at);
}

/**
 * charger_add_hold() - add the record of a hold, for charger_next_hold()
 * @charger: open; charger_next_hold() has returned NULL since the last hold was added
 * @hold: the hold; its @log_time is not before that of the last one; its links, @has_inner_wait,
 *	@hold_uses_sums and @wait_uses_sums are not used
 */
void charger_add_hold(struct charger *charger, const struct charge_hold *hold)
{
	size_t at = charger->hold_count % CHARGE_KEPT_MAX;
	struct charge_hold *kept = &charger->holds[at];

	*kept = *hold;
	if (hold->frames)
		kept->frames = memcpy(charger->hold_frames[at], hold->frames,
				      sizeof(*charger->hold_frames));
	if (hold->block_frames)
		kept->block_frames = memcpy(charger->block_frames[at], hold->block_frames,
					    sizeof(*charger->block_frames));
	release_sorter_add(&charger->sorter, hold->release_time, hold->log_time,
			   charger->hold_count++);
}

/**
 * charger_next_hold() - take the added hold that was released first, and link it
 * @charger: open
 * @takes_all: take also a hold that others may precede whose records are late
 *
 * Return: the hold, which stays until RELEASE_SORTER_MAX newer holds were added; NULL: there is
 * none.
 */
const struct charge_hold *charger_next_hold(struct charger *charger, bool takes_all)
{
	struct charge_hold *hold;
	uint64_t *lock_head, number;

	if (!release_sorter_next(&charger->sorter, takes_all, &number))
		return NULL;
	hold = &charger->holds[number % CHARGE_KEPT_MAX];
	choose_sums_or_switches(charger, hold);
	lock_head = &charger->lock_heads[bucket_of_key(hold->lock)];
	hold->older_hold_distance = link_distance(charger, *lock_head, number);
	*lock_head = number + 1;
	if (!hold->is_sleeping_lock || hold->acquire_time > hold->wait_start) {
		uint64_t *wait_head = &charger->wait_heads[bucket_of_key(find_charge_owner(hold))];
		const struct charge_hold *inner_wait = hold_at(charger, *wait_head);
		uint64_t link = *wait_head;
		size_t visits;

		hold->older_wait_distance = inner_wait ? number + 1 - *wait_head : 0;
		/* The bucket may have holds of other owners. */
		for (visits = 0; inner_wait &&
		     find_charge_owner(inner_wait) != find_charge_owner(hold); visits++) {
			link = find_older_link(link, inner_wait->older_wait_distance);
			inner_wait = visits < BUCKET_VISITS_MAX ? hold_at(charger, link) : NULL;
		}
		hold->has_inner_wait =
			!hold->is_sleeping_lock && !hold->start_is_unknown && inner_wait &&
				       inner_wait->acquire_time > hold->acquire_time;
		if (hold->acquire_time > hold->wait_start)
			*wait_head = number + 1;
	}
	return hold;
}

/**
 * charger_charge_wait() - charge the wait before a hold
 * @charger: open
 * @hold: the hold that charger_next_hold() has returned
 */
void charger_charge_wait(struct charger *charger, const struct charge_hold *hold)
{
	if (hold->weight && hold->acquire_time > hold->wait_start)
		charge_wait(charger, hold);
}

/**
 * charger_repeat_steps() - tell again what a wait is charged to, each piece by itself
 * @charger: open
 * @waiter: the hold that charger_next_hold() has returned last
 * @callback: gets each piece, not in the order of time
 * @argument: for @callback
 */
void charger_repeat_steps(struct charger *charger, const struct charge_hold *waiter,
			  charge_callback callback, void *argument)
{
	charge_callback saved_callback = charger->callback;
	void *saved_argument = charger->argument;

	charger->callback = callback;
	charger->argument = argument;
	charger->emits_runs = true;
	charge_wait(charger, waiter);
	charger->callback = saved_callback;
	charger->argument = saved_argument;
	charger->emits_runs = false;
}

/*
 * Link an absence to the last one of its task, and to one that is far older. The far links skip
 * 1, 1, 3, 1, 1, 3, 7, ... absences, so that a search visits about as many as the logarithm of the
 * number that it passes (Myers, "An applicative random-access stack", 1983).
 */
static void link_to_older_absences(const struct charger *charger, struct charge_absence *absence,
				   uint64_t link)
{
	const struct charge_absence *older = absence_at(charger, link), *far, *farther;

	absence->older_link = link;
	absence->far_link = link;
	absence->position = older ? older->position + 1 : 0;
	far = older ? absence_at(charger, older->far_link) : NULL;
	farther = far ? absence_at(charger, far->far_link) : NULL;
	if (farther && older->position - far->position == far->position - farther->position)
		absence->far_link = far->far_link;
}

/* Put the newest absence, of which the ring has the number already, into the lists. */
static void link_absence(struct charger *charger, struct charge_absence *absence)
{
	uint64_t *head = &charger->absence_heads[bucket_of_key(absence->thread_id)];
	uint64_t *link = head;
	struct charge_absence *newest;

	while ((newest = absence_at(charger, *link)) && newest->thread_id != absence->thread_id)
		link = &newest->next_task_link;
	link_to_older_absences(charger, absence, *link);
	if (newest)
		*link = newest->next_task_link;
	absence->next_task_link = *head;
	*head = charger->absence_count;
}

/**
 * charger_switch_out() - a task loses its CPU
 * @charger: open
 * @absence: the time that begins. @until, @position and the links are not used. @ready_from equals
 *	@from if the task is preempted, and is UINT64_MAX if it blocks
 */
void charger_switch_out(struct charger *charger, const struct charge_absence *absence)
{
	size_t at = charger->absence_count % CHARGE_KEPT_MAX;
	struct charge_absence *kept = &charger->absences[at];

	*kept = *absence;
	if (absence->frames)
		kept->frames = memcpy(charger->absence_frames[at], absence->frames,
				      sizeof(*charger->absence_frames));
	kept->until = UINT64_MAX;
	/* Count it first: links to the absence that it has overwritten end their lists. */
	charger->absence_count++;
	link_absence(charger, kept);
}

/**
 * charger_switch_in() - a task gets a CPU
 * @charger: open
 * @thread_id: the task
 * @time: session clock
 * @ready_for: how long the task has been ready to run, session clock; 0: not known
 */
void charger_switch_in(struct charger *charger, uint32_t thread_id, uint64_t time,
		       uint64_t ready_for)
{
	struct charge_absence *absence;

	absence = charger_find_newest_absence(charger, thread_id);
	if (!absence || absence->until != UINT64_MAX)
		return;
	absence->until = time;
	if (absence->ready_from == UINT64_MAX)
		absence->ready_from = ready_for < time - absence->from ? time - ready_for :
									 absence->from;
}

/**
 * charger_close() - free what charging uses
 * @charger: open
 */
void charger_close(struct charger *charger)
{
	free(charger->holds);
	free(charger->hold_frames);
	free(charger->block_frames);
	free(charger->absences);
	free(charger->absence_frames);
	free(charger);
}
