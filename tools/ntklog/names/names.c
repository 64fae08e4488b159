// SPDX-License-Identifier: GPL-2.0-only
/* Names of addresses and threads, read from a file as `ntklog record' writes it. */

#define _GNU_SOURCE

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "grow.h"
#include "lock_names.h"
#include "message.h"
#include "names.h"
#include "text.h"

/* Behind the last symbol of a module: how far what is there may still be its. */
#define LAST_SYMBOL_REACH	0x10000

/* Likewise of a function or a constant, which are not as large: behind them there may have been
 * another module, which was gone before its symbols were read.
 */
#define LAST_CODE_REACH		0x2000

/* Behind any other: what is farther is between what the symbols are of, as between offsets
 * of per-CPU variables and the kernel.
 */
#define SYMBOL_REACH		0x1000000

/*
 * @address: of the symbol
 * @size: of what it is of, whose name it is; 0: up to where another begins
 * @name: in the text of the file
 * @module: likewise, or NULL: the kernel's own
 * @type: nm(1)'s letter
 * @order: in the file: of two with one address the first counts, and images behind those
 */
struct symbol {
	uint64_t address;
	uint64_t size;
	const char *name;
	const char *module;
	char type;
	size_t order;
};

/*
 * @id: of the thread
 * @name: of it
 * @order: in which they came: of one that was renamed the last name counts, and of those of
 *	a file of names and of the trace the former
 */
struct thread_name {
	uint32_t id;
	const char *name;
	size_t order;
};

/* A name that is in no file of names. */
struct added_name {
	struct added_name *next;
	char text[];
};

/* Of what comes from a file of names; of the others it is less. */
#define FILE_ORDER	((size_t)1 << (8 * sizeof(size_t) - 2))

struct names {
	char *text;
	struct added_name *added;
	struct symbol *symbols;
	size_t symbol_count;
	struct thread_name *threads;
	size_t thread_count;
	char boot_id[40];
	uint64_t boot_time;
	struct lock_names locks;
};

static int compare_symbols(const void *a, const void *b)
{
	const struct symbol *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return left->order < right->order ? -1 : 1;
}

static int compare_threads(const void *a, const void *b)
{
	const struct thread_name *left = a, *right = b;

	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	return left->order > right->order ? -1 : 1;
}

static int add_thread(struct names *names, char *line)
{
	struct thread_name *more;
	char *end;
	unsigned long id = strtoul(line, &end, 10);

	if (end == line || *end != ' ' || id > UINT32_MAX)
		return -EINVAL;
	more = grown(names->threads, names->thread_count, sizeof(*more));
	if (!more)
		return -ENOMEM;
	names->threads = more;
	more[names->thread_count] = (struct thread_name) {
		id, end + 1, FILE_ORDER + names->thread_count
	};
	names->thread_count++;
	return 0;
}

/* As strtoull(), which takes a third of the time that all of it takes. */
static uint64_t parse_address(char *line, char **end)
{
	uint64_t value = 0;
	unsigned int digit;

	if (line[0] == '0' && (line[1] | 0x20) == 'x')
		line += 2;
	for (*end = line; *end < line + 16; ++*end) {
		char c = **end;

		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (c | 0x20) - 'a' + 10;
		else
			break;
		value = value << 4 | digit;
	}
	return value;
}

static int add_symbol(struct names *names, char *line)
{
	struct symbol *more;
	char *end, *name, *module;
	uint64_t address = parse_address(line, &end);

	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ' || !end[3])
		return -EINVAL;
	name = end + 3;
	module = strpbrk(name, "\t ");
	if (module) {
		*module++ = '\0';
		module = strchr(module, '[');
		if (module && strchr(module, ']'))
			module[strcspn(module, "]") + 1] = '\0';
	}
	/* What the kernel does not tell, and what has no size and hides the variable behind it. */
	if (!address || !strncmp(name, "__key.", 6))
		return 0;
	more = grown(names->symbols, names->symbol_count, sizeof(*more));
	if (!more)
		return -ENOMEM;
	names->symbols = more;
	more[names->symbol_count] = (struct symbol) {
		.address = address,
		.name = name,
		.module = module,
		.type = end[1],
		.order = names->symbol_count,
	};
	names->symbol_count++;
	return 0;
}

