// SPDX-License-Identifier: GPL-2.0-only

#include <linux/kernel.h>
#include <linux/string.h>
#include <ntklog/irql.h>

#include "torture_common.h"
#include "torture_locks.h"

static void word_init(struct torture_lock *lock, struct lock_class_key *key)
{
	ke_initialize_spin_lock_class(&lock->lock, "torture_lock", key);
}

static bool word_is_free(const struct torture_lock *lock)
{
	return ke_test_spin_lock(&lock->lock);
}

static void in_stack_acquire(struct rnd_state *random, struct torture_lock *lock,
			     struct torture_handle *handle, enum torture_style style)
{
	struct klock_queue_handle *queue = &handle->queue;

	if (style == TORTURE_AT_LEVEL)
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock->lock, queue);
	else if (lock->irql == SYNCH_LEVEL)
		ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&lock->lock, queue);
	else if (style == TORTURE_FOR_DPC)
		ke_acquire_in_stack_queued_spin_lock_for_dpc(&lock->lock, queue);
	else
		ke_acquire_in_stack_queued_spin_lock(&lock->lock, queue);
}

static void in_stack_release(struct torture_lock *lock, struct torture_handle *handle,
			     enum torture_style style)
{
	if (style == TORTURE_AT_LEVEL)
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle->queue);
	else if (style == TORTURE_FOR_DPC && lock->irql != SYNCH_LEVEL)
		ke_release_in_stack_queued_spin_lock_for_dpc(&handle->queue);
	else
		ke_release_in_stack_queued_spin_lock(&handle->queue);
}

static bool in_stack_is_queued(const struct torture_handle *handle)
{
	/*
	 * The owner may initialize the handle for its next acquisition. The caller then ignores the
	 * value.
	 */
	return data_race(READ_ONCE(handle->queue.lock_queue.lock)) & LOCK_QUEUE_WAIT;
}

static bool in_stack_is_handle_free(const struct torture_handle *handle)
{
	return !handle->queue.lock_queue.next &&
		!(handle->queue.lock_queue.lock & LOCK_QUEUE_BITS);
}

static void queued_init(struct torture_lock *lock, struct lock_class_key *key)
{
	/* ntklog has initialized the numbered locks when it was loaded. */
}

static void queued_acquire(struct rnd_state *random, struct torture_lock *lock,
			   struct torture_handle *handle, enum torture_style style)
{
	bool is_try = !torture_random(random, 4);

	if (max(lock->irql, ke_get_current_irql()) == SYNCH_LEVEL) {
		if (!is_try ||
		    !ke_try_to_acquire_queued_spin_lock_raise_to_synch(lock->number,
								       &handle->old_irql))
			handle->old_irql =
				ke_acquire_queued_spin_lock_raise_to_synch(lock->number);
	} else if (!is_try ||
		   !ke_try_to_acquire_queued_spin_lock(lock->number,
						       &handle->old_irql)) {
		handle->old_irql = ke_acquire_queued_spin_lock(lock->number);
	}
}

static void queued_release(struct torture_lock *lock, struct torture_handle *handle,
			   enum torture_style style)
{
	ke_release_queued_spin_lock(lock->number, handle->old_irql);
}

/* No function tests a numbered lock. Try to acquire the lock at the highest IRQL of its users. */
static bool queued_is_free(const struct torture_lock *lock)
{
	u8 old_irql;

	if (!ke_try_to_acquire_queued_spin_lock_raise_to_synch(lock->number, &old_irql))
		return false;
	ke_release_queued_spin_lock(lock->number, old_irql);
	return true;
}

static void spin_acquire_lock(struct rnd_state *random, struct torture_lock *lock,
			      struct torture_handle *handle, enum torture_style style)
{
	if (style == TORTURE_AT_LEVEL) {
		if (torture_random(random, 4) ||
		    !ke_try_to_acquire_spin_lock_at_dpc_level(&lock->lock))
			ke_acquire_spin_lock_at_dpc_level(&lock->lock);
	} else if (lock->irql == SYNCH_LEVEL) {
		handle->old_irql = ke_acquire_spin_lock_raise_to_synch(&lock->lock);
	} else {
		ke_acquire_spin_lock(&lock->lock, &handle->old_irql);
	}
}

