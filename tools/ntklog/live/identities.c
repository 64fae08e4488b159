// SPDX-License-Identifier: GPL-2.0-only
/* See identities.h. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "identities.h"
#include "kernel.h"
#include "message.h"

/**
 * identities_open() - have notes made from now on
 * @identities: all zero
 *
 * Where there can be none, that is told, and nothing is read. An older module has no such file.
 */
void identities_open(struct identities *identities)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%s/identities", kernel_directory());
	identities->stream = fopen(path, "re");
	if (!identities->stream) {
		if (errno == EOPNOTSUPP)
			message("%s: locks have no classes: addresses=zero, or not on this kernel",
				path);
		else if (errno != ENOENT)
			message("%s: %s: locks have no classes", path, strerror(errno));
		return;
	}
	identities->classes = classes_open(kernel_system());
	if (!identities->classes)
		message("%s", strerror(ENOMEM));
}

/* "missed COUNT replaced COUNT", told once. */
static void take_losses(struct identities *identities, const char *line)
{
	unsigned int missed, replaced;

	if (sscanf(line, "missed %u replaced %u", &missed, &replaced) == 2) {
		identities->missed = missed;
		identities->replaced = replaced;
	}
}

/**
 * identities_read() - take what is new
 * @identities: open, or not
 * @take: is given each note
 * @argument: of @take
 */
void identities_read(struct identities *identities,
		     void (*take)(void *argument, const struct class_note *note), void *argument)
{
	struct class_note note;
	size_t room = 0;
	char *line = NULL;

	if (!identities->stream || !identities->classes)
		return;
	/* Its end is that of what is new. */
	clearerr(identities->stream);
	while (getline(&line, &room, identities->stream) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (classes_read(identities->classes, line, &note))
			take(argument, &note);
		else
			take_losses(identities, line);
	}
	free(line);
}

/**
 * identities_again() - take all notes that there are once more
 * @identities: open, or not
 */
void identities_again(struct identities *identities)
{
	char path[PATH_SIZE];
	FILE *stream;

	if (!identities->stream)
		return;
	snprintf(path, sizeof(path), "%s/identities", kernel_directory());
	/* Before the other one is closed: with the last reader the notes go. */
	stream = fopen(path, "re");
	if (!stream)
		return;
	fclose(identities->stream);
	identities->stream = stream;
}

/**
 * identities_refresh() - modules have come
 * @identities: open, or not
 */
void identities_refresh(struct identities *identities)
{
	if (identities->classes)
		classes_refresh(identities->classes);
}

/**
 * identities_close() - nobody wants notes any more
 * @identities: open, or not
 */
void identities_close(struct identities *identities)
{
	if (identities->missed)
		message("%u events have no class of their lock: two events came at the same moment",
			identities->missed);
	if (identities->replaced)
		message("%u notes about classes of locks were overwritten before they were read",
			identities->replaced);
	if (identities->stream)
		fclose(identities->stream);
	classes_close(identities->classes);
	*identities = (struct identities) { 0 };
}
