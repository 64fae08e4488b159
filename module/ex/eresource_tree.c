// SPDX-License-Identifier: GPL-2.0-only

#include <linux/rbtree.h>

#include "eresource_tree.h"

DEFINE_RAW_SPINLOCK(ex_resources_lock);

/* Protected by ex_resources_lock. */
static struct rb_root ex_resource_tree = RB_ROOT;
u32 ex_resource_count;

static struct eresource *ex_node_to_resource(const struct rb_node *node)
{
	return rb_entry_safe(node, struct eresource, node);
}

/* Find the live resource with the lowest address that is at least @address. */
struct eresource *ex_find_resource_at_or_above(unsigned long address)
{
	struct rb_node *node = ex_resource_tree.rb_node;
	struct eresource *found = NULL;

	while (node) {
		struct eresource *resource = ex_node_to_resource(node);

		if ((unsigned long)resource >= address) {
			found = resource;
			node = node->rb_left;
		} else {
			node = node->rb_right;
		}
	}
	return found;
}

struct eresource *ex_get_next_resource(const struct eresource *resource)
{
	return ex_node_to_resource(rb_next(&resource->node));
}

/**
 * ex_resource_is_live() - test whether a resource has been initialised and not deleted
 * @resource: an address; the memory there is not accessed
 *
 * Context: ex_resources_lock held.
 * Return: true if the resource is in the tree.
 */
bool ex_resource_is_live(const struct eresource *resource)
{
	return resource && ex_find_resource_at_or_above((unsigned long)resource) == resource;
}

static bool ex_resource_is_less(struct rb_node *a, const struct rb_node *b)
{
	return a < b;
}

/**
 * ex_insert_resource() - add a resource to the tree
 * @resource: a resource that is not live
 *
 * Context: ex_resources_lock held.
 */
void ex_insert_resource(struct eresource *resource)
{
	rb_add(&resource->node, &ex_resource_tree, ex_resource_is_less);
	WRITE_ONCE(ex_resource_count, ex_resource_count + 1);
}

/**
 * ex_remove_resource() - remove a resource from the tree
 * @resource: a live resource
 *
 * Context: ex_resources_lock held.
 */
void ex_remove_resource(struct eresource *resource)
{
	rb_erase(&resource->node, &ex_resource_tree);
	WRITE_ONCE(ex_resource_count, ex_resource_count - 1);
}