/* "ADDRESS CLASS" or "ADDRESS@CLOCK CLASS" */
static int add_lock(struct names *names, char *line)
{
	char *end;
	uint64_t address = parse_address(line, &end), clock = 0;

	if (end == line)
		return -EINVAL;
	if (*end == '@') {
		if (end[1] < '0' || end[1] > '9')
			return -EINVAL;
		errno = 0;
		clock = strtoull(end + 1, &end, 10);
		if (errno)
			return -EINVAL;
	}
	if (*end != ' ' || !end[1] || end[1] == ' ')
		return -EINVAL;
	return lock_names_add(&names->locks, address, clock, end + 1);
}

/* "ID TIME": a UUID, and in units of 100 ns, as the trace's header has it. */
static int set_boot(struct names *names, const char *line)
{
	char id[sizeof(names->boot_id)];
	uint64_t time;
	int used = 0;

	if (sscanf(line, "%36[0-9a-f-] %" SCNu64 "%n", id, &time, &used) != 2 || line[used] ||
	    strlen(id) != 36)
		return -EINVAL;
	memcpy(names->boot_id, id, sizeof(id));
	names->boot_time = time;
	return 0;
}

static int read_line(struct names *names, char *line)
{
	if (!strncmp(line, "thread ", 7))
		return add_thread(names, line + 7);
	if (!strncmp(line, "lock ", 5))
		return add_lock(names, line + 5);
	if (!strncmp(line, "boot ", 5))
		return set_boot(names, line + 5);
	return add_symbol(names, line);
}

static int read_lines(struct names *names, const char *path)
{
	unsigned long number = 0;
	char *line, *next = names->text;

	while ((line = strsep(&next, "\n"))) {
		int err;

		/* The last line of who was killed while writing it. */
		if (!next)
			break;
		number++;
		if (!*line)
			continue;
		err = read_line(names, line);
		if (err == -EINVAL)
			message("%s: line %lu is neither a symbol nor a thread, a lock or a boot",
				path, number);
		else if (err)
			message("%s: %s", path, strerror(-err));
		if (err)
			return -1;
	}
	return 0;
}

static int read_text(struct names *names, FILE *stream)
{
	size_t size = 0, room = 0;

	do {
		char *more;

		room = room ? 2 * room : 1 << 20;
		more = realloc(names->text, room + 1);
		if (!more)
			return -1;
		names->text = more;
		size += fread(names->text + size, 1, room - size, stream);
	} while (size == room);
	names->text[size] = '\0';
	/* A NUL in it would hide the rest. */
	if (ferror(stream) || strlen(names->text) != size)
		return -1;
	text_clean_large(names->text, size);
	return 0;
}

/* The kernel's own are in order, those of modules behind them are not. */
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

/* A name of one's own, in names that are made if there are none. */
static const char *add_name(struct names **names, const char *text)
{
	struct added_name *added;

	if (!*names)
		*names = calloc(1, sizeof(**names));
	if (!*names)
		return NULL;
	added = malloc(sizeof(*added) + strlen(text) + 1);
	if (!added)
		return NULL;
	memcpy(added->text, text, strlen(text) + 1);
	text_clean_line(added->text);
	added->next = (*names)->added;
	(*names)->added = added;
	return added->text;
}

/**
 * names_add_image() - name what is in an image in memory
 * @names: where to; made if there are none
 * @base: where the image is
 * @size: of it
 * @name: of it
 * @rank: of two at one place the one of the higher rank counts, else the later one
 *
 * Nothing is found before names_sort().
 *
 * Return: 0, or -1: no memory.
 */
int names_add_image(struct names **names, uint64_t base, uint64_t size, const char *name,
		    unsigned int rank)
{
	const char *text = add_name(names, name);
	struct symbol *more;

	if (!text)
		return -1;
	more = grown((*names)->symbols, (*names)->symbol_count, sizeof(*more));
	if (!more)
		return -1;
	(*names)->symbols = more;
	more[(*names)->symbol_count] = (struct symbol) {
		.address = base,
		.size = size,
		.name = text,
		.type = 't',
		.order = 2 * FILE_ORDER - rank * (FILE_ORDER / 2) - (*names)->symbol_count,
	};
	(*names)->symbol_count++;
	return 0;
}

/**
 * names_add_thread() - name a thread, if no file of names does
 * @names: where to; made if there are none
 * @id: of the thread
 * @name: of it
 *
 * Nothing is found before names_sort().
 *
 * Return: 0, or -1: no memory.
 */
int names_add_thread(struct names **names, uint32_t id, const char *name)
{
	const char *text = add_name(names, name);
	struct thread_name *more;

	if (!text)
		return -1;
	more = grown((*names)->threads, (*names)->thread_count, sizeof(*more));
	if (!more)
		return -1;
	(*names)->threads = more;
	more[(*names)->thread_count] = (struct thread_name) { id, text, (*names)->thread_count };
	(*names)->thread_count++;
	return 0;
}

