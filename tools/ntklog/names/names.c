// SPDX-License-Identifier: GPL-2.0-only

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "names.h"
#include "names_table.h"
#include "text.h"

/* Greatest distance of an address from the last symbol of the kernel that may still have it. */
#define LAST_SYMBOL_REACH	0x10000

#define PAGE_BYTES		4096

/*
 * Greatest distance of an address from a symbol of the kernel that may have it. A greater distance
 * is a gap, such as that between the offsets of per-CPU variables and the kernel.
 */
#define SYMBOL_REACH		0x1000000

/**
 * names_find_lock_key() - find the key by which statistics of a lock are collected
 * @names: names, or NULL
 * @address: address of the lock
 * @clock: session clock of the event
 *
 * Return: the key of the lock's class at that time, or @address if the class is not known.
 */
uint64_t names_find_lock_key(const struct names *names, uint64_t address, uint64_t clock)
{
	return names ? lock_names_find_key(&names->locks, address, clock).key : address;
}

/**
 * names_find_lock_span() - find the key of a lock, and the time for which it holds
 * @names: names, or NULL
 * @address: address of the lock
 * @clock: session clock of the event
 *
 * Return: the key and its time, as long as names_lock_version() stays.
 */
struct lock_key_span names_find_lock_span(const struct names *names, uint64_t address,
					  uint64_t clock)
{
	return names ? lock_names_find_key(&names->locks, address, clock) :
		       (struct lock_key_span) { .key = address, .end = UINT64_MAX };
}

/**
 * names_lock_version() - get a number that changes with the classes of locks
 * @names: names, or NULL
 *
 * Return: the number; 0: no class is known.
 */
uint64_t names_lock_version(const struct names *names)
{
	return names ? names->locks.version : 0;
}

/**
 * names_key_is_class() - test whether a key is that of a class
 * @names: names, or NULL
 * @key: key from names_find_lock_key()
 *
 * Return: true for a class, false for an address.
 */
bool names_key_is_class(const struct names *names, uint64_t key)
{
	return names && lock_names_find_class(&names->locks, key);
}

/**
 * names_lock_count() - count the locks that have a class
 * @names: names, or NULL
 *
 * Return: number of locks; a lock counts again each time its class changes.
 */
size_t names_lock_count(const struct names *names)
{
	return names ? names->locks.lock_count : 0;
}

/**
 * names_have_addresses() - test whether the name of any address is known
 * @names: names, or NULL
 *
 * Return: true if there is a symbol, or the class of a lock.
 */
bool names_have_addresses(const struct names *names)
{
	return names && (names->symbol_count || names->locks.lock_count);
}

/**
 * names_have_classes() - test whether the class of any lock is known
 * @names: names, or NULL
 *
 * Return: true if at least one is known.
 */
bool names_have_classes(const struct names *names)
{
	return names && names->locks.lock_count;
}

/**
 * names_have_class() - test whether a class of locks exists
 * @names: names, or NULL
 * @name: whole name, in any case
 *
 * Return: true if a class has this name.
 */
bool names_have_class(const struct names *names, const char *name)
{
	const char *class;
	uint64_t i;

	for (i = 0; names && (class = lock_names_find_class(&names->locks, NAMES_CLASS_KEY +
							    i)); i++)
		if (!strcasecmp(class, name))
			return true;
	return false;
}

/**
 * names_boot_time() - get the time of the boot that the names are from
 * @names: names, or NULL
 *
 * Return: FILETIME of the boot, or 0 if it is not known.
 */
uint64_t names_boot_time(const struct names *names)
{
	return names ? names->boot_time : 0;
}

/**
 * names_boot_id() - get the id of the boot that the names are from
 * @names: names, or NULL
 *
 * Return: boot_id of the kernel, or an empty text if it is not known.
 */
const char *names_boot_id(const struct names *names)
{
	return names ? names->boot_id : "";
}

static bool is_code_symbol(const struct symbol *symbol)
{
	return strchr("tTwWiu", symbol->type);
}

static bool is_constant_symbol(const struct symbol *symbol)
{
	return strchr("rR", symbol->type);
}

/*
 * Test whether a symbol is the last one of a region of memory. A module has its code, its constants
 * and its variables in regions of their own.
 */
static bool is_last_symbol(const struct symbol *symbol, const struct symbol *after)
{
	if (!after || !symbol->module != !after->module)
		return true;
	return symbol->module && (strcmp(symbol->module, after->module) ||
				  is_code_symbol(symbol) != is_code_symbol(after) ||
				  is_constant_symbol(symbol) != is_constant_symbol(after));
}

