/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EX_ERESOURCE_TREE_H
#define _NTKLOG_EX_ERESOURCE_TREE_H

/* All live resources, in a tree ordered by address. */

#include <linux/spinlock.h>
#include <linux/types.h>
#include <ntklog/eresource.h>

/*
 * Guards the tree of live resources. The locks of resources are taken with it held:
 * a resource in the tree does not go while it is.
 */
extern raw_spinlock_t ex_resources_lock;

/* Number of live resources. Written with ex_resources_lock held; any CPU may read it. */
extern u32 ex_resource_count;

struct eresource *ex_resource_from(unsigned long address);
struct eresource *ex_next_resource(const struct eresource *resource);
void ex_insert_resource(struct eresource *resource);
bool ex_resource_is_live(const struct eresource *resource);
void ex_remove_resource(struct eresource *resource);

#endif /* _NTKLOG_EX_ERESOURCE_TREE_H */
