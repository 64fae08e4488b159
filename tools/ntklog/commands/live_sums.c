// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "etl_reader.h"
#include "kernel.h"
#include "linux_mode.h"
#include "live_sums.h"
#include "message.h"
#include "parameter.h"

/* Most locks whose classes are kept before all notes are read anew. */
#define LOCKS_MAX	262144

static int report_damage(const struct live_sums *sums)
{
	message("session %d: %s", sums->recording.session_number, sums->file->error);
	return -1;
}

/*
 * Report that an event was left out, if it is the first one. live_sums_count_left_out() tells how
 * many there are.
 */
static void report_left_out_event(struct live_sums *sums)
{
	if (!sums->has_reported_event)
		message("session %d: %s; such events are left out", sums->recording.session_number,
			sums->file->error);
	sums->has_reported_event = true;
	/* Otherwise the message about a later error would have this text: the first error stays. */
	sums->file->error[0] = '\0';
}

static void take_event(void *argument, const struct etl_event *event)
{
	struct live_sums *sums = argument;
	const struct stack *stack;

	if (sums->before_event)
		sums->before_event(sums->argument, event);
	if (sums->stacks)
		stack_matcher_add(sums->stacks, event);
	else
		analysis_add(&sums->analysis, sums->file, event, NULL);
	while (sums->stacks && (event = stack_matcher_next_pending(sums->stacks, &stack)))
		analysis_add(&sums->analysis, sums->file, event, stack);
	if (sums->file->error[0])
		report_left_out_event(sums);
}

static int take_buffer(void *argument, unsigned char *buffer, size_t size)
{
	struct live_sums *sums = argument;

	return event_sorter_add(&sums->event_sorter, buffer, size) ? report_damage(sums) : 0;
}

static void take_note(void *argument, const struct class_note *note)
{
	struct live_sums *sums = argument;

	if (!names_add_lock(&sums->symbols.names, note->address, note->time, note->class))
		sums->has_new_class = true;
}

/* Read notes before the events of the locks that they are about. */
static void read_notes(void *argument)
{
	struct live_sums *sums = argument;

	sums->has_new_class = false;
	identities_read(&sums->identities, take_note, sums);
	if (sums->has_new_class)
		names_sort_locks(sums->symbols.names);
	if (sums->before_read)
		sums->before_read(sums->argument);
}

/* Read how Linux' locks are recorded. A setting that an older module does not have stays 0. */
static int take_rules(struct spinlock_rates *rates)
{
	const char *name = "linux_mode";
	char mode[KERNEL_TEXT];
	int err = kernel_read(mode, sizeof(mode), "%s", name);

	if (!err) {
		rates->has_rules = linux_mode_find(mode, &rates->linux_mode);
		err = rates->has_rules ? 0 : -EINVAL;
	}
	if (!err) {
		name = "blockers";
		err = parameter_get("spinlock", name, &rates->blocker_rate);
	}
	if (!err || err == -ENOENT)
		return 0;
	message("%s: %s", name, strerror(-err));
	return -1;
}

/**
 * live_sums_take_rates() - read the present rates of sampling, by which the next events count
 * @sums: followed; its analysis has no events
 *
 * Return: 0, or -1 after a message.
 */
int live_sums_take_rates(struct live_sums *sums)
{
	struct spinlock_rates *spinlock = &sums->analysis.spinlocks.rates;
	struct resource_rates *resource = &sums->analysis.resources.rates;
	uint32_t values[PARAMETERS_MAX];

	if (parameter_group_get(parameter_group_find("spinlock"), values))
		return -1;
	*spinlock = (struct spinlock_rates) {
		.is_known = 1,
		.spin_threshold = values[0],
		.acquire_rate = values[1],
		.contention_rate = values[2],
		.hold_threshold = values[3],
	};
	if (take_rules(spinlock))
		return -1;
	if (parameter_group_get(parameter_group_find("resource"), values))
		return -1;
	*resource = (struct resource_rates) {
		.is_known = 1,
		.release_rate = values[0],
		.contention_rate = values[1],
		.timeout_rate = values[2],
	};
	return 0;
}

/**
 * live_sums_prepare() - read the symbols, and let the module make notes of classes
 * @sums: its recording is RECORDING_NONE
 *
 * Reading all symbols takes a while, so it precedes the start.
 *
 * Return: 0, or -1 after a message; live_sums_close() in both cases.
 */
int live_sums_prepare(struct live_sums *sums)
{
	if (symbols_read(&sums->symbols))
		return -1;
	identities_open(&sums->identities);
	return 0;
}

/**
 * live_sums_start() - claim and start a session
 * @sums: prepared
 * @settings: settings of the run
 * @signals: more signals that the recording's signal_fd gives; 0 ends them
 *
 * Return: 0, or -1 after a message.
 */
int live_sums_start(struct live_sums *sums, const struct session_settings *settings,
		    const int *signals)
{
	sums->records_stacks = settings->stack_events;
	return recording_claim(&sums->recording, -1) ||
	       recording_take_signals(&sums->recording, signals) ||
	       recording_start(&sums->recording, settings) ? -1 : 0;
}

