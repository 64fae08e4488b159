// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/identity.h>

#include "cache_rules.h"
#include "classes.h"
#include "hash.h"
#include "macros.h"
#include "slab_names.h"

/* Most names in the cache of names. */
#define KEPT_MAX	65536

/* Greatest alignment of variables: the size of a symbol may include padding of less than this. */
#define ALIGNMENT	64

#define KEY_SIZE	448

/* Assumed size of the reserved and dynamic per-CPU memory behind the variables. Pages follow it. */
#define PER_CPU_DYNAMIC	0x10000

struct kept_class {
	char key[KEY_SIZE];
	char name[CLASS_SIZE];
	UT_hash_handle hh;
};

struct class_namer {
	char *directory;
	struct kernel_types *types;
	struct slab_names slabs;
	struct kept_class *kept;
};

/*
 * A parsed line of the file identities.
 *
 * @offset: offset of the lock in the slab, the symbol or other memory, bytes
 * @size: bytes of an object with its metadata, or of the symbol
 */
struct noted_place {
	unsigned int kind;
	char memory_kind[16];
	uint64_t offset;
	uint32_t size;
	uint32_t object_size;
	char name[128];
	char module[64];
	char caller[128];
	char caller_module[64];
};

/*
 * Parse a number, and move @text behind it. Returns false if there is none. With sscanf() a line
 * would take half as much time again.
 */
static bool parse_number(const char **text, int base, uint64_t *number)
{
	char *end;

	*number = strtoull(*text, &end, base);
	if (end == *text)
		return false;
	*text = end;
	return true;
}

/* Copy the next word of @text, and move @text behind it. */
static void parse_word(const char **text, char *word, size_t size)
{
	size_t length, copied;

	*text += strspn(*text, " ");
	length = strcspn(*text, " ");
	copied = length < size ? length : size - 1;
	memcpy(word, *text, copied);
	word[copied] = '\0';
	*text += length;
}

/* Parse "NAME+0xOFFSET/0xSIZE [MODULE]", or "-" for no symbol. */
static void parse_symbol(const char *text, char name[128], char module[64], uint64_t *offset,
			 uint32_t *size)
{
	const char *bracket = strchr(text, '['), *plus = strchr(text, '+'), *at;
	uint64_t number;

	*offset = 0;
	*size = 0;
	module[0] = '\0';
	name[0] = '\0';
	if (*text == '-')
		return;
	snprintf(name, 128, "%.*s", (int)strcspn(text, "+ "), text);
	at = plus ? plus + 1 : "";
	if (parse_number(&at, 16, offset) && *at++ == '/' && parse_number(&at, 16, &number))
		*size = number;
	if (bracket)
		snprintf(module, 64, "%.*s", (int)strcspn(bracket + 1, "]"), bracket + 1);
}

/* Parse " 0xCACHE OFFSET SIZE OBJECT_SIZE NAME". */
static bool parse_slab(const char *text, struct noted_place *place)
{
	uint64_t cache, size, object_size;

	if (!parse_number(&text, 16, &cache) || !parse_number(&text, 10, &place->offset) ||
	    !parse_number(&text, 10, &size) || !parse_number(&text, 10, &object_size))
		return false;
	place->size = size;
	place->object_size = object_size;
	parse_word(&text, place->name, sizeof(place->name));
	return *place->name;
}

