// SPDX-License-Identifier: GPL-2.0-only
/* Charging in a thread: see charge_thread.h. The holds and switches pass to it in batches. */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "charge_thread.h"

#define BATCH_ENTRIES	1024
#define BATCHES		2

enum batch_entry_kind {
	ENTRY_HOLD,
	ENTRY_SWITCH,
	ENTRY_END,
};

/* A hold or a switch, whose frames are copied to @frames and @block_frames. */
struct batch_entry {
	enum batch_entry_kind kind;
	union {
		struct charge_hold hold;
		struct {
			struct charge_absence absence;
			uint32_t new_thread_id;
			uint64_t ready_for;
		};
	};
	uint64_t frames[CHARGE_FRAMES_MAX];
	uint64_t block_frames[CHARGE_FRAMES_MAX];
};

/**
 * struct charging_thread - the thread, and a ring of batches of entries for it
 * @thread: the thread
 * @sums: sums that the thread alone changes while it runs
 * @lock: protects @filled_batch_count and @charged_batch_count
 * @batches_changed: @filled_batch_count or @charged_batch_count has changed
 * @filled_batch_count: number of batches that the reader has passed to the thread; the reader fills
 *	the next
 * @charged_batch_count: number of batches that the thread has charged
 * @used_entry_count: number of entries in the batch that the reader is filling
 * @batches: ring of batches
 */
struct charging_thread {
	pthread_t thread;
	struct charge_sums *sums;
	pthread_mutex_t lock;
	pthread_cond_t batches_changed;
	uint64_t filled_batch_count;
	uint64_t charged_batch_count;
	size_t used_entry_count;
	struct batch_entry batches[BATCHES][BATCH_ENTRIES];
};

/* Charge a batch. Returns false at the last entry of all. */
static bool charge_batch(struct charge_sums *sums, const struct batch_entry *entries)
{
	const struct batch_entry *entry;

	for (entry = entries; entry < entries + BATCH_ENTRIES; entry++) {
		if (entry->kind == ENTRY_END)
			return false;
		if (entry->kind == ENTRY_HOLD)
			charge_sums_add_hold(sums, &entry->hold);
		else
			charge_sums_add_switch(sums, &entry->absence, entry->new_thread_id,
					       entry->ready_for);
	}
	return true;
}

static void *charge_batches(void *argument)
{
	struct charging_thread *thread = argument;

	for (;;) {
		pthread_mutex_lock(&thread->lock);
		while (thread->filled_batch_count == thread->charged_batch_count)
			pthread_cond_wait(&thread->batches_changed, &thread->lock);
		pthread_mutex_unlock(&thread->lock);
		if (!charge_batch(thread->sums,
				  thread->batches[thread->charged_batch_count % BATCHES]))
			return NULL;
		pthread_mutex_lock(&thread->lock);
		thread->charged_batch_count++;
		pthread_cond_signal(&thread->batches_changed);
		pthread_mutex_unlock(&thread->lock);
	}
}

/* Pass the batch to the thread, and wait until another one may be filled. */
static void pass_batch(struct charging_thread *thread)
{
	pthread_mutex_lock(&thread->lock);
	thread->filled_batch_count++;
	pthread_cond_signal(&thread->batches_changed);
	while (thread->filled_batch_count - thread->charged_batch_count == BATCHES)
		pthread_cond_wait(&thread->batches_changed, &thread->lock);
	pthread_mutex_unlock(&thread->lock);
	thread->used_entry_count = 0;
}

static struct batch_entry *add_entry(struct charging_thread *thread, enum batch_entry_kind kind)
{
	struct batch_entry *entry;

	if (thread->used_entry_count == BATCH_ENTRIES)
		pass_batch(thread);
	entry = &thread->batches[thread->filled_batch_count % BATCHES][thread->used_entry_count++];
	entry->kind = kind;
	return entry;
}

/**
 * charging_thread_start() - charge in a thread from now on
 * @sums: open; the caller leaves them alone until charging_thread_join()
 *
 * Without memory for a thread the caller's own thread charges.
 */
void charging_thread_start(struct charge_sums *sums)
{
	struct charging_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return;
	thread->sums = sums;
	pthread_mutex_init(&thread->lock, NULL);
	pthread_cond_init(&thread->batches_changed, NULL);
	if (!pthread_create(&thread->thread, NULL, charge_batches, thread))
		sums->thread = thread;
	else
		free(thread);
}

/**
 * charging_thread_add_hold() - add the record of a hold
 * @sums: open
 * @hold: as for charger_add_hold()
 */
void charging_thread_add_hold(struct charge_sums *sums, const struct charge_hold *hold)
{
	struct batch_entry *entry;

	if (!sums->thread) {
		charge_sums_add_hold(sums, hold);
		return;
	}
	entry = add_entry(sums->thread, ENTRY_HOLD);
	entry->hold = *hold;
	if (hold->frames)
		entry->hold.frames = memcpy(entry->frames, hold->frames, sizeof(entry->frames));
	if (hold->block_frames)
		entry->hold.block_frames = memcpy(entry->block_frames, hold->block_frames,
						  sizeof(entry->block_frames));
}

/**
 * charging_thread_add_switch() - add a context switch
 * @sums: open
 * @absence: of the task that loses the CPU, as for charger_switch_out()
 * @new_thread_id: the task that gets the CPU
 * @ready_for: how long the new task was ready, session clock; 0: not known
 */
void charging_thread_add_switch(struct charge_sums *sums, const struct charge_absence *absence,
				uint32_t new_thread_id, uint64_t ready_for)
{
	struct batch_entry *entry;

	if (!sums->thread) {
		charge_sums_add_switch(sums, absence, new_thread_id, ready_for);
		return;
	}
	entry = add_entry(sums->thread, ENTRY_SWITCH);
	entry->absence = *absence;
	if (absence->frames)
		entry->absence.frames = memcpy(entry->frames, absence->frames,
					       sizeof(entry->frames));
	entry->new_thread_id = new_thread_id;
	entry->ready_for = ready_for;
}

/**
 * charging_thread_join() - wait until all that was added is charged, and end the thread
 * @sums: sums, with a thread or not
 */
void charging_thread_join(struct charge_sums *sums)
{
	struct charging_thread *thread = sums->thread;

	if (!thread)
		return;
	add_entry(thread, ENTRY_END);
	pass_batch(thread);
	pthread_join(thread->thread, NULL);
	pthread_mutex_destroy(&thread->lock);
	pthread_cond_destroy(&thread->batches_changed);
	free(thread);
	sums->thread = NULL;
}
