// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "symbols.h"

/* Length of " 0x" and the 16 digits of an address. */
#define ADDRESS_LENGTH	19

static char *read_modules(void)
{
	char path[PATH_SIZE], *text = NULL;
	size_t capacity = 0;
	FILE *stream;

	snprintf(path, sizeof(path), "%s/modules", kernel_proc_directory());
	stream = fopen(path, "re");
	if (!stream)
		return NULL;
	/* The file has no NUL. Therefore the "line" up to a NUL is the whole file. */
	if (getdelim(&text, &capacity, '\0', stream) < 0) {
		free(text);
		text = NULL;
	}
	fclose(stream);
	return text;
}

/**
 * symbols_read() - read the symbols, also those of the loaded modules
 * @symbols: all zero, or read before: then the classes of locks, the threads and the symbols of
 *	unloaded modules are kept
 *
 * Return: 0, or -1 after a message.
 */
int symbols_read(struct kernel_symbols *symbols)
{
	/* A module that is loaded while the symbols are read is new at the next update. */
	char path[PATH_SIZE], *modules_text = read_modules();
	struct names *names;

	snprintf(path, sizeof(path), "%s/kallsyms", kernel_proc_directory());
	if (names_load(&names, path, NULL)) {
		free(modules_text);
		return -1;
	}
	if (symbols->names) {
		names_keep_modules(names, symbols->names);
		names_move_classes(names, symbols->names);
		names_move_threads(names, symbols->names);
	}
	names_free(symbols->names);
	free(symbols->modules_text);
	*symbols = (struct kernel_symbols) { .names = names, .modules_text = modules_text };
	return 0;
}

/* Test whether a line of /proc/modules is in @modules_text, with the same address. */
static bool has_module(const char *modules_text, const char *line)
{
	size_t name_length = strcspn(line, " ") + 1, length;
	const char *address = memmem(line, strcspn(line, "\n"), " 0x", 3);

	for (; modules_text && *modules_text;
	     modules_text += length + (modules_text[length] == '\n')) {
		length = strcspn(modules_text, "\n");
		/* The use counts between name and address change all the time. */
		if (address && !strncmp(modules_text, line, name_length) &&
		    memmem(modules_text, length, address, ADDRESS_LENGTH))
			return true;
	}
	return false;
}

/**
 * symbols_update() - read the symbols again if a module has been loaded since
 * @symbols: read before
 *
 * A module that is loaded again at the same address may be of another build. That is noticed only
 * if an update came between.
 *
 * Return: 1: read again; 0: not; -1 after a message.
 */
int symbols_update(struct kernel_symbols *symbols)
{
	char *modules_text = read_modules();
	const char *line = modules_text;
	bool is_new = false;

	while (!is_new && line && *line) {
		is_new = !has_module(symbols->modules_text, line);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	if (is_new) {
		free(modules_text);
		return symbols_read(symbols) ? -1 : 1;
	}
	free(symbols->modules_text);
	symbols->modules_text = modules_text;
	return 0;
}

/**
 * symbols_free() - free the symbols
 * @symbols: read, or all zero
 */
void symbols_free(struct kernel_symbols *symbols)
{
	names_free(symbols->names);
	free(symbols->modules_text);
	*symbols = (struct kernel_symbols) { 0 };
}
