// SPDX-License-Identifier: GPL-2.0-only
/*
 * Identities of locks: the memory object that a lock lies in. See identity.h.
 *
 * The notes form a cache with sets of four ways; the address of the lock selects the set. A CPU
 * writes a note with interrupts off. The sequence number of the set is odd meanwhile, as in a
 * seqlock. Another CPU that finds it odd drops its note and counts it. Each note has a word that is
 * computed from the lock, its kind, its slab cache and its slab. If a way of the set has that word,
 * the lock is recorded already; this test reads four words.
 *
 * struct kmem_cache and struct slab are private to mm/. At module load the offsets of the needed
 * members are found with a cache whose properties are known.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/kernel_stat.h>
#include <linux/kfence.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nodemask.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <uapi/ntklog/identity.h>

#include "../address.h"
#include "../compat.h"
#include "clock.h"
#include "identity.h"

#define NTKLOG_IDENTITY_ASSOCIATIVITY	4
#define NTKLOG_IDENTITY_BITS	14
#define NTKLOG_IDENTITY_SETS	BIT(NTKLOG_IDENTITY_BITS)

/* Object size and name of the cache that is created to find the offsets. */
#define NTKLOG_PROBE_SIZE	200
#define NTKLOG_PROBE_NAME	"ntklog_identity"

/* Number of words of struct kmem_cache that are searched for its members. */
#define NTKLOG_CACHE_WORDS	48

#define NTKLOG_CACHE_NAME	64

/* Maximum size of the text of a note, which is one line, and of a set. */
#define NTKLOG_IDENTITY_LINE	(128 + NTKLOG_CACHE_NAME + 2 * KSYM_SYMBOL_LEN)
#define NTKLOG_IDENTITY_TEXT	(NTKLOG_IDENTITY_ASSOCIATIVITY * NTKLOG_IDENTITY_LINE)

/* Upper bound of the size of a CPU's first per-CPU chunk. */
#define NTKLOG_PER_CPU_REACH	(2UL << 20)

/* Flag in ntklog_identity_reader.seen: the set has not been read. Saved sequences are even. */
#define NTKLOG_NOT_READ		1u

/* Values instead of the address of a cache. They differ by more than the kinds do. */
#define NTKLOG_IN_NO_SLAB	0UL
#define NTKLOG_ON_STACK		0x100UL
#define NTKLOG_IN_KFENCE	0x200UL

/* Upper bound of the distance from the first struct page of a slab to any other one. */
#define NTKLOG_HEAD_REACH	(sizeof(struct page) << 11)

/* Attempts to copy a set that is being written. The next read() tries again. */
#define NTKLOG_IDENTITY_TRIES	1000

/**
 * struct ntklog_identity - note of the object that a lock lies in
 * @lock: address of the lock; 0 if the way is free
 * @cache: address of the struct kmem_cache, NTKLOG_IN_NO_SLAB, NTKLOG_ON_STACK or NTKLOG_IN_KFENCE
 * @caller: caller of the lock function, from the event for which the note was written
 * @time: time of the note, in cycles of the clock
 * @offset: offset of the lock in its slab, in bytes
 * @sequence: sequence number of the set after the note was written
 * @kind: NTKLOG_IDENTITY_*
 */
struct ntklog_identity {
	unsigned long lock;
	unsigned long cache;
	unsigned long caller;
	u64 time;
	u32 offset;
	u32 sequence;
	u8 kind;
};

/**
 * struct ntklog_identities - all notes
 * @known: for each note, the word that identifies it; see ntklog_record_identity_slow()
 * @sequence: sequence number of each set, odd while a CPU writes one of its notes
 * @notes: the notes of each set
 * @missed: notes dropped because another CPU was writing a note of the same set
 *
 * A CPU locks a set with a cmpxchg() of @sequence from even to odd, writes @known and @notes, and
 * unlocks the set with smp_store_release().
 */
struct ntklog_identities {
	u64 known[NTKLOG_IDENTITY_SETS][NTKLOG_IDENTITY_ASSOCIATIVITY];
	u32 sequence[NTKLOG_IDENTITY_SETS];
	struct ntklog_identity notes[NTKLOG_IDENTITY_SETS][NTKLOG_IDENTITY_ASSOCIATIVITY];
	atomic_t missed;
};

