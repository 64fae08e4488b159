// SPDX-License-Identifier: GPL-2.0-only
/*
 * BTF, with an index of its own: libbpf looks for a name by comparing all. A module without BTF,
 * or with one that cannot be read, has no types; the kernel's own can do without.
 */

#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <ntklog/identity.h>

#include "grow.h"
#include "hash.h"
#include "macros.h"
#include "message.h"
#include "types.h"

/*
 * @name: of the file
 * @btf: its types, those of the kernel first; NULL: it cannot be read
 * @first: of its own
 */
struct module_types {
	char name[64];
	struct btf *btf;
	uint32_t first;
};

/*
 * @key: kind of type and name
 * @btf: that it is in, the kernel's own before modules'
 * @id: there
 */
struct indexed {
	const char *name;
	const struct btf *btf;
	uint32_t id;
	uint32_t kind;
};

/*
 * @directory: of the files
 * @kernel: of the kernel itself
 * @modules: of which a file was there
 * @module_count: of them
 * @index: by a hash of name and kind, open addressing; .name is NULL where it is empty
 * @index_size: power of two
 * @indexed: entries in it
 * @section: of per-CPU variables; NULL: the kernel has none
 */
struct types {
	char *directory;
	struct btf *kernel;
	struct module_types *modules;
	size_t module_count;
	struct indexed *index;
	size_t index_size;
	size_t indexed;
	const struct btf_type *section;
};

/* By NTKLOG_IDENTITY_*: what a lock of that kind is called. */
static const char *const lock_types[NTKLOG_IDENTITY_KINDS][4] = {
	[NTKLOG_IDENTITY_SPIN] = { "spinlock", "raw_spinlock", "qspinlock" },
	[NTKLOG_IDENTITY_RW] = { "rwlock_t", "qrwlock" },
	[NTKLOG_IDENTITY_MUTEX] = { "mutex" },
	[NTKLOG_IDENTITY_RWSEM] = { "rw_semaphore" },
	[NTKLOG_IDENTITY_SEMAPHORE] = { "semaphore" },
	[NTKLOG_IDENTITY_RT_MUTEX] = { "rt_mutex" },
	[NTKLOG_IDENTITY_PERCPU_RWSEM] = { "percpu_rw_semaphore" },
	[NTKLOG_IDENTITY_WW_MUTEX] = { "ww_mutex" },
};

/* What is in others, and better known than those. */
static const char *const roots[] = { "inode", "sock", "super_block" };

static bool is_lock(const char *name, unsigned int kind)
{
	unsigned int i;

	for (i = 0; kind < NTKLOG_IDENTITY_KINDS && lock_types[kind][i]; i++)
		if (!strcmp(lock_types[kind][i], name))
			return true;
	return false;
}

static const char *name_of(const struct btf *btf, uint32_t offset)
{
	const char *name = btf__name_by_offset(btf, offset);

	return name ? name : "";
}

static uint32_t hash_of(const char *name, uint32_t kind)
{
	uint32_t hash = 2166136261U ^ kind;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619U;
	return hash ^ hash >> 15;
}

static void put_into_index(struct types *types, const struct indexed *entry)
{
	size_t at = hash_of(entry->name, entry->kind) & (types->index_size - 1);

	while (types->index[at].name)
		at = (at + 1) & (types->index_size - 1);
	types->index[at] = *entry;
}

/* Half of it stays empty. */
static bool make_room(struct types *types, size_t more)
{
	size_t size = types->index_size ? types->index_size : 1 << 15, i;
	struct types old = *types;

	while (size / 2 < types->indexed + more)
		size *= 2;
	if (size == types->index_size)
		return true;
	types->index = calloc(size, sizeof(*types->index));
	if (!types->index) {
		types->index = old.index;
		return false;
	}
	types->index_size = size;
	for (i = 0; i < old.index_size; i++)
		if (old.index[i].name)
			put_into_index(types, &old.index[i]);
	free(old.index);
	return true;
}

static void add_to_index(struct types *types, const struct btf *btf, uint32_t first)
{
	uint32_t end = btf__type_cnt(btf), id;

	if (end < first || !make_room(types, end - first))
		return;
	for (id = first; id < end; id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);
		uint32_t kind = btf_kind(type);

		if (kind != BTF_KIND_STRUCT && kind != BTF_KIND_FUNC && kind != BTF_KIND_VAR)
			continue;
		if (!*name_of(btf, type->name_off))
			continue;
		put_into_index(types, &(struct indexed) {
			name_of(btf, type->name_off), btf, id, kind
		});
		types->indexed++;
	}
}