static bool parse_line(const char *line, struct class_note *note, struct noted_place *place)
{
	const char *by = strstr(line, " by "), *after_memory = line;
	uint64_t offset, kind;
	char text[512];
	uint32_t size;

	*place = (struct noted_place) { 0 };
	if (!by || !parse_number(&after_memory, 16, &note->address) ||
	    !parse_number(&after_memory, 10, &kind) ||
	    !parse_number(&after_memory, 10, &note->time) ||
	    !kind || kind >= NTKLOG_IDENTITY_KINDS)
		return false;
	place->kind = kind;
	parse_word(&after_memory, place->memory_kind, sizeof(place->memory_kind));
	parse_symbol(by + 4, place->caller, place->caller_module, &offset, &size);
	/* GCC names parts of a function FUNCTION.constprop.0 and the like. */
	place->caller[strcspn(place->caller, ".")] = '\0';
	if (after_memory > by)
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(by - after_memory), after_memory);
	after_memory = text;
	if (!strcmp(place->memory_kind, "slab"))
		return parse_slab(text, place);
	if (!strcmp(place->memory_kind, "symbol") ||
	    (!strcmp(place->memory_kind, "percpu") &&
	     !parse_number(&after_memory, 10, &place->offset))) {
		parse_symbol(text + (*text == ' '), place->name, place->module, &place->offset,
			     &place->size);
		return *place->name;
	}
	if (!strcmp(place->memory_kind, "node") || !strcmp(place->memory_kind, "page") ||
	    !strcmp(place->memory_kind, "lists"))
		return parse_number(&after_memory, 10, &place->offset);
	return true;
}

static void make_caller_name(const struct noted_place *place, char *name, const char *what)
{
	if (*place->caller)
		snprintf(name, CLASS_SIZE, "%s (%s)", what, place->caller);
	else
		snprintf(name, CLASS_SIZE, "%s", what);
}

/* Name a lock by the one name of a merged cache whose structure has a lock there. */
static bool make_name_from_aliases(const struct class_namer *classes, struct lock_place *place,
				   char *name)
{
	const struct slab_name *first;
	size_t count = slab_names_find(&classes->slabs, place->cache, &first), i;
	char candidate[CLASS_SIZE - 1], found[CLASS_SIZE - 1] = "";
	enum cache_result match;
	bool is_certain = true;

	if (!count)
		return false;
	for (i = 0; i < count; i++) {
		place->cache = first[i].name;
		match = cache_rules_apply(classes->types, place, candidate, sizeof(candidate));
		/* The object may be of a cache whose structure is not known. */
		is_certain &= match != CACHE_NOT_KNOWN;
		if (match != CACHE_NAMED)
			continue;
		if (*found && strcmp(found, candidate))
			return false;
		memcpy(found, candidate, sizeof(found));
	}
	if (!*found)
		return false;
	snprintf(name, CLASS_SIZE, "%s%s", is_certain ? "" : "~", found);
	return true;
}

/* Name a lock in a slab. "~" marks a guess. */
static void make_slab_name(const struct class_namer *classes, const struct noted_place *place,
			   char *name)
{
	struct lock_place slab_place = {
		.cache = place->name,
		.object_size = place->object_size,
		.kind = place->kind,
	};
	const struct slab_name *first;
	char text[CLASS_SIZE - 1], caches[512];
	uint32_t red_zone;

	snprintf(caches, sizeof(caches), "%s/slab", classes->directory);
	red_zone = slab_read_red_zone(caches, place->name);
	if (!place->size || !strcmp(place->name, "-") || place->offset % place->size < red_zone) {
		make_caller_name(place, name, "slab");
		return;
	}
	slab_place.offset = place->offset % place->size - red_zone;
	if (cache_is_kmalloc(&slab_place)) {
		if (cache_guess_type(classes->types, &slab_place, place->caller,
				     place->caller_module, text, sizeof(text)))
			snprintf(name, CLASS_SIZE, "~%s", text);
		else
			snprintf(name, CLASS_SIZE, "%.60s+0x%" PRIx32 " (%.120s)", place->name,
				 slab_place.offset, *place->caller ? place->caller : "?");
		return;
	}
	if (slab_names_find(&classes->slabs, place->name, &first) > 1) {
		if (make_name_from_aliases(classes, &slab_place, name))
			return;
	} else if (cache_rules_apply(classes->types, &slab_place, text, sizeof(text)) ==
		   CACHE_NAMED) {
		/* Without /sys/kernel/slab it is not known which caches are merged. */
		snprintf(name, CLASS_SIZE, "%s%s", classes->slabs.is_known ? "" : "~", text);
		return;
	}
	snprintf(name, CLASS_SIZE, "%s+0x%" PRIx32, place->name, slab_place.offset);
}

