// SPDX-License-Identifier: GPL-2.0-only
/* Reading a trace once, as objects or as records of columns: see reader.h. */

#include "event.h"
#include "reader.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "etl_reader.h"
#include "records.h"
#include "wmi_record.h"

/* Number of events between two looks for a signal, such as that of Ctrl-C. */
#define EVENTS_PER_SIGNAL_CHECK	0x10000

/*
 * An open trace. The library lets one thread at a time read a file. A thread that waits for a pipe
 * lets other threads run, so @is_busy keeps them from the file.
 *
 * @path: path, as bytes
 * @file: the file; NULL when the trace is closed
 * @merge: events in the order of time; NULL: in the order of the file
 * @facts: copy of @file's public part when the trace is closed
 * @kept: event for the next call, because a signal's handler raised an exception; or NULL
 * @kept_type: type of @kept
 * @records: records that were read when a signal's handler raised an exception, for the next call
 *	of records() with the same choice
 * @has_records: @records has any
 * @is_tolerant: damage raises no exception
 * @is_busy: a thread reads the file
 * @has_ended: all events have been read
 */
struct reader {
	PyObject_HEAD
	PyObject *path;
	struct etl_file *file;
	struct etl_merge *merge;
	struct etl_file facts;
	const struct etl_event *kept;
	const struct event_type *kept_type;
	struct records records;
	bool has_records;
	bool is_tolerant;
	bool is_busy;
	bool has_ended;
};

/* There is one of each for the whole process. Only the module's initialization sets them. */
static PyObject *error_class, *damage_class;

static struct reader *cast_to_reader(PyObject *self)
{
	return (struct reader *)self;
}

static const struct etl_file *reader_facts(const struct reader *reader)
{
	return reader->file ? reader->file : &reader->facts;
}

static PyObject *get_path(PyObject *self, void *closure)
{
	return PyUnicode_DecodeFSDefault(PyBytes_AsString(cast_to_reader(self)->path));
}

static void raise_error(PyObject *class, struct reader *reader, const char *text)
{
	PyObject *path = get_path((PyObject *)reader, NULL);

	if (path)
		PyErr_Format(class, "%U: %s", path, text);
	Py_XDECREF(path);
}

/* Damage about which the library has no message, with the number of its occurrences. */
static const struct {
	size_t offset;
	const char *text;
} damage_counts[] = {
	{ offsetof(struct etl_file, missing_buffers), "buffers are missing" },
	{ offsetof(struct etl_file, repeated_buffers), "buffers are in the file twice" },
	{ offsetof(struct etl_file, late_buffers),
	  "buffers came too late to be in the order of time" },
	{ offsetof(struct etl_file, wrong_times), "events have an impossible time" },
};

/* Describe the damage that was found so far. Returns false if there is none. */
static bool describe_damage(const struct etl_file *file, char *text, size_t size)
{
	uint64_t count;
	size_t i;

	snprintf(text, size, "%s", file->error);
	for (i = 0; !*text && i < ARRAY_SIZE(damage_counts); i++) {
		memcpy(&count, (const char *)file + damage_counts[i].offset, sizeof(count));
		if (count)
			snprintf(text, size, "%llu %s", (unsigned long long)count,
				 damage_counts[i].text);
	}
	return *text;
}

/*
 * Wait until the pipe has data or has ended. Other threads run meanwhile. A signal whose handler
 * raises an exception, such as that of Ctrl-C, ends the input. The thread has the interpreter's
 * lock unless it opens the file.
 */
static void wait_for_pipe(void *argument)
{
	struct reader *reader = argument;
	struct etl_input *input = etl_reader_of(reader->file)->input;
	struct pollfd polled = { .fd = input->fd, .events = POLLIN };
	PyGILState_STATE state = PyGILState_Ensure();
	int ready = -1;

	errno = EINTR;
	while (ready < 0 && errno == EINTR) {
		if (PyErr_CheckSignals()) {
			input->error = EINTR;
			break;
		}
		Py_BEGIN_ALLOW_THREADS
		ready = poll(&polled, 1, -1);
		Py_END_ALLOW_THREADS
	}
	PyGILState_Release(state);
}

