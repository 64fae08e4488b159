// SPDX-License-Identifier: GPL-2.0-only
/*
 * What locks lie in. See identity.h.
 *
 * Notes are in sets of four, chosen by the address. Each set has a number that is odd while one
 * of its notes is being written, by a processor with interrupts off; another one that comes
 * meanwhile leaves its note out, and counts it. What is known already is told by a word for each
 * note, made of all that a change would change: a lock that is known costs a look at four words.
 *
 * struct kmem_cache and struct slab are the kernel's own affair. Where the members are that are
 * wanted here is found out at load, by a cache of which all of them are known.
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

/* Of an object of the cache that is made to look at. */
#define NTKLOG_PROBE_SIZE	200
#define NTKLOG_PROBE_NAME	"ntklog_identity"

/* How far into a struct kmem_cache its members are looked for. */
#define NTKLOG_CACHE_WORDS	48

#define NTKLOG_CACHE_NAME	64

/* A line, and all of a set. */
#define NTKLOG_IDENTITY_LINE	(128 + NTKLOG_CACHE_NAME + 2 * KSYM_SYMBOL_LEN)
#define NTKLOG_IDENTITY_TEXT	(NTKLOG_IDENTITY_ASSOCIATIVITY * NTKLOG_IDENTITY_LINE)

/* What a processor has for its per-CPU memory at boot is no more. */
#define NTKLOG_PER_CPU_REACH	(2UL << 20)

/* Sequences that are kept are even. */
#define NTKLOG_NOT_READ		1u

/* In place of a cache; farther from each other than kinds are. */
#define NTKLOG_IN_NO_SLAB	0UL
#define NTKLOG_ON_STACK		0x100UL
#define NTKLOG_IN_KFENCE	0x200UL

/* Of what a slab may be made of, in its descriptions. */
#define NTKLOG_HEAD_REACH	(sizeof(struct page) << 11)

/* Who reads a set that is always being written comes again. */
#define NTKLOG_IDENTITY_TRIES	1000

/**
 * struct ntklog_identity - a note
 * @lock: of which; 0: none yet
 * @cache: a struct kmem_cache, or NTKLOG_IN_NO_SLAB, ...
 * @caller: of the first event
 * @time: cycles of the clock, when it was made
 * @offset: in the slab
 * @sequence: of the set, when it was made
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
 * @known: what each note is of, in one word; written by who has the set
 * @sequence: of each set: odd while somebody has it. Taken by cmpxchg, given back by a store with
 *	release
 * @notes: by set; written by who has it
 * @missed: notes that were not made, for another one of the set was being made
 */
struct ntklog_identities {
	u64 known[NTKLOG_IDENTITY_SETS][NTKLOG_IDENTITY_ASSOCIATIVITY];
	u32 sequence[NTKLOG_IDENTITY_SETS];
	struct ntklog_identity notes[NTKLOG_IDENTITY_SETS][NTKLOG_IDENTITY_ASSOCIATIVITY];
	atomic_t missed;
};

/**
 * struct ntklog_identity_reader - who reads them
 * @mutex: one reading at a time
 * @set: that comes next
 * @missed: as last told
 * @replaced: notes that others had taken the place of before they were read
 * @told: of these
 * @length: of what is in @text
 * @at: of it has been given
 * @ended: the last read had something to give when it came to the end
 * @symbol: room for one, too much for a stack
 * @text: lines that have not all been given
 * @seen: of each set, its sequence when it was read; and before, when the reader came, with
 *	NTKLOG_NOT_READ
 */
