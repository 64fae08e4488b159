/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TYPES_H
#define _NTKLOG_TYPES_H

/* Types of the running kernel and its modules, from their BTF, and the locks in structures. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct btf;
struct kernel_types;

struct type_ref {
	const struct btf *btf;
	uint32_t id;
	const char *name;
	uint32_t size;
};

/*
 * Members from a structure to a lock.
 * @text: ".MEMBER[].MEMBER"; empty if the type itself is the lock
 * @root_struct_name: well-known structure inside of the outermost one, such as inode; empty if the
 *	path has none
 * @root_offset: offset in @text of the path from @root_struct_name on
 */
struct lock_path {
	char text[160];
	char root_struct_name[16];
	size_t root_offset;
};

#define TYPES_NEAR_MAX	400

int types_open(struct kernel_types **types, const char *directory);
void types_add_new_modules(struct kernel_types *types);
bool types_find_struct(const struct kernel_types *types, const char *name, struct type_ref *found);
bool types_find_lock(const struct type_ref *type, uint32_t offset, unsigned int kind,
		     struct lock_path *path);
bool types_find_variable(const struct kernel_types *types, const char *name,
			 struct type_ref *found);
bool types_variable_at(const struct kernel_types *types, uint64_t section_offset, const char **name,
		       struct type_ref *found, uint32_t *offset);
uint64_t types_per_cpu_size(const struct kernel_types *types);
size_t types_find_near_function(const struct kernel_types *types, const char *name,
				const char *module, struct type_ref *near_types,
				unsigned int *distances);
size_t types_find_in_module(const struct kernel_types *types, const char *module,
			    uint32_t size_above, uint32_t size_max, uint32_t offset,
			    unsigned int kind, struct type_ref *found);
void types_close(struct kernel_types *types);

#endif /* _NTKLOG_TYPES_H */