/* Begin to use the file. Returns false with an exception if it is closed or in use. */
static bool begin_use(struct reader *reader)
{
	if (reader->is_busy) {
		PyErr_SetString(PyExc_RuntimeError, "another thread reads this trace");
		return false;
	}
	if (!reader->file) {
		PyErr_SetString(PyExc_ValueError, "the trace is closed");
		return false;
	}
	reader->is_busy = true;
	return true;
}

static bool is_in_group(const struct etl_event *event, uint16_t hook_id)
{
	return event->has_hook_id && event->hook_id >> 8 == hook_id >> 8;
}

/* Get the next event of the order that was chosen, without the damaged ones. NULL: the end. */
static const struct etl_event *next_event(struct reader *reader, const struct event_type **type)
{
	const struct etl_event *event;
	union wmi_record record;
	struct etl_stack stack;

	while (!reader->has_ended) {
		event = reader->merge ? etl_merge_next(reader->merge) :
					etl_next_event(reader->file);
		if (!event) {
			reader->has_ended = true;
			break;
		}
		*type = event_type_find(event);
		if (*type && wmi_record_read(&record, reader->file, event, *type))
			continue;
		if (!*type && is_in_group(event, PERFINFO_LOG_TYPE_STACKWALK) &&
		    etl_read_stack(&stack, reader->file, event))
			continue;
		return event;
	}
	return NULL;
}

static void keep_event(struct reader *reader, const struct etl_event *event,
		       const struct event_type *type)
{
	reader->kept = event;
	reader->kept_type = type;
}

/*
 * Get the next event. NULL: the end, or an exception of a signal's handler; the event is kept then.
 */
static const struct etl_event *take_event(struct reader *reader, const struct event_type **type)
{
	const struct etl_event *event = reader->kept;

	*type = reader->kept_type;
	reader->kept = NULL;
	if (!event)
		event = next_event(reader, type);
	if (!event || !PyErr_Occurred())
		return event;
	keep_event(reader, event, *type);
	return NULL;
}

/* Raise DamageError if the file, of which the end has been read, is damaged. */
static void raise_damage(struct reader *reader)
{
	char text[sizeof(reader->file->error)];

	if (!PyErr_Occurred() && !reader->is_tolerant &&
	    describe_damage(reader->file, text, sizeof(text)))
		raise_error(damage_class, reader, text);
}

/* Raise an exception, because a call would miss the events of the records that were read. */
static PyObject *raise_kept_records(void)
{
	PyErr_SetString(PyExc_ValueError,
			"columns() was interrupted: call it or batches() for the same events");
	return NULL;
}

static PyObject *reader_next(PyObject *self)
{
	struct reader *reader = cast_to_reader(self);
	const struct event_type *type;
	const struct etl_event *event;

	if (reader->has_records)
		return raise_kept_records();
	if (!begin_use(reader))
		return NULL;
	if (reader->has_ended) {
		reader->is_busy = false;
		return NULL;
	}
	event = take_event(reader, &type);
	reader->is_busy = false;
	if (event)
		return event_make(reader->file, event, type);
	raise_damage(reader);
	return NULL;
}

/*
 * Read records of the events that are left until there are @limit. Returns false with an exception;
 * no event is lost then.
 */
static bool read_records(struct reader *reader, size_t limit)
{
	struct records *records = &reader->records;
	const struct event_type *type;
	const struct etl_event *event;
	size_t count = 0;

	while (records->count < limit && (event = take_event(reader, &type))) {
		if (type && !records_add(records, event, type)) {
			keep_event(reader, event, type);
			return false;
		}
		if (!(++count % EVENTS_PER_SIGNAL_CHECK) && PyErr_CheckSignals())
			return false;
	}
	/* If a signal has come, the records stay for the next call. */
	return !PyErr_Occurred() && !PyErr_CheckSignals();
}

/*
 * Damage is an exception of the call that has nothing to return, so that no record is lost. Without
 * a limit, all records are returned by one call, and a damaged file is an exception of that call.
 */
static PyObject *take_records(struct reader *reader, size_t limit)
{
	PyObject *result = NULL;

	reader->has_records = !read_records(reader, limit) && reader->records.count;
	if (reader->has_records)
		return NULL;
	if (reader->has_ended && (limit == SIZE_MAX || !reader->records.count))
		raise_damage(reader);
	if (!PyErr_Occurred())
		result = records_take(&reader->records);
	records_free(&reader->records);
	return result;
}

