// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the memory of modules ends. The kernel's list of symbols has no sizes, so the last symbol
 * of a module would reach into the memory of another module that was unloaded before its symbols
 * were read. /proc/modules has the size of a module's memory, but not that of each region: code,
 * constants, variables, and variables that are constants after the initialisation. Each region has
 * whole pages, and an unmapped page follows it. The pages that are known to be of the module are
 * subtracted from its size; the rest is the most by which a region may be longer than known.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "grow.h"
#include "hash.h"
#include "names.h"
#include "names_table.h"

#define PAGE		4096
/*
 * Greatest distance of a module's symbols from its code, which they are addressed by. A more
 * distant symbol is the offset of a per-CPU variable.
 */
#define DISTANCE_MAX	((uint64_t)1 << 31)

/*
 * A module of /proc/modules.
 *
 * @name: "[MODULE]", with zeros up to the end
 * @base: address of its code
 * @pages: number of pages of its memory
 * @known: number of those that are known to be of the module
 * @hh: link in the table
 */
struct module_memory {
	char name[64];
	uint64_t base;
	uint64_t pages;
	uint64_t known;
	UT_hash_handle hh;
};

static struct module_memory *read_modules(const char *text)
{
	struct module_memory *table = NULL, *module;
	uint64_t size, base;
	char name[56];

	for (; text && *text; text += strcspn(text, "\n"), text += *text == '\n') {
		char key[sizeof(module->name)] = "";

		if (sscanf(text, "%55s %" SCNu64 " %*s %*s %*s 0x%" SCNx64, name, &size,
			   &base) != 3 || !base)
			continue;
		snprintf(key, sizeof(key), "[%s]", name);
		hash_find_or_add(table, name, key, UINT32_MAX, module);
		if (!module)
			continue;
		module->base = base;
		module->pages = (size + PAGE - 1) / PAGE;
	}
	return table;
}

/* Find the module whose memory a symbol is in. */
static struct module_memory *find_module(struct module_memory *table, const struct symbol *symbol)
{
	char key[sizeof(table->name)] = "";
	struct module_memory *module;
	uint64_t distance;

	if (!symbol->module || strlen(symbol->module) >= sizeof(key))
		return NULL;
	memcpy(key, symbol->module, strlen(symbol->module));
	HASH_FIND(hh, table, key, sizeof(key), module);
	if (!module)
		return NULL;
	distance = symbol->address > module->base ? symbol->address - module->base :
						    module->base - symbol->address;
	return distance > DISTANCE_MAX ? NULL : module;
}

static bool is_code(char type)
{
	return strchr("tTwW", type);
}

/* A module has one region of code and one of constants, but two of variables. */
static bool is_same_region(const struct symbol *a, const struct symbol *b)
{
	return (is_code(a->type) && is_code(b->type)) ||
	       (strchr("rR", a->type) && strchr("rR", b->type)) ||
	       b->address / PAGE - a->address / PAGE <= 1;
}

static int add_end(struct names *names, const struct symbol *last, uint64_t end)
{
	struct symbol *more = grown(names->symbols, names->symbol_count, sizeof(*more));

	if (!more)
		return -1;
	names->symbols = more;
	more[names->symbol_count] = (struct symbol) {
		.address = end,
		.name = "_end",
		.module = last->module,
		.type = NAMES_MODULE_END,
		.rank = names->symbol_count,
	};
	names->symbol_count++;
	return 0;
}

/**
 * names_add_module_ends() - add a symbol where the memory of each module ends at the latest
 * @names: names to add to, after names_sort()
 * @modules: text of /proc/modules, or NULL: then nothing is added
 *
 * Searches find the symbols after the next names_sort().
 *
 * Return: 0, or -1 without memory.
 */
int names_add_module_ends(struct names *names, const char *modules)
{
	struct module_memory *table = read_modules(modules), *module, *next, *before = NULL;
	const size_t count = names->symbol_count;
	int err = 0;
	size_t i;

	for (i = 0; i < count; i++, before = module) {
		const struct symbol *symbol = &names->symbols[i];

		module = find_module(table, symbol);
		if (!module)
			continue;
		if (module != before)
			module->known++;
		else if (is_same_region(symbol - 1, symbol))
			module->known += symbol->address / PAGE - symbol[-1].address / PAGE;
		else
			module->known++;
	}
	for (i = 0; i < count && !err; i++) {
		struct symbol symbol = names->symbols[i];
		const struct symbol *after = i + 1 < count ? &names->symbols[i + 1] : NULL;
		uint64_t end;

		module = find_module(table, &symbol);
		if (!module || (after && find_module(table, after) == module &&
				is_same_region(&symbol, after)))
			continue;
		end = (symbol.address / PAGE + 1) * PAGE;
		if (module->pages > module->known)
			end += (module->pages - module->known) * PAGE;
		if (!after || end < after->address)
			err = add_end(names, &symbol, end);
	}
	HASH_ITER(hh, table, module, next) {
		HASH_DEL(table, module);
		free(module);
	}
	return err;
}
