// SPDX-License-Identifier: GPL-2.0-only
/*
 * Charging waits to holds: see charge.h. The newest holds and absences are kept in two rings.
 * Each entry links to an older one of the same bucket of locks or of tasks, so that looking
 * back from a wait passes few others. A link to an entry that has been overwritten ends the list.
 */

#include <stdlib.h>
#include <string.h>

#include "charge.h"

#define BUCKET_BITS	16

/* Holds that one wait is charged to; the time of further ones is unknown. */
#define OVERLAPS_MAX	4096

/* Parts of a time: the task ran, was ready without a CPU, and was blocked. */
#define OFF_CPU_PARTS	3

/*
 * @holds: ring of the newest holds
 * @hold_frames: their stacks
 * @hold_count: number of holds so far; the newest has this number minus 1
 * @absences: ring of the newest absences
 * @absence_frames: their stacks
 * @absence_count: number of absences so far
 * @lock_heads: number of the newest hold of each bucket of locks, plus 1
 * @thread_heads: number of the newest hold of a lock that sleeps, of each bucket of tasks, plus 1
 * @absence_heads: number of the newest absence of each bucket of tasks, plus 1
 * @overlaps: holds that overlap the wait that is being charged
 * @callback: gets each piece of a wait
 * @argument: for @callback
 * @tells_runs: each time in which a holder ran is a piece; otherwise their sum is
 */
struct charges {
	struct charge_hold *holds;
	uint64_t (*hold_frames)[CHARGE_FRAMES];
	uint64_t hold_count;
	struct charge_absence *absences;
	uint64_t (*absence_frames)[CHARGE_FRAMES];
	uint64_t absence_count;
	uint64_t lock_heads[1 << BUCKET_BITS];
	uint64_t thread_heads[1 << BUCKET_BITS];
	uint64_t absence_heads[1 << BUCKET_BITS];
	const struct charge_hold *overlaps[OVERLAPS_MAX];
	charge_callback callback;
	void *argument;
	bool tells_runs;
};

static size_t bucket_of(uint64_t key)
{
	return (key * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - BUCKET_BITS);
}

static const struct charge_hold *hold_at(const struct charges *charges, uint64_t link)
{
	if (!link || charges->hold_count - (link - 1) > CHARGE_KEPT)
		return NULL;
	return &charges->holds[(link - 1) % CHARGE_KEPT];
}

/* The distance from the hold that is added to an earlier one; 0 if the ring has that no more. */
static uint32_t distance_from(const struct charges *charges, uint64_t link)
{
	uint64_t distance = charges->hold_count + 1 - link;

	return link && distance < CHARGE_KEPT ? distance : 0;
}

static uint64_t older_link(uint64_t link, uint32_t distance)
{
	return distance ? link - distance : 0;
}

static struct charge_absence *absence_at(const struct charges *charges, uint64_t link)
{
	if (!link || charges->absence_count - (link - 1) > CHARGE_KEPT)
		return NULL;
	return &charges->absences[(link - 1) % CHARGE_KEPT];
}

/**
 * charges_open() - begin charging waits
 * @callback: gets each piece of each wait, from charges_add_hold()
 * @argument: for @callback
 *
 * Return: the state, to be freed with charges_close(), or NULL if there is no memory.
 */
struct charges *charges_open(charge_callback callback, void *argument)
{
	struct charges *charges = calloc(1, sizeof(*charges));

	if (!charges)
		return NULL;
	charges->holds = calloc(CHARGE_KEPT, sizeof(*charges->holds));
	charges->hold_frames = calloc(CHARGE_KEPT, sizeof(*charges->hold_frames));
	charges->absences = calloc(CHARGE_KEPT, sizeof(*charges->absences));
	charges->absence_frames = calloc(CHARGE_KEPT, sizeof(*charges->absence_frames));
	charges->callback = callback;
	charges->argument = argument;
	if (charges->holds && charges->hold_frames && charges->absences && charges->absence_frames)
		return charges;
	charges_close(charges);
	return NULL;
}