/* In one BTF, or in any: what was indexed first, which the kernel's own types were. */
static const struct indexed *find_indexed(const struct types *types, const char *name,
					  uint32_t kind, const struct btf *only)
{
	size_t at;

	if (!types || !types->index_size)
		return NULL;
	at = hash_of(name, kind) & (types->index_size - 1);
	for (; types->index[at].name; at = (at + 1) & (types->index_size - 1)) {
		const struct indexed *entry = &types->index[at];

		if (entry->kind == kind && (!only || entry->btf == only) &&
		    !strcmp(entry->name, name))
			return entry;
	}
	return NULL;
}

/* Without names, const and the like; with the number of what is left. */
static const struct btf_type *strip(const struct btf *btf, uint32_t *id)
{
	const struct btf_type *type = btf__type_by_id(btf, *id);
	unsigned int turns;

	for (turns = 0; type && turns < 2 * TYPES_DEPTH; turns++) {
		if (!btf_is_mod(type) && !btf_is_typedef(type) && !btf_is_type_tag(type))
			return type;
		*id = type->type;
		type = btf__type_by_id(btf, *id);
	}
	return NULL;
}

/* Is one of its names that of such a lock? An anonymous structure has only those. */
static bool is_named_lock(const struct btf *btf, uint32_t id, unsigned int kind)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	unsigned int turns;

	for (turns = 0; type && turns < 2 * TYPES_DEPTH; turns++) {
		if ((btf_is_typedef(type) || btf_is_composite(type)) &&
		    is_lock(name_of(btf, type->name_off), kind))
			return true;
		if (!btf_is_mod(type) && !btf_is_typedef(type) && !btf_is_type_tag(type))
			return false;
		type = btf__type_by_id(btf, type->type);
	}
	return false;
}

static bool find_in(const struct btf *btf, uint32_t id, uint32_t offset, unsigned int kind,
		    struct lock_path *path, unsigned int depth);

static bool find_in_array(const struct btf *btf, const struct btf_type *type, uint32_t offset,
			  unsigned int kind, struct lock_path *path, unsigned int depth)
{
	const struct btf_array *array = btf_array(type);
	long long size = btf__resolve_size(btf, array->type);
	size_t length = strlen(path->text);

	if (size <= 0 || (array->nelems && offset >= (uint64_t)size * array->nelems))
		return false;
	snprintf(path->text + length, sizeof(path->text) - length, "[]");
	return find_in(btf, array->type, offset % size, kind, path, depth);
}

static bool find_in_member(const struct btf *btf, const struct btf_type *type, unsigned int index,
			   uint32_t offset, unsigned int kind, struct lock_path *path,
			   unsigned int depth)
{
	const struct btf_member *member = &btf_members(type)[index];
	uint32_t at = btf_member_bit_offset(type, index), id = member->type;
	const char *name = name_of(btf, member->name_off);
	const struct btf_type *inner;
	size_t length = strlen(path->text);
	long long size;

	if (btf_member_bitfield_size(type, index) || at % 8 || at / 8 > offset)
		return false;
	at /= 8;
	inner = strip(btf, &id);
	if (!inner || !(btf_is_composite(inner) || btf_is_array(inner)))
		return false;
	size = btf__resolve_size(btf, member->type);
	/* An array at the end that has no number of elements has no size. */
	if (size < 0 || (offset - at >= size && !(btf_is_array(inner) && !size)))
		return false;
	if (*name)
		snprintf(path->text + length, sizeof(path->text) - length, ".%s", name);
	return find_in(btf, member->type, offset - at, kind, path, depth);
}

static bool find_in(const struct btf *btf, uint32_t id, uint32_t offset, unsigned int kind,
		    struct lock_path *path, unsigned int depth)
{
	const struct btf_type *type;
	unsigned int i;

	if (depth > TYPES_DEPTH)
		return false;
	if (!offset && is_named_lock(btf, id, kind))
		return true;
	type = strip(btf, &id);
	if (type && btf_is_array(type))
		return find_in_array(btf, type, offset, kind, path, depth + 1);
	if (!type || !btf_is_composite(type))
		return false;
	for (i = 0; depth && i < ARRAY_SIZE(roots); i++)
		if (!strcmp(roots[i], name_of(btf, type->name_off))) {
			snprintf(path->root, sizeof(path->root), "%s", roots[i]);
			path->root_at = strlen(path->text);
		}
	for (i = 0; i < btf_vlen(type); i++) {
		struct lock_path before = *path;

		if (find_in_member(btf, type, i, offset, kind, path, depth + 1))
			return true;
		*path = before;
	}
	return false;
}

/**
 * types_find_lock() - is there a lock of a kind at this place of a type?
 * @type: the type
 * @offset: bytes from its beginning on
 * @kind: NTKLOG_IDENTITY_*
 * @path: the way there, if there is
 *
 * Return: whether there is.
 */
