// SPDX-License-Identifier: GPL-2.0-only
/* Sums of the charged pieces of all waits: see charge_sums.h. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "charge_sums.h"
#include "grow.h"
#include "macros.h"
#include "text.h"

#define LABEL_SIZE	(2 * NAME_SIZE + 32)

/*
 * @hash: hash_bytes() of the text, twice; the key
 * @number: of the label
 * @text: the label
 * @hh: in the table of labels
 */
struct charge_label {
	uint64_t hash;
	uint32_t number;
	char *text;
	UT_hash_handle hh;
};

/* Prefixes of functions that take or release locks or switch tasks, and so explain no hold. */
static const char *const plumbing[] = {
	"__mutex_unlock", "mutex_unlock", "up_", "__up", "up+", "downgrade_write",
	"ww_mutex_unlock", "rt_mutex", "percpu_up", "percpu_down", "__percpu", "down_", "__down",
	"rwsem_", "mutex_lock", "__mutex_lock", "ntklog", "ftrace", "arch_ftrace", "return_to",
	"__schedule", "schedule", "preempt_schedule", "__cond_resched", "__traceiter",
	"raw_irqentry", "irqentry", "_raw_", "do_raw_", "queued_",
};

static bool is_plumbing(const char *function)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(plumbing); i++)
		if (!strncmp(function, plumbing[i], strlen(plumbing[i])))
			return true;
	return false;
}

/* The innermost function that is not plumbing. Returns false if there is none. */
static bool find_function(const struct charge_sums *sums, const uint64_t *frames, char *text,
			  size_t size)
{
	unsigned int i;

	for (i = 0; i < CHARGE_FRAMES && frames[i]; i++) {
		names_function(sums->names, frames[i], text, size);
		if (!is_plumbing(text))
			return true;
	}
	return false;
}

static void format_stack(const struct charge_sums *sums, const uint64_t *frames, char *text,
			 size_t size)
{
	char function[NAME_SIZE];
	size_t length = 0;
	unsigned int i;

	for (i = 0; i < CHARGE_FRAMES && frames[i] && length < size; i++) {
		names_function(sums->names, frames[i], function, sizeof(function));
		length += snprintf(text + length, size - length, "%s%s", i ? " < " : "", function);
	}
}

static void format_task(const struct charge_sums *sums, uint32_t thread_id, char *text, size_t size)
{
	const char *name = names_thread(sums->names, thread_id);

	if (name)
		snprintf(text, size, "%s", name);
	else if (!thread_id)
		snprintf(text, size, "idle");
	else
		snprintf(text, size, "task %u", thread_id);
	/* snprintf() may have cut the name within a character. */
	text_clean(text);
}

static void format_holder(const struct charge_sums *sums, const struct charge_hold *hold,
			  char *text, size_t size)
{
	char function[NAME_SIZE], task[NAME_SIZE];

	format_task(sums, hold->thread_id, task, sizeof(task));
	if (sums->by == CHARGE_BY_STACK && hold->frames[0]) {
		format_stack(sums, hold->frames, text, size);
	} else if (sums->by == CHARGE_BY_TASK) {
		snprintf(text, size, "%s", task);
	} else if (hold->caller) {
		names_function(sums->names, hold->caller, function, sizeof(function));
		snprintf(text, size, "%s", function);
	} else if (find_function(sums, hold->frames, function, sizeof(function))) {
		snprintf(text, size, "%s in %s", task, function);
	} else {
		snprintf(text, size, "%s", task);
	}
	size -= strlen(text);
	text += strlen(text);
	if (hold->in_interrupt)
		snprintf(text, size, " (interrupt)");
	else if (hold->in_softirq)
		snprintf(text, size, " (softirq)");
	else if (hold->is_shared)
		snprintf(text, size, " (reader)");
}

static uint64_t hash_text(const char *text)
{
	size_t length = strlen(text);

	return (uint64_t)hash_bytes(text, length) << 32 | hash_bytes(text, length / 2);
}

/* The number of a label; that of all others, if there are too many. */
static uint32_t label_of(struct charge_sums *sums, const char *text)
{
	uint64_t hash = hash_text(text);
	struct charge_label *label;
	const char **more;

	HASH_FIND(hh, sums->labels, &hash, sizeof(hash), label);
	if (label)
		return label->number;
	if (sums->label_count == CHARGE_LABELS_MAX)
		return CHARGE_LABEL_OTHERS;
	more = grown(sums->label_texts, sums->label_count, sizeof(*more));
	if (more) {
		sums->label_texts = more;
		hash_add(sums->labels, hash, &hash, label);
	}
	if (!label) {
		sums->no_memory = true;
		return CHARGE_LABEL_OTHERS;
	}
	label->text = strdup(text);
	label->number = sums->label_count;
	sums->label_texts[sums->label_count++] = label->text ? label->text : "";
	return label->number;
}

