// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names and stacks of a Perfetto trace, to which slices refer by numbers. Each is written before
 * the first slice that has its number. When the table of written names and stacks is full, it is
 * emptied, and they are written again with new numbers.
 */

#include <stdio.h>
#include <stdlib.h>

#include "perfetto_packet.h"
#include "text.h"

/* Before an event is converted, a table with this many names and stacks is emptied. */
#define INTERNED_MAX	0x10000

/* The kernel, which has the code of all frames. */
#define KERNEL_MAPPING	1

static const char *const category_names[PERFETTO_CATEGORIES] = {
	[PERFETTO_WAIT] = "wait",
	[PERFETTO_CLASS_WAIT] = "class_wait",
	[PERFETTO_HOLD] = "hold",
	[PERFETTO_RELEASE] = "release",
	[PERFETTO_RUN] = "run",
};

static const char *const argument_names[PERFETTO_ARGUMENTS] = {
	[PERFETTO_SPINS] = "spins",
	[PERFETTO_CALLER] = "caller",
	[PERFETTO_THREAD] = "thread",
	[PERFETTO_DEPTH] = "depth",
	[PERFETTO_DPC] = "dpc",
	[PERFETTO_ISR] = "isr",
	[PERFETTO_KIND] = "kind",
	[PERFETTO_CLASS] = "class",
	[PERFETTO_CONTENTION] = "contention",
	[PERFETTO_OPEN] = "open",
	[PERFETTO_STATE] = "state",
	[PERFETTO_WAIT_REASON] = "wait_reason",
};

/*
 * @value: value of the kind of @name
 * @caller: of a stack, the number of the stack of the caller, or 0 for the outermost frame
 */
struct interned_key {
	uint64_t name;
	uint64_t value;
	uint64_t caller;
};

struct perfetto_interned {
	struct interned_key key;
	uint64_t number;
	bool is_written;
	UT_hash_handle hh;
};

static struct perfetto_interned *find_interned(struct perfetto_writer *perfetto,
					       const struct interned_key *key)
{
	struct perfetto_interned *entry;

	hash_find_or_add(perfetto->interned, key, key, UINT32_MAX, entry);
	if (!entry)
		perfetto->no_memory = true;
	else if (!entry->number)
		entry->number = ++perfetto->last_interned_number;
	return entry;
}

/* Set @to to @names from index 1 on. The number of each name is its index. */
static size_t set_fixed_names(Perfetto__InternedName *to, Perfetto__InternedName **pointers,
			      const char *const *names, size_t count)
{
	size_t i;

	for (i = 1; i < count; i++) {
		perfetto__interned_name__init(&to[i - 1]);
		to[i - 1].has_iid = true;
		to[i - 1].iid = i;
		to[i - 1].name = (char *)names[i];
		pointers[i - 1] = &to[i - 1];
	}
	return count - 1;
}

static void set_text(Perfetto__InternedString *to, uint64_t number, const char *text)
{
	perfetto__interned_string__init(to);
	to->has_iid = true;
	to->iid = number;
	to->has_str = true;
	to->str.data = (uint8_t *)text;
	to->str.len = strlen(text);
}

/* Put the names that each trace has. */
static void put_fixed_names(struct perfetto_writer *perfetto)
{
	Perfetto__InternedName names[PERFETTO_ARGUMENTS + PERFETTO_CATEGORIES];
	Perfetto__InternedName *pointers[PERFETTO_ARGUMENTS + PERFETTO_CATEGORIES];
	Perfetto__InternedData interned = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Mapping kernel = PERFETTO__MAPPING__INIT, *mapping = &kernel;
	Perfetto__InternedString path, *paths = &path;
	uint64_t number = KERNEL_MAPPING;

	interned.debug_annotation_names = pointers;
	interned.n_debug_annotation_names = set_fixed_names(names, pointers, argument_names,
							    PERFETTO_ARGUMENTS);
	interned.event_categories = pointers + PERFETTO_ARGUMENTS;
	interned.n_event_categories = set_fixed_names(names + PERFETTO_ARGUMENTS,
						      interned.event_categories, category_names,
						      PERFETTO_CATEGORIES);
	set_text(&path, number, "[kernel]");
	interned.n_mapping_paths = 1;
	interned.mapping_paths = &paths;
	kernel.has_iid = true;
	kernel.iid = number;
	kernel.n_path_string_ids = 1;
	kernel.path_string_ids = &number;
	interned.n_mappings = 1;
	interned.mappings = &mapping;
	perfetto_put_interned(perfetto, &interned, true);
}

/**
 * perfetto_must_renew_interned() - test whether the next event needs perfetto_renew_interned()
 * before it
 * @perfetto: state of the conversion
 *
 * Return: true if the table of names and stacks is full, or before the first event.
 */
bool perfetto_must_renew_interned(const struct perfetto_writer *perfetto)
{
	return !perfetto->fixed_names_are_put || HASH_COUNT(perfetto->interned) >= INTERNED_MAX;
}

/**
 * perfetto_renew_interned() - empty the table, and put the names that each trace has
 * @perfetto: state of the conversion
 *
 * The numbers that perfetto_intern() and perfetto_intern_stack() have returned become invalid.
 */
void perfetto_renew_interned(struct perfetto_writer *perfetto)
{
	perfetto_free_interned(perfetto);
	put_fixed_names(perfetto);
	perfetto->fixed_names_are_put = true;
}

/**
 * perfetto_format_task_name() - print the name and the id of a task
 * @names: names of the trace, or NULL
 * @thread_id: id of the task
 * @text: set to the name
 * @size: bytes of @text; NAME_SIZE
 */
