// SPDX-License-Identifier: GPL-2.0-only
/*
 * The Common Trace Format, by libbabeltrace2: a graph of two components, our source,
 * whose messages are the trace's events, and sink.ctf.fs, which writes them. A stream for
 * each processor, an event class for each type of event, fields with NT's names.
 */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <babeltrace2/babeltrace.h>

#include "convert.h"
#include "message.h"

#define LOGGING		BT_LOGGING_LEVEL_WARNING
#define HEXADECIMAL	BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL

/* A conversion goes on after so long; what a clock of 64 bits cannot count in ns. */
#define TICKS_MAX	(UINT64_MAX >> 4)

/*
 * @conversion: of the trace
 * @trace: what is made of it
 * @stream_class: of all streams
 * @event_classes: by type
 * @streams: by processor; NULL: not yet seen
 * @last: time of a stream's last event, ticks
 * @stream_count: in both
 * @ending: next stream to be ended; SIZE_MAX: none yet
 * @event: that is to come after the beginning of its stream
 * @event_type: of it; NULL: there is none
 */
struct ctf {
	struct conversion *conversion;
	bt_trace *trace;
	bt_stream_class *stream_class;
	bt_event_class *event_classes[EVENT_TYPES];
	bt_stream **streams;
	uint64_t *last;
	size_t stream_count;
	size_t ending;
	struct etl_event event;
	const struct event_type *event_type;
};

static bt_field_class *make_enumeration(bt_trace_class *trace_class,
					const struct event_field *field)
{
	bt_field_class *class = bt_field_class_enumeration_unsigned_create(trace_class);
	size_t i;

	for (i = 0; class && i < field->symbol_count; i++) {
		bt_integer_range_set_unsigned *range = bt_integer_range_set_unsigned_create();

		bt_integer_range_set_unsigned_add_range(range, field->symbols[i].value,
							field->symbols[i].value);
		bt_field_class_enumeration_unsigned_add_mapping(class,
								field->symbols[i].name,
								range);
		bt_integer_range_set_unsigned_put_ref(range);
	}
	return class;
}

static bt_field_class *make_field(bt_trace_class *trace_class,
				  const struct event_field *field)
{
	bt_field_class *class;

	if (field->format == FIELD_SYMBOL)
		class = make_enumeration(trace_class, field);
	else if (field->format == FIELD_SIGNED)
		class = bt_field_class_integer_signed_create(trace_class);
	else
		class = bt_field_class_integer_unsigned_create(trace_class);
	if (!class)
		return NULL;
	/* Of the wider record. */
	bt_field_class_integer_set_field_value_range(class, 8 * field->where[1].size);
	if (field->format == FIELD_HEX)
		bt_field_class_integer_set_preferred_display_base(class, HEXADECIMAL);
	return class;
}

static int add_member(bt_field_class *structure, const char *name, bt_field_class *class)
{
	int err = class ? bt_field_class_structure_append_member(structure, name, class) : -1;

	bt_field_class_put_ref(class);
	return err;
}

/* All fields of all versions; an address is followed by its symbol. */
static int make_event_class(struct ctf *ctf, bt_trace_class *trace_class, size_t index)
{
	const struct event_type *type = &event_types[index];
	bt_field_class *payload = bt_field_class_structure_create(trace_class);
	bt_event_class *class = bt_event_class_create(ctf->stream_class);
	char name[64];
	size_t i;
	int err = payload && class ? 0 : -1;

	for (i = 0; !err && i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];

		err = add_member(payload, field->name, make_field(trace_class, field));
		if (err || field->format != FIELD_HEX)
			continue;
		snprintf(name, sizeof(name), "%sSymbol", field->name);
		err = add_member(payload, name, bt_field_class_string_create(trace_class));
	}
	snprintf(name, sizeof(name), "%s%s", type->name,
		 type->hook_id == PERFINFO_LOG_TYPE_CONTEXTSWAP && type->version == 1 ?
		 "V1" : "");
	if (!err)
		err = bt_event_class_set_name(class, name) ||
		      bt_event_class_set_payload_field_class(class, payload);
	bt_field_class_put_ref(payload);
	ctf->event_classes[index] = class;
	return err;
}

