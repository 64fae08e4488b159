// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linux' own spin lock under ntklog. As in a preemptible kernel, its functions are not inlined.
 * Each function begins with a no-op or with a call of a trampoline, as with ftrace.
 */
#include <linux/spinlock.h>

#include "linux/redirect.h"

#include "contestant.h"

/* Defined twice: as targets of the hooks, and as the copies to which the trampolines jump. */
#define LINUX_LOCK(_name)							\
NATIVE_TRACED void _name##_lock(raw_spinlock_t *lock)				\
{										\
	preempt_disable();							\
	do_raw_spin_lock(lock);							\
}

#define LINUX_UNLOCK(_name)							\
NATIVE_TRACED void _name##_unlock(raw_spinlock_t *lock)				\
{										\
	do_raw_spin_unlock(lock);						\
	preempt_enable();							\
}

LINUX_LOCK(linux)
LINUX_UNLOCK(linux)
#undef NATIVE_TRACED
#define NATIVE_TRACED	__used
LINUX_LOCK(redirected)
LINUX_UNLOCK(redirected)

#define TRAMPOLINE(_name)	void _name(void)
TRAMPOLINE(enter);
TRAMPOLINE(redirect_lock);
TRAMPOLINE(redirect_unlock);
asm(NTKLOG_TRAMPOLINE_CODE("enter", "")
	NTKLOG_TRAMPOLINE("redirect_lock", "redirected_lock", "")
	NTKLOG_TRAMPOLINE("redirect_unlock", "redirected_unlock", ""));

TRAMPOLINE(trampoline__raw_spin_lock);
TRAMPOLINE(trampoline__raw_spin_unlock);
TRAMPOLINE(sampled_trampoline__raw_spin_lock);
TRAMPOLINE(sampled_trampoline__raw_spin_unlock);

void native_redirect_linux(enum native_tracing tracing)
{
	static const void *const locks[] = {
		[NATIVE_LINUX_ENTERED] = enter,
		[NATIVE_LINUX_REDIRECTED] = redirect_lock,
		[NATIVE_LINUX_SAMPLED] = sampled_trampoline__raw_spin_lock,
		[NATIVE_LINUX_FULL] = trampoline__raw_spin_lock,
	};
	static const void *const unlocks[] = {
		[NATIVE_LINUX_ENTERED] = enter,
		[NATIVE_LINUX_REDIRECTED] = redirect_unlock,
		[NATIVE_LINUX_SAMPLED] = sampled_trampoline__raw_spin_unlock,
		[NATIVE_LINUX_FULL] = trampoline__raw_spin_unlock,
	};

	shim_patch_call(linux_lock, locks[tracing]);
	shim_patch_call(linux_unlock, unlocks[tracing]);
}

#define RAW	((raw_spinlock_t *)lock)
NATIVE_CONTESTANT(linux, atomic_set(&RAW->raw_lock.val, 0), (void)0,
		  linux_lock(RAW), linux_unlock(RAW))

/* Mode waits cannot be measured contended, because its probe uses the kernel's unwinder. */
const struct native_contestant native_linux[] = {
	NATIVE_ENTRY(linux, "Linux' own"),
	NATIVE_ENTRY(linux, "Linux' own, waits", .uncontended_only = true),
	NATIVE_ENTRY(linux, "Linux' own, empty hooks", NATIVE_LINUX_ENTERED),
	NATIVE_ENTRY(linux, "Linux' own, redirected", NATIVE_LINUX_REDIRECTED),
	NATIVE_ENTRY(linux, "Linux' own, sampled", NATIVE_LINUX_SAMPLED),
	NATIVE_ENTRY(linux, "Linux' own, sampled, 1 in 100", NATIVE_LINUX_SAMPLED,
		     .contention_sample_rate = 100),
	NATIVE_ENTRY(linux, "Linux' own, sampled, each", NATIVE_LINUX_SAMPLED,
		     .contention_sample_rate = 1),
	NATIVE_ENTRY(linux, "Linux' own, full", NATIVE_LINUX_FULL),
	NATIVE_ENTRY(linux, "Linux' own, full, 1 in 100", NATIVE_LINUX_FULL,
		     .contention_sample_rate = 100),
	NATIVE_ENTRY(linux, "Linux' own, full, each", NATIVE_LINUX_FULL,
		     .contention_sample_rate = 1),
	{ }
};