void perfetto_format_task_name(const struct names *names, uint32_t thread_id, char *text,
			       size_t size)
{
	const char *name = names_find_thread_name(names, thread_id);

	snprintf(text, size, "%.200s %u", name ? name : "thread", thread_id);
	/* snprintf() may have cut the name within a character. */
	text_clean(text);
}

static void print_name(const struct perfetto_writer *perfetto, enum perfetto_name_kind name,
		       uint64_t value, char *text, size_t size)
{
	const struct names *names = perfetto->conversion->names;
	size_t length = 0;

	if (name == PERFETTO_WAIT_NAME)
		length = snprintf(text, size, "wait: ");
	else if (name == PERFETTO_RELEASE_NAME)
		length = snprintf(text, size, "release: ");
	if (name == PERFETTO_TEXT)
		snprintf(text, size, "%s", (const char *)(uintptr_t)value);
	else if (name == PERFETTO_TASK_NAME)
		perfetto_format_task_name(names, value, text, size);
	else if (name == PERFETTO_FRAME || name == PERFETTO_CODE_TEXT)
		names_format_code_address(names, value, text, size);
	else
		names_format_address(names, value, text + length, size - length);
}

static void put_name(struct perfetto_writer *perfetto, const struct perfetto_interned *entry)
{
	Perfetto__InternedName name = PERFETTO__INTERNED_NAME__INIT, *names = &name;
	Perfetto__Frame frame = PERFETTO__FRAME__INIT, *frames = &frame;
	Perfetto__InternedData interned = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedString string, *strings = &string;
	char text[NAME_SIZE];

	print_name(perfetto, entry->key.name, entry->key.value, text, sizeof(text));
	set_text(&string, entry->number, text);
	if (entry->key.name <= PERFETTO_TASK_NAME) {
		name.has_iid = true;
		name.iid = entry->number;
		name.name = text;
		interned.n_event_names = 1;
		interned.event_names = &names;
	} else if (entry->key.name == PERFETTO_FRAME) {
		frame.has_iid = true;
		frame.iid = entry->number;
		frame.has_function_name_id = true;
		frame.function_name_id = entry->number;
		frame.has_mapping_id = true;
		frame.mapping_id = KERNEL_MAPPING;
		frame.has_rel_pc = true;
		frame.rel_pc = entry->key.value;
		interned.n_function_names = 1;
		interned.function_names = &strings;
		interned.n_frames = 1;
		interned.frames = &frames;
	} else {
		interned.n_debug_annotation_string_values = 1;
		interned.debug_annotation_string_values = &strings;
	}
	perfetto_put_interned(perfetto, &interned, false);
}

/**
 * perfetto_intern() - get the number of a name, and put the name if the trace lacks it
 * @perfetto: state of the conversion
 * @name: kind of the name
 * @value: value of this kind
 *
 * Return: the number; 0 without memory.
 */
uint64_t perfetto_intern(struct perfetto_writer *perfetto, enum perfetto_name_kind name,
			 uint64_t value)
{
	const struct interned_key key = { .name = name, .value = value };
	uint64_t mixed = (value + name) * UINT64_C(0x9E3779B97F4A7C15);
	const struct perfetto_interned **recent =
		&perfetto->recent_interned[mixed >> (64 - PERFETTO_RECENT_BITS)];
	struct perfetto_interned *entry;

	if (*recent && (*recent)->key.name == name && (*recent)->key.value == value)
		return (*recent)->number;
	entry = find_interned(perfetto, &key);
	if (!entry)
		return 0;
	if (!entry->is_written)
		put_name(perfetto, entry);
	entry->is_written = true;
	*recent = entry;
	return entry->number;
}

/**
 * perfetto_intern_stack() - get the number of a stack, and put the stack if the trace lacks it
 * @perfetto: state of the conversion
 * @stack: stack, or NULL
 *
 * Return: the number; 0 if there is no stack, or without memory.
 */
uint64_t perfetto_intern_stack(struct perfetto_writer *perfetto, const struct stack *stack)
{
	Perfetto__Callstack callstack = PERFETTO__CALLSTACK__INIT, *callstacks = &callstack;
	Perfetto__InternedData interned = PERFETTO__INTERNED_DATA__INIT;
	struct interned_key key = { .name = PERFETTO_STACK };
	uint64_t frames[STACK_ADDRESSES_MAX];
	struct perfetto_interned *entry;
	size_t i;

	if (!stack || !stack->count)
		return 0;
	for (i = stack->count; i--;) {
		key.value = stack->addresses[i];
		entry = find_interned(perfetto, &key);
		if (!entry)
			return 0;
		key.caller = entry->number;
	}
	if (entry->is_written)
		return entry->number;
	for (i = 0; i < stack->count; i++)
		frames[i] = perfetto_intern(perfetto, PERFETTO_FRAME,
					    stack->addresses[stack->count - 1 - i]);
	callstack.has_iid = true;
	callstack.iid = entry->number;
	callstack.n_frame_ids = stack->count;
	callstack.frame_ids = frames;
	interned.n_callstacks = 1;
	interned.callstacks = &callstacks;
	perfetto_put_interned(perfetto, &interned, false);
	entry->is_written = true;
	return entry->number;
}

/**
 * perfetto_free_interned() - empty the table of names and stacks
 * @perfetto: state of the conversion
 */
void perfetto_free_interned(struct perfetto_writer *perfetto)
{
	struct perfetto_interned *entry;

	memset(perfetto->recent_interned, 0, sizeof(perfetto->recent_interned));
	while ((entry = hash_take_first(perfetto->interned)))
		free(entry);
}