struct ntklog_identity_reader {
	struct mutex mutex;	/* of all that follows */
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

/* Of the pointer, of who wants the notes, and whether they are kept without a reader. */
static DEFINE_MUTEX(ntklog_identity_mutex);
static unsigned int ntklog_identity_users;
static bool ntklog_identities_always_enabled;

/* Found out at load, in words and bytes; 0: not known. */
static unsigned int ntklog_slab_cache_word;
static unsigned int ntklog_cache_name_word;
static unsigned int ntklog_cache_size_at;

static __always_inline unsigned int ntklog_set_of(unsigned long lock)
{
	return (u64)lock * GOLDEN_RATIO_64 >> (64 - NTKLOG_IDENTITY_BITS);
}

/* Of an address in the direct map: __pa() also knows the kernel's image, which is elsewhere. */
static __always_inline struct page *ntklog_page_of(unsigned long lock)
{
#ifdef CONFIG_X86_64
	return pfn_to_page((lock - PAGE_OFFSET) >> PAGE_SHIFT);
#else
	return virt_to_page((void *)lock);
#endif
}

/*
 * The slab that an address is in, or NULL; without a fault, whatever the address is: who writes of
 * a lock that another one waits for cannot know that it is still there, nor that there is memory
 * any more. A page that describes none may name any other as its head.
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
		/* A fault at a user's address is not mended here: see ntklog_read_u64(). */
		if (unlikely((unsigned long)page - (unsigned long)head >= NTKLOG_HEAD_REACH))
			return NULL;
		__get_kernel_nofault(&word, head, unsigned long, fault);
		/* It is being freed. */
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

/* The place of a note of the lock: its own, a free one, or that of the oldest. */
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
	/* The note before its number. Pairs with the acquire in ntklog_copy_set(). */
	smp_store_release(&notes->sequence[set], sequence + 2);
}

static __always_inline bool
ntklog_identity_is_recorded(const u64 set[NTKLOG_IDENTITY_ASSOCIATIVITY], u64 known)
{
	return READ_ONCE(set[0]) == known || READ_ONCE(set[1]) == known ||
	       READ_ONCE(set[2]) == known || READ_ONCE(set[3]) == known;
}

/**
 * ntklog_record_identity_slow() - see ntklog_record_identity()
 * @notes: which, not NULL
 * @lock: see there
 * @caller: see there
 * @kind: see there
 *
 * Context: see there.
 */
notrace void ntklog_record_identity_slow(struct ntklog_identities *notes, unsigned long lock,
					 unsigned long caller, u8 kind)
{
	const u64 *set = notes->known[ntklog_set_of(lock)];
	struct page *slab = ntklog_find_slab(lock);
	unsigned long cache = ntklog_cache_of(lock, slab);
	u64 known;

	/*
	 * Caches are equal in the upper bits, and all slabs that an address may be in are in all
	 * but a few, which come there.
	 */
	known = (u64)lock * GOLDEN_RATIO_64 + kind + (cache ^ (u64)(unsigned long)slab << 44);
	if (likely(ntklog_identity_is_recorded(set, known)))
		return;
	/* Only its owner can tell that it is on a stack; others do not take that back. */
	if (cache == NTKLOG_IN_NO_SLAB && ntklog_identity_is_recorded(set, known + NTKLOG_ON_STACK))
		return;
	ntklog_add_identity(notes, lock, caller, kind, slab, cache, known);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_record_identity_slow);

/*
 * What is at any number: also one that would be a user's address, at which x86 with SMAP dies,
 * nofault or not, unless the number has been looked at before.
 */
static bool ntklog_read_u64(unsigned long at, unsigned long *word)
{
	return !get_kernel_nofault(*word, (unsigned long *)at);
}

static bool ntklog_read_half(unsigned long at, u32 *half)
{
	return !get_kernel_nofault(*half, (u32 *)at);
}

/* A text that can be read, is one word, and ends. */
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

/* What a cache says of itself; it may have gone, and then its memory is something else's. */
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

/* In the description of memory: of a node, or of a page. */
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

/* Does the section of per-CPU variables begin at 0? It does on x86 before 6.15. */
static bool ntklog_per_cpu_is_from_zero(void)
{
	return (__force unsigned long)&kstat < NTKLOG_PER_CPU_REACH;
}

/*
 * Where it would be in that section, if it is one of those. From 0 on each later processor's place
 * is below 0, and so a large number; else the one that is nearest to a variable of the section.
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

/* The lists of free pages that each processor has of a zone: per-CPU, and made at boot. */
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
 * What is in no slab: by where the address is, which does not change. A per-CPU place is no secret
 * where the section begins at 0; else it is an address of the kernel's, and its symbol is told.
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

/* A line: address, kind, when, what it is in, and who called. */
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

