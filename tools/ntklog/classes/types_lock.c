// SPDX-License-Identifier: GPL-2.0-only

#include <stdio.h>
#include <string.h>

#include <ntklog/identity.h>

#include "macros.h"
#include "types.h"
#include "types_btf.h"

static const char *const lock_type_names[NTKLOG_IDENTITY_KINDS][4] = {
	[NTKLOG_IDENTITY_SPIN] = { "spinlock", "raw_spinlock", "qspinlock" },
	[NTKLOG_IDENTITY_RW] = { "rwlock_t", "qrwlock" },
	[NTKLOG_IDENTITY_MUTEX] = { "mutex" },
	[NTKLOG_IDENTITY_RWSEM] = { "rw_semaphore" },
	[NTKLOG_IDENTITY_SEMAPHORE] = { "semaphore" },
	[NTKLOG_IDENTITY_RT_MUTEX] = { "rt_mutex" },
	[NTKLOG_IDENTITY_PERCPU_RWSEM] = { "percpu_rw_semaphore" },
	[NTKLOG_IDENTITY_WW_MUTEX] = { "ww_mutex" },
};

/* Structures that others embed. A path from one of these says more than the whole path. */
static const char *const root_struct_names[] = { "inode", "sock", "super_block" };

static bool is_lock(const char *name, unsigned int kind)
{
	unsigned int i;

	for (i = 0; kind < NTKLOG_IDENTITY_KINDS && lock_type_names[kind][i]; i++)
		if (!strcmp(lock_type_names[kind][i], name))
			return true;
	return false;
}

/*
 * Test whether a type is a lock of a kind, by its name and those of all typedefs on the way to it:
 * an anonymous structure has only names of typedefs.
 */
static bool is_named_lock(const struct btf *btf, uint32_t id, unsigned int kind)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	unsigned int steps;

	for (steps = 0; type && steps < 2 * TYPES_DEPTH_MAX; steps++) {
		if ((btf_is_typedef(type) || btf_is_composite(type)) &&
		    is_lock(btf_name(btf, type->name_off), kind))
			return true;
		if (!btf_is_mod(type) && !btf_is_typedef(type) && !btf_is_type_tag(type))
			return false;
		type = btf__type_by_id(btf, type->type);
	}
	return false;
}

static bool find_lock_in_type(const struct btf *btf, uint32_t id, uint32_t offset,
			      unsigned int kind, struct lock_path *path, unsigned int depth);

static bool find_lock_in_array(const struct btf *btf, const struct btf_type *type, uint32_t offset,
			       unsigned int kind, struct lock_path *path, unsigned int depth)
{
	const struct btf_array *array = btf_array(type);
	long long size = btf__resolve_size(btf, array->type);
	size_t length = strlen(path->text);

	if (size <= 0 || (array->nelems && offset >= (uint64_t)size * array->nelems))
		return false;
	snprintf(path->text + length, sizeof(path->text) - length, "[]");
	return find_lock_in_type(btf, array->type, offset % size, kind, path, depth);
}

static bool find_lock_in_member(const struct btf *btf, const struct btf_type *type,
				unsigned int index, uint32_t offset, unsigned int kind,
				struct lock_path *path, unsigned int depth)
{
	const struct btf_member *member = &btf_members(type)[index];
	uint32_t at = btf_member_bit_offset(type, index), id = member->type;
	const char *name = btf_name(btf, member->name_off);
	const struct btf_type *inner;
	size_t length = strlen(path->text);
	long long size;

	if (btf_member_bitfield_size(type, index) || at % 8 || at / 8 > offset)
		return false;
	at /= 8;
	inner = btf_strip(btf, &id);
	if (!inner || !(btf_is_composite(inner) || btf_is_array(inner)))
		return false;
	size = btf__resolve_size(btf, member->type);
	/* A flexible array member has size 0. */
	if (size < 0 || (offset - at >= size && !(btf_is_array(inner) && !size)))
		return false;
	if (*name)
		snprintf(path->text + length, sizeof(path->text) - length, ".%s", name);
	return find_lock_in_type(btf, member->type, offset - at, kind, path, depth);
}

static bool find_lock_in_type(const struct btf *btf, uint32_t id, uint32_t offset,
			      unsigned int kind, struct lock_path *path, unsigned int depth)
{
	const struct btf_type *type;
	unsigned int i;

	if (depth > TYPES_DEPTH_MAX)
		return false;
	if (!offset && is_named_lock(btf, id, kind))
		return true;
	type = btf_strip(btf, &id);
	if (type && btf_is_array(type))
		return find_lock_in_array(btf, type, offset, kind, path, depth + 1);
	if (!type || !btf_is_composite(type))
		return false;
	for (i = 0; depth && i < ARRAY_SIZE(root_struct_names); i++)
		if (!strcmp(root_struct_names[i], btf_name(btf, type->name_off))) {
			snprintf(path->root_struct_name, sizeof(path->root_struct_name), "%s",
				 root_struct_names[i]);
			path->root_offset = strlen(path->text);
		}
	for (i = 0; i < btf_vlen(type); i++) {
		struct lock_path before = *path;

		if (find_lock_in_member(btf, type, i, offset, kind, path, depth + 1))
			return true;
		*path = before;
	}
	return false;
}

/**
 * types_find_lock() - find the lock at an offset of a type
 * @type: type to search
 * @offset: offset of the lock, bytes
 * @kind: kind of the lock, NTKLOG_IDENTITY_*
 * @path: set to the path of members to the lock
 *
 * Return: true if there is a lock of that kind at @offset.
 */
bool types_find_lock(const struct type_ref *type, uint32_t offset, unsigned int kind,
		     struct lock_path *path)
{
	*path = (struct lock_path) { 0 };
	return find_lock_in_type(type->btf, type->id, offset, kind, path, 0);
}
