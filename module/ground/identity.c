// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each note has a fingerprint: a word computed from the lock, its kind, its slab cache and its
 * slab. A lock whose fingerprint is in its set is recorded already.
 */

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/kfence.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched/task_stack.h>
#include <linux/seqlock.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "address.h"
#include "clock.h"
#include "identity.h"
#include "identity_notes.h"
#include "slab_cache.h"

/* Upper bound of the distance from the first struct page of a slab to any other one. */
#define NTKLOG_HEAD_DISTANCE_MAX	(sizeof(struct page) << 11)

struct ntklog_identity_table *ntklog_identities;

/* Protects the two variables below, and writes of ntklog_identities. */
static DEFINE_MUTEX(ntklog_identity_mutex);
static unsigned int ntklog_identity_user_count;
static bool ntklog_identities_always_enabled;

static __always_inline unsigned int ntklog_get_identity_set_index(unsigned long lock)
{
	return (u64)lock * GOLDEN_RATIO_64 >> (64 - NTKLOG_IDENTITY_BITS);
}

/* virt_to_page() would also test whether the address lies in the kernel image. */
static __always_inline struct page *ntklog_get_lock_page(unsigned long lock)
{
#ifdef CONFIG_X86_64
	return pfn_to_page((lock - PAGE_OFFSET) >> PAGE_SHIFT);
#else
	return virt_to_page((void *)lock);
#endif
}

/*
 * The memory at the address may have been freed. Therefore struct page is read with fault handling,
 * and the head page that a stale struct page names is checked.
 */
static __always_inline struct page *ntklog_find_slab(unsigned long lock)
{
	struct page *page, *head;
	unsigned long word;

	if (lock - PAGE_OFFSET >= (unsigned long)high_memory - PAGE_OFFSET)
		return NULL;
	page = ntklog_get_lock_page(lock);
	__get_kernel_nofault(&word, page, unsigned long, fault);
	head = compound_head(page);
	if (head != page) {
		/* __get_kernel_nofault() does not handle a fault at a user address with SMAP. */
		if (unlikely((unsigned long)page - (unsigned long)head >= NTKLOG_HEAD_DISTANCE_MAX))
			return NULL;
		__get_kernel_nofault(&word, head, unsigned long, fault);
		/* The compound page has been freed meanwhile, or is being freed. */
		if (unlikely(PageTail(head)))
			return NULL;
	}
	return folio_test_slab((struct folio *)head) ? head : NULL;
fault:
	return NULL;
}

static __always_inline unsigned long ntklog_find_slab_cache(unsigned long lock,
							    const struct page *slab)
{
	if (slab)
		return READ_ONCE(((const unsigned long *)slab)[ntklog_slab_cache_word_index]);
	return object_is_on_stack((void *)lock) ? NTKLOG_ON_STACK : NTKLOG_IN_NO_SLAB;
}

static unsigned int ntklog_choose_victim_way(struct ntklog_identity_table *notes,
					     unsigned int set_index, unsigned long lock, u8 kind)
{
	const struct ntklog_identity *ways = notes->notes[set_index];
	unsigned int oldest_way = 0, i;

	for (i = 0; i < NTKLOG_IDENTITY_ASSOCIATIVITY; i++) {
		if (!ways[i].lock || (ways[i].lock == lock && ways[i].kind == kind))
			return i;
		if ((s32)(ways[i].written_sequence - ways[oldest_way].written_sequence) < 0)
			oldest_way = i;
	}
	return oldest_way;
}

static noinline void ntklog_add_identity(struct ntklog_identity_table *notes, unsigned long lock,
					 unsigned long caller, u8 kind, struct page *slab,
					 unsigned long cache, u64 fingerprint)
{
	unsigned int set_index = ntklog_get_identity_set_index(lock), way;

	if (test_and_set_bit_lock(set_index, notes->locked)) {
		atomic_inc(&notes->missed);
		return;
	}
	raw_write_seqcount_begin(&notes->sequence[set_index]);
	way = ntklog_choose_victim_way(notes, set_index, lock, kind);
	notes->notes[set_index][way] = (struct ntklog_identity) {
		.lock = lock,
		.cache = is_kfence_address((void *)lock) ? NTKLOG_IN_KFENCE : cache,
		.caller = caller,
		.time = ntklog_read_cycles(),
		.offset = slab ? lock - (unsigned long)page_address(slab) : 0,
		/* The end of the write section makes the counter even again. */
		.written_sequence = raw_read_seqcount(&notes->sequence[set_index]) + 1,
		.kind = kind,
	};
	WRITE_ONCE(notes->fingerprint[set_index][way], fingerprint);
	raw_write_seqcount_end(&notes->sequence[set_index]);
	clear_bit_unlock(set_index, notes->locked);
}