bool types_find_lock(const struct type_ref *type, uint32_t offset, unsigned int kind,
		     struct lock_path *path)
{
	*path = (struct lock_path) { 0 };
	return find_in(type->btf, type->id, offset, kind, path, 0);
}

static void describe(struct type_ref *found, const struct btf *btf, uint32_t id)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	long long size = btf__resolve_size(btf, id);

	*found = (struct type_ref) {
		.btf = btf,
		.id = id,
		.name = type ? name_of(btf, type->name_off) : "",
		.size = size > 0 ? size : 0,
	};
}

/**
 * types_find_struct() - a structure by its name
 * @types: where, or NULL
 * @name: of it
 * @found: it
 *
 * Return: whether there is one; the kernel's own before those of modules.
 */
bool types_find_struct(const struct types *types, const char *name, struct type_ref *found)
{
	const struct indexed *entry = find_indexed(types, name, BTF_KIND_STRUCT, NULL);

	if (entry)
		describe(found, entry->btf, entry->id);
	return entry;
}

/**
 * types_find_variable() - the type of a variable; BTF has the kernel's per-CPU ones alone
 * @types: where, or NULL
 * @name: of the variable
 * @found: its type
 *
 * Return: whether it is known.
 */
bool types_find_variable(const struct types *types, const char *name, struct type_ref *found)
{
	const struct indexed *entry = find_indexed(types, name, BTF_KIND_VAR, NULL);

	if (entry)
		describe(found, entry->btf, btf__type_by_id(entry->btf, entry->id)->type);
	return entry;
}

/**
 * types_variable_at() - the per-CPU variable at a place of their section
 * @types: where, or NULL
 * @place: bytes from the beginning of the section on
 * @name: of the variable
 * @found: its type
 * @offset: of the place in it
 *
 * Return: whether there is one.
 */
bool types_variable_at(const struct types *types, uint64_t place, const char **name,
		       struct type_ref *found, uint32_t *offset)
{
	const struct btf_var_secinfo *variable;
	const struct btf_type *type;
	unsigned int i;

	if (!types || !types->section)
		return false;
	variable = btf_var_secinfos(types->section);
	for (i = 0; i < btf_vlen(types->section); i++, variable++) {
		if (place < variable->offset || place - variable->offset >= variable->size)
			continue;
		type = btf__type_by_id(types->kernel, variable->type);
		if (!type)
			return false;
		*name = name_of(types->kernel, type->name_off);
		*offset = place - variable->offset;
		describe(found, types->kernel, type->type);
		return true;
	}
	return false;
}

/**
 * types_per_cpu_size() - how large is the section of per-CPU variables?
 * @types: where, or NULL
 *
 * Return: bytes up to the end of the last variable that is known; 0: none is.
 */
uint64_t types_per_cpu_size(const struct types *types)
{
	const struct btf_var_secinfo *variable;
	uint64_t size = 0;
	unsigned int i;

	if (!types || !types->section)
		return 0;
	variable = btf_var_secinfos(types->section);
	for (i = 0; i < btf_vlen(types->section); i++, variable++)
		if ((uint64_t)variable->offset + variable->size > size)
			size = (uint64_t)variable->offset + variable->size;
	return size;
}

/*
 * @near: what has been found
 * @distances: of each
 * @count: of them
 */
struct search {
	struct type_ref *near;
	unsigned int *distances;
	size_t count;
};

/* The structure that a type is, or points to, if it is new. */
static void add_near(struct search *search, const struct btf *btf, uint32_t id,
		     unsigned int distance)
{
	const struct btf_type *type = strip(btf, &id);
	size_t i;

	if (type && btf_is_ptr(type)) {
		id = type->type;
		type = strip(btf, &id);
	}
	if (!type || !btf_is_composite(type) || search->count == TYPES_NEAR)
		return;
	for (i = 0; i < search->count; i++)
		if (search->near[i].id == id)
			return;
	describe(&search->near[search->count], btf, id);
	search->distances[search->count++] = distance;
}

static const struct module_types *find_module(const struct types *types, const char *name)
{
	size_t i;

	for (i = 0; types && i < types->module_count; i++)
		if (!strcmp(types->modules[i].name, name))
			return &types->modules[i];
	return NULL;
}

/**
 * types_near_function() - structures that a function has to do with
 * @types: where, or NULL
 * @name: of the function
 * @module: that it is of; empty: the kernel's own
 * @near: those, TYPES_NEAR at most
 * @distances: of each: 0: of a parameter or the result, or what that points to; 1: what those have
 *	or point to; 2: what those
 *
 * Return: how many.
 */
size_t types_near_function(const struct types *types, const char *name, const char *module,
			   struct type_ref *near, unsigned int *distances)
{
	const struct module_types *of = *module ? find_module(types, module) : NULL;
	struct search search = { near, distances, 0 };
	const struct indexed *entry;
	const struct btf_type *type;
	unsigned int i;
	size_t at;