/**
 * struct ntklog_identity_reader - a reader of the notes
 * @mutex: protects the other members
 * @set: next set to print
 * @missed: value of ntklog_identities.missed that was printed last
 * @replaced: notes that were replaced before this reader read them
 * @told: value of @replaced that was printed last
 * @length: number of bytes in @text
 * @at: number of bytes of @text that the caller has got
 * @ended: the last read returned data up to the end, so the next one returns 0
 * @symbol: buffer for a symbol, which is too large for the stack
 * @text: lines of the current set
 * @seen: for each set, its sequence number when it was last read. Before the first read, its
 *	sequence number when the reader was opened, with NTKLOG_NOT_READ
 */
struct ntklog_identity_reader {
	/* Serializes reads. */
	struct mutex mutex;
	unsigned int set;
	u32 missed;
	u32 replaced;
	u32 told;
	size_t length;
	size_t at;
	bool ended;
	char symbol[KSYM_SYMBOL_LEN];
	char text[NTKLOG_IDENTITY_TEXT];
	u32 seen[NTKLOG_IDENTITY_SETS];
};

struct ntklog_identities *ntklog_identities;
EXPORT_SYMBOL_IF_KUNIT(ntklog_identities);

/* Protects the two variables below, and writes of ntklog_identities. */
static DEFINE_MUTEX(ntklog_identity_mutex);
static unsigned int ntklog_identity_users;
static bool ntklog_identities_always_enabled;

/* Offsets found at module load, then constant; in words or bytes, 0 if not found. */
static unsigned int ntklog_slab_cache_word;
static unsigned int ntklog_cache_name_word;
static unsigned int ntklog_cache_size_at;

static __always_inline unsigned int ntklog_set_of(unsigned long lock)
{
	return (u64)lock * GOLDEN_RATIO_64 >> (64 - NTKLOG_IDENTITY_BITS);
}

/* Return the page of an address in the direct map. __pa() would also test for the kernel image. */
static __always_inline struct page *ntklog_page_of(unsigned long lock)
{
#ifdef CONFIG_X86_64
	return pfn_to_page((lock - PAGE_OFFSET) >> PAGE_SHIFT);
#else
	return virt_to_page((void *)lock);
#endif
}

/*
 * Return the slab that an address lies in, or NULL. The address may be any number: the event of a
 * waiter may be written after the lock, and the memory around it, has been freed. Therefore reads
 * are made with fault handling, and the head that a stale struct page names is checked.
 */
static __always_inline struct page *ntklog_find_slab(unsigned long lock)
{
	struct page *page, *head;
	unsigned long word;

	if (lock - PAGE_OFFSET >= (unsigned long)high_memory - PAGE_OFFSET)
		return NULL;
	page = ntklog_page_of(lock);
	__get_kernel_nofault(&word, page, unsigned long, fault);
	head = compound_head(page);
	if (head != page) {
		/* __get_kernel_nofault() does not handle a fault at a user address with SMAP. */
		if (unlikely((unsigned long)page - (unsigned long)head >= NTKLOG_HEAD_REACH))
			return NULL;
		__get_kernel_nofault(&word, head, unsigned long, fault);
		/* The compound page is being freed. */
		if (unlikely(PageTail(head)))
			return NULL;
	}
	return folio_test_slab((struct folio *)head) ? head : NULL;
fault:
	return NULL;
}

static __always_inline unsigned long ntklog_cache_of(unsigned long lock, const struct page *slab)
{
	if (slab)
		return READ_ONCE(((const unsigned long *)slab)[ntklog_slab_cache_word]);
	return object_is_on_stack((void *)lock) ? NTKLOG_ON_STACK : NTKLOG_IN_NO_SLAB;
}

/* Return the way for a note: the one with a note of the lock, a free one, or the oldest. */
static unsigned int ntklog_choose_victim_way(struct ntklog_identities *notes, unsigned int set,
					     unsigned long lock, u8 kind)
{
	const struct ntklog_identity *ways = notes->notes[set];
	unsigned int oldest = 0, i;

	for (i = 0; i < NTKLOG_IDENTITY_ASSOCIATIVITY; i++) {
		if (!ways[i].lock || (ways[i].lock == lock && ways[i].kind == kind))
			return i;
		if ((s32)(ways[i].sequence - ways[oldest].sequence) < 0)
			oldest = i;
	}
	return oldest;
}

