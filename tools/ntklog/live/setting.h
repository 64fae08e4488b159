/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SETTING_H
#define _NTKLOG_SETTING_H

/* Settings of the whole module that a recording changes, and puts back at its end. */

#include <stdbool.h>

#include "kernel.h"

/* @file: path below kernel_directory() */
struct setting {
	const char *file;
	char old_value[KERNEL_TEXT];
	bool is_changed;
};

int setting_change(struct setting *setting, const char *expected, const char *value);
void setting_restore(struct setting *setting);

#endif /* _NTKLOG_SETTING_H */
