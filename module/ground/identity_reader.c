// SPDX-License-Identifier: GPL-2.0-only

#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/processor.h>
#include <linux/sched/signal.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "address.h"
#include "identity.h"
#include "identity_notes.h"
#include "identity_reader.h"
#include "location.h"
#include "slab_cache.h"

#define NTKLOG_IDENTITY_TEXT_SIZE	(128 + NTKLOG_CACHE_NAME_SIZE + 2 * KSYM_SYMBOL_LEN)
#define NTKLOG_IDENTITY_SET_TEXT_SIZE	(NTKLOG_IDENTITY_ASSOCIATIVITY * NTKLOG_IDENTITY_TEXT_SIZE)

/* Flag in ntklog_identity_reader.seen_sequence: the set has not been read. Sequences are even. */
#define NTKLOG_NOT_READ		1u

#define NTKLOG_IDENTITY_TRIES	1000

/*
 * @mutex protects the other members. @replaced_notes is the number of notes that were replaced
 * before this reader read them. @seen_sequence has, for each set, its sequence number when it was
 * last read; before that, its sequence number when the reader was opened, with NTKLOG_NOT_READ.
 */
struct ntklog_identity_reader {
	/* Serializes reads. */
	struct mutex mutex;
	unsigned int next_set_index;
	u32 missed_notes;
	u32 replaced_notes;
	u32 printed_replaced_notes;
	size_t length;
	size_t copied_length;
	bool ended;
	char symbol[KSYM_SYMBOL_LEN];
	char text[NTKLOG_IDENTITY_SET_TEXT_SIZE];
	u32 seen_sequence[NTKLOG_IDENTITY_SETS];
};

static size_t ntklog_print_identity(char *text, size_t size, const struct ntklog_identity *note,
				    char *buffer)
{
	char name[NTKLOG_CACHE_NAME_SIZE];
	u32 cache_size, object_size;
	size_t used_bytes;

	used_bytes = scnprintf(text, size, "0x%llx %u %llu ",
			       ntklog_get_displayed_address(note->lock), note->kind, note->time);
	if (note->cache == NTKLOG_ON_STACK) {
		used_bytes += scnprintf(text + used_bytes, size - used_bytes, "stack");
	} else if (note->cache == NTKLOG_IN_KFENCE) {
		used_bytes += scnprintf(text + used_bytes, size - used_bytes, "kfence");
	} else if (note->cache == NTKLOG_IN_NO_SLAB) {
		used_bytes += ntklog_print_location(text + used_bytes, size - used_bytes,
						    note->lock, buffer);
	} else {
		ntklog_describe_cache(note->cache, &cache_size, &object_size, name);
		used_bytes += scnprintf(text + used_bytes, size - used_bytes,
					"slab 0x%llx %u %u %u %s",
					ntklog_get_displayed_address(note->cache), note->offset,
					cache_size, object_size, name);
	}
	used_bytes += scnprintf(text + used_bytes, size - used_bytes, " by %s\n",
				ntklog_format_symbol(note->caller, buffer));
	return used_bytes;
}

static bool ntklog_copy_set(struct ntklog_identity_table *notes, unsigned int set_index,
			    struct ntklog_identity ways[NTKLOG_IDENTITY_ASSOCIATIVITY],
			    u32 *sequence)
{
	unsigned int i;

	for (i = 0; i < NTKLOG_IDENTITY_TRIES; i++) {
		*sequence = raw_seqcount_begin(&notes->sequence[set_index]);
		/* A copy that races with a writer is discarded below. */
		data_race(memcpy(ways, notes->notes[set_index], sizeof(notes->notes[set_index])));
		if (!read_seqcount_retry(&notes->sequence[set_index], *sequence))
			return true;
		cpu_relax();
	}
	return false;
}

/*
 * Find a set with notes that are new to @reader: @set_index or a later one. Returns
 * NTKLOG_IDENTITY_SETS if there is none.
 */
static unsigned int ntklog_find_changed_set(const struct ntklog_identity_reader *reader,
					    unsigned int set_index)
{
	const struct ntklog_identity_table *notes = ntklog_identities;
	u32 seen_sequence;

	for (; set_index < NTKLOG_IDENTITY_SETS; set_index++) {
		seen_sequence = reader->seen_sequence[set_index];
		if (seen_sequence & NTKLOG_NOT_READ)
			seen_sequence = 0;
		if (raw_read_seqcount(&notes->sequence[set_index]) != seen_sequence)
			break;
	}
	return set_index;
}

