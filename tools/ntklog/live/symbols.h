/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SYMBOLS_H
#define _NTKLOG_SYMBOLS_H

#include "names.h"

/**
 * struct kernel_symbols - symbols as they were last read
 * @names: the symbols; a user may add classes of locks and threads
 * @modules_text: /proc/modules at that time, or NULL
 */
struct kernel_symbols {
	struct names *names;
	char *modules_text;
};

int symbols_read(struct kernel_symbols *symbols);
int symbols_update(struct kernel_symbols *symbols);
void symbols_free(struct kernel_symbols *symbols);

#endif /* _NTKLOG_SYMBOLS_H */