static noinline void ntklog_add_identity(struct ntklog_identities *notes, unsigned long lock,
					 unsigned long caller, u8 kind, struct page *slab,
					 unsigned long cache, u64 known)
{
	unsigned int set = ntklog_set_of(lock), way;
	u32 sequence = READ_ONCE(notes->sequence[set]);

	if (sequence & 1 ||
	    cmpxchg(&notes->sequence[set], sequence, sequence + 1) != sequence) {
		atomic_inc(&notes->missed);
		return;
	}
	way = ntklog_choose_victim_way(notes, set, lock, kind);
	notes->notes[set][way] = (struct ntklog_identity) {
		.lock = lock,
		.cache = is_kfence_address((void *)lock) ? NTKLOG_IN_KFENCE : cache,
		.caller = caller,
		.time = ntklog_cycles(),
		.offset = slab ? lock - (unsigned long)page_address(slab) : 0,
		.sequence = sequence + 2,
		.kind = kind,
	};
	WRITE_ONCE(notes->known[set][way], known);
	/* Publishes the note. Pairs with smp_load_acquire() in ntklog_copy_set(). */
	smp_store_release(&notes->sequence[set], sequence + 2);
}

static __always_inline bool
ntklog_identity_is_recorded(const u64 set[NTKLOG_IDENTITY_ASSOCIATIVITY], u64 known)
{
	return READ_ONCE(set[0]) == known || READ_ONCE(set[1]) == known ||
	       READ_ONCE(set[2]) == known || READ_ONCE(set[3]) == known;
}

/**
 * ntklog_record_identity_slow() - slow path of ntklog_record_identity()
 * @notes: the notes, not NULL
 * @lock: address of the lock
 * @caller: return address of the lock function
 * @kind: NTKLOG_IDENTITY_*
 *
 * Context: as for ntklog_record_identity().
 */
notrace void ntklog_record_identity_slow(struct ntklog_identities *notes, unsigned long lock,
					 unsigned long caller, u8 kind)
{
	const u64 *set = notes->known[ntklog_set_of(lock)];
	struct page *slab = ntklog_find_slab(lock);
	unsigned long cache = ntklog_cache_of(lock, slab);
	u64 known;

	/*
	 * The addresses of caches have equal upper bits. The slabs that an address can lie in
	 * differ only in low bits, which the shift moves to the top.
	 */
	known = (u64)lock * GOLDEN_RATIO_64 + kind + (cache ^ (u64)(unsigned long)slab << 44);
	if (likely(ntklog_identity_is_recorded(set, known)))
		return;
	/*
	 * Only the task whose stack it is recognizes a lock on a stack. An event of another task
	 * does not replace that note.
	 */
	if (cache == NTKLOG_IN_NO_SLAB && ntklog_identity_is_recorded(set, known + NTKLOG_ON_STACK))
		return;
	ntklog_add_identity(notes, lock, caller, kind, slab, cache, known);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_record_identity_slow);

/*
 * Read a word at any address. get_kernel_nofault() first checks that it is not a user address, at
 * which __get_kernel_nofault() crashes on x86 with SMAP.
 */
static bool ntklog_read_u64(unsigned long at, unsigned long *word)
{
	return !get_kernel_nofault(*word, (unsigned long *)at);
}

static bool ntklog_read_half(unsigned long at, u32 *half)
{
	return !get_kernel_nofault(*half, (u32 *)at);
}

/* Read a name. Returns false unless it is readable, printable without spaces, and terminated. */
static bool ntklog_read_name(unsigned long at, char name[NTKLOG_CACHE_NAME])
{
	unsigned int i;

	for (i = 0; i < NTKLOG_CACHE_NAME; i++) {
		if (get_kernel_nofault(name[i], (char *)(at + i)))
			return false;
		if (!name[i])
			return i;
		if (name[i] <= ' ' || name[i] > '~')
			return false;
	}
	return false;
}

