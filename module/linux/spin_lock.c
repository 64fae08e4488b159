// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replacements of the kernel's spin lock functions. A replacement does the same operations in the
 * same order as the kernel's function of that name (include/linux/spinlock_api_smp.h). See kind.h
 * for the contexts. The hooks of perf run with preemption off.
 *
 * Memory ordering does not change: the atomic operations are the kernel's, and the hooks add no
 * ordering to the lock word.
 */

#include <linux/bottom_half.h>
#include <linux/instruction_pointer.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "do_raw.h"
#include "kind.h"

#ifdef NTKLOG_CAN_REDIRECT_SPINNING

/* As in queued_spin_lock(). do_raw_spin_trylock() would first read the lock word. */
#ifdef CONFIG_DEBUG_SPINLOCK
#define ntklog_spin_try_acquire_fast	ntklog_do_raw(do_raw_spin_trylock)
#else
static __always_inline bool ntklog_spin_try_acquire_fast(raw_spinlock_t *lock)
{
	int value = 0;

	return atomic_try_cmpxchg_acquire(&lock->raw_lock.val, &value, _Q_LOCKED_VAL);
}
#endif

#define ntklog_lock_t		raw_spinlock_t
#define SUFFIX(_operation)	__raw_spin_##_operation
#define ACQUIRE_MODE		(WMI_SPINLOCK_QUEUED | PERF_SPIN_LOCK_LINUX_SPIN)
#define KERNEL_OPERATION(_operation)	ntklog_do_raw(do_raw_spin_##_operation)
#define LOCKDEP_ACQUIRE		spin_acquire
#define LOCKDEP_RELEASE		spin_release
#define TRY_ACQUIRE_FAST	ntklog_spin_try_acquire_fast
#define SAMPLE_ACQUIRE_FAST	ntklog_sample_spin_lock_acquire_fast
/* Bits of the lock word: a waiter spins on the locked byte (pending) or is in the queue (tail). */
#define SPIN_WAITERS_MASK	0xffffff00
static_assert(SPIN_WAITERS_MASK == (u32)~_Q_LOCKED_MASK);
static_assert(!offsetof(raw_spinlock_t, raw_lock.val));
#define HAS_WAITER(_lock)	(atomic_read(&(_lock)->raw_lock.val) & SPIN_WAITERS_MASK)
#define WITH_TRYLOCK_BH
#ifdef CONFIG_DEBUG_LOCK_ALLOC
#define WITH_LOCK_NESTED
#define WITH_LOCK_NEST_LOCK
#endif
/* The trylock of spin_lock_irq_disable() is inline and calls _raw_spin_trylock(). */
#ifdef raw_spin_lock_irq_disable
#define WITH_LOCK_IRQ_DISABLE
#endif
#include "functions.h"
#undef WITH_TRYLOCK_BH
#undef WITH_LOCK_NESTED

#define ACQUIRE_FUNCTION(_name, ...)	NTKLOG_DEFINE_ACQUIRE_TRAMPOLINES(_name);
#define RELEASE_FUNCTION(_name)	NTKLOG_DEFINE_RELEASE_TRAMPOLINES(_name, SPIN_WAITERS_MASK);
#include "spin_lock_list.h"

/* Written with ntklog_linux_mutex held. */
static struct ntklog_hook ntklog_spin_hooks[] = {
#define ACQUIRE_FUNCTION(_name, ...)	NTKLOG_REPLACE_ACQUIRE(_name, __VA_ARGS__),
#define RELEASE_FUNCTION(_name)		NTKLOG_REPLACE_RELEASE(_name),
#include "spin_lock_list.h"
};

struct ntklog_lock_functions ntklog_linux_spin_lock_functions = {
	.hooks = ntklog_spin_hooks,
	.hook_count = ARRAY_SIZE(ntklog_spin_hooks),
};

#endif /* NTKLOG_CAN_REDIRECT_SPINNING */
