/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_IDENTITY_H
#define _NTKLOG_GROUND_IDENTITY_H

/*
 * Identities of Linux' locks. Before an event of a lock is written, a note records the memory
 * object that the lock lies in, because the object may be freed later.
 */

#include <linux/compiler.h>
#include <linux/types.h>

struct ntklog_identity_table;

/*
 * The notes, or NULL while they are disabled. Written with ntklog_identity_mutex held; freed after
 * synchronize_rcu().
 */
extern struct ntklog_identity_table *ntklog_identities;

void ntklog_record_identity_slow(struct ntklog_identity_table *notes, unsigned long lock,
				 unsigned long caller, u8 kind);

/**
 * ntklog_record_identity() - note the object that a lock lies in, before an event is written
 * @lock: address of the lock
 * @caller: return address of the lock function
 * @kind: NTKLOG_IDENTITY_*
 *
 * Drops the note and counts it as missed if another CPU is writing a note of the same set.
 *
 * Context: interrupts off, RCU is watching, not in an NMI.
 */
static __always_inline void ntklog_record_identity(unsigned long lock, unsigned long caller,
						   u8 kind)
{
	struct ntklog_identity_table *notes = READ_ONCE(ntklog_identities);

	if (unlikely(notes))
		ntklog_record_identity_slow(notes, lock, caller, kind);
}

int ntklog_set_identities_always_enabled(bool enable);
bool ntklog_identities_are_always_enabled(void);

void ntklog_identity_exit(void);

#endif /* _NTKLOG_GROUND_IDENTITY_H */