/* Each event tells its processor, as LTTng's do. */
static int make_context(bt_trace_class *trace_class, struct ctf *ctf)
{
	bt_field_class *context = bt_field_class_structure_create(trace_class);
	bt_field_class *cpu = bt_field_class_integer_unsigned_create(trace_class);
	int err = context && cpu ? 0 : -1;

	if (!err)
		bt_field_class_integer_set_field_value_range(cpu, 16);
	err = err || add_member(context, "cpu_id", cpu) ||
	      bt_stream_class_set_event_common_context_field_class(ctf->stream_class,
								   context);
	bt_field_class_put_ref(context);
	return err;
}

static int make_clock(bt_self_component *self, struct ctf *ctf)
{
	const struct etl_file *file = ctf->conversion->file;
	bt_clock_class *clock = bt_clock_class_create(self);
	uint64_t start = etl_unix_time(file, file->start_clock);
	int err;

	if (!clock)
		return -1;
	bt_clock_class_set_frequency(clock, file->perf_freq);
	bt_clock_class_set_offset(clock, start / 10000000,
				  (uint64_t)((double)(start % 10000000) / 1e7 *
					     (double)file->perf_freq));
	err = bt_clock_class_set_name(clock, "session") ||
	      bt_stream_class_set_default_clock_class(ctf->stream_class, clock);
	bt_clock_class_put_ref(clock);
	return err;
}

