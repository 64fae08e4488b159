// SPDX-License-Identifier: GPL-2.0-only
/* Modes of recording Linux' locks. The module's files and the option --mode use the same names. */

#include <string.h>

#include <ntklog/event.h>

#include "linux_mode.h"

const struct event_symbol linux_modes[LINUX_MODES] = {
	{ NTKLOG_LINUX_MODE_FULL, "full" },
	{ NTKLOG_LINUX_MODE_SAMPLED, "sampled" },
	{ NTKLOG_LINUX_MODE_WAITS, "waits" },
	{ NTKLOG_LINUX_MODE_HOLDERS, "holders" },
};

/**
 * linux_mode_name() - get the name of a mode
 * @mode: NTKLOG_LINUX_MODE_*, or any number from a file
 *
 * Return: the name, or "unknown".
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
 * linux_mode_has_holds() - test whether holds of Linux' spin locks and rwlocks are recorded
 * @mode: NTKLOG_LINUX_MODE_*, or any number from a file
 *
 * Return: false for the modes that use the kernel's tracepoints.
 */
bool linux_mode_has_holds(uint32_t mode)
{
	return mode != NTKLOG_LINUX_MODE_WAITS && mode != NTKLOG_LINUX_MODE_HOLDERS;
}

/**
 * linux_mode_find() - find a mode by its name
 * @name: name of the mode
 * @mode: set to NTKLOG_LINUX_MODE_*; unchanged if there is no such mode
 *
 * Return: true if there is such a mode.
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
