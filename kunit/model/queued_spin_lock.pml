/* SPDX-License-Identifier: GPL-2.0-only
 *
 * A model of the in-stack queued spin lock, for spin. Three CPUs acquire and release one
 * lock for ever. spin checks that at most one CPU owns the lock, that CPUs own it in the
 * order in which they queued, that every waiter owns it in the end (no lost wakeup), that no
 * deadlock exists, and that each release leaves the entries as they were.
 *
 * Each statement is one memory access of the C code. Its label names the place:
 *
 *	A1..A6	__ke_acquire_queued_spin_lock(), ke_acquire_in_stack_..._at_dpc_level()
 *		in include/ntklog/queued_spin_lock.h
 *	W1..W3	ke_spin_for_lock_ownership() in module/ke/queued_spin_lock.c
 *	R1..R3	__ke_release_queued_spin_lock() in include/ntklog/queued_spin_lock.h
 *	H1..H3	ke_hand_over_queued_spin_lock() in module/ke/queued_spin_lock.c
 *
 * spin tries every interleaving of the accesses. The model is sequentially consistent: it
 * does not reorder accesses. Documentation/dev/nt-locks.rst argues that the barriers
 * suffice.
 *
 * With -DBROKEN=n the model is wrong in one place, and spin must find an error:
 *	1	W2 before W1: a waiter publishes its entry before it has set WAIT
 *	2	H1 does not wait for a waiter that has queued but is not linked yet
 *	3	R3 stores 0 into the word without comparing it
 *	4	A1 after A3: Next is reset when another CPU may have stored into it
 */

#ifndef BROKEN
#define BROKEN 0
#endif

#define PROCESSORS	3
#define NONE		PROCESSORS

#define LOCK		0	/* Lock: the lock's address and no bit */
#define WAIT		1
#define OWNER		2

byte word = NONE;		/* the lock word: the tail's entry */
byte next[PROCESSORS];		/* Next of each entry */
byte lock[PROCESSORS];		/* Lock of each entry */

/* For the checks only. */
byte owners;
byte waiters;
byte rank[PROCESSORS];		/* waiters that asked earlier and do not own yet */
bool waits[PROCESSORS];		/* has asked and does not own yet */

inline ask(me)
{
	rank[me] = waiters;
	waiters++;
	waits[me] = true
}

inline critical_section(me)
{
	d_step {
		assert(waits[me] && rank[me] == 0);
		waits[me] = false;
		waiters--;
		for (i : 0 .. PROCESSORS - 1) {
			if
			:: waits[i] ->
				rank[i]--
			:: else
			fi
		}
		i = 0;
		owners++;
		assert(owners == 1)
	}
	owners--
}

proctype processor(byte me)
{
	byte tail = NONE, successor = NONE, i;
	bool freed;

	do
	::
#if BROKEN != 4
		next[me] = NONE;				/* A1 */
#endif
		lock[me] = LOCK;				/* A2 */
		d_step {					/* A3: xchg */
			tail = word;
			word = me;
			ask(me)
		}
#if BROKEN == 4
		next[me] = NONE;
#endif
		if
		:: tail == NONE ->				/* A4 */
			lock[me] = OWNER			/* A5 */
		:: else ->
#if BROKEN == 1
			next[tail] = me;
			lock[me] = WAIT;
#else
			lock[me] = WAIT;			/* W1 */
			next[tail] = me;			/* W2: release */
#endif
			tail = NONE;
			lock[me] != WAIT			/* W3: acquire */
		fi;

		critical_section(me);

		assert(lock[me] == OWNER);
		lock[me] = LOCK;				/* R1 */
		freed = false;
		if
		:: next[me] == NONE ->				/* R2 */
#if BROKEN == 3
			word = NONE;
			freed = true
#else
			atomic {				/* R3: cmpxchg */
				if
				:: word == me ->
					word = NONE;
					freed = true
				:: else
				fi
			}
#endif
		:: else
		fi;
		if
		:: !freed ->
#if BROKEN == 2
			successor = next[me];
			if
			:: successor != NONE ->
				next[me] = NONE;
				lock[successor] = OWNER
			:: else
			fi
#else
			next[me] != NONE;			/* H1: acquire */
			successor = next[me];
			next[me] = NONE;			/* H2 */
			lock[successor] = OWNER;		/* H3: release */
			successor = NONE
#endif
		:: else
		fi;
		assert(next[me] == NONE && lock[me] == LOCK)
	od
}

init
{
	byte i;

	atomic {
		for (i : 0 .. PROCESSORS - 1) {
			next[i] = NONE;
			lock[i] = LOCK;
			run processor(i)
		}
	}
}

/* A waiter becomes the owner: for CPU 0, and by symmetry for all. */
ltl served { [] (waits[0] -> <> !waits[0]) }
