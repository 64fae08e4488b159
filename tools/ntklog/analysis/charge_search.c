// SPDX-License-Identifier: GPL-2.0-only
/*
 * Searches in the newest holds and absences: see charge.h. A search begins with the newest entry of
 * a bucket. It visits at most charger::visits_max holds: older holds count as not recorded.
 */

#include "charge.h"
#include "charge_rings.h"

/* Waits for spin locks that a search during one hold of a spin lock visits. */
#define NESTED_VISITS_MAX	2

/* Return the hold of a link, if it ended after @time, and if the search may visit one more. */
static const struct charge_hold *visit_hold(const struct charger *charger, uint64_t link,
					    uint64_t time, uint64_t *visits)
{
	const struct charge_hold *hold = hold_at(charger, link);

	/* Holds are linked in the order of their releases, unless a record is very late. */
	return hold && hold->release_time > time && (*visits)++ < charger->visits_max ? hold : NULL;
}

/**
 * charger_find_wait() - find the lock that sleeps for which a task waited
 * @charger: open
 * @thread_id: the task
 * @time: a time inside the wait, session clock
 *
 * Return: the hold that followed the wait, or NULL if no wait of that time is found.
 */
const struct charge_hold *charger_find_wait(const struct charger *charger, uint32_t thread_id,
					    uint64_t time)
{
	uint64_t link = charger->wait_heads[bucket_of_key(thread_id)], visits = 0;
	const struct charge_hold *hold;

	for (; (hold = visit_hold(charger, link, time, &visits));
	     link = find_older_link(link, hold->older_wait_distance))
		if (find_charge_owner(hold) == thread_id && hold->wait_start <= time &&
		    hold->acquire_time > time)
			return hold;
	return NULL;
}

/**
 * charger_find_holder() - find the hold of a lock that another task waited for
 * @charger: open
 * @wait: the hold that the waiting task had after its wait
 * @time: a time inside the wait, session clock
 *
 * Return: the newest hold of the lock that includes @time, or NULL if none is found.
 */
const struct charge_hold *charger_find_holder(const struct charger *charger,
					      const struct charge_hold *wait, uint64_t time)
{
	uint64_t link = charger->lock_heads[bucket_of_key(wait->lock)], visits = 0;
	const struct charge_hold *hold;

	for (; (hold = visit_hold(charger, link, time, &visits));
	     link = find_older_link(link, hold->older_hold_distance))
		if (hold->lock == wait->lock && hold->is_sleeping_lock == wait->is_sleeping_lock &&
		    hold->acquire_time <= time && hold->release_time > time)
			return hold;
	return NULL;
}

/*
 * Return where the search for the waits of an owner begins. The waits for spin locks during a hold
 * of a spin lock are the last ones of its CPU before the release, because their holds are nested.
 */
static uint64_t find_first_wait(const struct charger *charger,
				const struct charge_hold *owning_hold, uint64_t *visits)
{
	uint64_t newest = charger->hold_count - 1, back;

	if (owning_hold->is_sleeping_lock)
		return charger->wait_heads[bucket_of_key(owning_hold->thread_id)];
	if (charger->visits_max > NESTED_VISITS_MAX)
		*visits = charger->visits_max - NESTED_VISITS_MAX;
	back = (newest - (owning_hold - charger->holds)) % CHARGE_KEPT_MAX;
	return find_older_link(newest - back + 1, owning_hold->older_wait_distance);
}

/* Return the longest wait within a time of a task, or for spin locks of the CPU of @owning_hold. */
static const struct charge_hold *find_longest_wait(const struct charger *charger,
						   const struct charge_hold *owning_hold,
						   uint64_t from, uint64_t until)
{
	uint64_t visits = 0, longest = 0, link = find_first_wait(charger, owning_hold, &visits);
	uint64_t owner = find_charge_owner(owning_hold);
	const struct charge_hold *hold, *found = NULL;

	for (; (hold = visit_hold(charger, link, from, &visits));
	     link = find_older_link(link, hold->older_wait_distance)) {
		uint64_t begin = max_u64(hold->wait_start, from);
		uint64_t end = min_u64(hold->acquire_time, until);

		if (find_charge_owner(hold) != owner || end <= begin || end - begin <= longest)
			continue;
		longest = end - begin;
		found = hold;
	}
	return found;
}