/**
 * names_add_lock() - say of which class a lock is
 * @names: where to; made if there are none
 * @address: of the lock
 * @clock: from which on it is
 * @class: name of the class
 *
 * Nothing is found before names_sort_locks().
 *
 * Return: 0, or -1: no memory.
 */
int names_add_lock(struct names **names, uint64_t address, uint64_t clock, const char *class)
{
	char *text = strdup(class);
	int err = -1;

	if (!*names)
		*names = calloc(1, sizeof(**names));
	if (*names && text) {
		text_clean_line(text);
		err = lock_names_add(&(*names)->locks, address, clock, text);
	}
	free(text);
	return err ? -1 : 0;
}

/**
 * names_move_classes() - have what is known of locks in other names
 * @to: which know nothing of locks
 * @from: from which it goes
 *
 * A class keeps its key.
 */
void names_move_classes(struct names *to, struct names *from)
{
	to->locks = from->locks;
	from->locks = (struct lock_names) { 0 };
}

/**
 * names_sort_locks() - put locks that were added where they are found
 * @names: names, not NULL
 */
void names_sort_locks(struct names *names)
{
	lock_names_sort(&names->locks);
}

/**
 * names_lock_key() - what a lock is summed up as
 * @names: names, or NULL
 * @address: of the lock
 * @clock: of the event
 *
 * Return: its class, of which all functions here tell the name; or the address itself.
 */
uint64_t names_lock_key(const struct names *names, uint64_t address, uint64_t clock)
{
	return names ? lock_names_key(&names->locks, address, clock) : address;
}

/**
 * names_key_is_class() - is it no address, but a class?
 * @names: names, or NULL
 * @key: from names_lock_key()
 *
 * Return: whether it is.
 */
bool names_key_is_class(const struct names *names, uint64_t key)
{
	return names && lock_names_class(&names->locks, key);
}

/**
 * names_lock_count() - how much is known of locks?
 * @names: names, or NULL
 *
 * Return: how many times a lock has become one of a class.
 */
size_t names_lock_count(const struct names *names)
{
	return names ? names->locks.count : 0;
}

/**
 * names_have_classes() - is any lock one of a class?
 * @names: names, or NULL
 *
 * Return: whether one is.
 */
bool names_have_classes(const struct names *names)
{
	return names && names->locks.count;
}

/**
 * names_have_class() - has any class this text in its name?
 * @names: names, or NULL
 * @text: the text
 *
 * Return: whether one has.
 */
bool names_have_class(const struct names *names, const char *text)
{
	const char *class;
	uint64_t i;

	for (i = 0; names && (class = lock_names_class(&names->locks, NAMES_CLASS_KEY + i)); i++)
		if (strstr(class, text))
			return true;
	return false;
}

/**
 * names_boot_time() - of which boot are they?
 * @names: names, or NULL
 *
 * Return: when it was, as the trace's header has it; 0: they do not say.
 */
uint64_t names_boot_time(const struct names *names)
{
	return names ? names->boot_time : 0;
}

/**
 * names_boot_id() - of which boot are they?
 * @names: names, or NULL
 *
 * Return: what the kernel calls it; empty: they do not say.
 */
const char *names_boot_id(const struct names *names)
{
	return names ? names->boot_id : "";
}

/**
 * names_sort() - put all where it is found
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
 * names_load() - read the names that belong to a file
 * @names: what is read; NULL if there are none
 * @path: of the names, or NULL: those beside the file, if there are any
 * @trace_path: of the file
 *
 * Return: 0, or -1 after a message.
 */
int names_load(struct names **names, const char *path, const char *trace_path)
{
	char beside[4096];
	FILE *stream;

	*names = NULL;
	if (!path)
		snprintf(beside, sizeof(beside), "%s%s", trace_path, NAMES_SUFFIX);
	stream = fopen(path ? path : beside, "r");
	if (!stream && !path && errno == ENOENT)
		return 0;
	if (!path)
		path = beside;
	if (!stream) {
		message("%s: %s", path, strerror(errno));
		return -1;
	}
	*names = calloc(1, sizeof(**names));
	if (!*names || read_text(*names, stream)) {
		message("%s: cannot be read as text", path);
		goto err;
	}
	if (read_lines(*names, path))
		goto err;
	fclose(stream);
	names_sort(*names);
	return 0;

err:
	fclose(stream);
	names_free(*names);
	*names = NULL;
	return -1;
}

