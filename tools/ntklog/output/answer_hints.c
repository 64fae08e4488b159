// SPDX-License-Identifier: GPL-2.0-only
/* The end of an answer: see answer_hints.h. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/event.h>

#include "answer_hints.h"
#include "text.h"

/* Least share of unknown holders at which the answer names the option that records them. */
#define UNKNOWN_MIN	0.1

/*
 * Say why holders of spin locks are not known, and which command records them. No command records
 * all holders of locks whose words show no waiter.
 */
static void add_hint_for_unknown_holders(struct answer *answer)
{
	const struct spinlock_rates *spinlock = &answer->report->analysis->spinlocks.rates;

	if (spinlock->has_rules && spinlock->linux_mode == NTKLOG_LINUX_MODE_WAITS)
		answer_add_line(answer,
				"Mode waits records no holders of spin locks: ntklog record --mode full");
	else if (!spinlock->blocker_rate)
		answer_add_line(answer,
				"Not recorded: who held spin locks. To record it: ntklog record --blockers");
	else if (spinlock->blocker_rate > 1)
		answer_add_line(answer,
				"Of holders of spin locks 1 in %" PRIu32 " is recorded. All: %s",
				spinlock->blocker_rate, "ntklog record --blockers");
	else if (spinlock->has_rules && spinlock->linux_mode == NTKLOG_LINUX_MODE_HOLDERS)
		answer_add_line(answer,
				"Mode holders lacks holders of some spin locks: ntklog record --mode full");
	else if (spinlock->acquire_rate > 1)
		answer_add_line(answer,
				"Locks that show no waiter: 1 in %" PRIu32 " %s",
				spinlock->acquire_rate, "holders that did not wait is recorded.");
}

/* Say that waits were sampled, and which command records all of them. */
static void add_hint_for_estimates(struct answer *answer)
{
	const struct spinlock_rates *spinlock = &answer->report->analysis->spinlocks.rates;
	const struct resource_rates *resource = &answer->report->analysis->resources.rates;
	static const char text[] = "\"Longest\" is of recorded waits. For all: ntklog set";

	if (spinlock->contention_rate > 1)
		answer_add_line(answer, "%s spinlock %" PRIu32 " %" PRIu32 " 1", text,
				spinlock->spin_threshold, spinlock->acquire_rate);
	else
		answer_add_line(answer, "%s resource %" PRIu32 " 1 %" PRIu32, text,
				resource->release_rate, resource->timeout_rate);
}

/**
 * answer_add_hints() - name facts that are not recorded, and options or commands that record them
 * @answer: the answer
 */
void answer_add_hints(struct answer *answer)
{
	const struct analysis *analysis = answer->report->analysis;
	const struct spinlock_rates *spinlock = &analysis->spinlocks.rates;
	const struct charge_sums *sums = &analysis->charge_sums;
	const struct charge_sum *total = &sums->total;
	uint64_t unknown_spin_ticks = total->part_ticks[CHARGE_UNKNOWN] -
				    sums->sleeping_lock_total.part_ticks[CHARGE_UNKNOWN];
	bool has_stacks = analysis->stacks.has_any || sums->has_block_stacks;

	if (rates_get_dropped_blockers(&analysis->rates_history))
		answer_add_line(answer,
				"Not recorded: %" PRIu64 " holders of what is free or unknown.",
				rates_get_dropped_blockers(&analysis->rates_history));
	if (answer_share(unknown_spin_ticks, total->wait_ticks -
			 sums->sleeping_lock_total.wait_ticks) >
		    UNKNOWN_MIN ||
	    (spinlock->has_rules && spinlock->linux_mode == NTKLOG_LINUX_MODE_WAITS))
		add_hint_for_unknown_holders(answer);
	if (sums->sleeping_lock_total.wait_ticks && !sums->has_off_cpu_times)
		answer_add_line(answer,
				"Not recorded: why holders were slow (ntklog record -e ...,contextswap%s).",
				has_stacks ? "" : " --stacks");
	else if (sums->sleeping_lock_total.wait_ticks && !sums->has_switches &&
		 !sums->has_block_stacks)
		answer_add_line(answer,
				"Not recorded: where holders blocked (ntklog record --stacks).");
	else if (sums->sleeping_lock_total.wait_ticks && !has_stacks)
		answer_add_line(answer,
				"Not recorded: where holders were slow (ntklog record --stacks).");
	if (total->is_estimate)
		add_hint_for_estimates(answer);
}

/* Print a word of a shell's command, quoted if the shell would change it. */
static void print_word(FILE *stream, const char *word)
{
	static const char special_characters[] = " \t\n'\"\\`$&;|<>()[]{}*?#~!";
	char *text = strdup(word);
	const char *at;

	if (!text)
		return;
	/* Names come from the file: they may control a terminal. */
	text_clean_line(text);
	if (*text && !text[strcspn(text, special_characters)]) {
		fputs(text, stream);
	} else {
		putc('\'', stream);
		for (at = text; *at; at++)
			fputs(*at == '\'' ? "'\\''" : (const char []) { *at, '\0' }, stream);
		putc('\'', stream);
	}
	free(text);
}

/* Print the path of a file, which a command must not take for an option. */
static void print_path(FILE *stream, const char *path)
{
	if (path[0] == '-' && path[1])
		fputs("./", stream);
	print_word(stream, path);
}

/**
 * answer_print_command() - print the command for more, however long it is
 * @report: report of the file
 * @lock: class of the lock that cost most
 * @stream: stream to print to
 *
 * The command has the options that chose names and events, and --addresses if that was given. If
 * the report is of one lock alone, it has "--table blockers", too.
 */
void answer_print_command(const struct report *report, uint64_t lock, FILE *stream)
{
	const char *wanted_lock = report->analysis->wanted_lock.name;
	const char *const *option;
	char name[NAME_SIZE];

	names_format_address(report->names, lock, name, sizeof(name));
	fputs("More: ntklog report --lock ", stream);
	print_word(stream, wanted_lock ?: name);
	fputs(wanted_lock ? " --table blockers " : " ", stream);
	if (report->analysis->sums_by_address)
		fputs("--addresses ", stream);
	for (option = report->selecting_options; *option; option++) {
		print_word(stream, *option);
		putc(' ', stream);
	}
	print_path(stream, report->file->path);
	putc('\n', stream);
}