static bt_component_class_initialize_method_status
source_init(bt_self_component_source *source,
	    bt_self_component_source_configuration *configuration, const bt_value *params,
	    void *data)
{
	bt_self_component *self = bt_self_component_source_as_self_component(source);
	bt_trace_class *trace_class = bt_trace_class_create(self);
	struct ctf *ctf = data;
	int64_t lost = ctf->conversion->file->events_lost;
	int err = trace_class ? 0 : -1;
	size_t i;

	bt_self_component_set_data(self, ctf);
	if (!err) {
		ctf->stream_class = bt_stream_class_create(trace_class);
		err = !ctf->stream_class || make_context(trace_class, ctf) ||
		      make_clock(self, ctf);
	}
	for (i = 0; !err && i < EVENT_TYPES; i++)
		err = make_event_class(ctf, trace_class, i);
	if (!err) {
		ctf->trace = bt_trace_create(trace_class);
		err = !ctf->trace ||
		      bt_trace_set_environment_entry_string(ctf->trace, "tracer_name",
							    "ntklog") ||
		      bt_trace_set_environment_entry_integer(ctf->trace, "events_lost", lost) ||
		      bt_self_component_source_add_output_port(source, "out", NULL, NULL);
	}
	bt_trace_class_put_ref(trace_class);
	return err ? BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR :
		     BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

static bt_message_iterator_class_initialize_method_status
iterator_init(bt_self_message_iterator *self,
	      bt_self_message_iterator_configuration *configuration,
	      bt_self_component_port_output *port)
{
	bt_self_component *component = bt_self_message_iterator_borrow_component(self);

	bt_self_message_iterator_set_data(self, bt_self_component_get_data(component));
	return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* The message that a processor's stream begins; NULL: it has begun, or no memory. */
static bt_message *begin_stream(struct ctf *ctf, bt_self_message_iterator *self,
				unsigned int processor)
{
	char name[16];

	if (processor >= ctf->stream_count) {
		size_t count = processor + 1;
		bt_stream **streams = realloc(ctf->streams, count * sizeof(bt_stream *));
		uint64_t *last;

		if (!streams)
			return NULL;
		ctf->streams = streams;
		last = realloc(ctf->last, count * sizeof(*last));
		if (!last)
			return NULL;
		ctf->last = last;
		for (; ctf->stream_count < count; ctf->stream_count++) {
			streams[ctf->stream_count] = NULL;
			last[ctf->stream_count] = 0;
		}
	}
	if (ctf->streams[processor])
		return NULL;
	ctf->streams[processor] = bt_stream_create(ctf->stream_class, ctf->trace);
	if (!ctf->streams[processor])
		return NULL;
	snprintf(name, sizeof(name), "cpu%u", processor);
	bt_stream_set_name(ctf->streams[processor], name);
	return bt_message_stream_beginning_create(self, ctf->streams[processor]);
}

static void fill_context(const struct ctf *ctf, bt_field *context)
{
	bt_field *cpu = bt_field_structure_borrow_member_field_by_index(context, 0);

	bt_field_integer_unsigned_set_value(cpu, ctf->event.processor);
}

static void fill_fields(const struct ctf *ctf, bt_field *payload)
{
	const struct event_type *type = ctf->event_type;
	uint64_t member = 0;
	size_t i;

	for (i = 0; i < type->field_count; i++) {
		const struct event_field *field = &type->fields[i];
		bt_field *to = bt_field_structure_borrow_member_field_by_index(payload,
										member++);
		uint64_t value = event_has_field(&ctf->event, field) ?
			event_field_value(field, &ctf->event) : 0;
		char symbol[NAME_SIZE];

		if (field->format == FIELD_SIGNED)
			bt_field_integer_signed_set_value(to, (int64_t)value);
		else
			bt_field_integer_unsigned_set_value(to, value);
		if (field->format != FIELD_HEX)
			continue;
		names_symbol(ctf->conversion->names, value, symbol, sizeof(symbol));
		to = bt_field_structure_borrow_member_field_by_index(payload, member++);
		bt_field_string_set_value(to, symbol);
	}
}

static bt_message *make_event(struct ctf *ctf, bt_self_message_iterator *self)
{
	unsigned int processor = ctf->event.processor;
	uint64_t time = ctf->event.time_stamp - ctf->conversion->file->start_clock;
	const bt_event_class *class;
	const bt_stream *stream;
	bt_message *message;

	/* What is before the start or goes back would be no CTF. */
	if (time > TICKS_MAX || time < ctf->last[processor])
		time = ctf->last[processor];
	ctf->last[processor] = time;
	class = ctf->event_classes[ctf->event_type - event_types];
	stream = ctf->streams[processor];
	message = bt_message_event_create_with_default_clock_snapshot(self, class, stream,
								      time);
	if (message) {
		bt_event *event = bt_message_event_borrow_event(message);

		fill_context(ctf, bt_event_borrow_common_context_field(event));
		fill_fields(ctf, bt_event_borrow_payload_field(event));
	}
	ctf->event_type = NULL;
	return message;
}

/* NULL: @done, or no memory. */
static bt_message *next_message(struct ctf *ctf, bt_self_message_iterator *self, bool *done)
{
	bt_message *message;

	*done = false;
	if (ctf->event_type)
		return make_event(ctf, self);
	if (ctf->ending == SIZE_MAX) {
		if (conversion_next(ctf->conversion, &ctf->event, &ctf->event_type)) {
			message = begin_stream(ctf, self, ctf->event.processor);
			if (message)
				return message;
			if (ctf->event.processor >= ctf->stream_count ||
			    !ctf->streams[ctf->event.processor])
				return NULL;
			return make_event(ctf, self);
		}
		ctf->ending = 0;
	}
	while (ctf->ending < ctf->stream_count && !ctf->streams[ctf->ending])
		ctf->ending++;
	if (ctf->ending < ctf->stream_count)
		return bt_message_stream_end_create(self, ctf->streams[ctf->ending++]);
	*done = true;
	return NULL;
}

static bt_message_iterator_class_next_method_status
iterator_next(bt_self_message_iterator *self, bt_message_array_const messages,
	      uint64_t capacity, uint64_t *count)
{
	struct ctf *ctf = bt_self_message_iterator_get_data(self);
	bool done = false;

	for (*count = 0; *count < capacity; (*count)++) {
		messages[*count] = next_message(ctf, self, &done);
		if (messages[*count])
			continue;
		if (!done)
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_MEMORY_ERROR;
		break;
	}
	return *count ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK :
			BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}

static int add_source(bt_graph *graph, struct ctf *ctf,
		      const bt_component_source **source)
{
	bt_message_iterator_class *iterator = bt_message_iterator_class_create(iterator_next);
	bt_component_class_source *class;
	int err;

	if (!iterator)
		return -1;
	bt_message_iterator_class_set_initialize_method(iterator, iterator_init);
	class = bt_component_class_source_create("etl", iterator);
	bt_message_iterator_class_put_ref(iterator);
	if (!class)
		return -1;
	bt_component_class_source_set_initialize_method(class, source_init);
	err = bt_graph_add_source_component_with_initialize_method_data(graph, class, "etl",
									NULL, ctf, LOGGING,
									source);
	bt_component_class_source_put_ref(class);
	return err;
}

static int add_sink(bt_graph *graph, const char *directory,
		    const bt_component_sink **sink)
{
	bt_value *params = bt_value_map_create();
	const bt_component_class_sink *class;
	const bt_plugin *plugin = NULL;
	int err = -1;

	if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, &plugin) ||
	    !plugin) {
		message("libbabeltrace2 has no plugin ctf: is the package babeltrace2 there?");
	} else if (params &&
		   !bt_value_map_insert_string_entry(params, "path", directory) &&
		   !bt_value_map_insert_bool_entry(params, "quiet", BT_TRUE) &&
		   !bt_value_map_insert_bool_entry(params, "assume-single-trace", BT_TRUE)) {
		class = bt_plugin_borrow_sink_component_class_by_name_const(plugin, "fs");
		err = bt_graph_add_sink_component(graph, class, "ctf", params, LOGGING, sink);
	}
	bt_plugin_put_ref(plugin);
	bt_value_put_ref(params);
	return err;
}

