/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ERESOURCE_H
#define _NTKLOG_ERESOURCE_H

/*
 * NT's executive resources: one exclusive owner or any number of shared ones, each
 * of whom may acquire again at once. Who has to wait sleeps, and is given the
 * ownership by who releases.
 *
 * An owner is a thread, named by the address of its task, or a pointer that a
 * thread has put in its place (ex_set_resource_owner_pointer()).
 */

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>

/* ex_get_resource_flag() */
#define ERESOURCE_FLAG_DISABLE_BOOST	0x08
#define ERESOURCE_FLAG_OWNED_EXCLUSIVE	0x80

/* flags of ex_set_resource_owner_pointer_ex() */
#define FLAG_OWNER_POINTER_IS_THREAD	0x01

/**
 * struct eresource_owner - NT's OWNER_ENTRY
 * @thread: who owns: ex_get_current_resource_thread() or an owner pointer; 0: nobody
 * @count: acquisitions that are not released
 */
struct eresource_owner {
	unsigned long thread;
	u32 count;
};

/**
 * struct eresource - NT's ERESOURCE
 * @word: 0 when free; the one thread that owns, how and how often, when nobody
 *	else has to know; or the sign that the members below have to be looked at.
 *	See module/ex/eresource_state.h
 * @lock: guards all below, if not said otherwise
 * @flag: ERESOURCE_FLAG_DISABLE_BOOST or 0; written with single stores
 * @exclusive: the owner is exclusive
 * @active_count: owner entries in use
 * @contention_count: waits that have begun; read by any
 * @shared_waiter_count: threads that wait for shared ownership; read by any
 * @exclusive_waiter_count: threads that wait for exclusive ownership; read by any
 * @owner: the first entry, which is always there
 * @owner_table: further ones
 * @owner_table_size: how many; enough for all owners and shared waiters
 * @shared_waiters: in the order of asking
 * @exclusive_waiters: in the order of asking
 * @node: in the tree of live resources
 * @creator: where it was initialised
 * @dep_map: lockdep's view
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
	unsigned long creator;
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	struct lockdep_map dep_map;
#endif
};

u32 __ex_initialize_resource_lite(struct eresource *resource, const char *name,
				  struct lock_class_key *key);

/**
 * ex_initialize_resource_lite() - NT's ExInitializeResourceLite
 * @resource: the resource, whatever it held before; owned by nobody afterwards
 *
 * Context: IRQL <= DISPATCH_LEVEL. Lockdep gets a class for each place that calls
 * this. To be undone by ex_delete_resource_lite() before the memory goes.
 * Return: STATUS_SUCCESS; STATUS_INVALID_PARAMETER after a warning, and nothing
 * changed, if the resource is live or NULL.
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
 * Kernels with CONFIG_MODVERSIONS link no symbol that has more than 55 characters;
 * so the symbol is a shorter one.
 *
 * Context: thread at IRQL <= APC_LEVEL; waits.
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
 * Context: any.
 * Return: threads that wait for exclusive ownership now.
 */
static inline u32 ex_get_exclusive_waiter_count(const struct eresource *resource)
{
	return READ_ONCE(resource->exclusive_waiter_count);
}

/**
 * ex_get_shared_waiter_count() - NT's ExGetSharedWaiterCount
 * @resource: the resource
 *
 * Context: any.
 * Return: threads that wait for shared ownership now.
 */
static inline u32 ex_get_shared_waiter_count(const struct eresource *resource)
{
	return READ_ONCE(resource->shared_waiter_count);
}

/**
 * ex_get_current_resource_thread() - NT's ExGetCurrentResourceThread
 *
 * Context: any.
 * Return: what the current thread is called as an owner.
 */
static inline unsigned long ex_get_current_resource_thread(void)
{
	return (unsigned long)current;
}

/**
 * ex_disable_resource_boost_lite() - NT's ExDisableResourceBoostLite
 * @resource: the resource
 *
 * Sets a flag. Nobody's priority is changed with or without it.
 *
 * Context: any.
 */
static inline void ex_disable_resource_boost_lite(struct eresource *resource)
{
	WRITE_ONCE(resource->flag, resource->flag | ERESOURCE_FLAG_DISABLE_BOOST);
}

#endif /* _NTKLOG_ERESOURCE_H */
