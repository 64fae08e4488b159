// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles for pprof. A sample of the profile is a stack of one task at locks of one class, with
 * the sums of its records. Without a stack a sample has the caller, if that is recorded. Waits are
 * charged to the stacks of the holders, of which the innermost CHARGE_FRAMES_MAX functions are
 * known.
 *
 * The profile is built of the messages that protobuf-c makes of pprof.proto, and freed as one.
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "analysis.h"
#include "convert.h"
#include "grow.h"
#include "message.h"
#include "output_file.h"
#include "pprof.pb-c.h"

/* Values of a sample, in the order of the profile. */
enum pprof_value_kind {
	VALUE_CONTENTIONS,
	VALUE_DELAY,
	VALUE_ACQUISITIONS,
	VALUE_HOLD,
	VALUE_CHARGED,
	VALUES,
};

static const char *const value_types[VALUES][2] = {
	[VALUE_CONTENTIONS] = { "contentions", "count" },
	[VALUE_DELAY] = { "delay", "nanoseconds" },
	[VALUE_ACQUISITIONS] = { "acquisitions", "count" },
	[VALUE_HOLD] = { "hold", "nanoseconds" },
	[VALUE_CHARGED] = { "charged", "nanoseconds" },
};

/*
 * A text of the profile, and the function of that name.
 * @function: id of the function; 0: there is none
 */
struct profile_text {
	char *text;
	int64_t text_index;
	uint64_t function;
	UT_hash_handle hh;
};

struct profile_location {
	uint64_t address;
	uint64_t id;
	UT_hash_handle hh;
};

struct profile {
	Pprof__Profile *message;
	const struct etl_file *file;
	const struct names *names;
	struct profile_text *texts;
	struct profile_location *locations;
	bool no_memory;
};

/* protobuf-c frees the message with the profile. */
static void *new_message(struct profile *profile, size_t size, void (*init)(void *message))
{
	void *message = calloc(1, size);

	if (message)
		init(message);
	else
		profile->no_memory = true;
	return message;
}

#define NEW_MESSAGE(profile, type, init)	\
	((type *)new_message(profile, sizeof(type), (void (*)(void *))(init)))

#define APPEND(profile, count, array, value)					\
do {										\
	void *_more = grow_by_one(array, count, sizeof(*(array)));			\
										\
	if (_more) {								\
		(array) = _more;						\
		(array)[(count)++] = (value);					\
	} else {								\
		(profile)->no_memory = true;					\
	}									\
} while (0)

#define APPEND_MESSAGE(profile, count, array, message)				\
do {										\
	if (message) {								\
		size_t _before = (count);					\
										\
		APPEND(profile, count, array, message);				\
		if ((count) == _before) {					\
			free(message);						\
			(message) = NULL;					\
		}								\
	}									\
} while (0)

static struct profile_text *find_text(struct profile *profile, const char *text)
{
	Pprof__Profile *message = profile->message;
	struct profile_text *found;
	char *copy;

	HASH_FIND_STR(profile->texts, text, found);
	if (found)
		return found;
	found = calloc(1, sizeof(*found));
	copy = strdup(text);
	if (!found || !copy)
		goto no_memory;
	found->text = copy;
	found->text_index = message->n_string_table;
	HASH_ADD_KEYPTR(hh, profile->texts, found->text, strlen(found->text), found);
	if (!found->hh.tbl)
		goto no_memory;
	APPEND(profile, message->n_string_table, message->string_table, copy);
	if (message->n_string_table > (size_t)found->text_index)
		return found;
	HASH_DEL(profile->texts, found);
no_memory:
	profile->no_memory = true;
	free(copy);
	free(found);
	return NULL;
}

static int64_t find_text_index(struct profile *profile, const char *text)
{
	struct profile_text *found = find_text(profile, text);

	return found ? found->text_index : 0;
}

static uint64_t find_function_id(struct profile *profile, const char *name)
{
	struct profile_text *text = find_text(profile, name);
	Pprof__Profile *message = profile->message;
	Pprof__Function *function;

	if (!text || text->function)
		return text ? text->function : 0;
	function = NEW_MESSAGE(profile, Pprof__Function, pprof__function__init);
	APPEND_MESSAGE(profile, message->n_function, message->function, function);
	if (!function)
		return 0;
	function->id = message->n_function;
	function->name = text->text_index;
	function->system_name = text->text_index;
	text->function = function->id;
	return function->id;
}

static uint64_t add_location(struct profile *profile, uint64_t address, const char *name)
{
	Pprof__Profile *message = profile->message;
	Pprof__Location *location;
	Pprof__Line *line;

	location = NEW_MESSAGE(profile, Pprof__Location, pprof__location__init);
	APPEND_MESSAGE(profile, message->n_location, message->location, location);
	if (!location)
		return 0;
	location->id = message->n_location;
	location->mapping_id = 1;
	location->address = address;
	line = NEW_MESSAGE(profile, Pprof__Line, pprof__line__init);
	if (line)
		line->function_id = find_function_id(profile, name);
	APPEND_MESSAGE(profile, location->n_line, location->line, line);
	return location->id;
}

