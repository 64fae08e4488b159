// SPDX-License-Identifier: GPL-2.0-only

#include <ck_spinlock.h>
#include <pthread.h>

#include "contestant.h"

#define LINE	__attribute__((aligned(64)))

/* The empty loop, whose time bench/native.py subtracts. */
NATIVE_CONTESTANT(nothing, (void)0, (void)0, (void)0, (void)0)

#define MCS	((ck_spinlock_mcs_t *)lock)

struct mcs_line {
	ck_spinlock_mcs_context_t entry;
} LINE;

NATIVE_CONTESTANT(mcs, ck_spinlock_mcs_init(MCS), struct mcs_line one,
		  ck_spinlock_mcs_lock(MCS, &one.entry),
		  ck_spinlock_mcs_unlock(MCS, &one.entry))

#define TICKET	((ck_spinlock_ticket_t *)lock)
NATIVE_CONTESTANT(ticket, ck_spinlock_ticket_init(TICKET), (void)0,
		  ck_spinlock_ticket_lock(TICKET), ck_spinlock_ticket_unlock(TICKET))

/* A CLH release takes over the predecessor's entry, so there is one more entry than threads. */
static struct clh_entry {
	ck_spinlock_clh_t entry;
} LINE clh_entries[NATIVE_THREADS_MAX + 1];

/* The entry that each thread will use for its next acquisition. */
static struct clh_thread_entry {
	ck_spinlock_clh_t *entry;
} LINE clh_thread_entry[NATIVE_THREADS_MAX];

static void clh_start(ck_spinlock_clh_t **lock)
{
	int thread;

	for (thread = 0; thread < NATIVE_THREADS_MAX; thread++)
		clh_thread_entry[thread].entry = &clh_entries[thread].entry;
	ck_spinlock_clh_init(lock, &clh_entries[NATIVE_THREADS_MAX].entry);
}

static inline void clh_release(struct clh_thread_entry *mine)
{
	ck_spinlock_clh_unlock(&mine->entry);
}

#define CLH	((ck_spinlock_clh_t **)lock)
NATIVE_CONTESTANT(clh, clh_start(CLH), struct clh_thread_entry *mine = &clh_thread_entry[thread],
		  ck_spinlock_clh_lock(CLH, mine->entry), clh_release(mine))

#define CAS	((ck_spinlock_cas_t *)lock)
NATIVE_CONTESTANT(cas, ck_spinlock_cas_init(CAS), (void)0,
		  ck_spinlock_cas_lock(CAS), ck_spinlock_cas_unlock(CAS))

#define PTHREAD	((pthread_spinlock_t *)lock)
NATIVE_CONTESTANT(pthread, pthread_spin_init(PTHREAD, PTHREAD_PROCESS_PRIVATE), (void)0,
		  pthread_spin_lock(PTHREAD), pthread_spin_unlock(PTHREAD))

const struct native_contestant native_others[] = {
	NATIVE_ENTRY(nothing, "nothing", .uncontended_only = true),
	NATIVE_ENTRY(mcs, "ck mcs"),
	NATIVE_ENTRY(ticket, "ck ticket"),
	NATIVE_ENTRY(clh, "ck clh"),
	NATIVE_ENTRY(cas, "ck cas"),
	NATIVE_ENTRY(pthread, "pthread_spin_lock"),
	{ }
};
