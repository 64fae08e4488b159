/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ERESOURCE_H
#define _NTKLOG_ERESOURCE_H

/*
 * NT's executive resources: reader-writer locks that sleep. A resource has one exclusive owner or
 * any number of shared owners. An owner may acquire it again, except a shared owner exclusively. A
 * waiter waits until a task that releases or converts the resource makes it an owner.
 *
 * An owner is a task, identified by the address of its task_struct, or an owner pointer, by which a
 * task has replaced itself with ex_set_resource_owner_pointer().
 */

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>

/* values of ex_get_resource_flag() */
#define ERESOURCE_FLAG_DISABLE_BOOST	0x08
#define ERESOURCE_FLAG_OWNED_EXCLUSIVE	0x80

/* flags of ex_set_resource_owner_pointer_ex() */
#define FLAG_OWNER_POINTER_IS_THREAD	0x01

/**
 * struct eresource_owner - NT's OWNER_ENTRY
 * @thread: ex_get_current_resource_thread() or an owner pointer; 0 if the entry is free
 * @count: number of acquisitions that have not been released
 */
struct eresource_owner {
	unsigned long thread;
	u32 count;
};

/**
 * struct eresource - NT's ERESOURCE
 * @word: 0 if free; usually the only owner and its number of acquisitions, if no task waits;
 *	otherwise a mark that the state is in the members below. See module/ex/eresource_state.h
 * @lock: inner lock, which protects the members from @exclusive to @exclusive_waiters
 * @flag: ERESOURCE_FLAG_DISABLE_BOOST or 0; written with WRITE_ONCE()
 * @exclusive: the owner is exclusive
 * @active_count: number of owner entries in use
 * @contention_count: number of waits that have begun; may be read without the lock
 * @shared_waiter_count: number of waiters for shared ownership; may be read without the lock
 * @exclusive_waiter_count: number of waiters for exclusive ownership; may be read without the lock
 * @owner: the first owner entry
 * @owner_table: further owner entries, or NULL
 * @owner_table_size: number of entries in @owner_table
 * @shared_waiters: waiters for shared ownership, in the order of their requests
 * @exclusive_waiters: waiters for exclusive ownership, in the order of their requests
 * @node: node in the tree of live resources; protected by ex_resources_lock
 * @init_caller: return address of the initialisation
 * @dep_map: lockdep map
 */
struct eresource {
	atomic_long_t word;
	raw_spinlock_t lock;
	u16 flag;
	bool exclusive;
	u32 active_count;
	u32 contention_count;
	u32 shared_waiter_count;
	u32 exclusive_waiter_count;
	struct eresource_owner owner;
	struct eresource_owner *owner_table;
	u32 owner_table_size;
	struct list_head shared_waiters;
	struct list_head exclusive_waiters;
	struct rb_node node;
	unsigned long init_caller;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map dep_map;
#endif
};

u32 __ex_initialize_resource_lite(struct eresource *resource, const char *name,
				  struct lock_class_key *key);

/**
 * ex_initialize_resource_lite() - NT's ExInitializeResourceLite
 * @resource: the resource, which has no owner afterwards
 *
 * Each use of this macro is a lockdep class of its own. The resource must be deleted with
 * ex_delete_resource_lite() before its memory is freed. If the resource is initialised already, or
 * is NULL: warns and changes nothing.
 *
 * Context: IRQL <= DISPATCH_LEVEL.
 * Return: STATUS_SUCCESS, or STATUS_INVALID_PARAMETER after a warning.
 */
#define ex_initialize_resource_lite(resource)				\
({									\
	static struct lock_class_key __key;				\
									\
	__ex_initialize_resource_lite((resource), #resource, &__key);	\
})

u32 ex_reinitialize_resource_lite(struct eresource *resource);
u32 ex_delete_resource_lite(struct eresource *resource);

bool ex_acquire_resource_exclusive_lite(struct eresource *resource, bool wait);
bool ex_try_to_acquire_resource_exclusive_lite(struct eresource *resource);
bool ex_acquire_resource_shared_lite(struct eresource *resource, bool wait);
bool ex_acquire_shared_starve_exclusive(struct eresource *resource, bool wait);
bool ex_acquire_shared_wait_for_exclusive(struct eresource *resource, bool wait);

void ex_release_resource_lite(struct eresource *resource);
void ex_release_resource_for_thread_lite(struct eresource *resource,
					 unsigned long thread);
void ex_convert_exclusive_to_shared_lite(struct eresource *resource);
void ex_set_resource_owner_pointer(struct eresource *resource, void *owner_pointer);
void ex_set_resource_owner_pointer_ex(struct eresource *resource,
				      void *owner_pointer, u32 flags);

void ex_enter_critical_region_and_acquire_resource_exclusive(struct eresource *resource);
void ex_enter_critical_region_and_acquire_resource_shared(struct eresource *resource);
void ex_enter_region_and_acquire_shared_wait_for_exclusive(struct eresource *resource);
void ex_release_resource_and_leave_critical_region(struct eresource *resource);

bool ex_is_resource_acquired_exclusive_lite(struct eresource *resource);
u32 ex_is_resource_acquired_shared_lite(struct eresource *resource);
u32 ex_get_resource_active_count(struct eresource *resource);
u16 ex_get_resource_flag(struct eresource *resource);

/**
 * ex_enter_critical_region_and_acquire_shared_wait_for_exclusive() - NT's
 *	ExEnterCriticalRegionAndAcquireSharedWaitForExclusive
 * @resource: the resource
 *
 * Inline, because kernels with CONFIG_MODVERSIONS cannot export a symbol of more than 55
 * characters.
 *
 * Context: task at IRQL <= APC_LEVEL; may sleep.
 */
static __always_inline void
ex_enter_critical_region_and_acquire_shared_wait_for_exclusive(struct eresource *resource)
{
	ex_enter_region_and_acquire_shared_wait_for_exclusive(resource);
}

/**
 * ex_get_exclusive_waiter_count() - NT's ExGetExclusiveWaiterCount
 * @resource: the resource
 *
 * Context: any. The value may be stale when it is returned.
 * Return: number of waiters for exclusive ownership.
 */
static inline u32 ex_get_exclusive_waiter_count(const struct eresource *resource)
{
	return READ_ONCE(resource->exclusive_waiter_count);
}

/**
 * ex_get_shared_waiter_count() - NT's ExGetSharedWaiterCount
 * @resource: the resource
 *
 * Context: any. The value may be stale when it is returned.
 * Return: number of waiters for shared ownership.
 */
static inline u32 ex_get_shared_waiter_count(const struct eresource *resource)
{
	return READ_ONCE(resource->shared_waiter_count);
}

/**
 * ex_get_current_resource_thread() - NT's ExGetCurrentResourceThread
 *
 * Context: any.
 * Return: the value that identifies the current task as an owner.
 */
static inline unsigned long ex_get_current_resource_thread(void)
{
	return (unsigned long)current;
}

/**
 * ex_disable_resource_boost_lite() - NT's ExDisableResourceBoostLite
 * @resource: the resource
 *
 * Sets a flag that has no other effect.
 *
 * Context: any.
 */
static inline void ex_disable_resource_boost_lite(struct eresource *resource)
{
	WRITE_ONCE(resource->flag, resource->flag | ERESOURCE_FLAG_DISABLE_BOOST);
}

#endif /* _NTKLOG_ERESOURCE_H */
