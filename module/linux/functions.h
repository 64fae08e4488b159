/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replacements of the lock functions of one lock type. This file is included once for each type,
 * with these macros defined:
 *
 * ntklog_lock_t		type of the lock
 * SUFFIX()			makes the end of the name of a replacement
 * ACQUIRE_MODE			AcquireMode of the record
 * KERNEL_OPERATION()		the kernel's lock, trylock or unlock operation on the lock word
 * TRY_ACQUIRE_FAST()		first step of KERNEL_OPERATION(lock)
 * LOCKDEP_ACQUIRE()		reports an acquisition to lockdep; empty without lockdep
 * LOCKDEP_RELEASE()		reports a release to lockdep; empty without lockdep
 * SAMPLE_ACQUIRE_FAST()	counts an acquisition in mode "sampled"; returns false if the slow
 *				path must decide whether the acquisition is sampled
 * HAS_WAITER()			true if a CPU waits for the lock, which the caller holds
 * WITH_*			defined if the kernel has the function of that name for the type
 *
 * In each replacement, _RET_IP_ is the caller of the kernel's function.
 *
 * Each lock type has two variants of its replacements, so that neither contains code for the other
 * mode. VARIANT_NAME is "tracked" or "sampled".
 */

#define REPLACEMENT(_operation)	__PASTE(VARIANT_NAME, SUFFIX(_operation))
#define HELPER(_operation)	__PASTE(__PASTE(ntklog_, VARIANT_NAME), SUFFIX(_operation))

#define ACQUIRE_MODE_AT_RELEASE(_lock)						\
	(HAS_WAITER(_lock) ? ACQUIRE_MODE | PERF_SPIN_LOCK_LEAVES_WAITER : ACQUIRE_MODE)

#define VARIANT_NAME		tracked
#define TRACK_ACQUIRE_FAST	ntklog_push_linux_spin_lock
#define TRACK_ACQUIRE_SLOW	ntklog_track_spin_lock_acquire_slow
#define TRACK_ACQUIRE_AFTER_WAIT(_lock, _wait_start)				\
	ntklog_track_linux_wait(_lock, ACQUIRE_MODE, _wait_start)
/*
 * A waiter that comes after HAS_WAITER() is not seen, so little is done from then on until the lock
 * is released.
 */
#define TRACK_RELEASE_FAST(_lock)						\
({										\
	unsigned long _slot_offset;						\
	bool _is_fast = ntklog_hold_is_short(_lock, ntklog_read_time().low,	\
					     &_slot_offset) &&			\
			!HAS_WAITER(_lock);					\
										\
	if (likely(_is_fast))							\
		ntklog_free_topmost_slot(_slot_offset);				\
	_is_fast;								\
})
#define TRACK_RELEASE_SLOW(_lock, _mode, _time, _caller)			\
	ntklog_track_spin_lock_release_slow(_lock, _mode, (_time).low, (_time).high, _caller)
#include "acquiring.h"
#include "releasing.h"
#undef VARIANT_NAME

#define VARIANT_NAME		sampled
#define TRACK_ACQUIRE_FAST	SAMPLE_ACQUIRE_FAST
#define TRACK_ACQUIRE_SLOW	ntklog_sample_spin_lock_acquire_slow
#define TRACK_ACQUIRE_AFTER_WAIT(_lock, _wait_start)				\
	ntklog_sample_linux_wait(_lock, ACQUIRE_MODE, _wait_start)
/* The trampoline skips most releases, so the function takes the slow path at once. */
#define TRACK_RELEASE_FAST(_lock)	false
#define TRACK_RELEASE_SLOW(_lock, _mode, _time, _caller)			\
	ntklog_track_sampled_release(_lock, _mode, (_time).low, (_time).high, _caller)
#include "acquiring.h"
#include "releasing.h"
#undef VARIANT_NAME

#undef ACQUIRE_MODE_AT_RELEASE
#undef ntklog_lock_t
#undef SUFFIX
#undef REPLACEMENT
#undef HELPER
#undef ACQUIRE_MODE
#undef KERNEL_OPERATION
#undef TRY_ACQUIRE_FAST
#undef LOCKDEP_ACQUIRE
#undef LOCKDEP_RELEASE
#undef SAMPLE_ACQUIRE_FAST
#undef HAS_WAITER
