// SPDX-License-Identifier: GPL-2.0-only
/* How Linux' own locks are watched: the module, its files and the option --mode name it alike. */

#include <string.h>

#include <ntklog/event.h>

#include "linux_mode.h"

const struct event_symbol linux_modes[LINUX_MODES] = {
	{ NTKLOG_LINUX_MODE_FULL, "full" },
	{ NTKLOG_LINUX_MODE_SAMPLED, "sampled" },
	{ NTKLOG_LINUX_MODE_WAITS, "waits" },
};

/**
 * linux_mode_name() - what is a mode called?
 * @mode: NTKLOG_LINUX_MODE_*, or what a file has in its place
 *
 * Return: its name, or "unknown".
 */
const char *linux_mode_name(uint32_t mode)
{
	size_t i;

	for (i = 0; i < LINUX_MODES; i++)
		if (linux_modes[i].value == mode)
			return linux_modes[i].name;
	return "unknown";
}

/**
 * linux_mode_find() - which mode is that?
 * @name: of it
 * @mode: NTKLOG_LINUX_MODE_*; left alone if there is none
 *
 * Return: whether there is one.
 */
bool linux_mode_find(const char *name, uint32_t *mode)
{
	size_t i;

	for (i = 0; i < LINUX_MODES; i++) {
		if (strcmp(linux_modes[i].name, name))
			continue;
		*mode = linux_modes[i].value;
		return true;
	}
	return false;
}