static uint64_t find_location_id(struct profile *profile, uint64_t address)
{
	struct profile_location *location;
	char name[NAME_SIZE];

	hash_find_or_add(profile->locations, address, &address, UINT32_MAX, location);
	if (!location) {
		profile->no_memory = true;
		return 0;
	}
	if (!location->id) {
		names_format_function(profile->names, address, name, sizeof(name));
		location->id = add_location(profile, address, name);
	}
	return location->id;
}

static void add_label(struct profile *profile, Pprof__Sample *sample, const char *key,
		      const char *text, int64_t number)
{
	Pprof__Label *label = NEW_MESSAGE(profile, Pprof__Label, pprof__label__init);

	APPEND_MESSAGE(profile, sample->n_label, sample->label, label);
	if (!label)
		return;
	label->key = find_text_index(profile, key);
	label->str = text ? find_text_index(profile, text) : 0;
	label->num = number;
}

static Pprof__Sample *add_sample(struct profile *profile, const struct stack_sum *sum)
{
	double ns_per_tick = 1e9 / (double)profile->file->perf_freq;
	const int64_t values[VALUES] = {
		[VALUE_CONTENTIONS] = sum->waited_count,
		[VALUE_DELAY] = llround(etl_cycles_ns(profile->file, sum->wait_sum)),
		[VALUE_ACQUISITIONS] = sum->wait_only_count ? 0 : sum->acquisition_count,
		[VALUE_HOLD] = llround(etl_cycles_ns(profile->file, sum->hold_sum)),
		[VALUE_CHARGED] = llround(sum->charged_ticks * ns_per_tick),
	};
	Pprof__Profile *message = profile->message;
	Pprof__Sample *sample;
	size_t i;

	sample = NEW_MESSAGE(profile, Pprof__Sample, pprof__sample__init);
	APPEND_MESSAGE(profile, message->n_sample, message->sample, sample);
	for (i = 0; sample && i < VALUES; i++)
		APPEND(profile, sample->n_value, sample->value, values[i]);
	return sample;
}

static void add_task(struct profile *profile, Pprof__Sample *sample, uint32_t thread_id)
{
	const char *name = names_find_thread_name(profile->names, thread_id);
	uint32_t process_id;

	if (name)
		add_label(profile, sample, "task", name, 0);
	add_label(profile, sample, "tid", NULL, thread_id);
	if (!names_find_process(profile->names, thread_id, UINT64_MAX, &process_id, &name))
		return;
	if (name)
		add_label(profile, sample, "process", name, 0);
	add_label(profile, sample, "pid", NULL, process_id);
}

static void add_stack(struct profile *profile, const struct stack_sum *sum, uint64_t class,
		      uint32_t thread_id, const uint64_t *addresses, size_t address_count)
{
	Pprof__Sample *sample = add_sample(profile, sum);
	char name[NAME_SIZE];
	size_t i;

	if (!sample)
		return;
	for (i = 0; i < address_count; i++)
		APPEND(profile, sample->n_location_id, sample->location_id,
		       find_location_id(profile, addresses[i]));
	if (!address_count)
		APPEND(profile, sample->n_location_id, sample->location_id,
		       add_location(profile, 0, "(no stack)"));
	names_format_address(profile->names, class, name, sizeof(name));
	add_label(profile, sample, "class", name, 0);
	add_task(profile, sample, thread_id);
}

/*
 * Add a wait that had not ended, or was before a hold that had not, so that the profile has the
 * waits of which it charges the holders.
 */
static void add_open_wait(struct profile *profile, const struct open_hold *hold)
{
	const struct ntklog_open_hold *event = &hold->event;
	const struct stack_sum sum = {
		.waited_count = 1,
		.wait_only_count = 1,
		.wait_sum = open_hold_wait_ns(event, profile->file) / 1e9 *
			    (double)profile->file->cycle_freq,
	};
	const uint64_t caller = event->caller;

	if (hold->is_wanted && sum.wait_sum > 0)
		add_stack(profile, &sum, hold->class, event->thread_id, &caller,
			  caller ? 1 : 0);
}

static void add_others(struct profile *profile, const struct stack_sum *sum)
{
	Pprof__Sample *sample;

	if (!sum->record_count && sum->charged_ticks <= 0)
		return;
	sample = add_sample(profile, sum);
	if (sample)
		APPEND(profile, sample->n_location_id, sample->location_id,
		       add_location(profile, 0, "(other stacks)"));
}

/* Return the wall clock at the origin: ns since 1970, or 0 if it is not known or out of range. */
static int64_t find_start_ns(const struct etl_file *file, const struct analysis *analysis)
{
	uint64_t time = etl_unix_time(file, analysis->origin_time);

	return time <= INT64_MAX / 100 ? (int64_t)time * 100 : 0;
}

