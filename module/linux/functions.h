/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replacements of the lock functions of one lock type. This file is included once for each type,
 * with these macros defined:
 *
 * ntklog_lock_t	type of the lock
 * SUFFIX()		makes the end of the name of a replacement
 * MODE			AcquireMode of the record
 * DO()			DO(lock), DO(trylock) and DO(unlock): the kernel's operations on the word
 * TRY_ACQUIRE_FAST()	first step of DO(lock)
 * DEPEND(), DEPENDED()	tell lockdep of an acquisition and a release; empty without lockdep
 * SAMPLE()		counts an acquisition in mode "sampled"; false if the slow path must decide
 * WAITED_FOR()		true if a CPU waits for the lock, which the caller holds
 * WITH_*		defined if the kernel has the function of that name for the lock type
 *
 * The acquire functions of a lock type differ only in the contexts that they disable, in the
 * arguments of lockdep, and in whether they wait. The release functions differ in the contexts that
 * they enable. In each, _RET_IP_ is the caller of the kernel's function.
 *
 * The locks have two sets of replacements, so that none contains code for the other mode. SET_NAME
 * is "tracked" or "sampled": the first set tracks each acquisition and marks releases that leave a
 * waiter behind, the second tracks the chosen acquisitions.
 */

#define REPLACEMENT(_operation)	__PASTE(SET_NAME, SUFFIX(_operation))
#define HELPER(_operation)	__PASTE(__PASTE(ntklog_, SET_NAME), SUFFIX(_operation))

#define SET_NAME				tracked
#define ACQUIRED			ntklog_push_linux_spin_lock
#define ACQUIRED_SLOW				ntklog_track_spin_lock_acquire_slow
#define WAITED(_lock, _query)		ntklog_linux_waited(_lock, MODE, _query)
#define POPPED(_lock)									\
	(!WAITED_FOR(_lock) && ntklog_pop_spin_lock(_lock, ntklog_read_time().low))
#define MODE_NOW(_lock)									\
	(WAITED_FOR(_lock) ? MODE | PERF_SPIN_LOCK_LEAVES_WAITER : MODE)
#define RELEASED(_lock, _mode, _time, _caller)						\
	ntklog_track_spin_lock_release_slow(_lock, _mode, (_time).low, (_time).high, _caller)
#include "acquiring.h"
#include "releasing.h"
#undef SET_NAME

#define SET_NAME				sampled
#define ACQUIRED			SAMPLE
#define ACQUIRED_SLOW				ntklog_sample_spin_lock_acquire_slow
#define WAITED(_lock, _query)		ntklog_sampled_waited(_lock, MODE, _query)
/*
 * The trampoline enters a release function only while the CPU holds a sampled lock. There is no
 * further fast path: POPPED() is false, and RELEASED() searches for the slot.
 */
#define POPPED(_lock)			false
#define MODE_NOW(_lock)			MODE
#define RELEASED(_lock, _mode, _time, _caller)						\
	ntklog_release_sampled_spin_lock(_lock, _mode, (_time).low, (_time).high, _caller)
#include "acquiring.h"
#include "releasing.h"
#undef SET_NAME

#undef ntklog_lock_t
#undef SUFFIX
#undef REPLACEMENT
#undef HELPER
#undef MODE
#undef DO
#undef TRY_ACQUIRE_FAST
#undef DEPEND
#undef DEPENDED
#undef SAMPLE
#undef WAITED_FOR