static void spin_release_lock(struct torture_lock *lock, struct torture_handle *handle,
			      enum torture_style style)
{
	if (style == TORTURE_AT_LEVEL)
		ke_release_spin_lock_from_dpc_level(&lock->lock);
	else
		ke_release_spin_lock(&lock->lock, handle->old_irql);
}

static void ex_init(struct torture_lock *lock, struct lock_class_key *key)
{
	__ex_initialize_spin_lock(&lock->ex_lock, "torture_ex_lock", key);
}

static void ex_acquire_exclusive(struct rnd_state *random, struct torture_lock *lock,
				 struct torture_handle *handle,
				 enum torture_style style)
{
	handle->shared = false;
	/* No function for executive spin locks raises to SYNCH_LEVEL. */
	ke_raise_irql(max(lock->irql, ke_get_current_irql()), &handle->old_irql);
	if (torture_random(random, 4) ||
	    !ex_try_acquire_spin_lock_exclusive_at_dpc_level(&lock->ex_lock))
		ex_acquire_spin_lock_exclusive_at_dpc_level(&lock->ex_lock);
}

static void ex_acquire(struct rnd_state *random, struct torture_lock *lock,
		       struct torture_handle *handle, enum torture_style style)
{
	if (!torture_random(random, 3)) {
		ex_acquire_exclusive(random, lock, handle, style);
		return;
	}
	handle->shared = true;
	ke_raise_irql(max(lock->irql, ke_get_current_irql()), &handle->old_irql);
	if (torture_random(random, 4) ||
	    !ex_try_acquire_spin_lock_shared_at_dpc_level(&lock->ex_lock))
		ex_acquire_spin_lock_shared_at_dpc_level(&lock->ex_lock);
}

static bool ex_convert(struct torture_lock *lock)
{
	return ex_try_convert_shared_spin_lock_exclusive(&lock->ex_lock);
}

static void ex_release(struct torture_lock *lock, struct torture_handle *handle,
		       enum torture_style style)
{
	if (handle->shared)
		ex_release_spin_lock_shared_from_dpc_level(&lock->ex_lock);
	else
		ex_release_spin_lock_exclusive_from_dpc_level(&lock->ex_lock);
	/*
	 * Only nests of style TORTURE_AT_LEVEL are released out of order. For these the IRQL was
	 * raised before the nest, so each old_irql is the same.
	 */
	ke_lower_irql(handle->old_irql);
}

static bool ex_is_free(const struct torture_lock *lock)
{
	return !atomic_read(&lock->ex_lock.value);
}

static bool any_handle_is_free(const struct torture_handle *handle)
{
	return true;
}

static const struct torture_ops torture_types[] = {
	{
		.name = "in_stack_queued",
		.init = word_init,
		.acquire = in_stack_acquire,
		.release = in_stack_release,
		.is_queued = in_stack_is_queued,
		.is_lock_free = word_is_free,
		.is_handle_free = in_stack_is_handle_free,
	}, {
		.name = "queued",
		.init = queued_init,
		.acquire = queued_acquire,
		.release = queued_release,
		.is_lock_free = queued_is_free,
		.is_handle_free = any_handle_is_free,
	}, {
		.name = "spin",
		.init = word_init,
		.acquire = spin_acquire_lock,
		.release = spin_release_lock,
		.is_lock_free = word_is_free,
		.is_handle_free = any_handle_is_free,
	}, {
		.name = "ex",
		.init = ex_init,
		.acquire = ex_acquire,
		.convert = ex_convert,
		.release = ex_release,
		.is_lock_free = ex_is_free,
		.is_handle_free = any_handle_is_free,
	}, {
		.name = "ex_exclusive",
		.init = ex_init,
		.acquire = ex_acquire_exclusive,
		.release = ex_release,
		.is_lock_free = ex_is_free,
		.is_handle_free = any_handle_is_free,
	},
};

/**
 * torture_find_type() - find the operations of a type of lock
 * @name: value of the module parameter torture_type
 *
 * Return: the operations, or NULL if there is no such type.
 */
const struct torture_ops *torture_find_type(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(torture_types); i++)
		if (!strcmp(name, torture_types[i].name))
			return &torture_types[i];
	return NULL;
}
