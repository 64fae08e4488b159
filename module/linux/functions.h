/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of one kind of lock, included once for each: ntklog_lock_t is its type, SUFFIX()
 * makes the end of the name of one that is in place of the kernel's, MODE is the record's
 * AcquireMode. DO(lock), DO(trylock) and DO(unlock) are what the kernel does with the lock's
 * word, TAKE() how it begins to. They differ in what is switched off around it. _RET_IP_ is who
 * called the kernel's function.
 *
 * There is a set of them for each WAY in which locks are watched, so that none pays for another:
 * tracked: each acquisition is; sampled: some are, which SAMPLE(lock) chooses; blocking: as
 * tracked, and a release that leaves a waiter behind, which WAITED_FOR(lock) tells of a lock that
 * is owned, is told apart.
 */

#define LOCK(_operation)	__PASTE(WAY, SUFFIX(_operation))
#define PART(_operation)	__PASTE(__PASTE(ntklog_, WAY), SUFFIX(_operation))

#define WAY				tracked
#define ACQUIRED(_lock)			ntklog_track_spin_lock_acquire(_lock)
#define WAITED(_lock, _query)		ntklog_linux_waited(_lock, MODE, _query)
#define LOOK_AT(_lock)			false
#define RELEASED(_lock, _time)		ntklog_log_spin_lock_release(_lock, MODE, _time)
#include "acquiring.h"
#include "releasing.h"
#undef WAY

#define WAY				sampled
#define ACQUIRED(_lock)			SAMPLE(_lock)
#define WAITED(_lock, _query)		ntklog_sampled_waited(_lock, MODE, _query)
#define LOOK_AT(_lock)			false
#define RELEASED(_lock, _time)		ntklog_release_sampled_spin_lock(_lock, MODE, (_time).low, \
									 (_time).high, _RET_IP_)
#include "acquiring.h"
#include "releasing.h"
#undef WAY

#define WAY				blocking
#define LOOK_AT				WAITED_FOR
#define RELEASED(_lock, _time)		\
do {									\
	if (unlikely(is_waited_for))					\
		ntklog_track_spin_lock_release_slowly(_lock, MODE | PERF_SPIN_LOCK_LEAVES_WAITER, \
						      (_time).low, (_time).high, _RET_IP_);	\
	else								\
		ntklog_log_spin_lock_release(_lock, MODE, _time);	\
} while (0)
#include "releasing.h"
#undef WAY

#undef ntklog_lock_t
#undef SUFFIX
#undef LOCK
#undef PART
#undef MODE
#undef DO
#undef TAKE
#undef SAMPLE
#undef WAITED_FOR
