// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "names.h"
#include "names_table.h"
#include "text.h"

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return left->rank < right->rank ? -1 : 1;
}

static int compare_threads(const void *a, const void *b)
{
	const struct thread_name *left = a, *right = b;
	int order = compare_thread_entries(left, right);

	if (order)
		return order;
	return left->rank < right->rank ? -1 : 1;
}

/* Sort symbols. Those of the kernel usually come first and in order, those of modules do not. */
static void sort_symbols(struct symbol *symbols, size_t count)
{
	size_t sorted = 1;

	while (sorted < count && compare_symbols(&symbols[sorted - 1], &symbols[sorted]) < 0)
		sorted++;
	if (sorted >= count)
		return;
	qsort(symbols + sorted, count - sorted, sizeof(*symbols), compare_symbols);
	if (compare_symbols(&symbols[sorted - 1], &symbols[sorted]) > 0)
		qsort(symbols, count, sizeof(*symbols), compare_symbols);
}

/* Allocate @names if it is NULL. */
static bool make_names(struct names **names)
{
	if (!*names)
		*names = calloc(1, sizeof(**names));
	return *names;
}

static const char *add_text(struct added_text **texts, const char *text)
{
	struct added_text *added = malloc(sizeof(*added) + strlen(text) + 1);

	if (!added)
		return NULL;
	memcpy(added->text, text, strlen(text) + 1);
	text_clean_line(added->text);
	added->next = *texts;
	*texts = added;
	return added->text;
}

static void free_texts(struct added_text **texts)
{
	struct added_text *next;

	for (; *texts; *texts = next) {
		next = (*texts)->next;
		free(*texts);
	}
}

/**
 * names_add_image() - add the name of an image in memory
 * @names: names to add to; allocated if NULL
 * @base: address of the image
 * @size: bytes of the image
 * @name: name of the image
 * @rank: rank among images at one address, of which the highest counts; among equals the last one
 *
 * Searches find the image after names_sort().
 *
 * Return: 0, or -1 without memory.
 */
int names_add_image(struct names **names, uint64_t base, uint64_t size, const char *name,
		    unsigned int rank)
{
	const char *text = make_names(names) ? add_text(&(*names)->symbol_texts, name) : NULL;
	struct symbol *more;

	if (!text)
		return -1;
	more = grow_by_one((*names)->symbols, (*names)->symbol_count, sizeof(*more));
	if (!more)
		return -1;
	(*names)->symbols = more;
	more[(*names)->symbol_count] = (struct symbol) {
		.address = base,
		.size = size,
		.name = text,
		.type = 't',
		.rank = 2 * FILE_RANK_BASE - rank * (FILE_RANK_BASE / 2) - (*names)->symbol_count,
	};
	(*names)->symbol_count++;
	return 0;
}

/**
 * names_add_thread() - name a thread or a process of Windows, unless a file of names does
 * @names: names to add to; allocated if NULL
 * @thread: the thread or the process; its name is copied, its cgroup and its rank are not used
 *
 * Searches find the name after names_sort().
 *
 * Return: 0, or -1 without memory.
 */
int names_add_thread(struct names **names, const struct thread_name *thread)
{
	const char *text = make_names(names) ? add_text(&(*names)->thread_texts, thread->name) :
					NULL;
	struct thread_name *more;

	if (!text)
		return -1;
	more = grow_by_one((*names)->threads, (*names)->thread_count, sizeof(*more));
	if (!more)
		return -1;
	(*names)->threads = more;
	more[(*names)->thread_count] = *thread;
	more[(*names)->thread_count].name = text;
	more[(*names)->thread_count].cgroup = NULL;
	more[(*names)->thread_count].rank = (*names)->thread_count;
	(*names)->thread_count++;
	return 0;
}

