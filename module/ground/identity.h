/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_IDENTITY_H
#define _NTKLOG_GROUND_IDENTITY_H

/*
 * What lies where a lock lies, noted when an event is written: by the time that somebody looks
 * up the address, the object that it was in may be gone. Names are given by user space, which
 * reads the notes before it reads the buffers.
 */

#include <linux/compiler.h>
#include <linux/types.h>

struct ntklog_identities;
struct ntklog_identity_reader;

/*
 * The notes, or NULL: nobody wants them. Written with ntklog_identity_mutex held; freed after
 * synchronize_rcu().
 */
extern struct ntklog_identities *ntklog_identities;

void ntklog_record_identity_slow(struct ntklog_identities *notes, unsigned long lock,
				 unsigned long caller, u8 kind);

/**
 * ntklog_record_identity() - an event of a lock is about to be written
 * @lock: the lock
 * @caller: who has called the function that the event is of
 * @kind: NTKLOG_IDENTITY_*
 *
 * Once for each lock, until what it lies in is something else. What there is no room for is
 * counted.
 *
 * Context: interrupts off, RCU watches, not NMI. Takes no lock, does not allocate or fault.
 */
static __always_inline void ntklog_record_identity(unsigned long lock, unsigned long caller,
						   u8 kind)
{
	struct ntklog_identities *notes = READ_ONCE(ntklog_identities);

	if (unlikely(notes))
		ntklog_record_identity_slow(notes, lock, caller, kind);
}

struct ntklog_identity_reader *ntklog_open_identities(void);
void ntklog_close_identities(struct ntklog_identity_reader *reader);
ssize_t ntklog_read_identities(struct ntklog_identity_reader *reader, char __user *to,
			       size_t count);
int ntklog_enable_identities_always(bool keep);
bool ntklog_identities_enabled(void);

void ntklog_identity_init(void);
void ntklog_identity_exit(void);

#endif /* _NTKLOG_GROUND_IDENTITY_H */