static PyObject *reader_records(PyObject *self, PyObject *arguments)
{
	struct reader *reader = cast_to_reader(self);
	PyObject *names, *pieces, *result;
	struct record_choice choice;
	Py_ssize_t limit;

	if (!PyArg_ParseTuple(arguments, "O!nO!", &PyTuple_Type, &names, &limit, &PyTuple_Type,
			      &pieces) ||
	    !record_choice_make(&choice, names, pieces))
		return NULL;
	if (reader->has_records && memcmp(&reader->records.choice, &choice, sizeof(choice)))
		return raise_kept_records();
	if (!begin_use(reader))
		return NULL;
	memcpy(&reader->records.choice, &choice, sizeof(choice));
	result = take_records(reader, limit ? (size_t)limit : SIZE_MAX);
	reader->is_busy = false;
	return result;
}

static PyObject *reader_close(PyObject *self, PyObject *unused)
{
	struct reader *reader = cast_to_reader(self);

	if (!reader->file)
		Py_RETURN_NONE;
	if (!begin_use(reader))
		return NULL;
	reader->facts = *reader->file;
	etl_merge_close(reader->merge);
	etl_close(reader->file);
	records_free(&reader->records);
	reader->has_records = false;
	reader->merge = NULL;
	reader->file = NULL;
	reader->is_busy = false;
	Py_RETURN_NONE;
}

static void reader_free(PyObject *self)
{
	struct reader *reader = cast_to_reader(self);
	PyTypeObject *class = Py_TYPE(self);
	freefunc free_object = PyType_GetSlot(class, Py_tp_free);

	etl_merge_close(reader->merge);
	etl_close(reader->file);
	records_free(&reader->records);
	Py_XDECREF(reader->path);
	free_object(self);
	Py_DECREF(class);
}

/* Return a descriptor, or -1 with errno or an exception. */
static int open_descriptor(const char *path)
{
	int fd;

	do {
		Py_BEGIN_ALLOW_THREADS
		fd = etl_open_descriptor(path);
		Py_END_ALLOW_THREADS
	} while (fd < 0 && errno == EINTR && !PyErr_CheckSignals());
	return fd;
}

/* Open the file. Returns false with an exception. */
static bool open_file(struct reader *reader, bool is_by_time)
{
	const char *path = PyBytes_AsString(reader->path);
	int fd = open_descriptor(path);
	bool is_open;

	if (fd < 0) {
		if (!PyErr_Occurred())
			raise_error(error_class, reader, strerror(errno));
		return false;
	}
	Py_BEGIN_ALLOW_THREADS
	is_open = !etl_read_descriptor(&reader->file, path, fd, wait_for_pipe, reader);
	Py_END_ALLOW_THREADS
	if (is_open && is_by_time)
		reader->merge = etl_merge_open(reader->file);
	if ((!is_open || (is_by_time && !reader->merge)) && !PyErr_Occurred())
		raise_error(error_class, reader, reader->file->error);
	return !PyErr_Occurred();
}

/* Names of the constructor's arguments. Python's function takes them without const. */
static char path_name[] = "path", order_name[] = "order", tolerant_name[] = "tolerant";
static char *argument_names[] = { path_name, order_name, tolerant_name, NULL };

static PyObject *reader_make(PyTypeObject *class, PyObject *arguments, PyObject *options)
{
	allocfunc allocate = PyType_GetSlot(class, Py_tp_alloc);
	const char *order = "time";
	PyObject *path = NULL;
	int is_tolerant = 0;
	struct reader *reader;

	if (!PyArg_ParseTupleAndKeywords(arguments, options, "O&|$sp", argument_names,
					 PyUnicode_FSConverter, &path, &order, &is_tolerant))
		return NULL;
	reader = (struct reader *)allocate(class, 0);
	if (!reader) {
		Py_DECREF(path);
		return NULL;
	}
	reader->path = path;
	reader->is_tolerant = is_tolerant;
	if (strcmp(order, "time") && strcmp(order, "file"))
		PyErr_Format(PyExc_ValueError, "order \"%s\" is not \"time\" or \"file\"", order);
	else if (open_file(reader, !strcmp(order, "time")))
		return (PyObject *)reader;
	Py_DECREF(reader);
	return NULL;
}

static PyObject *return_self(PyObject *self)
{
	return Py_NewRef(self);
}

/* Place of a number in the library's structure. */
struct reader_fact {
	size_t offset;
	size_t size;
};