/* Find the first entry that is not before one of a thread and a time. */
static size_t find_thread_index(const struct names *names, const struct thread_name *thread)
{
	size_t low = 0, high = names->thread_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_thread_entries(&names->threads[middle], thread) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/**
 * names_set_thread() - name a thread from a time on
 * @names: sorted names to add to; allocated if NULL
 * @thread: the thread; its texts are copied, and its rank is not used
 *
 * A name that the thread has from exactly that time is replaced. Searches find the name at once.
 *
 * Return: 0, or -1 without memory.
 */
int names_set_thread(struct names **names, const struct thread_name *thread)
{
	struct thread_name *more, *place;
	const char *name, *cgroup = NULL;
	size_t at;

	if (!make_names(names))
		return -1;
	name = add_text(&(*names)->thread_texts, thread->name);
	if (thread->cgroup)
		cgroup = add_text(&(*names)->thread_texts, thread->cgroup);
	if (!name || (thread->cgroup && !cgroup))
		return -1;
	at = find_thread_index(*names, thread);
	place = &(*names)->threads[at];
	if (at == (*names)->thread_count || compare_thread_entries(place, thread)) {
		more = grow_by_one((*names)->threads, (*names)->thread_count, sizeof(*more));
		if (!more)
			return -1;
		(*names)->threads = more;
		place = &more[at];
		memmove(place + 1, place, ((*names)->thread_count - at) * sizeof(*place));
		(*names)->thread_count++;
	}
	*place = *thread;
	place->name = name;
	place->cgroup = cgroup;
	place->rank = 0;
	return 0;
}

/**
 * names_add_lock() - add the class of a lock
 * @names: names to add to; allocated if NULL
 * @address: address of the lock
 * @clock: session clock from which on the lock is of this class
 * @class: name of the class
 *
 * Searches find the class after names_sort_locks().
 *
 * Return: 0, or -1 without memory.
 */
int names_add_lock(struct names **names, uint64_t address, uint64_t clock, const char *class)
{
	char *text = strdup(class);
	int err = -1;

	if (make_names(names) && text) {
		text_clean_line(text);
		err = lock_names_add(&(*names)->locks, address, clock, text);
	}
	free(text);
	return err ? -1 : 0;
}

/**
 * names_move_classes() - move all classes of locks to other names
 * @destination: names without classes, to move to
 * @source: names to move from
 *
 * The keys of the classes stay valid.
 */
void names_move_classes(struct names *destination, struct names *source)
{
	destination->locks = source->locks;
	source->locks = (struct lock_names) { 0 };
}

/**
 * names_move_threads() - move the names of threads to other names
 * @destination: names without threads, to move to
 * @source: names to move from, whose threads names_set_thread() has named
 *
 * The texts move along, and keep their addresses.
 */
void names_move_threads(struct names *destination, struct names *source)
{
	destination->threads = source->threads;
	destination->thread_count = source->thread_count;
	destination->thread_texts = source->thread_texts;
	source->threads = NULL;
	source->thread_count = 0;
	source->thread_texts = NULL;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/*
 * Test whether the memory of an old symbol belongs to a module that has been loaded since. @index
 * is that of the present symbol before the old one. If it is of a module that was there before, it
 * reaches the old symbol only because a symbol has its name up to the end of a page.
 */
static bool symbol_is_replaced(const struct symbol *symbol, const struct names *old,
			       const struct names *names, size_t index)
{
	const struct symbol *present = &names->symbols[index], *before;
	size_t old_index = names_symbol_index(old, present->address);

	if (present->address == symbol->address || is_same_text(present->module, symbol->module))
		return true;
	before = old_index == SIZE_MAX ? NULL : &old->symbols[old_index];
	return !before || before->address != present->address ||
	       !is_same_text(before->name, present->name) ||
	       !is_same_text(before->module, present->module);
}

/**
 * names_keep_modules() - add the symbols of unloaded modules to the present ones
 * @names: present symbols, sorted
 * @old: symbols that were read before, sorted
 *
 * A symbol is kept unless its address has a new symbol: another module may have got the memory.
 * Without memory the others are left out.
 */
void names_keep_modules(struct names *names, const struct names *old)
{
	size_t count = names->symbol_count, i;

	for (i = 0; i < old->symbol_count; i++) {
		const struct symbol *symbol = &old->symbols[i];
		size_t present = names_symbol_index(names, symbol->address);
		struct symbol *more;

		if (!symbol->module ||
		    (present != SIZE_MAX && symbol_is_replaced(symbol, old, names, present)))
			continue;
		more = grow_by_one(names->symbols, count, sizeof(*more));
		if (!more)
			break;
		names->symbols = more;
		more[count] = (struct symbol) {
			.address = symbol->address,
			.name = add_text(&names->symbol_texts, symbol->name),
			.module = add_text(&names->symbol_texts, symbol->module),
			.type = symbol->type,
			.rank = count,
		};
		if (!more[count].name || !more[count].module)
			break;
		count++;
	}
	names->symbol_count = count;
	sort_symbols(names->symbols, count);
}

/**
 * names_sort_locks() - make searches find the classes that were added
 * @names: names, not NULL
 */
void names_sort_locks(struct names *names)
{
	lock_names_sort(&names->locks);
}

/**
 * names_sort() - make searches find all that was added
 * @names: names, or NULL
 */
void names_sort(struct names *names)
{
	if (names)
		names_sort_locks(names);
	if (names)
		sort_symbols(names->symbols, names->symbol_count);
	if (names && names->thread_count)
		qsort(names->threads, names->thread_count, sizeof(struct thread_name),
		      compare_threads);
}

/**
 * names_forget_classes() - remove all classes of locks
 * @names: names, not NULL
 */
void names_forget_classes(struct names *names)
{
	lock_names_free(&names->locks);
}

/**
 * names_forget_threads() - remove the names of all threads
 * @names: names, not NULL
 */
void names_forget_threads(struct names *names)
{
	free_texts(&names->thread_texts);
	free(names->threads);
	names->threads = NULL;
	names->thread_count = 0;
}

/**
 * names_free() - free names
 * @names: names, or NULL
 */
void names_free(struct names *names)
{
	if (!names)
		return;
	free(names->text);
	free(names->symbols);
	free_texts(&names->symbol_texts);
	names_forget_threads(names);
	names_forget_classes(names);
	free(names);
}