static void ntklog_print_set(struct ntklog_identity_reader *reader, unsigned int set_index)
{
	struct ntklog_identity ways[NTKLOG_IDENTITY_ASSOCIATIVITY];
	u32 seen_sequence = reader->seen_sequence[set_index] & ~NTKLOG_NOT_READ, sequence;
	bool is_first = reader->seen_sequence[set_index] & NTKLOG_NOT_READ, is_new;
	unsigned int i;

	if (!ntklog_copy_set(ntklog_identities, set_index, ways, &sequence))
		return;
	reader->seen_sequence[set_index] = sequence;
	/* Each note increases the sequence number by 2. */
	reader->replaced_notes += (sequence - seen_sequence) / 2;
	for (i = 0; i < NTKLOG_IDENTITY_ASSOCIATIVITY; i++) {
		is_new = (s32)(ways[i].written_sequence - seen_sequence) > 0;
		if (!ways[i].lock || !(is_first || is_new))
			continue;
		reader->length += ntklog_print_identity(reader->text + reader->length,
							sizeof(reader->text) - reader->length,
							&ways[i], reader->symbol);
		reader->replaced_notes -= is_new;
	}
}

static void ntklog_print_lost_identities(struct ntklog_identity_reader *reader)
{
	u32 missed = atomic_read(&ntklog_identities->missed);

	if (missed == reader->missed_notes &&
	    reader->replaced_notes == reader->printed_replaced_notes)
		return;
	reader->missed_notes = missed;
	reader->printed_replaced_notes = reader->replaced_notes;
	reader->length = scnprintf(reader->text, sizeof(reader->text),
				   "missed %u replaced %u\n", missed, reader->replaced_notes);
}

/* Returns false at the end of a pass; the next call begins with the first set again. */
static bool ntklog_print_next_set(struct ntklog_identity_reader *reader)
{
	reader->copied_length = 0;
	reader->length = 0;
	while (!reader->length && reader->next_set_index < NTKLOG_IDENTITY_SETS) {
		reader->next_set_index = ntklog_find_changed_set(reader, reader->next_set_index);
		if (reader->next_set_index < NTKLOG_IDENTITY_SETS)
			ntklog_print_set(reader, reader->next_set_index++);
	}
	if (!reader->length && reader->next_set_index == NTKLOG_IDENTITY_SETS) {
		reader->next_set_index++;
		ntklog_print_lost_identities(reader);
	}
	if (!reader->length)
		reader->next_set_index = 0;
	return reader->length;
}

/**
 * ntklog_read_identities() - copy the notes that are new to a reader to user space
 * @reader: from ntklog_open_identities()
 * @buffer: buffer for the text
 * @count: size of the buffer in bytes
 *
 * Context: task; may sleep.
 * Return: number of bytes copied, 0 at the end of a pass, or a negative errno.
 */
ssize_t ntklog_read_identities(struct ntklog_identity_reader *reader, char __user *buffer,
			       size_t count)
{
	size_t copied_bytes = 0, part_size;

	if (mutex_lock_interruptible(&reader->mutex))
		return -EINTR;
	/* End after each pass over the sets, so that a reader of the whole file terminates. */
	while (copied_bytes < count && !reader->ended) {
		if (reader->copied_length == reader->length && !ntklog_print_next_set(reader)) {
			reader->ended = copied_bytes;
			break;
		}
		part_size = min(reader->length - reader->copied_length, count - copied_bytes);
		if (copy_to_user(buffer + copied_bytes, reader->text + reader->copied_length,
				 part_size)) {
			mutex_unlock(&reader->mutex);
			return -EFAULT;
		}
		reader->copied_length += part_size;
		copied_bytes += part_size;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	if (!copied_bytes)
		reader->ended = false;
	mutex_unlock(&reader->mutex);
	return copied_bytes;
}

/**
 * ntklog_open_identities() - create a reader, and enable the notes
 *
 * Context: task; may sleep.
 * Return: the reader, to which all notes are new, or a negative errno.
 */
struct ntklog_identity_reader *ntklog_open_identities(void)
{
	struct ntklog_identity_reader *reader = kvzalloc(sizeof(*reader), GFP_KERNEL);
	unsigned int set_index;
	int err;

	if (!reader)
		return ERR_PTR(-ENOMEM);
	mutex_init(&reader->mutex);
	err = ntklog_get_identities();
	if (err) {
		kvfree(reader);
		return ERR_PTR(err);
	}
	for (set_index = 0; set_index < NTKLOG_IDENTITY_SETS; set_index++)
		reader->seen_sequence[set_index] = NTKLOG_NOT_READ |
			raw_read_seqcount(&ntklog_identities->sequence[set_index]);
	return reader;
}

/**
 * ntklog_close_identities() - free a reader, and disable the notes if it was the last user
 * @reader: from ntklog_open_identities()
 *
 * Context: task; may sleep.
 */
void ntklog_close_identities(struct ntklog_identity_reader *reader)
{
	ntklog_put_identities();
	kvfree(reader);
}