static void add_profile_header(struct profile *profile, const struct analysis *analysis)
{
	Pprof__Profile *message = profile->message;
	Pprof__ValueType *type;
	Pprof__Mapping *mapping;
	size_t i;

	/* Index 0 has to be the empty text. */
	find_text_index(profile, "");
	for (i = 0; i < VALUES; i++) {
		type = NEW_MESSAGE(profile, Pprof__ValueType, pprof__value_type__init);
		APPEND_MESSAGE(profile, message->n_sample_type, message->sample_type, type);
		if (!type)
			return;
		type->type = find_text_index(profile, value_types[i][0]);
		type->unit = find_text_index(profile, value_types[i][1]);
	}
	message->default_sample_type = find_text_index(profile, value_types[VALUE_DELAY][0]);
	mapping = NEW_MESSAGE(profile, Pprof__Mapping, pprof__mapping__init);
	APPEND_MESSAGE(profile, message->n_mapping, message->mapping, mapping);
	if (!mapping)
		return;
	mapping->id = 1;
	mapping->filename = find_text_index(profile, "[kernel]");
	mapping->has_functions = true;
	message->time_nanos = find_start_ns(profile->file, analysis);
	message->duration_nanos = llround(analysis_length_s(analysis, profile->file) * 1e9);
	if (analysis->spinlocks.highest_rates.acquire_rate > 1 ||
	    analysis->resources.highest_rates.release_rate > 1 ||
	    analysis->spinlocks.highest_rates.contention_rate > 1 ||
	    analysis->resources.highest_rates.contention_rate > 1)
		APPEND(profile, message->n_comment, message->comment,
		       find_text_index(profile, "values are estimates of a sampled recording"));
}

static int compress_profile(const struct profile *profile, const char *path)
{
	size_t size = pprof__profile__get_packed_size(profile->message), written = 0;
	uint8_t *packed_bytes = malloc(size);
	FILE *output = packed_bytes ? output_open(path) : NULL;
	int fd, err = -1;
	gzFile stream;

	if (!packed_bytes)
		message("%s: %s", path, strerror(ENOMEM));
	if (!output) {
		free(packed_bytes);
		return -1;
	}
	pprof__profile__pack(profile->message, packed_bytes);
	fd = dup(fileno(output));
	stream = fd < 0 ? NULL : gzdopen(fd, "w");
	if (stream) {
		while (written < size) {
			int part = gzwrite(stream, packed_bytes + written,
					   size - written < 1 << 30 ? size - written : 1 << 30);

			if (part <= 0)
				break;
			written += part;
		}
		err = gzclose(stream) == Z_OK && written == size ? 0 : -1;
	}
	if (err)
		message("%s: cannot write: %s", path, strerror(errno));
	free(packed_bytes);
	return output_close(output, path, err);
}

static void free_profile(struct profile *profile)
{
	struct profile_location *location;
	struct profile_text *text;

	while ((location = hash_take_first(profile->locations)))
		free(location);
	while ((text = hash_take_first(profile->texts)))
		free(text);
	if (profile->message)
		pprof__profile__free_unpacked(profile->message, NULL);
}

/**
 * convert_to_pprof() - write a profile for pprof
 * @file: trace to convert, of which no event has been read
 * @names: names of the trace, or NULL
 * @selection: selection of events to convert
 * @path: path of the file to write, which is compressed; "-" is the standard output
 *
 * Return: 0, or -1 after a message.
 */
int convert_to_pprof(struct etl_file *file, const struct names *names,
		     const struct selection *selection, const char *path)
{
	static struct analysis analysis;
	struct profile profile = { .file = file, .names = names };
	const struct stack_entry *entry;
	int err = -1;
	size_t i;

	analysis.selection = selection;
	analysis.names = names;
	analysis.charges_waits = true;
	analysis.stacks.sums_by_lock = true;
	analysis.stacks.has_attribute = true;
	analysis_read(&analysis, file);
	profile.message = NEW_MESSAGE(&profile, Pprof__Profile, pprof__profile__init);
	if (profile.message) {
		add_profile_header(&profile, &analysis);
		for (entry = analysis.stacks.stacks; entry; entry = entry->hh.next)
			add_stack(&profile, &entry->sum, entry->key.lock.class,
				  entry->key.attribute_number, entry->key.addresses,
				  entry->address_count);
		for (i = 0; i < analysis.open_holds.count; i++)
			add_open_wait(&profile, &analysis.open_holds.entries[i]);
		add_others(&profile, &analysis.stacks.others);
	}
	if (profile.no_memory || analysis.stacks.no_memory || analysis.charge_sums.no_memory)
		message("%s: %s", path, strerror(ENOMEM));
	else
		err = compress_profile(&profile, path);
	if (!err)
		message("%zu stacks of %" PRIu64 " events converted", profile.message->n_sample,
			analysis.event_count);
	free_profile(&profile);
	analysis_free(&analysis);
	return err;
}