static __always_inline bool
ntklog_identity_is_recorded(const u64 fingerprints[NTKLOG_IDENTITY_ASSOCIATIVITY], u64 fingerprint)
{
	return READ_ONCE(fingerprints[0]) == fingerprint ||
	       READ_ONCE(fingerprints[1]) == fingerprint ||
	       READ_ONCE(fingerprints[2]) == fingerprint ||
	       READ_ONCE(fingerprints[3]) == fingerprint;
}

/* Slow path of ntklog_record_identity(). */
notrace void ntklog_record_identity_slow(struct ntklog_identity_table *notes, unsigned long lock,
					 unsigned long caller, u8 kind)
{
	const u64 *fingerprints = notes->fingerprint[ntklog_get_identity_set_index(lock)];
	struct page *slab = ntklog_find_slab(lock);
	unsigned long cache = ntklog_find_slab_cache(lock, slab);
	u64 fingerprint;

	/* The shift moves the low bits, in which possible slabs of a lock differ, to the top. */
	fingerprint = (u64)lock * GOLDEN_RATIO_64 + kind + (cache ^ (u64)(unsigned long)slab << 44);
	if (likely(ntklog_identity_is_recorded(fingerprints, fingerprint)))
		return;
	/*
	 * object_is_on_stack() recognizes a lock on the current task's stack only. An event of
	 * another task must not replace the note of the task on whose stack the lock lies.
	 */
	if (cache == NTKLOG_IN_NO_SLAB &&
	    ntklog_identity_is_recorded(fingerprints, fingerprint + NTKLOG_ON_STACK))
		return;
	ntklog_add_identity(notes, lock, caller, kind, slab, cache, fingerprint);
}

/* Add or remove a user of the notes. Called with ntklog_identity_mutex held. */
static int ntklog_change_identity_users(bool adds_user)
{
	struct ntklog_identity_table *notes;

	/* If all addresses read as 0, user space cannot match a note with the events of a lock. */
	if (!ntklog_slab_cache_word_index || ntklog_address_mode == NTKLOG_ADDRESS_ZERO)
		return -EOPNOTSUPP;
	if (adds_user && !ntklog_identity_user_count) {
		notes = vzalloc(sizeof(*notes));
		if (!notes)
			return -ENOMEM;
		/* Publish the zeroed notes. Pairs with READ_ONCE() in ntklog_record_identity(). */
		smp_store_release(&ntklog_identities, notes);
	}
	ntklog_identity_user_count += adds_user ? 1 : -1;
	if (ntklog_identity_user_count)
		return 0;
	notes = ntklog_identities;
	WRITE_ONCE(ntklog_identities, NULL);
	/* Wait for CPUs in ntklog_record_identity(), which runs with interrupts off. */
	synchronize_rcu();
	vfree(notes);
	return 0;
}

/**
 * ntklog_get_identities() - add a user of the notes, and enable them for the first one
 *
 * Context: task; may sleep.
 * Return: 0; -EOPNOTSUPP if this kernel or the mode of addresses does not allow notes; or -ENOMEM.
 */
int ntklog_get_identities(void)
{
	int err;

	mutex_lock(&ntklog_identity_mutex);
	err = ntklog_change_identity_users(true);
	mutex_unlock(&ntklog_identity_mutex);
	return err;
}

/**
 * ntklog_put_identities() - remove a user of the notes, and disable them after the last one
 *
 * Context: task; may sleep.
 */
void ntklog_put_identities(void)
{
	mutex_lock(&ntklog_identity_mutex);
	ntklog_change_identity_users(false);
	mutex_unlock(&ntklog_identity_mutex);
}

/**
 * ntklog_set_identities_always_enabled() - keep the notes enabled without a reader
 * @enable: true to keep the notes enabled; false to disable them when no reader is left
 *
 * Context: task; may sleep.
 * Return: 0, -EOPNOTSUPP or -ENOMEM.
 */
int ntklog_set_identities_always_enabled(bool enable)
{
	int err = 0;

	mutex_lock(&ntklog_identity_mutex);
	if (enable != ntklog_identities_always_enabled)
		err = ntklog_change_identity_users(enable);
	if (!err)
		ntklog_identities_always_enabled = enable;
	mutex_unlock(&ntklog_identity_mutex);
	return err;
}

/**
 * ntklog_identities_are_always_enabled() - test whether the notes are enabled without a reader
 *
 * Context: any.
 * Return: true if ntklog_set_identities_always_enabled() has enabled them.
 */
bool ntklog_identities_are_always_enabled(void)
{
	return READ_ONCE(ntklog_identities_always_enabled);
}

/**
 * ntklog_identity_exit() - disable and free the notes
 *
 * Context: module unload, or a load that failed; no reader is left and no event is written.
 */
void ntklog_identity_exit(void)
{
	ntklog_set_identities_always_enabled(false);
}