static bool make_member_name(const struct class_namer *classes, const char *type,
			     const char *prefix, const struct noted_place *place, char *name)
{
	struct lock_path path;
	struct type_ref found;

	if (!types_find_struct(classes->types, type, &found) ||
	    !types_find_lock(&found, place->offset, place->kind, &path))
		return false;
	snprintf(name, CLASS_SIZE, "%s%s", prefix, path.text);
	return true;
}

static const struct {
	const char *name;
	const char *type;
} variables[] = {
	{ "bit_wait_table", "wait_queue_head" },
	{ "init_files", "files_struct" },
	{ "init_fs", "fs_struct" },
	{ "init_mm", "mm_struct" },
	{ "init_sighand", "sighand_struct" },
	{ "init_signals", "signal_struct" },
	{ "init_task", "task_struct" },
	{ "noop_backing_dev_info", "backing_dev_info" },
	{ "root_task_group", "task_group" },
};

/*
 * Find the lock in the structure of a variable. The symbol must have the size of the structure,
 * with padding up to the next symbol, or, for the names in variables[], a multiple of it.
 */
static bool find_in_variable(const struct class_namer *classes, const struct noted_place *place,
			     struct lock_path *path, bool *is_array)
{
	const char *type = place->name;
	struct type_ref found;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(variables); i++)
		if (!strcmp(variables[i].name, place->name))
			type = variables[i].type;
	if (!types_find_struct(classes->types, type, &found) || !found.size ||
	    place->size < found.size || place->offset >= place->size)
		return false;
	*is_array = place->size >= found.size + ALIGNMENT;
	if (*is_array && (type == place->name || place->size % found.size))
		return false;
	return types_find_lock(&found, place->offset % found.size, place->kind, path);
}

static void make_symbol_name(const struct class_namer *classes, const struct noted_place *place,
			     char *name)
{
	struct lock_path path;
	bool is_array;
	int used;

	if (find_in_variable(classes, place, &path, &is_array))
		used = snprintf(name, CLASS_SIZE, "%.80s%s%s", place->name, is_array ? "[]" : "",
				path.text);
	else if (place->offset)
		used = snprintf(name, CLASS_SIZE, "%s+0x%" PRIx64, place->name, place->offset);
	else
		used = snprintf(name, CLASS_SIZE, "%s", place->name);
	if (*place->module && used < CLASS_SIZE)
		snprintf(name + used, CLASS_SIZE - used, " [%s]", place->module);
}

static void make_per_cpu_name(const struct class_namer *classes, const struct noted_place *place,
			      char *name)
{
	const char *variable = place->name;
	uint32_t offset = place->offset;
	struct lock_path path;
	struct type_ref found;

	if (*variable ? !types_find_variable(classes->types, variable, &found) :
	    !types_variable_at(classes->types, place->offset, &variable, &found, &offset))
		make_caller_name(place, name, !*variable && types_per_cpu_size(classes->types) &&
				 place->offset > types_per_cpu_size(classes->types) +
				 PER_CPU_DYNAMIC ? "pages" : "per-CPU");
	else if (types_find_lock(&found, offset, place->kind, &path))
		snprintf(name, CLASS_SIZE, "%.80s[]%s", variable, path.text);
	else
		snprintf(name, CLASS_SIZE, "%s[]+0x%" PRIx32, variable, offset);
}

