// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "identities.h"
#include "kernel.h"
#include "message.h"
#include "names.h"

/**
 * identities_open() - let the module make notes from now on
 * @identities: all zero
 *
 * If the module can make no notes, the function prints why, and identities_read() reads none. An
 * older module lacks the file: then there are no notes either, and no message.
 */
void identities_open(struct identities_file *identities)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/identities", kernel_directory());
	identities->stream = fopen(path, "re");
	if (!identities->stream) {
		if (errno == EOPNOTSUPP)
			message("%s: locks have no classes: the module was loaded with addresses=zero, or does not know this kernel's slabs",
				path);
		else if (errno != ENOENT)
			message("%s: %s: locks have no classes", path, strerror(errno));
		return;
	}
	identities->classes = classes_open(kernel_system_directory());
	if (!identities->classes)
		message("%s: no memory for the classes of locks", path);
}

/* Read "missed COUNT replaced COUNT": missed for all readers, replaced for this open file. */
static void take_losses(struct identities_file *identities, const char *line)
{
	unsigned int missed, replaced;

	if (sscanf(line, "missed %u replaced %u", &missed, &replaced) == 2) {
		identities->missed_note_count = missed;
		identities->replaced_note_count = replaced;
	}
}

/**
 * identities_read() - read the notes that are new
 * @identities: open, or all zero
 * @take: called with each note but those that have only the name of a lock_class_key
 * @argument: first argument of @take
 */
void identities_read(struct identities_file *identities,
		     void (*take)(void *argument, const struct class_note *note), void *argument)
{
	struct class_note note;
	size_t capacity = 0;
	char *line = NULL;

	if (!identities->stream || !identities->classes)
		return;
	/* The end of the file is the end of the notes so far. */
	clearerr(identities->stream);
	while (getline(&line, &capacity, identities->stream) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!classes_parse_line(identities->classes, line, &note))
			take_losses(identities, line);
		/* Without a class the lock is named by its own symbol, which has this address. */
		else if (!symbol_name_is_lock_class_key(note.class))
			take(argument, &note);
	}
	free(line);
}

/**
 * identities_rewind() - let the next identities_read() read all notes from the first one on
 * @identities: open, or all zero
 */
void identities_rewind(struct identities_file *identities)
{
	char path[PATH_SIZE];
	FILE *stream;

	if (!identities->stream)
		return;
	snprintf(path, sizeof(path), "%s/identities", kernel_directory());
	/* The new file is opened first, because the module frees its notes with the last reader. */
	stream = fopen(path, "re");
	if (!stream)
		return;
	fclose(identities->stream);
	identities->stream = stream;
}

/**
 * identities_refresh_classes() - read the types and slab caches of newly loaded modules
 * @identities: open, or all zero
 */
void identities_refresh_classes(struct identities_file *identities)
{
	if (identities->classes)
		classes_refresh(identities->classes);
}

/**
 * identities_close() - close the file, and say which notes are missing
 * @identities: open, or all zero
 */
void identities_close(struct identities_file *identities)
{
	if (identities->missed_note_count)
		message("%u events came while another CPU made a note: the classes of their locks may be missing",
			identities->missed_note_count);
	if (identities->replaced_note_count)
		message("%u notes about classes of locks were overwritten before they were read: record fewer kinds of locks at a time (-e)",
			identities->replaced_note_count);
	if (identities->stream)
		fclose(identities->stream);
	classes_close(identities->classes);
	*identities = (struct identities_file) { 0 };
}