/* An index of a cache that depends on all bits of a few numbers. */
static size_t cache_index(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t mixed = a * UINT64_C(0x9E3779B97F4A7C15);

	mixed = ((mixed ^ mixed >> 32) + b) * UINT64_C(0xBF58476D1CE4E5B9);
	mixed = ((mixed ^ mixed >> 32) + c) * UINT64_C(0x94D049BB133111EB);
	return mixed >> (64 - CHARGE_CACHE_BITS);
}

static uint32_t label_of_hold(struct charge_sums *sums, const struct charge_hold *hold)
{
	struct charge_who who = {
		.caller = hold->caller,
		.thread_id = hold->thread_id,
		.flags = hold->is_shared | hold->in_softirq << 1 | hold->in_interrupt << 2 |
			 hold->is_sleeping << 3,
	};
	struct charge_label_cached *cached;
	char text[LABEL_SIZE];

	memcpy(who.frames, hold->frames, sizeof(who.frames));
	/* The label of a spin lock's holder is the caller's, whichever task it was. */
	if (sums->by == CHARGE_BY_CALLER && who.caller)
		who.thread_id = 0;
	cached = &sums->label_cache[cache_index(who.caller, who.thread_id, who.frames[1])];
	if (!cached->label || memcmp(&cached->who, &who, sizeof(who))) {
		format_holder(sums, hold, text, sizeof(text));
		cached->label = label_of(sums, text);
		cached->who = who;
	}
	return cached->label;
}

static struct charge_row *find_row(struct charge_sums *sums, enum charge_row_kind kind,
				   uint32_t first, uint32_t second)
{
	struct charge_row_key key = {
		.class = sums->current->class,
		.is_sleeping = sums->current->is_sleeping,
		.kind = kind,
		.first = first,
		.second = second,
	};
	struct charge_row **cached = &sums->row_cache[cache_index(key.class, kind,
								  (uint64_t)first << 32 | second)];
	struct charge_row *row = *cached;

	if (row && !memcmp(&row->key, &key, sizeof(key)))
		return row;
	hash_find_or_add(sums->rows, key, &key, CHARGE_ROWS_MAX, row);
	if (!row) {
		/* The table is full: one row for all others of this kind. */
		key = (struct charge_row_key) { .kind = kind };
		hash_find_or_add(sums->rows, key, &key, CHARGE_ROWS_MAX + CHARGE_ROW_KINDS, row);
		sums->no_memory |= !row;
		return row;
	}
	*cached = row;
	return row;
}

static void add_to_row(struct charge_sums *sums, enum charge_row_kind kind, uint32_t first,
		       uint32_t second, uint64_t ticks, uint64_t weight)
{
	struct charge_row *row = find_row(sums, kind, first, second);

	if (!row)
		return;
	row->pieces += weight;
	row->ticks += ticks * weight;
	if (ticks > row->longest)
		row->longest = ticks;
}

/* Sum up where the holder was while it had no CPU, if the file tells. */
static void add_absence(struct charge_sums *sums, const struct charge_piece *piece,
			uint64_t weight)
{
	bool is_blocked = piece->part == CHARGE_HOLDER_BLOCKED;
	const struct charge_hold *wait = NULL;
	char function[NAME_SIZE], class[NAME_SIZE], text[LABEL_SIZE];

	if (is_blocked)
		wait = charges_find_wait(sums->charges, piece->absence->thread_id,
					 piece->absence->from);
	if (wait) {
		names_address(sums->names, wait->class, class, sizeof(class));
		snprintf(text, sizeof(text), "waiting for %s", class);
	} else if (find_function(sums, piece->absence->frames, function, sizeof(function))) {
		snprintf(text, sizeof(text), "in %s", function);
	} else {
		return;
	}
	add_to_row(sums, is_blocked ? CHARGE_ROW_BLOCKED : CHARGE_ROW_PREEMPTED,
		   label_of(sums, text), CHARGE_LABEL_OTHERS, piece->ticks, weight);
}

static void add_piece_to_sum(struct charge_sum *sum, const struct charge_piece *piece,
			     uint64_t weight, bool is_stopped)
{
	sum->parts[piece->part] += piece->ticks * weight;
	if (is_stopped)
		sum->stopped += piece->ticks * weight;
}

static void add_piece(void *argument, const struct charge_hold *waiter,
		      const struct charge_piece *piece)
{
	struct charge_sums *sums = argument;
	bool is_held = piece->part <= CHARGE_HOLDER_BLOCKED;
	bool is_stopped = !waiter->is_sleeping && piece->part == CHARGE_FREE_SPINNING &&
			  piece->ticks > sums->ticks_per_ms;
	uint32_t holder;

	add_piece_to_sum(&sums->total, piece, waiter->weight, is_stopped);
	add_piece_to_sum(&sums->current->sum, piece, waiter->weight, is_stopped);
	if (waiter->is_sleeping)
		add_piece_to_sum(&sums->sleeping, piece, waiter->weight, is_stopped);
	if (is_held)
		holder = label_of_hold(sums, piece->holder);
	else if (piece->part == CHARGE_OVERTAKEN)
		holder = CHARGE_LABEL_OVERTAKEN;
	else if (piece->part == CHARGE_UNKNOWN)
		holder = CHARGE_LABEL_UNKNOWN;
	else
		holder = CHARGE_LABEL_HANDED_OVER;
	add_to_row(sums, CHARGE_ROW_BLOCKER, sums->waiter, holder, piece->ticks, waiter->weight);
	if (is_held)
		add_to_row(sums, CHARGE_ROW_HOLDER, holder, CHARGE_LABEL_OTHERS, piece->ticks,
			   waiter->weight);
	if (is_held && piece->absence)
		add_absence(sums, piece, waiter->weight);
}

