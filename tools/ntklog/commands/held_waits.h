/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_HELD_WAITS_H
#define _NTKLOG_HELD_WAITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "names.h"

int held_print_waits(FILE *stream, const struct names *names, const char *name_part,
		     bool matches_tasks, size_t count, size_t width);

#endif /* _NTKLOG_HELD_WAITS_H */