static bool chain_has_task(const struct chain_link *links, size_t count, uint64_t owner)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (links[i].has_holder && links[i].owner == owner)
			return true;
	return false;
}

/**
 * charger_find_chain() - find the locks that a holder, and the holders of these locks, waited for
 * @charger: open
 * @piece: time inside a hold
 * @links: set to the locks: the first one is that for which the holder waited longest meanwhile
 * @links_max: size of @links
 *
 * The chain ends where it comes to a task or a CPU for the second time. It ends at a hold of a spin
 * lock whose start is not recorded, too: its CPU may have waited before it.
 *
 * Return: the number of @links; 0: no wait of the holder is found.
 */
size_t charger_find_chain(const struct charger *charger, const struct wait_piece *piece,
			  struct chain_link *links, size_t links_max)
{
	uint64_t from = piece->from, until = piece->until;
	const struct charge_hold *owning_hold = piece->holder;
	size_t count = 0;

	while (count < links_max &&
	       (owning_hold->is_sleeping_lock || owning_hold->has_inner_wait)) {
		const struct charge_hold *wait, *holder;
		bool was_passed;

		wait = find_longest_wait(charger, owning_hold, from, until);
		if (!wait)
			break;
		from = max_u64(from, wait->wait_start);
		until = min_u64(until, wait->acquire_time);
		holder = charger_find_holder(charger, wait, from + (until - from) / 2);
		if (!holder) {
			links[count++] = (struct chain_link) {
				.class = wait->class, .from = from, .ticks = until - from,
			};
			break;
		}
		was_passed = find_charge_owner(holder) == find_charge_owner(piece->holder) ||
			     chain_has_task(links, count, find_charge_owner(holder));
		links[count++] = (struct chain_link) {
			.class = wait->class,
			.from = from,
			.ticks = until - from,
			.owner = find_charge_owner(holder),
			.thread_id = holder->thread_id,
			.has_holder = true,
			.in_softirq = holder->in_softirq,
			.in_interrupt = holder->in_interrupt,
		};
		if (was_passed)
			break;
		owning_hold = holder;
	}
	return count;
}

/**
 * charger_find_newest_absence() - find the newest absence of a task
 * @charger: open
 * @thread_id: the task
 *
 * Return: the absence, or NULL if none is recorded.
 */
struct charge_absence *charger_find_newest_absence(const struct charger *charger,
						   uint32_t thread_id)
{
	uint64_t link = charger->absence_heads[bucket_of_key(thread_id)];
	struct charge_absence *absence;

	while ((absence = absence_at(charger, link)) && absence->thread_id != thread_id)
		link = absence->next_task_link;
	return absence;
}

/**
 * charger_find_last_absence() - find the last time without a CPU that a task had
 * @charger: open
 * @newer: absence of the task at which the search begins; NULL: the newest one
 * @thread_id: the task
 * @time: the absence began before it, session clock
 *
 * Return: the newest such absence, or NULL if none is recorded.
 */
const struct charge_absence *charger_find_last_absence(const struct charger *charger,
						       const struct charge_absence *newer,
						       uint32_t thread_id, uint64_t time)
{
	const struct charge_absence *absence = newer;

	if (!absence)
		absence = charger_find_newest_absence(charger, thread_id);
	/* The absences of a task are linked in the order of their begins. */
	while (absence && absence->from >= time) {
		const struct charge_absence *far = absence_at(charger, absence->far_link);

		absence = far && far->from >= time ? far :
			  absence_at(charger, absence->older_link);
	}
	return absence;
}

/**
 * charger_find_absence() - find the time without a CPU that a task had
 * @charger: open
 * @thread_id: the task
 * @time: time at which the task may have had no CPU, session clock
 *
 * Return: the absence at that time, or NULL if none is recorded.
 */
const struct charge_absence *charger_find_absence(const struct charger *charger,
						  uint32_t thread_id, uint64_t time)
{
	const struct charge_absence *absence = charger_find_last_absence(charger, NULL, thread_id,
									 time);

	return absence && absence->until > time ? absence : NULL;
}