/* Of a symbol behind which there is none of the same module. */
static uint64_t last_symbol_reach(const struct symbol *symbol)
{
	return symbol->module && strchr("tTwWrR", symbol->type) ? LAST_CODE_REACH :
								  LAST_SYMBOL_REACH;
}

static bool is_code(const struct symbol *symbol)
{
	return strchr("tTwWiu", symbol->type);
}

/*
 * Find the last symbol at or before an address. A module's functions for its initialisation are
 * freed once they have run, and their symbols with them. An address in one of them comes after
 * whatever symbol is left below it, which may be a variable. So an address that is known to be
 * code has no symbol if the symbol below it is data.
 */
static const struct symbol *find_symbol(const struct names *names, uint64_t address,
					enum names_use use)
{
	size_t low = 0, high = names->symbol_count;
	const struct symbol *found, *after;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (names->symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	found = &names->symbols[low - 1];
	after = low < names->symbol_count ? &names->symbols[low] : NULL;
	while (found > names->symbols && found[-1].address == found->address)
		found--;
	if (use == NAMES_OF_CODE) {
		while (!is_code(found) && found + 1 < names->symbols + low)
			found++;
		if (!is_code(found))
			return NULL;
	}
	if (found->size)
		return address - found->address < found->size ? found : NULL;
	if (address - found->address > SYMBOL_REACH)
		return NULL;
	if ((!after || !found->module != !after->module ||
	     (found->module && strcmp(found->module, after->module))) &&
	    address - found->address > last_symbol_reach(found))
		return NULL;
	return found;
}

/**
 * names_find_symbol() - the symbol at or before an address, in parts
 * @names: names, or NULL
 * @address: address of a lock, or of an instruction
 * @use: which of both
 * @offset: set to the distance of @address from the symbol, bytes
 * @module: set to the symbol's module as "[MODULE]", or to NULL for the kernel itself
 *
 * Return: the symbol's name, or NULL if there is none.
 */
const char *names_find_symbol(const struct names *names, uint64_t address, enum names_use use,
			      uint64_t *offset, const char **module)
{
	const char *class = names ? lock_names_class(&names->locks, address) : NULL;
	const struct symbol *symbol;

	if (class) {
		*offset = 0;
		*module = NULL;
		return class;
	}
	symbol = names ? find_symbol(names, address, use) : NULL;
	if (!symbol)
		return NULL;
	*offset = address - symbol->address;
	*module = symbol->module;
	return symbol->name;
}

/**
 * names_function() - the function that a return address of a stack is in
 * @names: names, or NULL
 * @address: where it returns to: behind the call, which may be the function's last instruction
 * @text: its symbol; the address, if there is none; of an image, whose functions are not known,
 *	with the place in it
 * @size: of @text
 */
void names_function(const struct names *names, uint64_t address, char *text, size_t size)
{
	const struct symbol *symbol = names ? find_symbol(names, address - 1, NAMES_OF_CODE) : NULL;

	if (!symbol)
		snprintf(text, size, "0x%" PRIx64, address);
	else if (symbol->size)
		snprintf(text, size, "%s+0x%" PRIx64, symbol->name, address - symbol->address);
	else
		snprintf(text, size, "%s", symbol->name);
}

/**
 * names_index() - where is the symbol at or before an address?
 * @names: names, or NULL
 * @address: whose
 *
 * Return: its index, or SIZE_MAX: there is none.
 */
size_t names_index(const struct names *names, uint64_t address)
{
	const struct symbol *symbol = names ? find_symbol(names, address, NAMES_OF_ANY) : NULL;

	return symbol ? (size_t)(symbol - names->symbols) : SIZE_MAX;
}

/**
 * names_next_index() - the first symbol after the address of another
 * @names: names
 * @index: of that other, or SIZE_MAX
 *
 * Return: its index, or SIZE_MAX: there is none.
 */
size_t names_next_index(const struct names *names, size_t index)
{
	size_t next = index;

	if (index == SIZE_MAX)
		return index;
	while (next < names->symbol_count &&
	       names->symbols[next].address == names->symbols[index].address)
		next++;
	return next < names->symbol_count ? next : SIZE_MAX;
}

/**
 * names_symbol_at() - a symbol
 * @names: names
 * @index: of it, or SIZE_MAX
 * @symbol: it
 *
 * Return: whether there is one.
 */
bool names_symbol_at(const struct names *names, size_t index, struct names_symbol *symbol)
{
	if (index == SIZE_MAX)
		return false;
	*symbol = (struct names_symbol) {
		.address = names->symbols[index].address,
		.type = names->symbols[index].type,
		.name = names->symbols[index].name,
		.module = names->symbols[index].module,
	};
	return true;
}

/**
 * names_have_symbol() - is any symbol called so?
 * @names: names, or NULL
 * @name: without offset and module
 *
 * Return: whether one is.
 */
bool names_have_symbol(const struct names *names, const char *name)
{
	size_t i;

	for (i = 0; names && i < names->symbol_count; i++)
		if (!strcmp(names->symbols[i].name, name))
			return true;
	return false;
}

/**
 * names_have_thread() - is any thread called so?
 * @names: names, or NULL
 * @name: in whatever case
 *
 * Return: whether one is.
 */
bool names_have_thread(const struct names *names, const char *name)
{
	size_t i;

	for (i = 0; names && i < names->thread_count; i++)
		if (!strcasecmp(names->threads[i].name, name))
			return true;
	return false;
}

/**
 * names_symbol() - print the symbol at or before an address
 * @names: names, or NULL
 * @address: address of a lock, key of a class of locks, or address of an instruction
 * @use: which symbols can be meant by @address
 * @text: set to "NAME+0xOFFSET [MODULE]", or to the name of the class
 * @size: bytes of @text
 *
 * Return: true if there is a symbol; false, with an empty @text, if there is none.
 */
bool names_symbol(const struct names *names, uint64_t address, enum names_use use, char *text,
		  size_t size)
{
	const char *class = names ? lock_names_class(&names->locks, address) : NULL;
	const struct symbol *symbol;
	int used;

	text[0] = '\0';
	if (class) {
		if (snprintf(text, size, "%s", class) >= (int)size)
			text_clean(text);
		return true;
	}
	symbol = names ? find_symbol(names, address, use) : NULL;
	if (!symbol)
		return false;
	used = snprintf(text, size, "%s", symbol->name);
	if (address != symbol->address && (size_t)used < size)
		used += snprintf(text + used, size - used, "+0x%" PRIx64,
				 address - symbol->address);
	if (symbol->module && (size_t)used < size)
		used += snprintf(text + used, size - used, " %s", symbol->module);
	/* It may have been cut within a character. */
	if ((size_t)used >= size)
		text_clean(text);
	return true;
}

/**
 * names_code_address() - print the symbol of an instruction, or its address
 * @names: names, or NULL
 * @address: address of an instruction
 * @text: set to the symbol, or to the address if there is none
 * @size: bytes of @text
 */
void names_code_address(const struct names *names, uint64_t address, char *text, size_t size)
{
	if (!names_symbol(names, address, NAMES_OF_CODE, text, size))
		snprintf(text, size, "0x%" PRIx64, address);
}

/**
 * names_address() - print the symbol of a lock, or its address and its class
 * @names: names, or NULL
 * @address: address of a lock, or key of a class of locks
 * @text: set to the symbol; without one to the address, followed by the class if it is known
 * @size: bytes of @text
 */
void names_address(const struct names *names, uint64_t address, char *text, size_t size)
{
	uint64_t key;
	int used;

	if (names_symbol(names, address, NAMES_OF_ANY, text, size))
		return;
	used = snprintf(text, size, "0x%" PRIx64, address);
	/* Of a lock that has been of several classes the last one. */
	key = names_lock_key(names, address, UINT64_MAX);
	if (key == address || (size_t)used + 2 > size)
		return;
	text[used] = ' ';
	names_symbol(names, key, NAMES_OF_ANY, text + used + 1, size - used - 1);
}

/**
 * names_thread() - the name of a thread
 * @names: names, or NULL
 * @thread_id: which
 *
 * Return: the name, or NULL.
 */
const char *names_thread(const struct names *names, uint32_t thread_id)
{
	size_t low = 0, high = names ? names->thread_count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (names->threads[middle].id < thread_id)
			low = middle + 1;
		else
			high = middle;
	}
	if (names && low < names->thread_count && names->threads[low].id == thread_id)
		return names->threads[low].name;
	return NULL;
}

/**
 * names_forget_classes() - know nothing of locks
 * @names: names, not NULL
 */
void names_forget_classes(struct names *names)
{
	lock_names_free(&names->locks);
}

/**
 * names_free() - let names go
 * @names: names, or NULL
 */
void names_free(struct names *names)
{
	struct added_name *next;

	if (!names)
		return;
	for (; names->added; names->added = next) {
		next = names->added->next;
		free(names->added);
	}
	free(names->text);
	free(names->symbols);
	free(names->threads);
	names_forget_classes(names);
	free(names);
}
