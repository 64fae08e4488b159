/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CHARGE_TABLES_H
#define _NTKLOG_CHARGE_TABLES_H

/* The tables of charge_sums.h, which drop their lightest entries. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "charge.h"
#include "hash.h"
#include "label_table.h"
#include "longest_waits.h"
#include "names.h"
#include "stack_stats.h"
#include "timeline.h"

/*
 * Numbers of classes and rows that stay when a table with twice as many drops its lightest entries.
 * The dropped rows are summed up in one row of each kind. Labels are dropped with their rows.
 */
#define CHARGE_CLASSES_KEPT	8192
#define CHARGE_ROWS_KEPT	8192
#define CHARGE_LABELS_MAX	(LABELS_MAX / 2)

#define CHARGE_CLASS_CACHE_BITS	10

/* Labels that are not of the table of labels: a task may have the same name. */
enum charge_fixed_label {
	CHARGE_LABEL_OTHERS,
	CHARGE_LABEL_HANDED_OVER,
	CHARGE_LABEL_OVERTAKEN,
	CHARGE_LABEL_UNKNOWN,
	CHARGE_FIXED_LABELS,
};

/**
 * struct charge_sum - waits and their parts; session clock, weighted
 * @wait_count: number of waits
 * @wait_ticks: their sum, which is that of @part_ticks
 * @part_ticks: by enum charge_part_kind
 * @longest_wait: the longest wait
 * @longest_wait_begin: when it began
 * @stopped_ticks: of spin locks: free time in pieces longer than a millisecond, while the next
 *	owner spun
 * @unknown_state_ticks: held time of which the file does not tell whether the holder ran, was
 *	preempted or blocked; it is a part of CHARGE_HOLDER_RAN
 * @interrupted_ticks: of CHARGE_HOLDER_RAN, the part in holds to which interrupts came
 * @is_estimate: a wait stands for several
 */
struct charge_sum {
	uint64_t wait_count;
	uint64_t wait_ticks;
	uint64_t part_ticks[CHARGE_PARTS];
	uint64_t longest_wait;
	uint64_t longest_wait_begin;
	uint64_t stopped_ticks;
	uint64_t unknown_state_ticks;
	uint64_t interrupted_ticks;
	bool is_estimate;
};

/**
 * struct charged_class - the waits for the locks of a class
 * @key: the class
 * @sum: of the waits
 * @is_dropped: the class is light; valid while classes are dropped
 * @hh: in the table of classes
 */
struct charged_class {
	struct charged_class_key key;
	struct charge_sum sum;
	bool is_dropped;
	UT_hash_handle hh;
};

/**
 * enum charge_row_kind - meaning of a row of a class
 * @CHARGE_ROW_BLOCKER: @first_label waited while @second_label held the lock;
 *	a fixed label stands for free and unknown time
 * @CHARGE_ROW_WAITER: @first_label waited
 * @CHARGE_ROW_HOLDER: @first_label held the lock while other tasks waited
 * @CHARGE_ROW_BLOCKED: the holder was blocked in @first_label: a function, or a chain of locks
 * @CHARGE_ROW_PREEMPTED: the function @first_label of the holder was preempted
 * @CHARGE_ROW_KINDS: number of kinds
 */
enum charge_row_kind {
	CHARGE_ROW_BLOCKER,
	CHARGE_ROW_WAITER,
	CHARGE_ROW_HOLDER,
	CHARGE_ROW_BLOCKED,
	CHARGE_ROW_PREEMPTED,
	CHARGE_ROW_KINDS,
};

/*
 * @class: class of the table, or charge_sums::fallback_class for the sum of rows that were dropped
 */
struct charge_row_key {
	struct charged_class *class;
	struct charge_label *first_label;
	struct charge_label *second_label;
	uint64_t kind;
};

/**
 * struct charge_row - a sum of pieces
 * @key: class, meaning and labels of the pieces
 * @piece_count: number of pieces; of CHARGE_ROW_WAITER of waits; weighted
 * @ticks: their sum, weighted, session clock
 * @longest_piece: the longest piece
 * @variance: variance of @ticks, which is 0 where each wait was written
 * @greatest_variance_part: greatest part of a single piece in @variance
 *
 * The part of a wait that is charged to one hold is one piece of a row of holders, in however many
 * states the holder was: the error of a sample would be too small if each state counted.
 */
