/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NAMES_H
#define _NTKLOG_NAMES_H

/*
 * Names of addresses and threads. `ntklog record' writes them beside an ETL file, to
 * FILE.names: the bytes of the ETL file are NT's, and any reader of such files takes it.
 * Lines are some of those of /proc/kallsyms, and "thread ID NAME". Files of Windows have
 * names in their own events: see rundown.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_SUFFIX	".names"

/* Room for a symbol with its offset and module, and for a number. */
#define NAME_SIZE	256

struct names;

/**
 * struct names_symbol - a symbol, as the file has it
 * @address: of it
 * @type: nm(1)'s letter
 * @name: of it
 * @module: "[...]", or NULL: the kernel's own
 */
struct names_symbol {
	uint64_t address;
	char type;
	const char *name;
	const char *module;
};

int names_load(struct names **names, const char *path, const char *trace_path);
const char *names_find_symbol(const struct names *names, uint64_t address,
			      uint64_t *offset, const char **module);
size_t names_index(const struct names *names, uint64_t address);
size_t names_next_index(const struct names *names, size_t index);
bool names_symbol_at(const struct names *names, size_t index, struct names_symbol *symbol);
bool names_have_symbol(const struct names *names, const char *name);
bool names_have_thread(const struct names *names, const char *name);
bool names_symbol(const struct names *names, uint64_t address, char *text, size_t size);
void names_address(const struct names *names, uint64_t address, char *text, size_t size);
const char *names_thread(const struct names *names, uint32_t thread_id);
int names_add_image(struct names **names, uint64_t base, uint64_t size, const char *name,
		    unsigned int rank);
int names_add_thread(struct names **names, uint32_t id, const char *name);
void names_sort(struct names *names);
void names_free(struct names *names);

#endif /* _NTKLOG_NAMES_H */
