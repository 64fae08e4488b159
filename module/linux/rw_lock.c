// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replacements of the kernel's rwlock functions. A CPU may hold a lock for reading more than once,
 * because an interrupt handler may acquire the lock again.
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

#define ntklog_lock_t		rwlock_t
#define SUFFIX(_operation)	__raw_read_##_operation
#define ACQUIRE_MODE		(WMI_SPINLOCK_EXECUTIVE_SHARED | PERF_SPIN_LOCK_LINUX_RW)
#define KERNEL_OPERATION(_operation)	ntklog_do_raw(do_raw_read_##_operation)
#define LOCKDEP_ACQUIRE		rwlock_acquire_read
#define LOCKDEP_RELEASE		rwlock_release
#define TRY_ACQUIRE_FAST	ntklog_do_raw(do_raw_read_trylock)
#define SAMPLE_ACQUIRE_FAST	ntklog_sample_shared_spin_lock_acquire_fast
/* Bit of the lock word: a writer at the head of the queue waits for the readers. */
#define READ_WAITERS_MASK	0x100
static_assert(READ_WAITERS_MASK == _QW_WAITING);
static_assert(!offsetof(rwlock_t, raw_lock.cnts));
#define HAS_WAITER(_lock)	(atomic_read(&(_lock)->raw_lock.cnts) & READ_WAITERS_MASK)
#include "functions.h"

#define ntklog_lock_t		rwlock_t
#define SUFFIX(_operation)	__raw_write_##_operation
#define ACQUIRE_MODE		(WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE | PERF_SPIN_LOCK_LINUX_RW)
#define KERNEL_OPERATION(_operation)	ntklog_do_raw(do_raw_write_##_operation)
#define LOCKDEP_ACQUIRE		rwlock_acquire
#define LOCKDEP_RELEASE		rwlock_release
#define TRY_ACQUIRE_FAST	ntklog_do_raw(do_raw_write_trylock)
#define SAMPLE_ACQUIRE_FAST	ntklog_sample_spin_lock_acquire_fast
/*
 * Bits of the lock word: a writer waits, the first reader of the queue waits, or a reader in an
 * interrupt waits.
 */
#define WRITE_WAITERS_MASK	0xffffff00
static_assert(WRITE_WAITERS_MASK == (u32)~_QW_LOCKED);
#define HAS_WAITER(_lock)	(atomic_read(&(_lock)->raw_lock.cnts) & WRITE_WAITERS_MASK)
#define WITH_LOCK_NESTED
#include "functions.h"
#undef WITH_LOCK_NESTED

#define ACQUIRE_FUNCTION(_name, ...)	NTKLOG_DEFINE_ACQUIRE_TRAMPOLINES(_name);
#define RELEASE_FUNCTION(_name, _waiters)	NTKLOG_DEFINE_RELEASE_TRAMPOLINES(_name, _waiters);
#include "rw_lock_list.h"

/* Written with ntklog_linux_mutex held. */
static struct ntklog_hook ntklog_rw_hooks[] = {
#define ACQUIRE_FUNCTION(_name, ...)	NTKLOG_REPLACE_ACQUIRE(_name, __VA_ARGS__),
#define RELEASE_FUNCTION(_name, ...)	NTKLOG_REPLACE_RELEASE(_name),
#include "rw_lock_list.h"
};

struct ntklog_lock_functions ntklog_linux_rw_lock_functions = {
	.hooks = ntklog_rw_hooks,
	.hook_count = ARRAY_SIZE(ntklog_rw_hooks),
};

#endif /* NTKLOG_CAN_REDIRECT_SPINNING */
