/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TORTURE_SHADOW_H
#define _NTKLOG_TORTURE_SHADOW_H

/* If two threads hold a resource that only one may hold, the second finds the shadow set. */

#include <linux/atomic.h>
#include <linux/types.h>
#include <ntklog/eresource.h>

/*
 * @owner: shadow of the exclusive owner; NULL: none. Written with @resource held exclusive
 * @shared_owners: shadow of the number of shared owners
 * @released: must equal @granted when the test has ended
 */
struct torture_resource {
	struct eresource resource;
	int number;
	const void *owner;
	atomic_t shared_owners;
	atomic64_t granted;
	atomic64_t released;
};

void torture_set_shadow(struct torture_resource *resource, const void *owner, bool exclusive);
void torture_clear_shadow(struct torture_resource *resource, const void *owner, bool exclusive);

#endif /* _NTKLOG_TORTURE_SHADOW_H */
