/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NAMES_H
#define _NTKLOG_NAMES_H

/*
 * Names of addresses and threads. `ntklog record' writes them beside an ETL file, to
 * FILE.names: the bytes of the ETL file are NT's, and any reader of such files takes it.
 * Lines are those of /proc/kallsyms, and "thread ID NAME".
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_SUFFIX	".names"

/* Room for a symbol with its offset and module, and for a number. */
#define NAME_SIZE	256

struct names;

int names_load(struct names **names, const char *path, const char *trace_path);
const char *names_find_symbol(const struct names *names, uint64_t address,
			      uint64_t *offset, const char **module);
bool names_have_symbol(const struct names *names, const char *name);
bool names_have_thread(const struct names *names, const char *name);
bool names_symbol(const struct names *names, uint64_t address, char *text, size_t size);
void names_address(const struct names *names, uint64_t address, char *text, size_t size);
const char *names_thread(const struct names *names, uint32_t thread_id);
void names_free(struct names *names);

#endif /* _NTKLOG_NAMES_H */