/* The newest absence of the task that began before @time. */
static const struct charge_absence *find_absence(const struct charges *charges,
						 uint32_t thread_id, uint64_t time)
{
	const struct charge_absence *absence;

	absence = absence_at(charges, charges->absence_heads[bucket_of(thread_id)]);
	while (absence && (absence->thread_id != thread_id || absence->from >= time))
		absence = absence_at(charges, absence->older);
	return absence;
}

/*
 * Whether a hold, or the wait before it, can be divided into the times in which the task had a CPU.
 * A task that spins for a lock, or holds one, is not switched out.
 */
static bool can_divide(const struct charges *charges, const struct charge_hold *hold)
{
	return !hold->is_sleeping || charges->absence_count || hold->has_off_cpu;
}

/* Context switches tell more than the sums: also when a task had no CPU. */
static bool has_sums_only(const struct charges *charges, const struct charge_hold *hold)
{
	return hold->has_off_cpu && !charges->absence_count;
}

static void give(struct charges *charges, const struct charge_hold *waiter,
		 const struct charge_hold *holder, const struct charge_absence *absence,
		 enum charge_part part, uint64_t from, uint64_t ticks)
{
	const struct charge_piece piece = {
		.part = part,
		.from = from,
		.ticks = ticks,
		.until = from + ticks,
		.is_divided = holder && can_divide(charges, holder),
		.holder = holder,
		.absence = absence,
	};

