// SPDX-License-Identifier: GPL-2.0-only
/* Sums of the charged pieces of all waits: see charge_sums.h. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "charge_mix.h"
#include "charge_sums.h"
#include "histogram.h"
#include "macros.h"

/* Return the label, or the label "(others)" if there is no memory. */
static struct charge_label *label_or_others(struct charge_sums *sums, struct charge_label *label)
{
	sums->no_memory |= !label;
	return label ? label : &sums->fixed_labels[CHARGE_LABEL_OTHERS];
}

static struct charge_label *label_of(struct charge_sums *sums, const char *text)
{
	return label_or_others(sums, label_table_find(&sums->labels, text));
}

static struct charge_label *label_of_hold(struct charge_sums *sums, const struct charge_hold *hold)
{
	return label_or_others(sums, label_table_find_hold(&sums->labels, hold));
}

static void add_to_row(struct charge_sums *sums, enum charge_row_kind kind,
		       struct charge_label *first, struct charge_label *second, uint64_t ticks,
		       uint64_t weight)
{
	struct charge_row *row = charge_find_row(sums, &(struct charge_row_key) {
		.class = sums->current_class,
		.kind = kind,
		.first_label = first,
		.second_label = second,
	});

	if (!row)
		return;
	/* A piece of weight 1 was written in any case, and adds no variance. */
	if (weight > 1) {
		double variance = weight_variance(weight) * (double)ticks * (double)ticks;

		row->variance += variance;
		if (variance > row->greatest_variance_part)
			row->greatest_variance_part = variance;
	}
	row->piece_count += weight;
	row->ticks += ticks * weight;
	if (ticks > row->longest_piece)
		row->longest_piece = ticks;
}

/* Sum up where the holder was while it had no CPU, if the file tells. */
static void add_absence(struct charge_sums *sums, const struct wait_piece *piece,
			uint64_t weight)
{
	bool is_blocked = piece->part_kind == CHARGE_HOLDER_BLOCKED;
	char text[CHARGE_LABEL_SIZE];

	if (!charge_format_absence(sums->labels.names, is_blocked ? sums->charger : NULL,
				   piece->absence, text, sizeof(text)))
		return;
	add_to_row(sums, is_blocked ? CHARGE_ROW_BLOCKED : CHARGE_ROW_PREEMPTED,
		   label_of(sums, text), &sums->fixed_labels[CHARGE_LABEL_OTHERS],
		   piece->ticks, weight);
}

static void add_piece_to_sum(struct charge_sum *sum, const struct wait_piece *piece,
			     uint64_t weight, bool is_stopped)
{
	sum->part_ticks[piece->part_kind] += piece->ticks * weight;
	if (is_stopped)
		sum->stopped_ticks += piece->ticks * weight;
	if (piece->part_kind == CHARGE_HOLDER_RAN && !piece->state_is_known)
		sum->unknown_state_ticks += piece->ticks * weight;
	if (piece->part_kind == CHARGE_HOLDER_RAN && piece->holder->was_interrupted)
		sum->interrupted_ticks += piece->ticks * weight;
}

/* Sum up the lock for which a holder waited longest, if no context switch tells of its times. */
static void add_wait_of_holder(struct charge_sums *sums, const struct chain_link *link,
			       uint64_t weight)
{
	const struct charge_absence absence = {
		.thread_id = sums->growing_piece.piece.holder->thread_id,
		.from = link->from,
	};
	uint64_t blocked = sums->growing_piece.blocked_ticks;
	char text[CHARGE_LABEL_SIZE];

	if (blocked &&
	    charge_format_absence(sums->labels.names, sums->charger, &absence, text, sizeof(text)))
		add_to_row(sums, CHARGE_ROW_BLOCKED, label_of(sums, text),
			   &sums->fixed_labels[CHARGE_LABEL_OTHERS],
			   link->ticks < blocked ? link->ticks : blocked, weight);
}

/*
 * Sum up where a holder was blocked for longest, if no context switch tells of its times. A part of
 * the hold has its share of that time.
 */
static void add_block_of_holder(struct charge_sums *sums, uint64_t weight)
{
	const struct charge_hold *holder = sums->growing_piece.piece.holder;
	const struct charge_absence absence = { .frames = holder->block_frames };
	double blocked = (double)sums->growing_piece.blocked_ticks;
	char text[CHARGE_LABEL_SIZE];

	if (!absence.frames || !sums->growing_piece.blocked_ticks)
		return;
	if (holder->longest_block_ticks < holder->blocked_ticks)
		blocked *= (double)holder->longest_block_ticks / (double)holder->blocked_ticks;
	if (charge_format_absence(sums->labels.names, NULL, &absence, text, sizeof(text)))
		add_to_row(sums, CHARGE_ROW_BLOCKED, label_of(sums, text),
			   &sums->fixed_labels[CHARGE_LABEL_OTHERS], (uint64_t)blocked, weight);
}