static PyObject *get_fact(PyObject *self, void *closure)
{
	const struct reader_fact *fact = closure;
	const char *at = (const char *)reader_facts(cast_to_reader(self)) + fact->offset;
	uint64_t value = 0;

	memcpy(&value, at, fact->size);
	return PyLong_FromUnsignedLongLong(value);
}

static PyObject *get_damage(PyObject *self, void *closure)
{
	const struct etl_file *file = reader_facts(cast_to_reader(self));
	char text[sizeof(file->error)];

	if (!describe_damage(file, text, sizeof(text)))
		Py_RETURN_NONE;
	return PyUnicode_DecodeUTF8(text, strlen(text), "replace");
}

static PyObject *get_is_closed(PyObject *self, void *closure)
{
	return PyBool_FromLong(!cast_to_reader(self)->file);
}

#define FACT(_name, _doc)							\
	{ #_name, get_fact, NULL, _doc, &(struct reader_fact) {			\
		offsetof(struct etl_file, _name),				\
		sizeof(((struct etl_file *)0)->_name),				\
	} }

static PyGetSetDef reader_values[] = {
	{ "path", get_path, NULL, "path of the file", NULL },
	{ "closed", get_is_closed, NULL, "True after close()", NULL },
	{ "damage", get_damage, NULL, "the first damage that was found so far, or None", NULL },
	FACT(buffer_size, "bytes of a buffer"),
	FACT(buffers, "number of readable buffers"),
	FACT(pointer_size, "bytes of a pointer on the machine: 4 or 8"),
	FACT(processors, "number of CPUs of the machine"),
	FACT(start_clock, "session's clock at the start"),
	FACT(perf_freq, "ticks of the session's clock per second"),
	FACT(cycle_freq, "cycles per second, in which the times of locks are"),
	FACT(start_time, "FILETIME of the start"),
	FACT(end_time, "FILETIME of the end; 0: the session had not ended"),
	FACT(boot_time, "FILETIME of the boot; 0: not known"),
	FACT(log_file_mode, "EVENT_TRACE_*"),
	FACT(events_lost, "number of events that were lost in the recording"),
	FACT(buffers_lost, "number of buffers that were lost in the recording"),
	FACT(damaged_buffers, "damaged buffers so far"),
	FACT(damaged_events, "damaged events so far, which are left out"),
	FACT(left_out_bytes, "bytes of damaged buffers and events so far"),
	FACT(missing_buffers, "buffers that are absent so far"),
	FACT(wrong_times, "events with an impossible time so far"),
	{ 0 }
};

static PyMethodDef reader_methods[] = {
	{ "close", reader_close, METH_NOARGS,
	  "close()\n--\n\nClose the file. Events and columns that were read stay valid." },
	{ "records", reader_records, METH_VARARGS,
	  "records(names, limit, pieces)\n--\n\nRecords of the events left: see records.h." },
	{ 0 }
};

static PyType_Slot reader_slots[] = {
	{ Py_tp_doc, (void *)"An open trace: an iterator over its events." },
	{ Py_tp_new, reader_make },
	{ Py_tp_dealloc, reader_free },
	{ Py_tp_iter, return_self },
	{ Py_tp_iternext, reader_next },
	{ Py_tp_getset, reader_values },
	{ Py_tp_methods, reader_methods },
	{ 0 }
};

static PyType_Spec reader_spec = {
	.name = "ntklog._etl.Reader",
	.basicsize = sizeof(struct reader),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
	.slots = reader_slots,
};

/**
 * reader_class_add() - add the class and its exceptions to the module
 * @module: module
 *
 * Return: 0, or -1 with an exception.
 */
int reader_class_add(PyObject *module)
{
	PyObject *class = PyType_FromSpec(&reader_spec);

	if (!class)
		return -1;
	error_class = PyErr_NewExceptionWithDoc("ntklog.Error",
						"A file cannot be read, or not reported.",
						NULL, NULL);
	damage_class = PyErr_NewExceptionWithDoc("ntklog.DamageError",
						 "A file is damaged; all events that are whole have been read.",
						 error_class, NULL);
	if (!error_class || !damage_class)
		return -1;
	return PyModule_AddObjectRef(module, "Reader", class) ||
	       PyModule_AddObjectRef(module, "Error", error_class) ||
	       PyModule_AddObjectRef(module, "DamageError", damage_class) ? -1 : 0;
}
