/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SYMBOLS_H
#define _NTKLOG_SYMBOLS_H

#include "names.h"

/**
 * struct symbols - symbols as they were last read
 * @names: the symbols; a user may add classes of locks and threads
 * @modules: /proc/modules at that time, or NULL
 */
struct symbols {
	struct names *names;
	char *modules;
};

int symbols_read(struct symbols *symbols);
int symbols_update(struct symbols *symbols);
void symbols_free(struct symbols *symbols);

#endif /* _NTKLOG_SYMBOLS_H */
