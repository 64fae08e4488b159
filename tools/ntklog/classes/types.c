// SPDX-License-Identifier: GPL-2.0-only
/*
 * The types of the kernel and its modules, with an index of names. A module whose BTF is missing or
 * unreadable has no types.
 */

#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "grow.h"
#include "message.h"
#include "types.h"
#include "types_btf.h"

/* @btf: types of the kernel, then those of the module; NULL if the file is unreadable */
struct module_types {
	char name[64];
	struct btf *btf;
	uint32_t first_type_id;
};

/* @name: name of the type, function or variable; NULL in an empty entry */
struct indexed_type {
	const char *name;
	const struct btf *btf;
	uint32_t id;
	uint32_t kind;
};

/*
 * @type_index: hash table by name and kind, with open addressing
 * @index_size: size of @type_index, a power of two
 * @per_cpu_section: section of the kernel's per-CPU variables, or NULL
 */
struct kernel_types {
	char *directory;
	struct btf *kernel;
	struct module_types *modules;
	size_t module_count;
	struct indexed_type *type_index;
	size_t index_size;
	size_t index_count;
	const struct btf_type *per_cpu_section;
};

static uint32_t hash_name_and_kind(const char *name, uint32_t kind)
{
	uint32_t hash = 2166136261U ^ kind;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619U;
	return hash ^ hash >> 15;
}

static void put_in_index(struct kernel_types *types, const struct indexed_type *entry)
{
	size_t at = hash_name_and_kind(entry->name, entry->kind) & (types->index_size - 1);

	while (types->type_index[at].name)
		at = (at + 1) & (types->index_size - 1);
	types->type_index[at] = *entry;
}

/*
 * Grow the index for @more entries, so that at least half of it stays empty. The entries are put
 * into it from an empty place of the old index on, because entries that belong to the end of the
 * table may be at its start. Entries of one name then keep their order.
 */
static bool reserve_index(struct kernel_types *types, size_t more)
{
	size_t size = types->index_size ? types->index_size : 1 << 15, start = 0, i;
	struct kernel_types old = *types;

	while (size / 2 < types->index_count + more)
		size *= 2;
	if (size == types->index_size)
		return true;
	types->type_index = calloc(size, sizeof(*types->type_index));
	if (!types->type_index) {
		types->type_index = old.type_index;
		return false;
	}
	types->index_size = size;
	while (old.type_index && old.type_index[start].name)
		start++;
	for (i = start; i < start + old.index_size; i++) {
		const struct indexed_type *entry = &old.type_index[i & (old.index_size - 1)];

		if (entry->name)
			put_in_index(types, entry);
	}
	free(old.type_index);
	return true;
}

static void add_to_index(struct kernel_types *types, const struct btf *btf, uint32_t first_type_id)
{
	uint32_t end = btf__type_cnt(btf), id;

	if (end < first_type_id || !reserve_index(types, end - first_type_id))
		return;
	for (id = first_type_id; id < end; id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		uint32_t kind = btf_kind(type);

		if (kind != BTF_KIND_STRUCT && kind != BTF_KIND_FUNC && kind != BTF_KIND_VAR)
			continue;
		if (!*btf_name(btf, type->name_off))
			continue;
		put_in_index(types, &(struct indexed_type) {
			btf_name(btf, type->name_off), btf, id, kind
		});
		types->index_count++;
	}
}

/* Find the first entry that was added with a name and kind, in @only_btf if that is not NULL. */
static const struct indexed_type *find_indexed(const struct kernel_types *types, const char *name,
					       uint32_t kind, const struct btf *only_btf)
{
	size_t at;

	if (!types || !types->index_size)
		return NULL;
	at = hash_name_and_kind(name, kind) & (types->index_size - 1);
	for (; types->type_index[at].name; at = (at + 1) & (types->index_size - 1)) {
		const struct indexed_type *entry = &types->type_index[at];

		if (entry->kind == kind && (!only_btf || entry->btf == only_btf) &&
		    !strcmp(entry->name, name))
			return entry;
	}
	return NULL;
}

static void describe_type(struct type_ref *found, const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	long long size = btf__resolve_size(btf, id);

	*found = (struct type_ref) {
		.btf = btf,
		.id = id,
		.name = type ? btf_name(btf, type->name_off) : "",
		.size = size > 0 ? size : 0,
	};
}

/**
 * types_find_struct() - find a structure by its name
 * @types: types to search, or NULL
 * @name: name of the structure
 * @found: set to the structure, the kernel's if modules have one of that name, too
 *
 * Return: true if there is such a structure.
 */
bool types_find_struct(const struct kernel_types *types, const char *name, struct type_ref *found)
{
	const struct indexed_type *entry = find_indexed(types, name, BTF_KIND_STRUCT, NULL);

	if (entry)
		describe_type(found, entry->btf, entry->id);
	return entry;
}