/* Add what is charged to one hold, or to one free or unknown time, and begin anew. */
static void add_charged_piece(struct charge_sums *sums, const struct charge_hold *waiter)
{
	struct wait_piece *piece = &sums->growing_piece.piece;
	struct charge_label *holder = sums->growing_piece.holder;
	struct chain_link links[LONGEST_LINKS_MAX];
	size_t count;

	if (!piece->ticks)
		return;
	piece->until = piece->from + piece->ticks;
	add_to_row(sums, CHARGE_ROW_BLOCKER, sums->waiter_label, holder, piece->ticks,
		   waiter->weight);
	if (piece->part_kind <= CHARGE_HOLDER_BLOCKED) {
		add_to_row(sums, CHARGE_ROW_HOLDER, holder,
			   &sums->fixed_labels[CHARGE_LABEL_OTHERS], piece->ticks, waiter->weight);
		if (sums->stacks)
			stack_stats_charge(sums->stacks, piece->holder,
					   (double)piece->ticks * (double)waiter->weight);
	}
	if (piece->part_kind <= CHARGE_HOLDER_BLOCKED) {
		count = charger_find_chain(sums->charger, piece, links, ARRAY_SIZE(links));
		if (count) {
			add_wait_of_holder(sums, links, waiter->weight);
			longest_waits_add_chain(sums->longest_waits, waiter, piece, links, count);
		} else {
			add_block_of_holder(sums, waiter->weight);
		}
	}
	piece->ticks = 0;
}

/* The pieces into which one hold, or one free time, is divided arrive one after the other. */
static void add_to_growing_piece(struct charge_sums *sums, const struct charge_hold *waiter,
				 const struct wait_piece *piece, struct charge_label *holder)
{
	struct wait_piece *charged = &sums->growing_piece.piece;

	if (sums->growing_piece.holder != holder || charged->holder != piece->holder)
		add_charged_piece(sums, waiter);
	if (!charged->ticks) {
		*charged = *piece;
		sums->growing_piece.holder = holder;
		sums->growing_piece.blocked_ticks = 0;
	} else {
		charged->ticks += piece->ticks;
		if (piece->from < charged->from)
			charged->from = piece->from;
	}
	if (piece->part_kind == CHARGE_HOLDER_BLOCKED && !piece->absence)
		sums->growing_piece.blocked_ticks += piece->ticks;
}

static void add_piece(void *argument, const struct charge_hold *waiter,
		      const struct wait_piece *piece)
{
	struct charge_sums *sums = argument;
	bool is_held = piece->part_kind <= CHARGE_HOLDER_BLOCKED;
	bool is_stopped = !waiter->is_sleeping_lock && piece->part_kind == CHARGE_FREE_SPINNING &&
			  piece->ticks > sums->ticks_per_ms;
	struct charge_label *holder;

	add_piece_to_sum(&sums->total, piece, waiter->weight, is_stopped);
	add_piece_to_sum(&sums->current_class->sum, piece, waiter->weight, is_stopped);
	if (waiter->is_sleeping_lock)
		add_piece_to_sum(&sums->sleeping_lock_total, piece, waiter->weight, is_stopped);
	if (is_held)
		holder = label_of_hold(sums, piece->holder);
	else if (piece->part_kind == CHARGE_OVERTAKEN)
		holder = &sums->fixed_labels[CHARGE_LABEL_OVERTAKEN];
	else if (piece->part_kind == CHARGE_UNKNOWN)
		holder = &sums->fixed_labels[CHARGE_LABEL_UNKNOWN];
	else
		holder = &sums->fixed_labels[CHARGE_LABEL_HANDED_OVER];
	add_to_growing_piece(sums, waiter, piece, holder);
	if (is_held && piece->absence)
		add_absence(sums, piece, waiter->weight);
}

static void add_wait(struct charge_sum *sum, const struct charge_hold *hold)
{
	uint64_t wait = hold->acquire_time - hold->wait_start;

	sum->wait_count += hold->weight;
	sum->wait_ticks += wait * hold->weight;
	sum->is_estimate |= hold->weight > 1;
	if (wait > sum->longest_wait) {
		sum->longest_wait = wait;
		sum->longest_wait_begin = hold->wait_start;
	}
}

static void add_to_timelines(struct charge_sums *sums, const struct charge_hold *hold)
{
	uint64_t begin =
		hold->wait_start > sums->origin_time ? hold->wait_start - sums->origin_time : 0;
	uint64_t end =
		hold->acquire_time > sums->origin_time ? hold->acquire_time - sums->origin_time : 0;
	uint64_t wait = hold->acquire_time - hold->wait_start;

	timeline_add_span(&sums->timelines, &sums->begun_wait_timeline, begin, 0,
			  (double)hold->weight);
	if (end)
		timeline_add_span(&sums->timelines, &sums->wait_timeline, end, wait,
				  (double)wait * (double)hold->weight);
}

static struct charged_class *find_class(struct charge_sums *sums, const struct charge_hold *hold)
{
	const struct charged_class_key key = { hold->class, hold->is_sleeping_lock, hold->kind };
	struct charged_class **cached, *class;

