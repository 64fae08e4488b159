/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TORTURE_LOCKS_H
#define _NTKLOG_TORTURE_LOCKS_H

/* The types of lock that ntklog_torture can torture, for a driver that knows none. */

#include <linux/atomic.h>
#include <linux/lockdep.h>
#include <linux/prandom.h>
#include <linux/types.h>
#include <ntklog/ex_spin_lock.h>
#include <ntklog/queued_spin_lock.h>
#include <ntklog/spin_lock.h>

struct torture_user;

/* How a nest is taken and let go. */
enum torture_style {
	TORTURE_RAISING,	/* each raises, released in reverse order */
	TORTURE_FOR_DPC,	/* likewise with the functions for DPCs */
	TORTURE_AT_LEVEL,	/* IRQL by hand, released in any order */
	TORTURE_STYLES,
};

/*
 * @lock: the lock, if it is a KSPIN_LOCK
 * @ex_lock: the lock, if it is an EX_SPIN_LOCK
 * @number: the lock, if it is a numbered one; set before @init
 * @irql: at which it is owned, DISPATCH_LEVEL or SYNCH_LEVEL
 * @owner: who owns it exclusively; written by the owner
 * @shared_owners: who own it shared; written by them
 * @acquisitions: of both kinds; written by owners
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

/*
 * One acquisition.
 *
 * @queue: of an in-stack queued lock
 * @old_irql: of the others
 * @shared: owned shared, with others
 */
struct torture_handle {
	struct klock_queue_handle queue;
	u8 old_irql;
	bool shared;
};

/*
 * One lock type. The test itself knows none.
 *
 * @name: for torture_type=
 * @init: make the lock
 * @acquire: own it, in one of the styles, and at random in one of the ways
 * @convert: try to make a shared ownership exclusive; NULL if there is none
 * @release: let it go, in the same style
 * @is_queued: has the handle got its place in the order of asking, and not yet
 *	the lock? NULL if the type promises no order.
 * @is_lock_free: does the lock look as if nobody owned it?
 * @is_handle_free: does the handle look as if it owned nothing?
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