/* The notes of a set as they are at one moment, and its number then; false: not at this one. */
static bool ntklog_copy_set(struct ntklog_identities *notes, unsigned int set,
			    struct ntklog_identity ways[NTKLOG_IDENTITY_ASSOCIATIVITY],
			    u32 *sequence)
{
	unsigned int i;

	for (i = 0; i < NTKLOG_IDENTITY_TRIES; i++) {
		/* The number before the notes. Pairs with the release in ntklog_add_identity(). */
		*sequence = smp_load_acquire(&notes->sequence[set]);
		if (*sequence & 1) {
			cpu_relax();
			continue;
		}
		/* What is copied while it is written is copied again. */
		data_race(memcpy(ways, notes->notes[set], sizeof(notes->notes[set])));
		/* The notes before the number is looked at again. */
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
	/* Each note since has made the number larger by two. */
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

/* What has not been noted, if it has become more. */
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

/* The next lines; false: that was all, and it begins anew. */
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
 * ntklog_read_identities() - give the lines of notes that are new to a reader
 * @reader: from ntklog_open_identities()
 * @to: where to
 * @count: room there
 *
 * Context: thread.
 * Return: bytes; 0: there is nothing new, up to the next call; -EFAULT or -EINTR.
 */
ssize_t ntklog_read_identities(struct ntklog_identity_reader *reader, char __user *to,
			       size_t count)
{
	size_t done = 0, part;

	if (mutex_lock_interruptible(&reader->mutex))
		return -EINTR;
	/* Whoever reads up to the end comes to it, though there is always something new. */
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

/* One more who wants them, or one less. With ntklog_identity_mutex held. */
static int ntklog_enable_identities(bool want)
{
	struct ntklog_identities *notes;

	/* Without addresses nobody could say which lock a note is of. */
	if (!ntklog_slab_cache_word || ntklog_address_mode == NTKLOG_ADDRESS_ZERO)
		return -EOPNOTSUPP;
	if (want && !ntklog_identity_users) {
		notes = vzalloc(sizeof(*notes));
		if (!notes)
			return -ENOMEM;
		/* All zero before it can be found. Pairs with the dependency of who notes. */
		smp_store_release(&ntklog_identities, notes);
	}
	ntklog_identity_users += want ? 1 : -1;
	if (ntklog_identity_users)
		return 0;
	notes = ntklog_identities;
	WRITE_ONCE(ntklog_identities, NULL);
	/* Who notes has interrupts off. */
	synchronize_rcu();
	vfree(notes);
	return 0;
}

/**
 * ntklog_open_identities() - begin to read, and have notes made
 *
 * Context: thread.
 * Return: a reader, to which all notes are new; or -EOPNOTSUPP, where there can be
 * none, or -ENOMEM.
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
 * ntklog_close_identities() - end reading; with the last reader the notes go, unless they are kept
 * @reader: from ntklog_open_identities()
 *
 * Context: thread.
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
 * ntklog_enable_identities_always() - have notes made while nobody reads them, or no longer
 * @keep: whether
 *
 * Context: thread.
 * Return: 0, or as ntklog_open_identities() fails.
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
 * ntklog_identities_enabled() - are notes made while nobody reads them?
 *
 * Context: any.
 * Return: whether they are.
 */
bool ntklog_identities_enabled(void)
{
	return READ_ONCE(ntklog_identities_always_enabled);
}

/* Of a cache with a constructor there is no other: it is not merged with one of that size. */
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
	/* The size of an object with what belongs to it is right before that without. */
	for (i = sizeof(u32); i < NTKLOG_CACHE_WORDS * sizeof(long); i += sizeof(u32))
		if (!ntklog_cache_size_at && ntklog_read_half(cache + i, &size) &&
		    ntklog_read_half(cache + i + sizeof(u32), &object_size) &&
		    object_size == NTKLOG_PROBE_SIZE && size > object_size && size < PAGE_SIZE)
			ntklog_cache_size_at = i;
}

/**
 * ntklog_identity_init() - find out where the kernel keeps the cache of a slab
 *
 * Where that is not found nothing is noted, and it is said once.
 *
 * Context: load.
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
 * ntklog_identity_exit() - nobody logs any more
 *
 * Context: unload, or a load that failed; no file is open.
 */
void ntklog_identity_exit(void)
{
	ntklog_enable_identities_always(false);
}
