/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NATIVE_SHIM_QSPINLOCK_H
#define _NATIVE_SHIM_QSPINLOCK_H

/* Linux' spin lock, the queued spin lock of x86, and its fast paths. */

/* @tail: number of the CPU of the last entry in the queue, plus 1; 0 if the queue is empty */
struct qspinlock {
	union {
		atomic_t val;
		struct {
			u8 locked;
			u8 pending;
		};
		struct {
			u16 locked_pending;
			u16 tail;
		};
	};
};

typedef struct { struct qspinlock raw_lock; } raw_spinlock_t;
typedef struct { raw_spinlock_t rlock; } spinlock_t;

#define _Q_LOCKED_VAL			0x1U
#define _Q_LOCKED_MASK			0xFFU
#define _Q_PENDING_VAL			0x100U
#define _Q_PENDING_MASK			0xFF00U
#define _Q_PENDING_OFFSET		8
#define _Q_LOCKED_PENDING_MASK		0xFFFFU
#define _Q_TAIL_OFFSET			16

void queued_spin_lock_slowpath(struct qspinlock *lock, u32 val);

static __always_inline bool queued_spin_trylock(struct qspinlock *lock)
{
	int found = atomic_read(&lock->val);

	return likely(!found) &&
	       likely(atomic_try_cmpxchg_acquire(&lock->val, &found, _Q_LOCKED_VAL));
}

static __always_inline void queued_spin_lock(struct qspinlock *lock)
{
	int found = 0;

	if (likely(atomic_try_cmpxchg_acquire(&lock->val, &found, _Q_LOCKED_VAL)))
		return;
	queued_spin_lock_slowpath(lock, found);
}

static __always_inline void queued_spin_unlock(struct qspinlock *lock)
{
	/* Pairs with the acquire of the CPU that finds the byte, or the word, 0. */
	smp_store_release(&lock->locked, 0);
}

#define do_raw_spin_lock(lock)		queued_spin_lock(&(lock)->raw_lock)
#define do_raw_spin_trylock(lock)	queued_spin_trylock(&(lock)->raw_lock)
#define do_raw_spin_unlock(lock)	queued_spin_unlock(&(lock)->raw_lock)

#endif /* _NATIVE_SHIM_QSPINLOCK_H */
