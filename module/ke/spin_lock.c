// SPDX-License-Identifier: GPL-2.0-only

#include <linux/bug.h>
#include <linux/export.h>
#include <linux/processor.h>
#include <ntklog/spin_lock.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../ground/address.h"
#include "../perf/spin_lock.h"

/* Spin until the lock is acquired. Returns how often the lock word was tested, at least 1. */
static u32 ke_spin_for_ownership(struct kspin_lock *spin_lock)
{
	u32 spin_count = 0;

	do {
		do {
			cpu_relax();
			spin_count++;
		} while (READ_ONCE(spin_lock->word));
	} while (test_and_set_bit_lock(0, &spin_lock->word));
	return spin_count;
}

static noinline void ke_wait_for_spin_lock_traced(struct kspin_lock *spin_lock)
{
	struct ntklog_spin_lock_wait_start wait_start;
	u32 spin_count;

	ntklog_start_spin_lock_wait(&wait_start);
	spin_count = ke_spin_for_ownership(spin_lock);
	ntklog_log_contended_spin_lock(spin_lock, WMI_SPINLOCK_ORDINARY, spin_count, &wait_start);
}

/**
 * ke_wait_for_spin_lock() - wait for a lock that is held
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL.
 */
void ke_wait_for_spin_lock(struct kspin_lock *spin_lock)
{
	if (static_branch_unlikely(&ntklog_spin_lock_key))
		ke_wait_for_spin_lock_traced(spin_lock);
	else
		ke_spin_for_ownership(spin_lock);
}
EXPORT_SYMBOL_GPL(ke_wait_for_spin_lock);

static notrace noinline void ke_release_spin_lock_traced_slow(struct kspin_lock *spin_lock,
							      unsigned long caller)
{
	struct ntklog_time time = ntklog_read_time();

	/* Pairs with the acquire in ke_acquire_spin_lock_at_dpc_level(). */
	smp_store_release(&spin_lock->word, 0);
	ntklog_track_spin_lock_release_slow(spin_lock, WMI_SPINLOCK_ORDINARY, time.low,
					    time.high, caller);
}

/**
 * ke_release_spin_lock_traced() - release a lock while tracking is on
 * @spin_lock: the lock
 *
 * The event's caller is the return address of this function.
 *
 * Context: IRQL >= DISPATCH_LEVEL.
 */
notrace noinline void ke_release_spin_lock_traced(struct kspin_lock *spin_lock)
{
	if (unlikely(!ntklog_pop_spin_lock(spin_lock, ntklog_read_time().low)))
		ke_release_spin_lock_traced_slow(spin_lock, _RET_IP_);
	else
		/* Pairs with the acquire in ke_acquire_spin_lock_at_dpc_level(). */
		smp_store_release(&spin_lock->word, 0);
}
EXPORT_SYMBOL_GPL(ke_release_spin_lock_traced);

/**
 * ke_warn_spin_lock_not_owned() - warn once about a release of a lock that is not held
 * @spin_lock: a lock that is free, or held as a queued spin lock
 *
 * Context: any.
 */
void ke_warn_spin_lock_not_owned(struct kspin_lock *spin_lock)
{
	WARN_ONCE(1, "KeReleaseSpinLock: lock %llx is not owned (%llx)\n",
		  ntklog_get_displayed_address((unsigned long)spin_lock),
		  ntklog_get_displayed_address(READ_ONCE(spin_lock->word)));
}
EXPORT_SYMBOL_GPL(ke_warn_spin_lock_not_owned);