/*
 * Return the end of the addresses that may be of the last symbol of a region. For a module it is
 * the end of the page behind the symbol's, so that the symbol rarely names an address of another
 * module.
 */
static uint64_t last_symbol_end(const struct symbol *symbol)
{
	return symbol->module ? (symbol->address / PAGE_BYTES + 2) * PAGE_BYTES :
				symbol->address + LAST_SYMBOL_REACH;
}

/**
 * symbol_name_is_lock_class_key() - test whether a symbol is that of a struct lock_class_key
 * @name: name of the symbol, also with " [MODULE]" behind it
 *
 * Without lockdep such a variable has no bytes, so another variable has the same address.
 *
 * Return: true if the kernel's macros give such variables this name.
 */
bool symbol_name_is_lock_class_key(const char *name)
{
	char end;

	if (strncmp(name, "__key", strlen("__key")))
		return false;
	end = name[strlen("__key")];
	return !end || end == '.' || end == ' ';
}

/*
 * Find the nearest symbol at or before an address. Of several symbols at one place the first one
 * counts that is no lock class key; for code the first function. An address of code has no symbol
 * if the nearest one is data: it may be in an initialisation function of a module, and the kernel
 * has freed the symbol.
 */
static const struct symbol *find_symbol(const struct names *names, uint64_t address,
					enum symbol_kind symbol_kind)
{
	size_t low = 0, high = names->symbol_count;
	const struct symbol *found, *after;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (names->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	found = &names->symbols[low - 1];
	after = low < names->symbol_count ? &names->symbols[low] : NULL;
	while (found > names->symbols && found[-1].address == found->address)
		found--;
	while (symbol_name_is_lock_class_key(found->name) && found + 1 < names->symbols + low)
		found++;
	if (symbol_kind == NAMES_OF_CODE) {
		while (!is_code_symbol(found) && found + 1 < names->symbols + low)
			found++;
		if (!is_code_symbol(found))
			return NULL;
	}
	if (found->size)
		return address - found->address < found->size ? found : NULL;
	if (address - found->address > SYMBOL_REACH)
		return NULL;
	if (is_last_symbol(found, after) && address >= last_symbol_end(found))
		return NULL;
	return found;
}

/**
 * names_find_symbol() - find the symbol at or before an address
 * @names: names, or NULL
 * @address: address of a lock, key of a class of locks, or address of an instruction
 * @symbol_kind: NAMES_OF_CODE for an instruction, else NAMES_OF_ANY
 * @offset: set to the distance of @address from the symbol, bytes; 0 for a class
 * @module: set to the symbol's module as "[MODULE]", or to NULL for the kernel itself
 *
 * Return: the name of the symbol or the class, or NULL if there is none.
 */
const char *names_find_symbol(const struct names *names, uint64_t address,
			      enum symbol_kind symbol_kind, uint64_t *offset, const char **module)
{
	const char *class = names ? lock_names_find_class(&names->locks, address) : NULL;
	const struct symbol *symbol;