	if (ticks)
		charges->callback(charges->argument, waiter, &piece);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t greatest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Give the three parts of a time, of which only the sums are known: @ticks, by the same index. */
static void give_sums(struct charges *charges, const struct charge_hold *waiter,
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
static uint64_t proportion(uint64_t sum, uint64_t ticks, uint64_t all, uint64_t most)
{
	double part = (double)sum * ((double)ticks / (double)all);

	if (ticks == all)
		return least(sum, most);
	return part < (double)most ? (uint64_t)part : most;
}

/* Divide a time of a hold by the sums of the hold. */
static void divide_hold_by_sums(struct charges *charges, const struct charge_hold *waiter,
				const struct charge_hold *hold, uint64_t from, uint64_t until)
{
	static const enum charge_part parts[OFF_CPU_PARTS] = {
		CHARGE_HOLDER_RAN, CHARGE_HOLDER_PREEMPTED, CHARGE_HOLDER_BLOCKED,
	};
	uint64_t held = hold->released - hold->acquired, ticks = until - from;
	uint64_t blocked = proportion(hold->blocked, ticks, held, ticks);
	uint64_t ready = proportion(hold->ready, ticks, held, ticks - blocked);

	give_sums(charges, waiter, hold, from, until, parts,
		  (const uint64_t []) { ticks - blocked - ready, ready, blocked });
}

/*
 * Divide the time from @from to the end of the next owner's wait by the sums of that wait. The
 * owner was ready just before it took the lock, and blocked before that.
 */
static void divide_gap_by_sums(struct charges *charges, const struct charge_hold *waiter,
			       const struct charge_hold *owner, uint64_t from, uint64_t until)
{
	static const enum charge_part parts[OFF_CPU_PARTS] = {
		CHARGE_FREE_SPINNING, CHARGE_FREE_READY, CHARGE_FREE_ASLEEP,
	};
	uint64_t ticks = until - from;
	uint64_t ready = least(owner->ready_at_end, ticks);
	uint64_t asleep = least(owner->wait_blocked, ticks - ready);

	give_sums(charges, waiter, owner, from, until, parts,
		  (const uint64_t []) { ticks - asleep - ready, ready, asleep });
}

/* Split a piece into the times in which @task ran, was ready and slept; the last one first. */
static void divide(struct charges *charges, const struct charge_hold *waiter,
		   const struct charge_hold *task, uint64_t from, uint64_t until,
		   enum charge_part asleep, enum charge_part ready, enum charge_part running)
{
	const struct charge_absence *absence;
	uint64_t ran = 0;

	while (task->is_sleeping && until > from) {
		uint64_t begin, end, ready_from;

		absence = find_absence(charges, task->thread_id, until);
		if (!absence || absence->until <= from)
			break;
		begin = greatest(absence->from, from);
		end = least(absence->until, until);
		ready_from = least(greatest(absence->ready_from, begin), end);
		if (charges->tells_runs)
			give(charges, waiter, task, NULL, running, end, until - end);
		else
			ran += until - end;
		give(charges, waiter, task, absence, ready, ready_from, end - ready_from);
		give(charges, waiter, task, absence, asleep, begin, ready_from - begin);
		until = begin;
	}
	give(charges, waiter, task, NULL, running, from, ran + (until - from));
}

static int compare_acquired(const void *a, const void *b)
{
	const struct charge_hold *left = *(const struct charge_hold *const *)a;
	const struct charge_hold *right = *(const struct charge_hold *const *)b;

	if (left->acquired != right->acquired)
		return left->acquired < right->acquired ? -1 : 1;
	return (left->logged > right->logged) - (left->logged < right->logged);
}

/* The recorded holds that overlap a wait, in the order of their acquisition. */
static size_t find_overlaps(struct charges *charges, const struct charge_hold *waiter)
{
	uint64_t link = older_link(charges->hold_count, waiter->older_of_lock);
	const struct charge_hold *hold;
	size_t count = 0;

	/* Records arrive in the order of @logged: no older one can reach into the wait. */
	for (; (hold = hold_at(charges, link)) && hold->logged > waiter->wait_start &&
	     count < OVERLAPS_MAX; link = older_link(link, hold->older_of_lock))
		if (hold->lock == waiter->lock && hold->is_sleeping == waiter->is_sleeping &&
		    hold->released > waiter->wait_start && hold->acquired < waiter->acquired &&
		    (hold->released > hold->acquired || hold->start_unknown))
			charges->overlaps[count++] = hold;
	qsort(charges->overlaps, count, sizeof(*charges->overlaps), compare_acquired);
	return count;
}

/*
 * Charge the time from a release, or from the begin of the wait, until @owner acquires the lock.
 * The part before @owner waits counts as overtaken, or as unknown if no recorded hold precedes it.
 * The rest counts as handed over.
 */
static void charge_gap(struct charges *charges, const struct charge_hold *waiter,
		       const struct charge_hold *owner, uint64_t from, uint64_t until,
		       bool after_hold)
{
	uint64_t waits_from = least(greatest(owner->wait_start, from), until);

	if (waits_from > from)
		give(charges, waiter, after_hold ? owner : NULL, NULL,
		     after_hold ? CHARGE_OVERTAKEN : CHARGE_UNKNOWN, from, waits_from - from);
	if (has_sums_only(charges, owner))
		divide_gap_by_sums(charges, waiter, owner, waits_from, until);
	else
		divide(charges, waiter, owner, waits_from, until, CHARGE_FREE_ASLEEP,
		       CHARGE_FREE_READY, CHARGE_FREE_SPINNING);
}

static void charge_wait(struct charges *charges, const struct charge_hold *waiter)
{
	uint64_t at = waiter->wait_start;
	size_t count = find_overlaps(charges, waiter), i;

	for (i = 0; i < count; i++) {
		const struct charge_hold *hold = charges->overlaps[i];
		uint64_t begin = hold->start_unknown ? at :
				 greatest(hold->acquired, waiter->wait_start);
		uint64_t end = least(hold->released, waiter->acquired);

		if (begin > at) {
			charge_gap(charges, waiter, hold, at, begin, i);
			at = begin;
		}
		if (end > at) {
			if (has_sums_only(charges, hold))
				divide_hold_by_sums(charges, waiter, hold, at, end);
			else
				divide(charges, waiter, hold, at, end, CHARGE_HOLDER_BLOCKED,
				       CHARGE_HOLDER_PREEMPTED, CHARGE_HOLDER_RAN);
			at = end;
		}
	}
	if (at == waiter->acquired)
		return;
	if (count)
		charge_gap(charges, waiter, waiter, at, waiter->acquired, true);
	else
		give(charges, waiter, NULL, NULL, CHARGE_UNKNOWN, at, waiter->acquired - at);
}

/**
 * charges_add_hold() - add the record of a hold, and charge the wait before it
 * @charges: open
 * @hold: the hold, whose @logged is not before that of the last one; its links are not used
 *
 * Return: the hold as it is kept until others overwrite it.
 */
const struct charge_hold *charges_add_hold(struct charges *charges,
					   const struct charge_hold *hold)
{
	uint64_t *of_lock = &charges->lock_heads[bucket_of(hold->lock)];
	size_t at = charges->hold_count % CHARGE_KEPT;
	struct charge_hold *kept = &charges->holds[at];

	*kept = *hold;
	if (hold->frames)
		kept->frames = memcpy(charges->hold_frames[at], hold->frames,
				      sizeof(*charges->hold_frames));
	kept->older_of_lock = distance_from(charges, *of_lock);
	if (hold->is_sleeping) {
		uint64_t *of_thread = &charges->thread_heads[bucket_of(hold->thread_id)];

		kept->older_of_thread = distance_from(charges, *of_thread);
		*of_thread = charges->hold_count + 1;
	}
	charges->hold_count++;
	*of_lock = charges->hold_count;
	if (hold->weight && hold->acquired > hold->wait_start)
		charge_wait(charges, kept);
	return kept;
}

/**
 * charges_tell_steps() - tell again what a wait is charged to, each piece by itself
 * @charges: open
 * @waiter: the hold that the last call of charges_add_hold() returned
 * @callback: gets each piece, not in the order of time
 * @argument: for @callback
 */
void charges_tell_steps(struct charges *charges, const struct charge_hold *waiter,
			charge_callback callback, void *argument)
{
	charge_callback usual = charges->callback;
	void *usual_argument = charges->argument;

	charges->callback = callback;
	charges->argument = argument;
	charges->tells_runs = true;
	charge_wait(charges, waiter);
	charges->callback = usual;
	charges->argument = usual_argument;
	charges->tells_runs = false;
}

/**
 * charges_switch_out() - a task loses its CPU
 * @charges: open
 * @absence: begins; its @until and @older are not used; @ready_from is @from of a task that is
 *	preempted, and UINT64_MAX of one that blocks
 */
void charges_switch_out(struct charges *charges, const struct charge_absence *absence)
{
	uint64_t *head = &charges->absence_heads[bucket_of(absence->thread_id)];
	size_t at = charges->absence_count % CHARGE_KEPT;
	struct charge_absence *kept = &charges->absences[at];

	*kept = *absence;
	if (absence->frames)
		kept->frames = memcpy(charges->absence_frames[at], absence->frames,
				      sizeof(*charges->absence_frames));
	kept->until = UINT64_MAX;
	kept->older = *head;
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

	absence = absence_at(charges, charges->absence_heads[bucket_of(thread_id)]);
	while (absence && absence->thread_id != thread_id)
		absence = absence_at(charges, absence->older);
	if (!absence || absence->until != UINT64_MAX)
		return;
	absence->until = time;
	if (absence->ready_from == UINT64_MAX)
		absence->ready_from = ready_for < time - absence->from ? time - ready_for :
									 absence->from;
}

/**
 * charges_find_wait() - find the lock that a task waited for
 * @charges: open
 * @thread_id: the task
 * @time: a time inside the wait, session clock
 *
 * Return: the hold that followed the wait, or NULL if no wait of that time is recorded.
 */
const struct charge_hold *charges_find_wait(const struct charges *charges, uint32_t thread_id,
					    uint64_t time)
{
	uint64_t link = charges->thread_heads[bucket_of(thread_id)];
	const struct charge_hold *hold;

	for (; (hold = hold_at(charges, link)) && hold->logged > time;
	     link = older_link(link, hold->older_of_thread))
		if (hold->thread_id == thread_id && hold->is_sleeping &&
		    hold->wait_start <= time && hold->acquired > time)
			return hold;
	return NULL;
}

/**
 * charges_find_holder() - find the hold of a lock that another task waited for
 * @charges: open
 * @wait: the hold that the waiting task had after its wait
 * @time: a time inside the wait, session clock
 *
 * Return: the newest recorded hold of the lock that includes @time, or NULL if there is none.
 */
const struct charge_hold *charges_find_holder(const struct charges *charges,
					      const struct charge_hold *wait, uint64_t time)
{
	uint64_t link = charges->lock_heads[bucket_of(wait->lock)];
	const struct charge_hold *hold;

	for (; (hold = hold_at(charges, link)) && hold->logged > time;
	     link = older_link(link, hold->older_of_lock))
		if (hold->lock == wait->lock && hold->is_sleeping == wait->is_sleeping &&
		    hold->acquired <= time && hold->released > time)
			return hold;
	return NULL;
}

/* The longest wait of a task within a time. */
static const struct charge_hold *find_longest_wait(const struct charges *charges,
						   uint32_t thread_id, uint64_t from,
						   uint64_t until)
{
	uint64_t link = charges->thread_heads[bucket_of(thread_id)], longest = 0;
	const struct charge_hold *hold, *found = NULL;

	for (; (hold = hold_at(charges, link)) && hold->logged > from;
	     link = older_link(link, hold->older_of_thread)) {
		uint64_t begin = greatest(hold->wait_start, from);
		uint64_t end = least(hold->acquired, until);

		if (hold->thread_id != thread_id || end <= begin || end - begin <= longest)
			continue;
		longest = end - begin;
		found = hold;
	}
	return found;
}

static bool chain_has(const struct charge_link *links, size_t count, uint32_t thread_id)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (links[i].has_holder && links[i].thread_id == thread_id)
			return true;
	return false;
}

/**
 * charges_find_chain() - find the locks that a holder, and the holders of these locks, waited for
 * @charges: open
 * @piece: time inside a hold of a lock that tasks sleep for
 * @links: set to the locks: the first one is that for which the holder waited longest meanwhile
 * @most: size of @links
 *
 * The chain ends where it comes to a task for the second time.
 *
 * Return: the number of @links; 0: the holder did not wait.
 */
size_t charges_find_chain(const struct charges *charges, const struct charge_piece *piece,
			  struct charge_link *links, size_t most)
{
	uint64_t from = piece->from, until = piece->until;
	uint32_t thread_id = piece->holder->thread_id;
	size_t count = 0;

