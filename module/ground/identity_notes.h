/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_IDENTITY_NOTES_H
#define _NTKLOG_GROUND_IDENTITY_NOTES_H

/*
 * The notes of the objects that locks lie in: a cache with sets of four ways. The address of the
 * lock selects the set.
 *
 *	set    locked  sequence  fingerprint[4]  notes[4]
 *	0      0       6         x x x 0         lock, cache, caller, ...
 *	1      1       9         x x 0 0         (a CPU is writing a note)
 *	...
 *
 * A writer tries only once to take the bit lock of the set, because it must not wait. If the lock
 * is held, the note is dropped and counted. Readers copy a set in a read section of its sequence
 * counter.
 */

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/seqlock.h>
#include <linux/types.h>

#define NTKLOG_IDENTITY_ASSOCIATIVITY	4
#define NTKLOG_IDENTITY_BITS	14
#define NTKLOG_IDENTITY_SETS	BIT(NTKLOG_IDENTITY_BITS)

/* Values in place of the address of a cache: multiples of 0x100, because a kind is added. */
#define NTKLOG_IN_NO_SLAB	0UL
#define NTKLOG_ON_STACK		0x100UL
#define NTKLOG_IN_KFENCE	0x200UL

/**
 * struct ntklog_identity - note of the object that a lock lies in
 * @lock: address of the lock; 0 if the way is free
 * @cache: address of the struct kmem_cache, NTKLOG_IN_NO_SLAB, NTKLOG_ON_STACK or NTKLOG_IN_KFENCE
 * @caller: caller of the lock function, from the event for which the note was written
 * @time: time of the note, in cycles of the clock
 * @offset: offset of the lock in its slab, in bytes; 0 outside of slabs
 * @written_sequence: value of the sequence counter of the set after the note was written
 * @kind: NTKLOG_IDENTITY_*
 */
struct ntklog_identity {
	unsigned long lock;
	unsigned long cache;
	unsigned long caller;
	u64 time;
	u32 offset;
	u32 written_sequence;
	u8 kind;
};

/**
 * struct ntklog_identity_table - all notes
 * @fingerprint: for each note, a hash of its lock, kind, slab cache and slab
 * @sequence: sequence counter of each set; readers retry if a CPU wrote a note meanwhile
 * @notes: the notes of each set
 * @locked: a bit lock for each set, which serializes the writers
 * @missed: notes dropped because another CPU was writing a note of the same set
 */
struct ntklog_identity_table {
	u64 fingerprint[NTKLOG_IDENTITY_SETS][NTKLOG_IDENTITY_ASSOCIATIVITY];
	seqcount_t sequence[NTKLOG_IDENTITY_SETS];
	struct ntklog_identity notes[NTKLOG_IDENTITY_SETS][NTKLOG_IDENTITY_ASSOCIATIVITY];
	DECLARE_BITMAP(locked, NTKLOG_IDENTITY_SETS);
	atomic_t missed;
};

int ntklog_get_identities(void);
void ntklog_put_identities(void);

#endif /* _NTKLOG_GROUND_IDENTITY_NOTES_H */