	if (class) {
		*offset = 0;
		*module = NULL;
		return class;
	}
	symbol = names ? find_symbol(names, address, symbol_kind) : NULL;
	if (!symbol)
		return NULL;
	*offset = address - symbol->address;
	*module = symbol->module;
	return symbol->name;
}

/**
 * names_format_function() - print the function that a return address of a stack is in
 * @names: names, or NULL
 * @address: return address. The call before it may be the last instruction of the function
 * @text: set to the symbol, or to the address if there is none
 * @size: bytes of @text
 */
void names_format_function(const struct names *names, uint64_t address, char *text, size_t size)
{
	const struct symbol *symbol = names ? find_symbol(names, address - 1, NAMES_OF_CODE) : NULL;

	if (!symbol)
		snprintf(text, size, "0x%" PRIx64, address);
	else if (symbol->size)
		snprintf(text, size, "%s+0x%" PRIx64, symbol->name, address - symbol->address);
	else
		snprintf(text, size, "%s", symbol->name);
	/* snprintf() may have cut the text within a character. */
	text_clean(text);
}

/**
 * names_symbol_index() - find the index of the symbol at or before an address
 * @names: names, or NULL
 * @address: address
 *
 * Return: index of the symbol, or SIZE_MAX if there is none.
 */
size_t names_symbol_index(const struct names *names, uint64_t address)
{
	const struct symbol *symbol = names ? find_symbol(names, address, NAMES_OF_ANY) : NULL;

	return symbol ? (size_t)(symbol - names->symbols) : SIZE_MAX;
}

/**
 * names_next_symbol_index() - find the first symbol with a greater address
 * @names: names
 * @index: index of a symbol, or SIZE_MAX
 *
 * Return: index of the next symbol, or SIZE_MAX if there is none.
 */
size_t names_next_symbol_index(const struct names *names, size_t index)
{
	size_t next = index;

	if (index == SIZE_MAX)
		return index;
	while (next < names->symbol_count &&
	       names->symbols[next].address == names->symbols[index].address)
		next++;
	return next < names->symbol_count ? next : SIZE_MAX;
}

/**
 * names_symbol_at() - get a symbol
 * @names: names
 * @index: index of the symbol, or SIZE_MAX
 * @symbol: set to the symbol
 *
 * Return: true, or false if @index is SIZE_MAX.
 */
bool names_symbol_at(const struct names *names, size_t index, struct names_symbol *symbol)
{
	if (index == SIZE_MAX)
		return false;
	*symbol = (struct names_symbol) {
		.address = names->symbols[index].address,
		.type = names->symbols[index].type,
		.name = names->symbols[index].name,
		.module = names->symbols[index].module,
	};
	return true;
}

/**
 * names_have_symbol() - test whether a symbol exists
 * @names: names, or NULL
 * @name: name without offset and module
 * @module: "[MODULE]", or NULL for the kernel and any module
 *
 * Return: true if at least one symbol of @module has this name.
 */
bool names_have_symbol(const struct names *names, const char *name, const char *module)
{
	size_t i;

	for (i = 0; names && i < names->symbol_count; i++)
		if (!strcmp(names->symbols[i].name, name) &&
		    (!module || !strcmp(names->symbols[i].module ?: "", module)))
			return true;
	return false;
}

/* A task may have an empty name, which tells a reader no more than a name that is not known. */
static const char *name_of_thread(const struct thread_name *thread)
{
	return thread && *thread->name ? thread->name : NULL;
}

static bool thread_has_name(const struct thread_name *thread, const char *name)
{
	return name_of_thread(thread) && !strcasecmp(thread->name, name);
}

/**
 * names_have_thread() - test whether a thread of some name exists
 * @names: names, or NULL
 * @name: name, in any case
 *
 * Return: true if at least one has this name.
 */
bool names_have_thread(const struct names *names, const char *name)
{
	size_t i;

	for (i = 0; names && i < names->thread_count; i++)
		if (!names->threads[i].is_windows_process &&
		    thread_has_name(&names->threads[i], name))
			return true;
	return false;
}

/**
 * names_have_process() - test whether a process of some name exists
 * @names: names, or NULL
 * @name: name, in any case; NULL: any name
 *
 * Return: true if at least one process has this name.
 */
bool names_have_process(const struct names *names, const char *name)
{
	const struct thread_name *thread;
	size_t i;

	for (i = 0; names && i < names->thread_count; i++) {
		thread = &names->threads[i];
		if (thread->process_id &&
		    (!name || (thread->id == thread->process_id && thread_has_name(thread, name))))
			return true;
	}
	return false;
}

/**
 * names_have_cgroup() - test whether a thread is in some cgroup
 * @names: names, or NULL
 * @path: path of the cgroup, in any case; NULL: any cgroup
 *
 * Return: true if at least one thread was in this cgroup.
 */
bool names_have_cgroup(const struct names *names, const char *path)
{
	size_t i;

	for (i = 0; names && i < names->thread_count; i++)
		if (names->threads[i].cgroup &&
		    (!path || !strcasecmp(names->threads[i].cgroup, path)))
			return true;
	return false;
}

/**
 * names_format_symbol() - print the symbol at or before an address
 * @names: names, or NULL
 * @address: address of a lock, key of a class of locks, or address of an instruction
 * @symbol_kind: NAMES_OF_CODE for an instruction, else NAMES_OF_ANY
 * @text: set to "NAME+0xOFFSET [MODULE]", or to the name of the class
 * @size: bytes of @text
 *
 * Return: true if there is a symbol; false, with an empty @text, if there is none.
 */
bool names_format_symbol(const struct names *names, uint64_t address, enum symbol_kind symbol_kind,
			 char *text, size_t size)
{
	const char *class = names ? lock_names_find_class(&names->locks, address) : NULL;
	const struct symbol *symbol;
	int used;

	text[0] = '\0';
	if (class) {
		if (snprintf(text, size, "%s", class) >= (int)size)
			text_clean(text);
		return true;
	}
	symbol = names ? find_symbol(names, address, symbol_kind) : NULL;
	if (!symbol)
		return false;
	used = snprintf(text, size, "%s", symbol->name);
	if (address != symbol->address && (size_t)used < size)
		used += snprintf(text + used, size - used, "+0x%" PRIx64,
				 address - symbol->address);
	if (symbol->module && (size_t)used < size)
		used += snprintf(text + used, size - used, " %s", symbol->module);
	/* snprintf() may have cut the text within a character. */
	if ((size_t)used >= size)
		text_clean(text);
	return true;
}

/**
 * names_format_code_address() - print the symbol of an instruction, or its address
 * @names: names, or NULL
 * @address: address of an instruction
 * @text: set to the symbol, or to the address if there is none
 * @size: bytes of @text
 */
void names_format_code_address(const struct names *names, uint64_t address, char *text, size_t size)
{
	if (!names_format_symbol(names, address, NAMES_OF_CODE, text, size))
		snprintf(text, size, "0x%" PRIx64, address);
}

/**
 * names_format_address() - print the symbol of a lock, or its address and its class
 * @names: names, or NULL
 * @address: address of a lock, or key of a class of locks
 * @text: set to the symbol; without one to the address, followed by the class if it is known
 * @size: bytes of @text
 */
void names_format_address(const struct names *names, uint64_t address, char *text, size_t size)
{
	uint64_t key;
	int used;

	if (names_format_symbol(names, address, NAMES_OF_ANY, text, size))
		return;
	used = snprintf(text, size, "0x%" PRIx64, address);
	/* A lock whose class has changed gets its last class. */
	key = names_find_lock_key(names, address, UINT64_MAX);
	if (key == address || (size_t)used + 2 > size)
		return;
	text[used] = ' ';
	names_format_symbol(names, key, NAMES_OF_ANY, text + used + 1, size - used - 1);
}

static bool is_same_thread(const struct thread_name *left, const struct thread_name *right)
{
	return left->id == right->id && left->is_windows_process == right->is_windows_process;
}

/*
 * Find the entry of a thread, or of a process of Windows, at a time: the last one that was true by
 * then. A time before all entries gets the first one.
 */
static const struct thread_name *find_entry(const struct names *names, uint32_t id,
					    bool is_windows_process, uint64_t clock)
{
	const struct thread_name key = {
		.id = id, .is_windows_process = is_windows_process, .valid_from = clock,
	};
	size_t low = 0, high = names ? names->thread_count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_thread_entries(&names->threads[middle], &key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low && is_same_thread(&names->threads[low - 1], &key))
		return &names->threads[low - 1];
	if (names && low < names->thread_count && is_same_thread(&names->threads[low], &key))
		return &names->threads[low];
	return NULL;
}

static const struct thread_name *find_thread(const struct names *names, uint32_t thread_id,
					     uint64_t clock)
{
	return find_entry(names, thread_id, false, clock);
}

/**
 * names_find_thread_name() - get the last name of a thread
 * @names: names, or NULL
 * @thread_id: id of the thread
 *
 * Return: the name, or NULL if it is empty or not known.
 */
const char *names_find_thread_name(const struct names *names, uint32_t thread_id)
{
	return name_of_thread(find_thread(names, thread_id, UINT64_MAX));
}

/**
 * names_find_process() - find the process of a thread
 * @names: names, or NULL
 * @thread_id: id of the thread
 * @clock: time at which the thread was in the process, session clock
 * @process_id: set to the id of the process
 * @name: set to the name of the process at that time, or to NULL if it is empty or not known
 *
 * Return: true if the process is known.
 */
bool names_find_process(const struct names *names, uint32_t thread_id, uint64_t clock,
			uint32_t *process_id, const char **name)
{
	const struct thread_name *thread = find_thread(names, thread_id, clock), *process;

	if (!thread || !thread->process_id)
		return false;
	process = find_entry(names, thread->process_id, true, clock);
	/* A process of Linux has the name of its first thread. */
	if (!process)
		process = find_thread(names, thread->process_id, clock);
	if (process && process->process_id != thread->process_id)
		process = NULL;
	*process_id = thread->process_id;
	*name = name_of_thread(process);
	return true;
}

/**
 * names_find_cgroup() - find the cgroup of a thread
 * @names: names, or NULL
 * @thread_id: id of the thread
 * @clock: time at which the thread was in the cgroup, session clock
 *
 * Return: the path of the cgroup, or NULL if it is not known.
 */
const char *names_find_cgroup(const struct names *names, uint32_t thread_id, uint64_t clock)
{
	const struct thread_name *thread = find_thread(names, thread_id, clock);

	return thread ? thread->cgroup : NULL;
}
