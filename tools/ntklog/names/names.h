/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_NAMES_H
#define _NTKLOG_NAMES_H

/*
 * Names of addresses, threads and locks. `ntklog record' writes them to FILE.names. A line is one
 * of these:
 *
 *	a line of /proc/kallsyms
 *	thread ID[@CLOCK] NAME[<tab>PROCESS[<tab>CGROUP]]: a thread from a time on, its process' id
 *		and the path of its cgroup
 *	boot ID TIME: the boot that the names are from
 *	lock ADDRESS CLASS: the lock's class
 *	lock ADDRESS@CLOCK CLASS: the lock's class from a time on
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lock_names.h"
#include "thread_name.h"

#define NAMES_SUFFIX	".names"

/* Bytes of a name with its NUL. A longer name is cut. */
#define NAME_SIZE	256

/* Name of thread 0, the idle thread of each CPU, where none is known. */
#define IDLE_NAME	"idle"

struct names;

/**
 * enum symbol_kind - the symbols that may name an address
 * @NAMES_OF_ANY: functions and variables: the address of a lock, which may be in a structure
 * @NAMES_OF_CODE: functions alone: the address of an instruction
 */
enum symbol_kind {
	NAMES_OF_ANY,
	NAMES_OF_CODE,
};

/* @module: "[MODULE]", or NULL for the kernel itself */
struct names_symbol {
	uint64_t address;
	char type;
	const char *name;
	const char *module;
};

int names_load(struct names **names, const char *path, const char *trace_path);
bool symbol_name_is_lock_class_key(const char *name);
const char *names_find_symbol(const struct names *names, uint64_t address,
			      enum symbol_kind symbol_kind, uint64_t *offset, const char **module);
size_t names_symbol_index(const struct names *names, uint64_t address);
size_t names_next_symbol_index(const struct names *names, size_t index);
bool names_symbol_at(const struct names *names, size_t index, struct names_symbol *symbol);
bool names_have_symbol(const struct names *names, const char *name, const char *module);
bool names_have_thread(const struct names *names, const char *name);
bool names_have_process(const struct names *names, const char *name);
bool names_have_cgroup(const struct names *names, const char *path);
bool names_format_symbol(const struct names *names, uint64_t address, enum symbol_kind symbol_kind,
			 char *text, size_t size);
void names_format_function(const struct names *names, uint64_t address, char *text, size_t size);
void names_format_code_address(const struct names *names, uint64_t address, char *text,
			       size_t size);
void names_format_address(const struct names *names, uint64_t address, char *text, size_t size);
uint64_t names_find_lock_key(const struct names *names, uint64_t address, uint64_t clock);
struct lock_key_span names_find_lock_span(const struct names *names, uint64_t address,
					  uint64_t clock);
uint64_t names_lock_version(const struct names *names);
bool names_key_is_class(const struct names *names, uint64_t key);
bool names_have_addresses(const struct names *names);
bool names_have_classes(const struct names *names);
bool names_have_class(const struct names *names, const char *name);
uint64_t names_boot_time(const struct names *names);
const char *names_boot_id(const struct names *names);
const char *names_find_thread_name(const struct names *names, uint32_t thread_id);
bool names_find_process(const struct names *names, uint32_t thread_id, uint64_t clock,
			uint32_t *process_id, const char **name);
const char *names_find_cgroup(const struct names *names, uint32_t thread_id, uint64_t clock);
int names_add_image(struct names **names, uint64_t base, uint64_t size, const char *name,
		    unsigned int rank);
int names_add_thread(struct names **names, const struct thread_name *thread);
int names_set_thread(struct names **names, const struct thread_name *thread);
int names_add_lock(struct names **names, uint64_t address, uint64_t clock, const char *class);
void names_move_classes(struct names *destination, struct names *source);
void names_move_threads(struct names *destination, struct names *source);
void names_keep_modules(struct names *names, const struct names *old);
void names_forget_threads(struct names *names);
void names_forget_classes(struct names *names);
size_t names_lock_count(const struct names *names);
void names_sort_locks(struct names *names);
void names_sort(struct names *names);
void names_free(struct names *names);

#endif /* _NTKLOG_NAMES_H */