static void add_wait(struct charge_sum *sum, const struct charge_hold *hold)
{
	uint64_t wait = hold->acquired - hold->wait_start;

	sum->waits += hold->weight;
	sum->wait += wait * hold->weight;
	if (wait > sum->longest) {
		sum->longest = wait;
		sum->longest_at = hold->wait_start;
	}
}

static struct charge_class *find_class(struct charge_sums *sums, const struct charge_hold *hold)
{
	struct charge_class *class = sums->current;

	if (class && class->class == hold->class && class->is_sleeping == hold->is_sleeping)
		return class;
	hash_find_or_add(sums->classes, class, &hold->class, CHARGE_CLASSES_MAX, class);
	if (!class)
		class = &sums->others;
	class->is_sleeping = hold->is_sleeping;
	return class;
}

/**
 * charge_sums_open() - begin to sum up
 * @sums: all zero
 * @names: of functions and tasks, or NULL
 * @by: property by which waiters and holders are told apart
 * @ticks_per_second: of the session clock
 *
 * Return: false if there is no memory.
 */
bool charge_sums_open(struct charge_sums *sums, const struct names *names, enum charge_by by,
		      uint64_t ticks_per_second)
{
	static const char *const fixed_labels[CHARGE_FIXED_LABELS] = {
		[CHARGE_LABEL_OTHERS] = "(others)",
		[CHARGE_LABEL_HANDED_OVER] = "(free, handed over)",
		[CHARGE_LABEL_OVERTAKEN] = "(free, overtaken)",
		[CHARGE_LABEL_UNKNOWN] = "(unknown)",
	};
	size_t i;

	sums->names = names;
	sums->by = by;
	sums->ticks_per_ms = ticks_per_second / 1000;
	sums->charges = charges_open(add_piece, sums);
	sums->no_memory = !sums->charges;
	for (i = 0; i < CHARGE_FIXED_LABELS && sums->charges; i++)
		label_of(sums, fixed_labels[i]);
	return !sums->no_memory;
}

/**
 * charge_sums_add_hold() - add the record of a hold
 * @sums: open
 * @hold: as for charges_add_hold()
 */
void charge_sums_add_hold(struct charge_sums *sums, const struct charge_hold *hold)
{
	if (hold->weight && hold->acquired > hold->wait_start) {
		sums->current = find_class(sums, hold);
		sums->waiter = label_of_hold(sums, hold);
		add_wait(&sums->total, hold);
		add_wait(&sums->current->sum, hold);
		if (hold->is_sleeping)
			add_wait(&sums->sleeping, hold);
		add_to_row(sums, CHARGE_ROW_WAITER, sums->waiter, CHARGE_LABEL_OTHERS,
			   hold->acquired - hold->wait_start, hold->weight);
	}
	charges_add_hold(sums->charges, hold);
}

/**
 * charge_sums_add_switch() - add a context switch
 * @sums: open
 * @absence: of the task that loses the CPU, as for charges_switch_out()
 * @new_thread_id: the task that gets it
 * @ready_for: how long that one was ready, session clock; 0: not known
 */
void charge_sums_add_switch(struct charge_sums *sums, const struct charge_absence *absence,
			    uint32_t new_thread_id, uint64_t ready_for)
{
	sums->has_switches = true;
	if (new_thread_id)
		charges_switch_in(sums->charges, new_thread_id, absence->from, ready_for);
	if (absence->thread_id)
		charges_switch_out(sums->charges, absence);
}

/**
 * charge_sums_finish() - nothing is added any more
 * @sums: open; the sums stay
 */
void charge_sums_finish(struct charge_sums *sums)
{
	if (sums->charges)
		charges_close(sums->charges);
	sums->charges = NULL;
}

/**
 * charge_sums_free() - free the sums
 * @sums: all zero afterwards
 */
void charge_sums_free(struct charge_sums *sums)
{
	struct charge_label *label, *next_label;
	struct charge_class *class, *next_class;
	struct charge_row *row, *next_row;

	charge_sums_finish(sums);
	HASH_ITER(hh, sums->classes, class, next_class) {
		HASH_DEL(sums->classes, class);
		free(class);
	}
	HASH_ITER(hh, sums->rows, row, next_row) {
		HASH_DEL(sums->rows, row);
		free(row);
	}
	HASH_ITER(hh, sums->labels, label, next_label) {
		HASH_DEL(sums->labels, label);
		free(label->text);
		free(label);
	}
	free(sums->label_texts);
	memset(sums, 0, sizeof(*sums));
}