/**
 * types_find_variable() - find the type of a variable
 * @types: types to search, or NULL
 * @name: name of the variable
 * @found: set to the type
 *
 * Return: true if BTF has the variable.
 */
bool types_find_variable(const struct kernel_types *types, const char *name, struct type_ref *found)
{
	const struct indexed_type *entry = find_indexed(types, name, BTF_KIND_VAR, NULL);

	if (entry)
		describe_type(found, entry->btf, btf__type_by_id(entry->btf, entry->id)->type);
	return entry;
}

/**
 * types_variable_at() - find the per-CPU variable at an offset of their section
 * @types: types to search, or NULL
 * @section_offset: offset in the section, bytes
 * @name: set to the name of the variable
 * @found: set to the type of the variable
 * @offset: set to the offset in the variable, bytes
 *
 * Return: true if there is a variable at @section_offset.
 */
bool types_variable_at(const struct kernel_types *types, uint64_t section_offset, const char **name,
		       struct type_ref *found, uint32_t *offset)
{
	const struct btf_var_secinfo *variable;
	const struct btf_type *type;
	unsigned int i;

	if (!types || !types->per_cpu_section)
		return false;
	variable = btf_var_secinfos(types->per_cpu_section);
	for (i = 0; i < btf_vlen(types->per_cpu_section); i++, variable++) {
		if (section_offset < variable->offset ||
		    section_offset - variable->offset >= variable->size)
			continue;
		type = btf__type_by_id(types->kernel, variable->type);
		if (!type)
			return false;
		*name = btf_name(types->kernel, type->name_off);
		*offset = section_offset - variable->offset;
		describe_type(found, types->kernel, type->type);
		return true;
	}
	return false;
}

/**
 * types_per_cpu_size() - get the size of the section of per-CPU variables
 * @types: types to search, or NULL
 *
 * Return: bytes up to the end of the last variable, or 0 if BTF has none.
 */
uint64_t types_per_cpu_size(const struct kernel_types *types)
{
	const struct btf_var_secinfo *variable;
	uint64_t size = 0;
	unsigned int i;

	if (!types || !types->per_cpu_section)
		return 0;
	variable = btf_var_secinfos(types->per_cpu_section);
	for (i = 0; i < btf_vlen(types->per_cpu_section); i++, variable++)
		if ((uint64_t)variable->offset + variable->size > size)
			size = (uint64_t)variable->offset + variable->size;
	return size;
}

struct near_search {
	struct type_ref *near_types;
	unsigned int *distances;
	size_t count;
};

/* Add the structure that a type is or points to, unless it was added before. */
static void add_near_type(struct near_search *search, const struct btf *btf, uint32_t id,
			  unsigned int distance)
{
	const struct btf_type *type = btf_strip(btf, &id);
	size_t i;

	if (type && btf_is_ptr(type)) {
		id = type->type;
		type = btf_strip(btf, &id);
	}
	if (!type || !btf_is_composite(type) || search->count == TYPES_NEAR_MAX)
		return;
	for (i = 0; i < search->count; i++)
		if (search->near_types[i].id == id)
			return;
	describe_type(&search->near_types[search->count], btf, id);
	search->distances[search->count++] = distance;
}

static const struct module_types *find_module(const struct kernel_types *types, const char *name)
{
	size_t i;

	for (i = 0; types && i < types->module_count; i++)
		if (!strcmp(types->modules[i].name, name))
			return &types->modules[i];
	return NULL;
}

/**
 * types_find_near_function() - find the structures that a function can reach by its parameters
 * @types: types to search, or NULL
 * @name: name of the function
 * @module: module of the function, or an empty text for the kernel
 * @near_types: set to the structures, of which there are at most TYPES_NEAR_MAX
 * @distances: set to the distance of each structure: 0 for a parameter or the result, or the target
 *	of a pointer; n + 1 for a member of one at distance n, or its target; at most 2
 *
 * Return: number of structures.
 */
size_t types_find_near_function(const struct kernel_types *types, const char *name,
				const char *module, struct type_ref *near_types,
				unsigned int *distances)
{
	const struct module_types *module_types = *module ? find_module(types, module) : NULL;
	struct near_search search = { near_types, distances, 0 };
	const struct indexed_type *entry;
	const struct btf_type *type;
	unsigned int i;
	size_t at;

	if (!types || (*module && (!module_types || !module_types->btf)))
		return 0;
	entry = find_indexed(types, name, BTF_KIND_FUNC,
			     module_types ? module_types->btf : types->kernel);
	type = entry ? btf__type_by_id(entry->btf, entry->id) : NULL;
	type = type ? btf__type_by_id(entry->btf, type->type) : NULL;
	if (!type || !btf_is_func_proto(type))
		return 0;
	for (i = 0; i < btf_vlen(type); i++)
		add_near_type(&search, entry->btf, btf_params(type)[i].type, 0);
	add_near_type(&search, entry->btf, type->type, 0);
	for (at = 0; at < search.count && distances[at] < 2; at++) {
		type = btf__type_by_id(entry->btf, near_types[at].id);
		for (i = 0; i < btf_vlen(type); i++)
			add_near_type(&search, entry->btf, btf_members(type)[i].type,
				      distances[at] + 1);
	}
	return search.count;
}