	cached = &sums->class_cache[mix_numbers(key.class, key.is_sleeping_lock, key.kind) >>
				    (64 - CHARGE_CLASS_CACHE_BITS)];
	if (*cached && !memcmp(&(*cached)->key, &key, sizeof(key)))
		return *cached;
	hash_find_or_add(sums->classes, key, &key, UINT32_MAX, class);
	sums->no_memory |= !class;
	*cached = class;
	return class ? class : &sums->fallback_class;
}

/**
 * charge_sums_open() - begin to sum up
 * @sums: all zero; but @charger may stay from the last interval, for the waits that cross its end
 * @names: of functions and tasks, or NULL
 * @attribute: attribute by which waiters and holders are told apart
 * @ticks_per_second: of the session clock
 *
 * Return: false if there is no memory.
 */
bool charge_sums_open(struct charge_sums *sums, const struct names *names,
		      enum charge_attribute attribute, uint64_t ticks_per_second)
{
	static char fixed_texts[CHARGE_FIXED_LABELS][24] = {
		[CHARGE_LABEL_OTHERS] = "(others)",
		[CHARGE_LABEL_HANDED_OVER] = "(free, handed over)",
		[CHARGE_LABEL_OVERTAKEN] = "(free, overtaken)",
		[CHARGE_LABEL_UNKNOWN] = "(unknown)",
	};
	size_t i;

	sums->labels.names = names;
	sums->labels.attribute = attribute;
	sums->ticks_per_ms = ticks_per_second / 1000;
	if (!sums->charger)
		sums->charger = charger_open(add_piece, sums, ticks_per_second);
	sums->longest_waits = longest_waits_open();
	sums->no_memory = !sums->charger || !sums->longest_waits;
	for (i = 0; i < CHARGE_FIXED_LABELS; i++)
		sums->fixed_labels[i].text = fixed_texts[i];
	if (sums->no_memory)
		charge_sums_finish(sums);
	return !sums->no_memory;
}

static void charge_wait_before(struct charge_sums *sums, const struct charge_hold *hold)
{
	bool has_waited = hold->weight && hold->acquire_time > hold->wait_start;

	sums->has_off_cpu_times |= hold->has_off_cpu_times;
	sums->has_block_stacks |= !!hold->block_frames;
	if (has_waited) {
		charge_limit_tables(sums);
		sums->current_class = find_class(sums, hold);
		sums->waiter_label = label_of_hold(sums, hold);
		add_wait(&sums->total, hold);
		add_wait(&sums->current_class->sum, hold);
		if (hold->is_sleeping_lock)
			add_wait(&sums->sleeping_lock_total, hold);
		add_to_timelines(sums, hold);
		add_to_row(sums, CHARGE_ROW_WAITER, sums->waiter_label,
			   &sums->fixed_labels[CHARGE_LABEL_OTHERS],
			   hold->acquire_time - hold->wait_start, hold->weight);
	}
	charger_charge_wait(sums->charger, hold);
	add_charged_piece(sums, hold);
	if (has_waited)
		longest_waits_add(sums->longest_waits, sums->charger, hold);
}

static void charge_next_holds(struct charge_sums *sums, bool takes_all)
{
	const struct charge_hold *hold;

	while ((hold = charger_next_hold(sums->charger, takes_all)))
		charge_wait_before(sums, hold);
}

/**
 * charge_sums_add_hold() - add the record of a hold
 * @sums: open
 * @hold: as for charger_add_hold()
 */
void charge_sums_add_hold(struct charge_sums *sums, const struct charge_hold *hold)
{
	charger_add_hold(sums->charger, hold);
	charge_next_holds(sums, false);
}

/**
 * charge_sums_flush() - charge the waits that were kept back for late records
 * @sums: open or not
 */
void charge_sums_flush(struct charge_sums *sums)
{
	if (sums->charger)
		charge_next_holds(sums, true);
}

/**
 * charge_sums_add_switch() - add a context switch
 * @sums: open
 * @absence: of the task that loses the CPU, as for charger_switch_out()
 * @new_thread_id: the task that gets the CPU
 * @ready_for: how long the new task was ready, session clock; 0: not known
 */
void charge_sums_add_switch(struct charge_sums *sums, const struct charge_absence *absence,
			    uint32_t new_thread_id, uint64_t ready_for)
{
	sums->has_switches = true;
	sums->has_off_cpu_times = true;
	if (new_thread_id)
		charger_switch_in(sums->charger, new_thread_id, absence->from, ready_for);
	if (absence->thread_id)
		charger_switch_out(sums->charger, absence);
}

/**
 * charge_sums_finish() - free @charger, which only adding needs
 * @sums: sums to which nothing is added any more
 */
void charge_sums_finish(struct charge_sums *sums)
{
	if (sums->charger)
		charger_close(sums->charger);
	sums->charger = NULL;
}

/**
 * charge_sums_free() - free the sums
 * @sums: all zero afterwards
 */
void charge_sums_free(struct charge_sums *sums)
{
	struct charged_class *class;

	charge_sums_finish(sums);
	free(sums->longest_waits);
	timelines_free(&sums->timelines);
	while ((class = hash_take_first(sums->classes)))
		free(class);
	free(sums->rows);
	free(sums->row_index);
	label_table_free(&sums->labels);
	memset(sums, 0, sizeof(*sums));
}
