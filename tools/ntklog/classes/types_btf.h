/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TYPES_BTF_H
#define _NTKLOG_TYPES_BTF_H

/* Reading types from BTF, for the files of this folder. */

#include <bpf/btf.h>

/* Greatest depth of a search: structures, unions and arrays within each other. */
#define TYPES_DEPTH_MAX	24

static inline const char *btf_name(const struct btf *btf, uint32_t offset)
{
	const char *name = btf__name_by_offset(btf, offset);

	return name ? name : "";
}

/*
 * Follow typedefs, qualifiers and tags from type @id to the type behind them. Sets @id to that
 * type. Returns NULL if there is none, or if BTF is damaged.
 */
static inline const struct btf_type *btf_strip(const struct btf *btf, uint32_t *id)
{
	const struct btf_type *type = btf__type_by_id(btf, *id);
	unsigned int steps;

	for (steps = 0; type && steps < 2 * TYPES_DEPTH_MAX; steps++) {
		if (!btf_is_mod(type) && !btf_is_typedef(type) && !btf_is_type_tag(type))
			return type;
		*id = type->type;
		type = btf__type_by_id(btf, *id);
	}
	return NULL;
}

#endif /* _NTKLOG_TYPES_BTF_H */
