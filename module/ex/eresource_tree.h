/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EX_ERESOURCE_TREE_H
#define _NTKLOG_EX_ERESOURCE_TREE_H

/*
 * All live resources, in a tree ordered by address. A resource is live from its initialisation to
 * its deletion. A walk over the tree can drop the lock and continue behind the last address, even
 * if resources are added and removed in between.
 */

#include <linux/spinlock.h>
#include <linux/types.h>
#include <ntklog/eresource.h>

/*
 * Protects the tree. The inner locks of resources nest inside it. A resource in the tree cannot be
 * deleted while the lock is held.
 */
extern raw_spinlock_t ex_resources_lock;

/* Number of live resources. Written with ex_resources_lock held; any CPU may read it. */
extern u32 ex_resource_count;

struct eresource *ex_find_resource_at_or_above(unsigned long address);
struct eresource *ex_get_next_resource(const struct eresource *resource);
void ex_insert_resource(struct eresource *resource);
bool ex_resource_is_live(const struct eresource *resource);
void ex_remove_resource(struct eresource *resource);

#endif /* _NTKLOG_EX_ERESOURCE_TREE_H */
