/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TORTURE_LOCKS_H
#define _NTKLOG_TORTURE_LOCKS_H

#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/prandom.h>
#include <linux/types.h>
#include <ntklog/ex_spin_lock.h>
#include <ntklog/queued_spin_lock.h>
#include <ntklog/spin_lock.h>

struct torture_user;

/* How a nest of locks is acquired and released. */
enum torture_style {
	TORTURE_RAISING,	/* each acquisition raises IRQL; released in reverse order */
	TORTURE_FOR_DPC,	/* as TORTURE_RAISING, by the ForDpc functions */
	TORTURE_AT_LEVEL,	/* IRQL is raised first; released in any order */
	TORTURE_STYLE_COUNT,
};

/*
 * @lock: for types that are a KSPIN_LOCK
 * @ex_lock: for types that are an EX_SPIN_LOCK
 * @number: for numbered queued locks; set before &torture_ops.init is called
 * @irql: IRQL at which the lock is held, DISPATCH_LEVEL or SYNCH_LEVEL
 * @owner: shadow of the exclusive owner, or NULL; written by the owner
 * @shared_owners: shadow of the number of shared owners; written by the shared owners
 */
struct torture_lock {
	struct kspin_lock lock;
	struct ex_spin_lock ex_lock;
	unsigned int number;
	u8 irql;
	struct torture_user *owner;
	atomic_t shared_owners;
	atomic64_t acquisitions;
};

/* @old_irql: IRQL before the acquisition; unused by in-stack queued locks */
struct torture_handle {
	struct klock_queue_handle queue;
	u8 old_irql;
	bool shared;
};

/*
 * @acquire: acquire the lock in a style, by a function chosen at random
 * @convert: try to convert a shared hold to exclusive; NULL: the type has no conversion
 * @is_queued: return true if the handle waits in the lock's queue; NULL: the type is not fair
 */
struct torture_ops {
	const char *name;
	void (*init)(struct torture_lock *lock, struct lock_class_key *key);
	void (*acquire)(struct rnd_state *random, struct torture_lock *lock,
			struct torture_handle *handle, enum torture_style style);
	bool (*convert)(struct torture_lock *lock);
	void (*release)(struct torture_lock *lock, struct torture_handle *handle,
			enum torture_style style);
	bool (*is_queued)(const struct torture_handle *handle);
	bool (*is_lock_free)(const struct torture_lock *lock);
	bool (*is_handle_free)(const struct torture_handle *handle);
};

const struct torture_ops *torture_find_type(const char *name);

#endif /* _NTKLOG_TORTURE_LOCKS_H */