/* Read name and sizes of a cache. The cache may have been destroyed and its memory reused. */
static void ntklog_describe_cache(unsigned long cache, u32 *size, u32 *object_size,
				  char name[NTKLOG_CACHE_NAME])
{
	unsigned long at;

	if (!ntklog_cache_size_at || !ntklog_read_half(cache + ntklog_cache_size_at, size) ||
	    !ntklog_read_half(cache + ntklog_cache_size_at + sizeof(u32), object_size)) {
		*size = 0;
		*object_size = 0;
	}
	if (!ntklog_cache_name_word ||
	    !ntklog_read_u64(cache + ntklog_cache_name_word * sizeof(long), &at) ||
	    !ntklog_read_name(at, name))
		strscpy(name, "-", NTKLOG_CACHE_NAME);
}

/* Test whether a lock lies in a pg_data_t or in a struct page. */
static bool ntklog_is_in_memory_map(unsigned long lock, const char **what, unsigned long *offset)
{
	unsigned int node;

	for_each_online_node(node) {
		*offset = lock - (unsigned long)NODE_DATA(node);
		if (*offset < sizeof(pg_data_t)) {
			*what = "node";
			return true;
		}
	}
#ifdef CONFIG_SPARSEMEM_VMEMMAP
	*offset = lock - (unsigned long)pfn_to_page(0);
	if (lock >= (unsigned long)pfn_to_page(0) &&
	    lock < (unsigned long)virt_to_page(high_memory - 1) + sizeof(struct page)) {
		*offset %= sizeof(struct page);
		*what = "page";
		return true;
	}
#endif
	return false;
}

/* Test whether the section of per-CPU variables begins at 0, as on x86 before 6.15. */
static bool ntklog_per_cpu_is_from_zero(void)
{
	return (__force unsigned long)&kstat < NTKLOG_PER_CPU_REACH;
}

/*
 * Return the address in the per-CPU section that corresponds to @lock, if it is a per-CPU variable.
 * Subtracting the offset of each CPU gives one candidate. If the section begins at 0, the smallest
 * candidate is right: those of later CPUs wrap to large numbers. Otherwise it is the candidate
 * nearest to a known per-CPU variable.
 */
static unsigned long ntklog_per_cpu_offset(unsigned long lock)
{
	unsigned long best = ULONG_MAX;
#ifdef CONFIG_SMP
	const unsigned long known = (__force unsigned long)&kstat;
	const bool is_from_zero = ntklog_per_cpu_is_from_zero();
	unsigned long place, least = ULONG_MAX, distance;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		place = lock - per_cpu_offset(cpu);
		distance = is_from_zero ? place : max(place, known) - min(place, known);
		if (distance < least) {
			least = distance;
			best = place;
		}
	}
#endif
	return best;
}

/* Test whether a per-CPU address lies in a struct per_cpu_pages of a zone. */
static bool ntklog_is_in_page_lists(unsigned long place, unsigned long *offset)
{
	unsigned int node, i;

	for_each_online_node(node)
		for (i = 0; i < MAX_NR_ZONES; i++) {
			const struct zone *zone = &NODE_DATA(node)->node_zones[i];

			*offset = place - (__force unsigned long)zone->per_cpu_pageset;
			if (zone->per_cpu_pageset && *offset < sizeof(struct per_cpu_pages))
				return true;
		}
	return false;
}

/*
 * Describe a lock that lies in no slab, by its address. A per-CPU offset from 0 is printed, because
 * it is not secret. Otherwise it is a kernel address, and its symbol is printed.
 */
static size_t ntklog_print_offset(char *text, size_t size, unsigned long lock, char *buffer)
{
	unsigned long offset, place = ntklog_per_cpu_offset(lock);
	const char *what, *symbol;
	bool is_from_zero;

	if (ntklog_is_in_memory_map(lock, &what, &offset))
		return scnprintf(text, size, "%s %lu", what, offset);
	symbol = ntklog_symbol(lock, buffer);
	if (strcmp(symbol, "-"))
		return scnprintf(text, size, "symbol %s", symbol);
	if (ntklog_is_in_page_lists(place, &offset))
		return scnprintf(text, size, "lists %lu", offset);
	is_from_zero = ntklog_per_cpu_is_from_zero();
	if (is_from_zero && place < NTKLOG_PER_CPU_REACH)
		return scnprintf(text, size, "percpu %lu", place);
	symbol = ntklog_symbol(place, buffer);
	if (!is_from_zero && strcmp(symbol, "-"))
		return scnprintf(text, size, "percpu %s", symbol);
	return scnprintf(text, size, is_vmalloc_addr((void *)lock) ? "vmalloc" : "pages");
}

