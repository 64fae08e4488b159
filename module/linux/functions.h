/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of one kind of lock, included once for each: ntklog_lock_t is its type, SUFFIX()
 * makes the end of the name of one that is in place of the kernel's, MODE is the record's
 * AcquireMode. DO(lock), DO(trylock) and DO(unlock) are what the kernel does with the lock's
 * word, TRY_ACQUIRE_FAST() how it begins to. They differ in what is switched off around it.
 * _RET_IP_ is who called the kernel's function. DEPEND() and DEPENDED() are how lockdep hears of
 * it, where it is; elsewhere they are nothing.
 *
 * There is a set of them for each WAY in which locks are watched, so that none pays for another:
 * tracked: each acquisition is; sampled: some are, which SAMPLE(lock) chooses; blocking: as
 * tracked, and a release that leaves a waiter behind, which WAITED_FOR(lock) tells of a lock that
 * is owned, is told apart.
 */

#define LOCK(_operation)	__PASTE(WAY, SUFFIX(_operation))
#define PART(_operation)	__PASTE(__PASTE(ntklog_, WAY), SUFFIX(_operation))

#define WAY				tracked
#define ACQUIRED			ntklog_push_linux_spin_lock
#define LOOK				ntklog_track_spin_lock_acquire_slow
#define WAITED(_lock, _query)		ntklog_linux_waited(_lock, MODE, _query)
#define POPPED(_lock)			ntklog_pop_spin_lock(_lock, ntklog_read_time().low)
#define MODE_NOW(_lock)			MODE
#define RELEASED(_lock, _mode, _time, _caller)						\
	ntklog_track_spin_lock_release_slow(_lock, _mode, (_time).low, (_time).high, _caller)
#include "acquiring.h"
#include "releasing.h"
#undef WAY

#define WAY				sampled
#define ACQUIRED			SAMPLE
#define LOOK				ntklog_sample_spin_lock_acquire_slow
#define WAITED(_lock, _query)		ntklog_sampled_waited(_lock, MODE, _query)
/* The trampoline has looked whether there is one to pop. */
#define POPPED(_lock)			false
#define MODE_NOW(_lock)			MODE
#define RELEASED(_lock, _mode, _time, _caller)						\
	ntklog_release_sampled_spin_lock(_lock, _mode, (_time).low, (_time).high, _caller)
#include "acquiring.h"
#include "releasing.h"
#undef WAY

#define WAY				blocking
#define POPPED(_lock)									\
	(!WAITED_FOR(_lock) && ntklog_pop_spin_lock(_lock, ntklog_read_time().low))
#define MODE_NOW(_lock)									\
	(WAITED_FOR(_lock) ? MODE | PERF_SPIN_LOCK_LEAVES_WAITER : MODE)
#define RELEASED(_lock, _mode, _time, _caller)						\
	ntklog_track_spin_lock_release_slow(_lock, _mode, (_time).low, (_time).high, _caller)
#include "releasing.h"
#undef WAY

#undef ntklog_lock_t
#undef SUFFIX
#undef LOCK
#undef PART
#undef MODE
#undef DO
#undef TRY_ACQUIRE_FAST
#undef DEPEND
#undef DEPENDED
#undef SAMPLE
#undef WAITED_FOR