struct charge_row {
	struct charge_row_key key;
	uint64_t piece_count;
	uint64_t ticks;
	uint64_t longest_piece;
	double variance;
	double greatest_variance_part;
};

/**
 * struct charge_sums - of a trace; all zero: nothing is charged
 * @ticks_per_ms: session clock
 * @charger: the waits that are being charged; NULL: none are
 * @thread: thread that charges, see charge_thread.h; NULL: the caller's
 * @stacks: set by the caller after charge_sums_open(): stacks to which the waits are charged, too;
 *	or NULL
 * @origin_time: set by the caller after charge_sums_open(): begin of @timelines, session clock
 * @timelines: the time lines @begun_wait_timeline and @wait_timeline
 * @begun_wait_timeline: number of waits that began, weighted
 * @wait_timeline: time of the waits, weighted, session clock; the time before @origin_time is left
 *	out
 * @longest_waits: the longest waits, and the longest chain; from charge_sums_open() on
 * @total: of all waits
 * @sleeping_lock_total: of the waits for locks that tasks sleep for
 * @current_class: class of the wait that is being charged
 * @waiter_label: label of the task that has waited
 * @growing_piece: the piece that is growing: the time charged to one hold, or one free or unknown
 *	time
 * @growing_piece.piece: the joined pieces
 * @growing_piece.holder: label of the row
 * @growing_piece.blocked_ticks: ticks of @growing_piece.piece in which the holder was blocked
 *	without a known context switch
 * @classes: table
 * @fallback_class: sums of the locks whose class could not be allocated; its key is zero
 * @rows: array, in the order in which the rows were added
 * @row_count: number of rows
 * @row_index: hash table of @row_index_size entries, of which at least half are 0: for each row its
 *	number plus 1, at the first free entry from that of its hash on
 * @row_index_size: a power of two, or 0
 * @labels: of waiters, holders, and places in which holders had no CPU
 * @fixed_labels: the labels of enum charge_fixed_label
 * @has_switches: context switches are recorded
 * @has_off_cpu_times: context switches, or sums of holds, tell when holders that may sleep had no
 *	CPU
 * @has_block_stacks: events tell where holders were blocked
 * @no_memory: something is missing for want of memory
 * @class_cache: classes that were used recently
 */
struct charge_sums {
	uint64_t ticks_per_ms;
	struct charger *charger;
	struct charging_thread *thread;
	struct stack_stats *stacks;
	uint64_t origin_time;
	struct timelines timelines;
	struct timeline *begun_wait_timeline;
	struct timeline *wait_timeline;
	struct longest_waits *longest_waits;
	struct charge_sum total;
	struct charge_sum sleeping_lock_total;
	struct charged_class *current_class;
	struct charge_label *waiter_label;
	struct {
		struct wait_piece piece;
		struct charge_label *holder;
		uint64_t blocked_ticks;
	} growing_piece;
	struct charged_class *classes;
	struct charged_class fallback_class;
	struct charge_row *rows;
	size_t row_count;
	uint32_t *row_index;
	size_t row_index_size;
	struct label_table labels;
	struct charge_label fixed_labels[CHARGE_FIXED_LABELS];
	bool has_switches;
	bool has_off_cpu_times;
	bool has_block_stacks;
	bool no_memory;
	struct charged_class *class_cache[1 << CHARGE_CLASS_CACHE_BITS];
};

/* Visit each row. Without rows the array is NULL, to which C does not allow to add even 0. */
#define for_each_charge_row(row, sums)					\
	for ((row) = (sums)->rows;					\
	     (row) && (row) < (sums)->rows + (sums)->row_count; (row)++)

struct charge_row *charge_find_row(struct charge_sums *sums, const struct charge_row_key *key);
void charge_limit_tables(struct charge_sums *sums);
void charge_row_add(struct charge_row *sum, const struct charge_row *row);
bool charged_class_has_namesake(const struct charge_sums *sums,
				const struct charged_class_key *key);
const char *charged_class_kind_name(const struct charged_class_key *key);
bool charge_row_is_of_others(const struct charge_sums *sums, const struct charge_row *row);

#endif /* _NTKLOG_CHARGE_TABLES_H */