/**
 * types_find_in_module() - count the structures of a module with a lock at an offset
 * @types: types to search, or NULL
 * @module: name of the module
 * @size_above: lower limit of the size of a structure, bytes, exclusive
 * @size_max: upper limit of the size of a structure, bytes, inclusive
 * @offset: offset of the lock, bytes
 * @kind: kind of the lock, NTKLOG_IDENTITY_*
 * @found: set to the last of these structures
 *
 * Return: number of structures.
 */
size_t types_find_in_module(const struct kernel_types *types, const char *module,
			    uint32_t size_above, uint32_t size_max, uint32_t offset,
			    unsigned int kind, struct type_ref *found)
{
	const struct module_types *module_types = find_module(types, module);
	struct lock_path path;
	size_t count = 0;
	uint32_t id;

	if (!module_types || !module_types->btf)
		return 0;
	for (id = module_types->first_type_id; id < btf__type_cnt(module_types->btf); id++) {
		const struct btf_type *type = btf__type_by_id(module_types->btf, id);
		struct type_ref candidate;

		if (!btf_is_struct(type) || type->size <= size_above || type->size > size_max ||
		    !*btf_name(module_types->btf, type->name_off))
			continue;
		describe_type(&candidate, module_types->btf, id);
		if (!types_find_lock(&candidate, offset, kind, &path))
			continue;
		*found = candidate;
		count++;
	}
	return count;
}

static void add_module(struct kernel_types *types, const char *name)
{
	struct module_types *more;
	char path[512];

	if (strlen(name) >= sizeof(more->name) || find_module(types, name))
		return;
	more = grow_by_one(types->modules, types->module_count, sizeof(*more));
	if (!more)
		return;
	types->modules = more;
	more += types->module_count++;
	*more = (struct module_types) { .first_type_id = btf__type_cnt(types->kernel) };
	snprintf(more->name, sizeof(more->name), "%s", name);
	snprintf(path, sizeof(path), "%s/%s", types->directory, name);
	more->btf = btf__parse_split(path, types->kernel);
	if (!more->btf) {
		message("%s: %s: locks of that module have no names of members", path,
			strerror(errno));
		return;
	}
	add_to_index(types, more->btf, more->first_type_id);
}

/**
 * types_add_new_modules() - read the types of modules that were loaded since the last call
 * @types: types to add to, or NULL
 *
 * Types of modules that were unloaded stay, because a trace may still need them.
 */
void types_add_new_modules(struct kernel_types *types)
{
	DIR *directory = types ? opendir(types->directory) : NULL;
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "vmlinux"))
			add_module(types, entry->d_name);
	if (directory)
		closedir(directory);
}

static int ignore_message(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return 0;
}

static void find_per_cpu_section(struct kernel_types *types)
{
	int id = btf__find_by_name_kind(types->kernel, ".data..percpu", BTF_KIND_DATASEC);

	types->per_cpu_section = id > 0 ? btf__type_by_id(types->kernel, id) : NULL;
}

/**
 * types_open() - read the types of the kernel and its modules
 * @types: set to the types, or to NULL if the kernel's are unreadable
 * @directory: directory of the BTF files, /sys/kernel/btf
 *
 * Return: 0, or -1 after a message.
 */
int types_open(struct kernel_types **types, const char *directory)
{
	char path[512];

	libbpf_set_print(ignore_message);
	*types = calloc(1, sizeof(**types));
	if (*types)
		(*types)->directory = strdup(directory);
	if (!*types || !(*types)->directory) {
		message("%s: no memory for the types of the kernel", directory);
		goto err;
	}
	snprintf(path, sizeof(path), "%s/vmlinux", directory);
	(*types)->kernel = btf__parse(path, NULL);
	if (!(*types)->kernel) {
		message("%s: %s: locks have no names of structures and members", path,
			strerror(errno));
		goto err;
	}
	add_to_index(*types, (*types)->kernel, 1);
	find_per_cpu_section(*types);
	types_add_new_modules(*types);
	return 0;

err:
	types_close(*types);
	*types = NULL;
	return -1;
}

/**
 * types_close() - free types
 * @types: types from types_open(), or NULL
 */
void types_close(struct kernel_types *types)
{
	size_t i;

	if (!types)
		return;
	for (i = 0; i < types->module_count; i++)
		btf__free(types->modules[i].btf);
	btf__free(types->kernel);
	free(types->modules);
	free(types->type_index);
	free(types->directory);
	free(types);
}