/* Print a note: address, kind, time, object and caller. */
static size_t ntklog_print_identity(char *text, size_t size, const struct ntklog_identity *note,
				    char *buffer)
{
	char name[NTKLOG_CACHE_NAME];
	u32 cache_size, object_size;
	size_t used;

	used = scnprintf(text, size, "0x%llx %u %llu ", ntklog_address(note->lock), note->kind,
			 note->time);
	if (note->cache == NTKLOG_ON_STACK) {
		used += scnprintf(text + used, size - used, "stack");
	} else if (note->cache == NTKLOG_IN_KFENCE) {
		used += scnprintf(text + used, size - used, "kfence");
	} else if (note->cache == NTKLOG_IN_NO_SLAB) {
		used += ntklog_print_offset(text + used, size - used, note->lock, buffer);
	} else {
		ntklog_describe_cache(note->cache, &cache_size, &object_size, name);
		used += scnprintf(text + used, size - used, "slab 0x%llx %u %u %u %s",
				  ntklog_address(note->cache), note->offset, cache_size,
				  object_size, name);
	}
	used += scnprintf(text + used, size - used, " by %s\n",
			  ntklog_symbol(note->caller, buffer));
	return used;
}

/* Copy a set and its sequence number consistently. Returns false after too many attempts. */
static bool ntklog_copy_set(struct ntklog_identities *notes, unsigned int set,
			    struct ntklog_identity ways[NTKLOG_IDENTITY_ASSOCIATIVITY],
			    u32 *sequence)
{
	unsigned int i;

	for (i = 0; i < NTKLOG_IDENTITY_TRIES; i++) {
		/* Pairs with smp_store_release() in ntklog_add_identity(). */
		*sequence = smp_load_acquire(&notes->sequence[set]);
		if (*sequence & 1) {
			cpu_relax();
			continue;
		}
		/* A copy that races with a writer is discarded below. */
		data_race(memcpy(ways, notes->notes[set], sizeof(notes->notes[set])));
		/*
		 * Reads the notes before the sequence number again. Pairs with the cmpxchg() in
		 * ntklog_add_identity().
		 */
		smp_rmb();
		if (READ_ONCE(notes->sequence[set]) == *sequence)
			return true;
	}
	return false;
}

static void ntklog_print_set(struct ntklog_identity_reader *reader, unsigned int set)
{
	struct ntklog_identity ways[NTKLOG_IDENTITY_ASSOCIATIVITY];
	u32 seen = reader->seen[set] & ~NTKLOG_NOT_READ, sequence;
	bool is_first = reader->seen[set] & NTKLOG_NOT_READ, is_new;
	unsigned int i;

	sequence = READ_ONCE(ntklog_identities->sequence[set]);
	if (sequence == (is_first ? 0 : seen) ||
	    !ntklog_copy_set(ntklog_identities, set, ways, &sequence))
		return;
	reader->seen[set] = sequence;
	/* Each note increases the sequence number by 2. */
	reader->replaced += (sequence - seen) / 2;
	for (i = 0; i < NTKLOG_IDENTITY_ASSOCIATIVITY; i++) {
		is_new = (s32)(ways[i].sequence - seen) > 0;
		if (!ways[i].lock || !(is_first || is_new))
			continue;
		reader->length += ntklog_print_identity(reader->text + reader->length,
							sizeof(reader->text) - reader->length,
							&ways[i], reader->symbol);
		reader->replaced -= is_new;
	}
}

/* Print the numbers of missed and replaced notes if they have changed. */
static void ntklog_print_lost_identities(struct ntklog_identity_reader *reader)
{
	u32 missed = atomic_read(&ntklog_identities->missed);

	if (missed == reader->missed && reader->replaced == reader->told)
		return;
	reader->missed = missed;
	reader->told = reader->replaced;
	reader->length = scnprintf(reader->text, sizeof(reader->text),
				   "missed %u replaced %u\n", missed, reader->replaced);
}

