// SPDX-License-Identifier: GPL-2.0-only

#include "torture_common.h"
#include "torture_shadow.h"

/**
 * torture_set_shadow() - enter an owner into the shadow, after a resource has been granted to it
 * @resource: the resource
 * @owner: address that stands for the owner, if @exclusive
 * @exclusive: mode of the grant
 *
 * Context: any, with the resource held.
 */
void torture_set_shadow(struct torture_resource *resource, const void *owner, bool exclusive)
{
	if (READ_ONCE(resource->owner))
		torture_fail("resource %d is granted and has an exclusive owner", resource->number);
	if (!exclusive) {
		atomic_inc(&resource->shared_owners);
		return;
	}
	if (atomic_read(&resource->shared_owners))
		torture_fail("resource %d is granted exclusively and has shared owners",
			     resource->number);
	WRITE_ONCE(resource->owner, owner);
}

/**
 * torture_clear_shadow() - remove an owner from the shadow, before it releases the resource
 * @resource: the resource
 * @owner: address that stands for the owner, if @exclusive
 * @exclusive: mode of the hold
 *
 * Context: any, with the resource held.
 */
void torture_clear_shadow(struct torture_resource *resource, const void *owner, bool exclusive)
{
	if (exclusive) {
		if (READ_ONCE(resource->owner) != owner)
			torture_fail("resource %d changed its owner", resource->number);
		WRITE_ONCE(resource->owner, NULL);
	} else if (atomic_dec_return(&resource->shared_owners) < 0) {
		torture_fail("resource %d has lost a shared owner", resource->number);
	}
}
