// SPDX-License-Identifier: GPL-2.0-only
/*
 * The out-of-line half of NT's ordinary spin locks: waiting, and the release with
 * tracing. include/ntklog/spin_lock.h has the rest.
 */

#include <linux/bug.h>
#include <linux/export.h>
#include <linux/processor.h>
#include <ntklog/spin_lock.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../address.h"
#include "../perf/spin_lock.h"

/* Test, and only when that finds it free, test and set: returns the tests. */
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
	struct ntklog_spin_lock_wait_start query;
	u32 spin_count;

	ntklog_start_spin_lock_wait(&query);
	spin_count = ke_spin_for_ownership(spin_lock);
	ntklog_log_contended_spin_lock(spin_lock, WMI_SPINLOCK_ORDINARY, spin_count, &query);
}

/**
 * ke_wait_for_spin_lock() - wait for a lock that somebody else owns
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL. Returns as its owner; the wait has been counted or tracked.
 */
void ke_wait_for_spin_lock(struct kspin_lock *spin_lock)
{
	if (static_branch_unlikely(&ntklog_spin_lock_key))
		ke_wait_for_spin_lock_traced(spin_lock);
	else
		ke_spin_for_ownership(spin_lock);
}
EXPORT_SYMBOL_GPL(ke_wait_for_spin_lock);

static notrace noinline void ke_release_sampled_spin_lock(struct kspin_lock *spin_lock,
							  unsigned long caller)
{
	struct ntklog_time time = ntklog_read_time();

	/* As in __ke_release_spin_lock(). */
	smp_store_release(&spin_lock->word, 0);
	ntklog_track_spin_lock_release_slow(spin_lock, WMI_SPINLOCK_ORDINARY, time.low,
					    time.high, caller);
}

/**
 * ke_release_spin_lock_traced() - release, then maybe write an event
 * @spin_lock: the lock
 *
 * Context: IRQL >= DISPATCH_LEVEL. The event names the place that this function
 * returns to.
 */
notrace noinline void ke_release_spin_lock_traced(struct kspin_lock *spin_lock)
{
	if (unlikely(!ntklog_pop_spin_lock(spin_lock, ntklog_read_time().low)))
		ke_release_sampled_spin_lock(spin_lock, _RET_IP_);
	else
		/* As in __ke_release_spin_lock(). */
		smp_store_release(&spin_lock->word, 0);
}
EXPORT_SYMBOL_GPL(ke_release_spin_lock_traced);

/**
 * ke_release_spin_lock_not_owned() - a release that must not be
 * @spin_lock: a lock that is free, or owned as a queued one
 *
 * Context: any. Warns once with the values; changes nothing.
 */
void ke_release_spin_lock_not_owned(struct kspin_lock *spin_lock)
{
	/* The word is 0, or the address of a queue's entry. */
	WARN_ONCE(1, "KeReleaseSpinLock: lock %llx is not owned (%llx)\n",
		  ntklog_address((unsigned long)spin_lock),
		  ntklog_address(READ_ONCE(spin_lock->word)));
}
EXPORT_SYMBOL_GPL(ke_release_spin_lock_not_owned);