/* Print the next set with new notes. Returns false at the end, and starts over at the first set. */
static bool ntklog_print_slab_details(struct ntklog_identity_reader *reader)
{
	reader->at = 0;
	reader->length = 0;
	while (!reader->length && reader->set < NTKLOG_IDENTITY_SETS)
		ntklog_print_set(reader, reader->set++);
	if (!reader->length && reader->set == NTKLOG_IDENTITY_SETS) {
		reader->set++;
		ntklog_print_lost_identities(reader);
	}
	if (!reader->length)
		reader->set = 0;
	return reader->length;
}

/**
 * ntklog_read_identities() - copy the notes that are new to a reader to user space
 * @reader: from ntklog_open_identities()
 * @to: buffer for the text
 * @count: size of the buffer in bytes
 *
 * Context: task; may sleep.
 * Return: number of bytes copied; 0 at the end, after which a read returns newer notes; -EFAULT or
 * -EINTR.
 */
ssize_t ntklog_read_identities(struct ntklog_identity_reader *reader, char __user *to,
			       size_t count)
{
	size_t done = 0, part;

	if (mutex_lock_interruptible(&reader->mutex))
		return -EINTR;
	/* End after each pass over the sets, so that a reader of the whole file terminates. */
	while (done < count && !reader->ended) {
		if (reader->at == reader->length && !ntklog_print_slab_details(reader)) {
			reader->ended = done;
			break;
		}
		part = min(reader->length - reader->at, count - done);
		if (copy_to_user(to + done, reader->text + reader->at, part)) {
			mutex_unlock(&reader->mutex);
			return -EFAULT;
		}
		reader->at += part;
		done += part;
		if (signal_pending(current))
			break;
		cond_resched();
	}
	if (!done)
		reader->ended = false;
	mutex_unlock(&reader->mutex);
	return done;
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_read_identities);

/* Add or remove a user of the notes. Called with ntklog_identity_mutex held. */
static int ntklog_enable_identities(bool want)
{
	struct ntklog_identities *notes;

	/* If all addresses read as 0, user space cannot match a note with the events of a lock. */
	if (!ntklog_slab_cache_word || ntklog_address_mode == NTKLOG_ADDRESS_ZERO)
		return -EOPNOTSUPP;
	if (want && !ntklog_identity_users) {
		notes = vzalloc(sizeof(*notes));
		if (!notes)
			return -ENOMEM;
		/* Publishes the zeroed notes. Pairs with READ_ONCE() in ntklog_record_identity() */
		smp_store_release(&ntklog_identities, notes);
	}
	ntklog_identity_users += want ? 1 : -1;
	if (ntklog_identity_users)
		return 0;
	notes = ntklog_identities;
	WRITE_ONCE(ntklog_identities, NULL);
	/* Wait for CPUs in ntklog_record_identity(), which runs with interrupts off. */
	synchronize_rcu();
	vfree(notes);
	return 0;
}

/**
 * ntklog_open_identities() - create a reader, and enable the notes
 *
 * Context: task; may sleep.
 * Return: the reader, to which all notes are new; -EOPNOTSUPP if this kernel or the mode of
 * addresses does not allow notes; or -ENOMEM.
 */
struct ntklog_identity_reader *ntklog_open_identities(void)
{
	struct ntklog_identity_reader *reader = kvzalloc(sizeof(*reader), GFP_KERNEL);
	unsigned int set;
	int err;

	if (!reader)
		return ERR_PTR(-ENOMEM);
	mutex_init(&reader->mutex);
	mutex_lock(&ntklog_identity_mutex);
	err = ntklog_enable_identities(true);
	for (set = 0; !err && set < NTKLOG_IDENTITY_SETS; set++)
		reader->seen[set] = READ_ONCE(ntklog_identities->sequence[set]) | NTKLOG_NOT_READ;
	mutex_unlock(&ntklog_identity_mutex);
	if (!err)
		return reader;
	kvfree(reader);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_open_identities);