static int run_graph(struct ctf *ctf, const char *directory)
{
	bt_graph *graph = bt_graph_create(0);
	const bt_component_source *source;
	const bt_component_sink *sink;
	const bt_port_output *out;
	const bt_port_input *in;
	int err;

	if (!graph)
		return -1;
	err = add_source(graph, ctf, &source) || add_sink(graph, directory, &sink);
	if (!err) {
		out = bt_component_source_borrow_output_port_by_index_const(source, 0);
		in = bt_component_sink_borrow_input_port_by_index_const(sink, 0);
		err = bt_graph_connect_ports(graph, out, in, NULL) || bt_graph_run(graph);
	}
	bt_graph_put_ref(graph);
	return err ? -1 : 0;
}

/* What libbabeltrace2 says of what went wrong, on a line. */
static void print_error(const char *directory)
{
	const bt_error *error = bt_current_thread_take_error();

	if (!error) {
		message("%s: cannot be written", directory);
		return;
	}
	if (bt_error_get_cause_count(error))
		message("%s: %s", directory,
			bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0)));
	bt_error_release(error);
}

static bool is_empty_or_none(const char *directory)
{
	DIR *entries = opendir(directory);
	struct dirent *entry;
	bool empty = true;

	if (!entries)
		return errno == ENOENT;
	while ((entry = readdir(entries)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			empty = false;
	closedir(entries);
	return empty;
}

/**
 * convert_to_ctf() - write a trace in the Common Trace Format
 * @conversion: of the trace
 * @directory: a new or an empty one
 *
 * Return: 0, or -1 after a message.
 */
int convert_to_ctf(struct conversion *conversion, const char *directory)
{
	struct ctf ctf = { .conversion = conversion, .ending = SIZE_MAX };
	size_t i;
	int err;

	if (!is_empty_or_none(directory)) {
		message("%s: is not a new or an empty directory", directory);
		return -1;
	}
	err = run_graph(&ctf, directory);
	if (err)
		print_error(directory);
	for (i = 0; i < ctf.stream_count; i++)
		if (ctf.streams[i])
			bt_stream_put_ref(ctf.streams[i]);
	for (i = 0; i < EVENT_TYPES; i++)
		bt_event_class_put_ref(ctf.event_classes[i]);
	bt_stream_class_put_ref(ctf.stream_class);
	bt_trace_put_ref(ctf.trace);
	free(ctf.streams);
	free(ctf.last);
	return err;
}