	while (count < most) {
		const struct charge_hold *wait, *holder;
		bool was_passed;

		wait = find_longest_wait(charges, thread_id, from, until);
		if (!wait)
			break;
		from = greatest(from, wait->wait_start);
		until = least(until, wait->acquired);
		holder = charges_find_holder(charges, wait, from + (until - from) / 2);
		thread_id = holder ? holder->thread_id : 0;
		was_passed = thread_id == piece->holder->thread_id ||
			     chain_has(links, count, thread_id);
		links[count++] = (struct charge_link) {
			.class = wait->class,
			.from = from,
			.ticks = until - from,
			.thread_id = thread_id,
			.has_holder = holder,
		};
		if (!holder || was_passed)
			break;
	}
	return count;
}

/**
 * charges_find_absence() - find the time without a CPU that a task had
 * @charges: open
 * @thread_id: the task
 * @time: time at which the task may have had no CPU, session clock
 *
 * Return: the absence at that time, or NULL if the task had a CPU.
 */
const struct charge_absence *charges_find_absence(const struct charges *charges,
						  uint32_t thread_id, uint64_t time)
{
	const struct charge_absence *absence = find_absence(charges, thread_id, time);

	return absence && absence->until > time ? absence : NULL;
}

/**
 * charges_close() - free what charging uses
 * @charges: open
 */
void charges_close(struct charges *charges)
{
	free(charges->holds);
	free(charges->hold_frames);
	free(charges->absences);
	free(charges->absence_frames);
	free(charges);
}