/**
 * ntklog_close_identities() - free a reader, and disable the notes if it was the last user
 * @reader: from ntklog_open_identities()
 *
 * Context: task; may sleep.
 */
void ntklog_close_identities(struct ntklog_identity_reader *reader)
{
	mutex_lock(&ntklog_identity_mutex);
	ntklog_enable_identities(false);
	mutex_unlock(&ntklog_identity_mutex);
	kvfree(reader);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_close_identities);

/**
 * ntklog_enable_identities_always() - keep the notes enabled without a reader
 * @keep: true to keep them enabled; false to disable them when no reader is left
 *
 * Context: task; may sleep.
 * Return: 0, -EOPNOTSUPP or -ENOMEM.
 */
int ntklog_enable_identities_always(bool keep)
{
	int err = 0;

	mutex_lock(&ntklog_identity_mutex);
	if (keep != ntklog_identities_always_enabled)
		err = ntklog_enable_identities(keep);
	if (!err)
		ntklog_identities_always_enabled = keep;
	mutex_unlock(&ntklog_identity_mutex);
	return err;
}

/**
 * ntklog_identities_enabled() - test whether the notes are enabled without a reader
 *
 * Context: any.
 * Return: true if ntklog_enable_identities_always() has enabled them.
 */
bool ntklog_identities_enabled(void)
{
	return READ_ONCE(ntklog_identities_always_enabled);
}

/* A cache with a constructor is not merged with another cache of the same size. */
static void __init ntklog_construct_probe(void *object)
{
}

static void __init ntklog_identify_slab_cache(unsigned long cache)
{
	char name[NTKLOG_CACHE_NAME];
	unsigned long word;
	u32 size, object_size;
	unsigned int i;

	for (i = 0; i < NTKLOG_CACHE_WORDS; i++)
		if (!ntklog_cache_name_word && i &&
		    ntklog_read_u64(cache + i * sizeof(long), &word) &&
		    ntklog_read_name(word, name) && !strcmp(name, NTKLOG_PROBE_NAME))
			ntklog_cache_name_word = i;
	/* Find size, the size of an object with its metadata; object_size follows it. */
	for (i = sizeof(u32); i < NTKLOG_CACHE_WORDS * sizeof(long); i += sizeof(u32))
		if (!ntklog_cache_size_at && ntklog_read_half(cache + i, &size) &&
		    ntklog_read_half(cache + i + sizeof(u32), &object_size) &&
		    object_size == NTKLOG_PROBE_SIZE && size > object_size && size < PAGE_SIZE)
			ntklog_cache_size_at = i;
}

/**
 * ntklog_identity_init() - find the offsets of members of struct slab and struct kmem_cache
 *
 * If the cache of a slab is not found, the notes cannot be enabled, and a message says so.
 *
 * Context: module load.
 */
void __init ntklog_identity_init(void)
{
	struct kmem_cache *cache;
	struct page *page;
	unsigned int i;
	void *object;

	cache = kmem_cache_create(NTKLOG_PROBE_NAME, NTKLOG_PROBE_SIZE, 0, 0,
				  ntklog_construct_probe);
	object = cache ? kmem_cache_alloc(cache, GFP_KERNEL) : NULL;
	if (object) {
		page = virt_to_head_page(object);
		for (i = 1; PageSlab(page) && i < sizeof(*page) / sizeof(long); i++)
			if (((unsigned long *)page)[i] == (unsigned long)cache)
				ntklog_slab_cache_word = i;
		ntklog_identify_slab_cache((unsigned long)cache);
		kmem_cache_free(cache, object);
	}
	kmem_cache_destroy(cache);
	if (!ntklog_slab_cache_word)
		pr_info("the structures that locks lie in cannot be found on this kernel: locks have no classes\n");
	else if (!ntklog_cache_name_word || !ntklog_cache_size_at)
		pr_info("the names of slab caches cannot be read on this kernel: classes of locks are less exact\n");
}

/**
 * ntklog_identity_exit() - disable and free the notes
 *
 * Context: module unload, or a load that failed; no reader is left and no event is written.
 */
void ntklog_identity_exit(void)
{
	ntklog_enable_identities_always(false);
}