/**
 * live_sums_follow() - begin to read the events of a session that has just been started
 * @sums: started
 *
 * Return: 0, or -1 after a message.
 */
int live_sums_follow(struct live_sums *sums)
{
	struct recording *recording = &sums->recording;
	size_t size;
	unsigned char *header = recording_read_header(recording, &size);
	int err = header ? etl_attach(&sums->file, "session", header, size) : -1;

	if (err && header)
		message("session %d: %s", recording->session_number, sums->file->error);
	free(header);
	if (!err && sums->records_stacks) {
		sums->stacks = stack_matcher_open_session(sums->file);
		err = sums->stacks ? 0 : -1;
		if (err)
			message("no memory for stacks");
	}
	sums->event_sorter.file = sums->file;
	sums->event_sorter.give_event = take_event;
	sums->event_sorter.argument = sums;
	recording->drain.give_buffer = take_buffer;
	recording->drain.argument = sums;
	recording->before_read = read_notes;
	recording->argument = sums;
	return err || drain_open(&recording->drain, recording->claim_fd, recording->session_number,
				 size) ?
	       -1 : 0;
}

/**
 * live_sums_begin() - begin an interval
 * @sums: followed; its analysis has no events
 *
 * Return: 0, or -1 after a message.
 */
int live_sums_begin(struct live_sums *sums)
{
	if (live_sums_take_rates(sums))
		return -1;
	/* Objects come and go, and the addresses of their locks with them. */
	if (names_lock_count(sums->symbols.names) > LOCKS_MAX) {
		names_forget_classes(sums->symbols.names);
		identities_rewind(&sums->identities);
	}
	sums->analysis.names = sums->symbols.names;
	sums->analysis.origin_time = sums->file->start_clock;
	return 0;
}

/**
 * live_sums_charge() - charge the waits of the interval that has begun
 * @sums: begun
 * @attribute: attribute by which waiters and holders are told apart
 *
 * Return: 0, or -1 after a message.
 */
int live_sums_charge(struct live_sums *sums, enum charge_attribute attribute)
{
	struct charge_sums *charger = &sums->analysis.charge_sums;

	if (!charge_sums_open(charger, sums->symbols.names, attribute, sums->file->perf_freq)) {
		message("no memory for the waits of an interval");
		return -1;
	}
	charger->origin_time = sums->file->start_clock;
	return 0;
}

/**
 * live_sums_read_all() - sum up what was written so far, also in buffers that are not full
 * @sums: begun
 *
 * Return: 0, or -1 after a message.
 */
int live_sums_read_all(struct live_sums *sums)
{
	if (recording_flush(&sums->recording))
		return -1;
	return event_sorter_finish(&sums->event_sorter) ? report_damage(sums) : 0;
}

/**
 * live_sums_refresh_symbols() - read the symbols of modules that were loaded meanwhile
 * @sums: prepared
 *
 * Return: 0, or -1 after a message.
 */
int live_sums_refresh_symbols(struct live_sums *sums)
{
	int got = symbols_update(&sums->symbols);

	if (got > 0)
		identities_refresh_classes(&sums->identities);
	return got < 0 ? -1 : 0;
}

/**
 * live_sums_count_left_out() - get the number of events that this interval left out
 * @sums: begun
 *
 * Return: number of events that are damaged, or whose times are impossible. Lost events, which
 * never came, do not count.
 */
uint64_t live_sums_count_left_out(const struct live_sums *sums)
{
	return sums->file->damaged_events + sums->file->wrong_times;
}

/**
 * live_sums_reset() - free the sums of an interval
 * @sums: begun
 *
 * The known holds stay, because waits of later intervals are charged to them.
 */
void live_sums_reset(struct live_sums *sums)
{
	struct charger *charger = sums->analysis.charge_sums.charger;

	sums->analysis.charge_sums.charger = NULL;
	analysis_free(&sums->analysis);
	sums->analysis.charge_sums.charger = charger;
	sums->file->damaged_events = 0;
	sums->file->wrong_times = 0;
}

/**
 * live_sums_stop() - stop the session; another one can be started then
 * @sums: prepared, started or not
 */
void live_sums_stop(struct live_sums *sums)
{
	analysis_free(&sums->analysis);
	event_sorter_free(&sums->event_sorter);
	sums->event_sorter = (struct event_sorter) { 0 };
	stack_matcher_close(sums->stacks);
	sums->stacks = NULL;
	if (sums->file)
		etl_close(sums->file);
	sums->file = NULL;
	recording_close(&sums->recording);
}

/**
 * live_sums_close() - free everything
 * @sums: live_sums_prepare() was called, with or without success
 */
void live_sums_close(struct live_sums *sums)
{
	live_sums_stop(sums);
	identities_close(&sums->identities);
	symbols_free(&sums->symbols);
}
