// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoint contended_release has one argument, the address of the lock, and sleeping locks
 * fire it, too. A spin lock is recognized by its release function, which is on the stack.
 */

#include <linux/errno.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/tracepoint.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../ground/tracepoint.h"
#include "../perf/spin_lock_blocker.h"
#include "kind.h"
#include "redirect.h"
#include "releases.h"
#include "waits.h"

#ifdef NTKLOG_CAN_REDIRECT

/* The kernel's functions that release a spin lock and fire the tracepoint. Written at load. */
static struct {
	const char *name;
	unsigned long address;
} ntklog_release_functions[] = {
	{ "pv_queued_spin_unlock_traced" },
	{ "native_queued_spin_unlock_traced" },
	{ "queued_spin_release_traced" },
};

static struct tracepoint *ntklog_contended_release_tp;

/* Reason why the holders of spin locks cannot be observed, or NULL. Written at module load. */
static const char *ntklog_releases_unavailable_reason =
	"no tracepoint contended_release for spin locks";

/* Upper bound of the size of a release function. */
#define NTKLOG_RELEASE_CODE_SIZE_MAX	128

/* Stack frames to search for the release function and the caller of the lock function. */
#define NTKLOG_RELEASE_FRAMES_MAX	12

static bool ntklog_address_is_in_release_function(unsigned long address)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ntklog_release_functions); i++)
		if (ntklog_release_functions[i].address &&
		    address - ntklog_release_functions[i].address < NTKLOG_RELEASE_CODE_SIZE_MAX)
			return true;
	return false;
}

/*
 * Find the code that releases the lock: the caller of the kernel's unlock function or, if that
 * function is inlined, the caller of the release function. Returns false if no spin lock is being
 * released.
 */
static bool ntklog_find_release_caller(unsigned long *caller)
{
	unsigned long frames[NTKLOG_RELEASE_FRAMES_MAX];
	unsigned int i, count = stack_trace_save(frames, ARRAY_SIZE(frames), 0);
	bool in_lock_function = false;

	for (i = 0; i < count && !ntklog_address_is_in_release_function(frames[i]); i++)
		;
	if (i == count)
		return false;
	*caller = ++i < count ? frames[i] : 0;
	for (; i < count; i++) {
		if (in_lock_functions(frames[i])) {
			in_lock_function = true;
		} else if (in_lock_function) {
			*caller = frames[i];
			break;
		}
	}
	return true;
}

static notrace void ntklog_contended_release_probe(void *unused, void *lock)
{
	unsigned long flags, caller;

	/* Most sleeping locks are released with preemption on: do not walk the stack for them. */
	if (preemptible() || in_nmi() || !rcu_is_watching() || !ntklog_find_release_caller(&caller))
		return;
	local_irq_save(flags);
	if (!ntklog_is_wait_lock_of_rwlock(lock))
		ntklog_log_blocker(lock, WMI_SPINLOCK_QUEUED | PERF_SPIN_LOCK_LINUX_SPIN |
				   PERF_SPIN_LOCK_LEAVES_WAITER, ntklog_read_time(), caller);
	local_irq_restore(flags);
}

/**
 * ntklog_releases_init() - look up contended_release, and the functions of spin locks that fire it
 *
 * Context: module load.
 */
void __init ntklog_releases_init(void)
{
	size_t i;

	ntklog_contended_release_tp = ntklog_find_tracepoint("contended_release");
	for (i = 0; ntklog_contended_release_tp && i < ARRAY_SIZE(ntklog_release_functions); i++) {
		ntklog_release_functions[i].address =
			ntklog_find_function(ntklog_release_functions[i].name);
		if (ntklog_release_functions[i].address)
			ntklog_releases_unavailable_reason = NULL;
	}
}

/**
 * ntklog_check_release_tracepoint() - test whether spin locks fire the tracepoint contended_release
 *
 * Context: any.
 * Return: NULL if spin locks fire it, or the reason why they cannot be observed.
 */
const char *ntklog_check_release_tracepoint(void)
{
	return ntklog_releases_unavailable_reason;
}

/**
 * ntklog_watch_releases() - register the probe of contended_release
 * @failed_name: after an error, set to the name of the tracepoint
 *
 * Context: task; may sleep; takes tracepoints_mutex. The tracepoint is available.
 * Return: 0 or a negative errno.
 */
int ntklog_watch_releases(const char **failed_name)
{
	int err = tracepoint_probe_register(ntklog_contended_release_tp,
					    ntklog_contended_release_probe, NULL);

	if (err)
		*failed_name = ntklog_contended_release_tp->name;
	return err;
}

/**
 * ntklog_stop_watching_releases() - undo ntklog_watch_releases()
 *
 * Context: task; may sleep; takes tracepoints_mutex. On return no CPU runs the probe.
 */
void ntklog_stop_watching_releases(void)
{
	tracepoint_probe_unregister(ntklog_contended_release_tp, ntklog_contended_release_probe,
				    NULL);
	tracepoint_synchronize_unregister();
}

#else /* !NTKLOG_CAN_REDIRECT */

void __init ntklog_releases_init(void)
{
}

const char *ntklog_check_release_tracepoint(void)
{
	return "the functions that fire contended_release cannot be looked up";
}

int ntklog_watch_releases(const char **failed_name)
{
	return -EOPNOTSUPP;
}

void ntklog_stop_watching_releases(void)
{
}

#endif /* !NTKLOG_CAN_REDIRECT */