	if (!types || (*module && (!of || !of->btf)))
		return 0;
	entry = find_indexed(types, name, BTF_KIND_FUNC, of ? of->btf : types->kernel);
	type = entry ? btf__type_by_id(entry->btf, entry->id) : NULL;
	type = type ? btf__type_by_id(entry->btf, type->type) : NULL;
	if (!type || !btf_is_func_proto(type))
		return 0;
	for (i = 0; i < btf_vlen(type); i++)
		add_near(&search, entry->btf, btf_params(type)[i].type, 0);
	add_near(&search, entry->btf, type->type, 0);
	for (at = 0; at < search.count && distances[at] < 2; at++) {
		type = btf__type_by_id(entry->btf, near[at].id);
		for (i = 0; i < btf_vlen(type); i++)
			add_near(&search, entry->btf, btf_members(type)[i].type,
				 distances[at] + 1);
	}
	return search.count;
}

/**
 * types_of_module() - structures that only a module has, with a lock at a place
 * @types: where, or NULL
 * @module: its name
 * @more_than: bytes that they have
 * @at_most: likewise
 * @offset: of the lock
 * @kind: of the lock, NTKLOG_IDENTITY_*
 * @found: one of them, if there is one
 *
 * Return: how many.
 */
size_t types_of_module(const struct types *types, const char *module, uint32_t more_than,
		       uint32_t at_most, uint32_t offset, unsigned int kind,
		       struct type_ref *found)
{
	const struct module_types *of = find_module(types, module);
	struct lock_path path;
	size_t count = 0;
	uint32_t id;

	if (!of || !of->btf)
		return 0;
	for (id = of->first; id < btf__type_cnt(of->btf); id++) {
		const struct btf_type *type = btf__type_by_id(of->btf, id);
		struct type_ref candidate;

		if (!btf_is_struct(type) || type->size <= more_than || type->size > at_most ||
		    !*name_of(of->btf, type->name_off))
			continue;
		describe(&candidate, of->btf, id);
		if (!types_find_lock(&candidate, offset, kind, &path))
			continue;
		*found = candidate;
		count++;
	}
	return count;
}

static void add_module(struct types *types, const char *name)
{
	struct module_types *more;
	char path[512];

	if (strlen(name) >= sizeof(more->name) || find_module(types, name))
		return;
	more = grown(types->modules, types->module_count, sizeof(*more));
	if (!more)
		return;
	types->modules = more;
	more += types->module_count++;
	*more = (struct module_types) { .first = btf__type_cnt(types->kernel) };
	snprintf(more->name, sizeof(more->name), "%s", name);
	snprintf(path, sizeof(path), "%s/%s", types->directory, name);
	more->btf = btf__parse_split(path, types->kernel);
	if (!more->btf) {
		message("%s: %s: locks of that module have no names of members", path,
			strerror(errno));
		return;
	}
	add_to_index(types, more->btf, more->first);
}

/**
 * types_look_for_modules() - read those of modules that have come
 * @types: where to, or NULL
 *
 * What has gone stays: its names may still be asked for.
 */
void types_look_for_modules(struct types *types)
{
	DIR *directory = types ? opendir(types->directory) : NULL;
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' && strcmp(entry->d_name, "vmlinux"))
			add_module(types, entry->d_name);
	if (directory)
		closedir(directory);
}

static int be_silent(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return 0;
}

static void find_section(struct types *types)
{
	int id = btf__find_by_name_kind(types->kernel, ".data..percpu", BTF_KIND_DATASEC);

	types->section = id > 0 ? btf__type_by_id(types->kernel, id) : NULL;
}

/**
 * types_open() - read all types
 * @types: what is read; NULL if there are none
 * @directory: of the files, /sys/kernel/btf
 *
 * Return: 0; or -1 after a message: there are none, and locks are told without members.
 */
int types_open(struct types **types, const char *directory)
{
	char path[512];

	libbpf_set_print(be_silent);
	*types = calloc(1, sizeof(**types));
	if (*types)
		(*types)->directory = strdup(directory);
	if (!*types || !(*types)->directory) {
		message("%s", strerror(ENOMEM));
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
	find_section(*types);
	types_look_for_modules(*types);
	return 0;

err:
	types_close(*types);
	*types = NULL;
	return -1;
}

/**
 * types_close() - let them go
 * @types: what was opened, or NULL
 */
void types_close(struct types *types)
{
	size_t i;

	if (!types)
		return;
	for (i = 0; i < types->module_count; i++)
		btf__free(types->modules[i].btf);
	btf__free(types->kernel);
	free(types->modules);
	free(types->index);
	free(types->directory);
	free(types);
}