static bool make_element_name(const struct class_namer *classes, const struct noted_place *place,
			      char *name)
{
	static const struct {
		const char *memory_kind;
		const char *type;
		const char *prefix;
	} elements[] = {
		{ "page", "ptdesc", "ptdesc" },
		{ "page", "page", "page" },
		{ "node", "pglist_data", "pglist_data" },
		{ "lists", "per_cpu_pages", "per_cpu_pages[]" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(elements); i++)
		if (!strcmp(place->memory_kind, elements[i].memory_kind) &&
		    make_member_name(classes, elements[i].type, elements[i].prefix, place, name))
			return true;
	return false;
}

static void make_place_name(const struct class_namer *classes, const struct noted_place *place,
			    char *name)
{
	if (!strcmp(place->memory_kind, "slab"))
		make_slab_name(classes, place, name);
	else if (!strcmp(place->memory_kind, "symbol"))
		make_symbol_name(classes, place, name);
	else if (!strcmp(place->memory_kind, "percpu"))
		make_per_cpu_name(classes, place, name);
	else if (!make_element_name(classes, place, name))
		make_caller_name(place, name, place->memory_kind);
}

/*
 * Offsets are relative to the object in a slab. The caller is a part of the key, because any kind
 * of memory may be named by the caller where no structure is found.
 */
static void make_key(const struct noted_place *place, char key[KEY_SIZE])
{
	bool is_slab = !strcmp(place->memory_kind, "slab");
	uint64_t offset = is_slab && place->size ? place->offset % place->size : place->offset;

	snprintf(key, KEY_SIZE, "%s %u %" PRIu64 " %" PRIu32 " %" PRIu32 " %s %s %s %s",
		 place->memory_kind, place->kind, offset, place->size, place->object_size,
		 place->name, place->module, place->caller, place->caller_module);
}

/* If that fails the name will be looked up again. */
static void keep_name(struct class_namer *classes, const char *key, const char *name)
{
	struct kept_class *kept;

	if (HASH_COUNT(classes->kept) >= KEPT_MAX)
		return;
	kept = calloc(1, sizeof(*kept));
	if (!kept)
		return;
	snprintf(kept->key, sizeof(kept->key), "%s", key);
	snprintf(kept->name, sizeof(kept->name), "%s", name);
	HASH_ADD_STR(classes->kept, key, kept);
	if (!kept->hh.tbl)
		free(kept);
}

/**
 * classes_parse_line() - parse a line of the file identities, and name the class of the lock
 * @classes: from classes_open()
 * @line: line without its newline
 * @note: set to the lock, the time and the name
 *
 * Return: true, or false if the line is malformed.
 */
bool classes_parse_line(struct class_namer *classes, const char *line, struct class_note *note)
{
	struct kept_class *kept;
	struct noted_place place;
	char key[KEY_SIZE];

	if (!parse_line(line, note, &place))
		return false;
	make_key(&place, key);
	HASH_FIND_STR(classes->kept, key, kept);
	if (!kept) {
		make_place_name(classes, &place, note->class);
		keep_name(classes, key, note->class);
	} else {
		memcpy(note->class, kept->name, sizeof(note->class));
	}
	return true;
}

static void drop_kept_names(struct class_namer *classes)
{
	struct kept_class *kept;

	while ((kept = hash_take_first(classes->kept)))
		free(kept);
}

/**
 * classes_refresh() - read the types and the slab caches of newly loaded modules
 * @classes: from classes_open()
 */
void classes_refresh(struct class_namer *classes)
{
	char path[512];

	/* A name may be another one by the new types. */
	drop_kept_names(classes);
	types_add_new_modules(classes->types);
	snprintf(path, sizeof(path), "%s/slab", classes->directory);
	slab_names_read(&classes->slabs, path);
}

/**
 * classes_open() - read the types and the names of slab caches
 * @system_directory: /sys/kernel, or a directory to use in its place
 *
 * Missing types are reported by a message, and make names less exact.
 *
 * Return: the classes, or NULL without memory.
 */
struct class_namer *classes_open(const char *system_directory)
{
	struct class_namer *classes = calloc(1, sizeof(*classes));
	char path[512];

	if (classes)
		classes->directory = strdup(system_directory);
	if (!classes || !classes->directory) {
		free(classes);
		return NULL;
	}
	snprintf(path, sizeof(path), "%s/btf", system_directory);
	types_open(&classes->types, path);
	classes_refresh(classes);
	return classes;
}

/**
 * classes_close() - free classes
 * @classes: from classes_open(), or NULL
 */
void classes_close(struct class_namer *classes)
{
	if (!classes)
		return;
	drop_kept_names(classes);
	slab_names_free(&classes->slabs);
	types_close(classes->types);
	free(classes->directory);
	free(classes);
}
