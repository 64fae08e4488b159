// SPDX-License-Identifier: GPL-2.0-only
/* Events as objects: see event.h. */

#include "event.h"

#include <stdio.h>
#include <string.h>

#include "macros.h"

/*
 * An event. A field is decoded when a program asks for it, because most programs need few fields.
 *
 * @seconds: seconds since the start of the session
 * @type: type of the event, whose size the data has; NULL if the type is not known
 * @event: the event, whose pointers lead into @bytes
 * @bytes: header and data
 */
struct event {
	PyObject_VAR_HEAD
	double seconds;
	const struct event_type *type;
	struct etl_event event;
	unsigned char bytes[];
};

/* Values of the header that only some events have. */
enum header_value_kind {
	VALUE_PROCESS,
	VALUE_THREAD,
	VALUE_PROVIDER,
	VALUE_ID,
	VALUE_OPCODE,
	VALUE_LEVEL,
	VALUE_VERSION,
};

static const char * const stack_keys[] = {
	"EventTimeStamp", "StackProcess", "StackThread", "StackKey", "Stack",
};

/* There is one class for the whole process. Only the module's initialization sets it. */
static PyTypeObject *event_class;

/**
 * event_make() - make an object of an event
 * @file: file of the event
 * @source: event, which is copied
 * @type: type of the event, whose size the data has; or NULL
 *
 * Return: the object, or NULL with an exception.
 */
PyObject *event_make(const struct etl_file *file, const struct etl_event *source,
		     const struct event_type *type)
{
	struct event *event = PyObject_NewVar(struct event, event_class, source->size);

	if (!event)
		return NULL;
	event->seconds = etl_seconds(file, source->time_stamp);
	event->type = type;
	event->event = *source;
	memcpy(event->bytes, source->header, source->size);
	event->event.header = event->bytes;
	event->event.extension = event->bytes + (source->extension - source->header);
	event->event.data = event->bytes + (source->data - source->header);
	return (PyObject *)event;
}

static void event_free(PyObject *self)
{
	PyTypeObject *class = Py_TYPE(self);

	PyObject_Free(self);
	Py_DECREF(class);
}

static struct event *cast_to_event(PyObject *self)
{
	return (struct event *)self;
}

static PyObject *get_name(PyObject *self, void *closure)
{
	const struct event *event = cast_to_event(self);

	return PyUnicode_FromString(event_name(&event->event, event->type));
}

static PyObject *get_hook_id(PyObject *self, void *closure)
{
	const struct etl_event *event = &cast_to_event(self)->event;

	if (!event->has_hook_id)
		Py_RETURN_NONE;
	return PyLong_FromLong(event->hook_id);
}

static PyObject *get_data(PyObject *self, void *closure)
{
	const struct etl_event *event = &cast_to_event(self)->event;

	return PyBytes_FromStringAndSize((const char *)event->data, event->data_size);
}

static PyObject *get_counters(PyObject *self, void *closure)
{
	const struct etl_event *event = &cast_to_event(self)->event;
	PyObject *counters = PyTuple_New(event->counters), *value;
	unsigned int i;

	for (i = 0; counters && i < event->counters; i++) {
		value = PyLong_FromUnsignedLongLong(event_extension(event, i));
		if (!value || PyTuple_SetItem(counters, i, value)) {
			Py_DECREF(counters);
			return NULL;
		}
	}
	return counters;
}

static PyObject *make_provider(const struct etl_event_header *header)
{
	const char *name = etl_provider_name(header->provider);
	char guid[ETL_GUID_SIZE];

	if (name)
		return PyUnicode_FromString(name);
	etl_format_guid(header->provider, guid);
	return PyUnicode_FromString(guid);
}

static PyObject *get_header_value(PyObject *self, void *closure)
{
	const struct etl_event *event = &cast_to_event(self)->event;
	struct etl_event_header header;

	etl_read_event_header(&header, event);
	switch ((enum header_value_kind)(uintptr_t)closure) {
	case VALUE_PROCESS:
		if (header.has_process)
			return PyLong_FromUnsignedLong(header.process_id);
		break;
	case VALUE_THREAD:
		if (header.has_process)
			return PyLong_FromUnsignedLong(header.thread_id);
		break;
	case VALUE_PROVIDER:
		if (header.has_provider)
			return make_provider(&header);
		break;
	case VALUE_ID:
		if (header.has_id)
			return PyLong_FromLong(header.id);
		break;
	case VALUE_OPCODE:
		if (header.has_opcode)
			return PyLong_FromLong(header.opcode);
		break;
	case VALUE_LEVEL:
		if (header.has_opcode)
			return PyLong_FromLong(header.level);
		break;
	case VALUE_VERSION:
		if (event->has_hook_id)
			return PyLong_FromLong(event->version);
		if (header.has_opcode)
			return PyLong_FromLong(header.version);
		break;
	}
	Py_RETURN_NONE;
}

static PyObject *get_has_wrong_time(PyObject *self, void *closure)
{
	return PyBool_FromLong(cast_to_event(self)->event.has_impossible_time);
}

static PyObject *field_object(const struct event_field *field, const struct etl_event *event)
{
	uint64_t value = event_field_value(field, event);
	const char *symbol = NULL;

	if (field->format == FIELD_SYMBOL)
		symbol = event_field_symbol(field, value);
	if (symbol)
		return PyUnicode_FromString(symbol);
	if (field->format == FIELD_SIGNED)
		return PyLong_FromLongLong((int64_t)value);
	return PyLong_FromUnsignedLongLong(value);
}

/* Read the stack. Returns false if the event is of another kind. A damaged stack is no Event. */
static bool read_stack(struct etl_stack *stack, const struct event *event)
{
	return !event->type && event->event.has_hook_id &&
	       !etl_read_stack(stack, NULL, &event->event) && stack->kind != ETL_STACK_NONE;
}

static PyObject *make_addresses(const struct etl_stack *stack)
{
	PyObject *addresses = PyTuple_New(stack->count), *value;
	size_t i;

	for (i = 0; addresses && i < stack->count; i++) {
		value = PyLong_FromUnsignedLongLong(etl_stack_address(stack, i));
		if (!value || PyTuple_SetItem(addresses, i, value)) {
			Py_DECREF(addresses);
			return NULL;
		}
	}
	return addresses;
}

/* Return a value of a stack. NULL without an exception: this kind of stack lacks the value. */
static PyObject *stack_object(const struct etl_stack *stack, const char *name)
{
	bool has_event = stack->kind == ETL_STACK_OF_EVENT ||
			   stack->kind == ETL_STACK_KEY_OF_EVENT;

	if (has_event && !strcmp(name, "EventTimeStamp"))
		return PyLong_FromUnsignedLongLong(stack->event_time_stamp);
	if (has_event && !strcmp(name, "StackProcess"))
		return PyLong_FromUnsignedLong(stack->process_id);
	if (has_event && !strcmp(name, "StackThread"))
		return PyLong_FromUnsignedLong(stack->thread_id);
	if (stack->kind != ETL_STACK_OF_EVENT && !strcmp(name, "StackKey"))
		return PyLong_FromUnsignedLongLong(stack->key);
	if (stack->count && !strcmp(name, "Stack"))
		return make_addresses(stack);
	return NULL;
}

static PyObject *event_subscript(PyObject *self, PyObject *key)
{
	const struct event *event = cast_to_event(self);
	const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
	struct etl_stack stack;
	PyObject *value = NULL;
	size_t i;

	if (!name)
		return NULL;
	for (i = 0; event->type && i < event->type->field_count; i++)
		if (!strcmp(event->type->fields[i].name, name) &&
		    event_has_field(&event->event, &event->type->fields[i]))
			return field_object(&event->type->fields[i], &event->event);
	if (read_stack(&stack, event))
		value = stack_object(&stack, name);
	if (!value && !PyErr_Occurred())
		PyErr_SetObject(PyExc_KeyError, key);
	return value;
}

/* Append a name to the list, which is freed if there is no memory. Returns the list or NULL. */
static PyObject *append_name(PyObject *list, const char *name)
{
	PyObject *text = list ? PyUnicode_FromString(name) : NULL;

	if (text && !PyList_Append(list, text)) {
		Py_DECREF(text);
		return list;
	}
	Py_XDECREF(text);
	Py_XDECREF(list);
	return NULL;
}

static PyObject *event_keys(PyObject *self, PyObject *unused)
{
	const struct event *event = cast_to_event(self);
	PyObject *keys = PyList_New(0), *value;
	struct etl_stack stack;
	size_t i;

	for (i = 0; keys && event->type && i < event->type->field_count; i++)
		if (event_has_field(&event->event, &event->type->fields[i]))
			keys = append_name(keys, event->type->fields[i].name);
	if (!read_stack(&stack, event))
		return keys;
	for (i = 0; keys && i < ARRAY_SIZE(stack_keys); i++) {
		value = stack_object(&stack, stack_keys[i]);
		if (value)
			keys = append_name(keys, stack_keys[i]);
		Py_XDECREF(value);
	}
	return keys;
}

static PyObject *event_repr(PyObject *self)
{
	const struct event *event = cast_to_event(self);
	char text[128];

	snprintf(text, sizeof(text), "<ntklog.Event %s at %.9f on CPU %u>",
		 event_name(&event->event, event->type), event->seconds, event->event.processor);
	return PyUnicode_FromString(text);
}

#define MEMBER(_name, _type, _member, _doc) \
	{ _name, _type, offsetof(struct event, _member), READONLY, _doc }

static PyMemberDef event_members[] = {
	MEMBER("time", T_DOUBLE, seconds, "seconds since the start of the session"),
	MEMBER("time_stamp", T_ULONGLONG, event.time_stamp, "the session's clock"),
	MEMBER("raw_time", T_ULONGLONG, event.raw_time, "time as it is in the file"),
	MEMBER("cpu", T_UINT, event.processor, "number of the CPU that logged the event"),
	MEMBER("offset", T_ULONGLONG, event.offset, "offset in the file"),
	MEMBER("size", T_PYSSIZET, event.size, "bytes of header and data"),
	MEMBER("header_type", T_UBYTE, event.header_type, "TRACE_HEADER_TYPE_*"),
	MEMBER("pointer_size", T_UINT, event.pointer_size, "bytes of a pointer: 4 or 8"),
	{ 0 }
};

#define HEADER_VALUE(_name, _value, _doc) \
	{ _name, get_header_value, NULL, _doc, (void *)(uintptr_t)(_value) }

static PyGetSetDef event_values[] = {
	{ "name", get_name, NULL, "name, as ntklog dump prints it", NULL },
	{ "hook_id", get_hook_id, NULL, "hook id, or None", NULL },
	{ "data", get_data, NULL, "bytes behind the header", NULL },
	{ "counters", get_counters, NULL, "values of performance counters", NULL },
	{ "has_wrong_time", get_has_wrong_time, NULL,
	  "the time in the file is impossible; time is that of the event before", NULL },
	HEADER_VALUE("process_id", VALUE_PROCESS, "process of the header, or None"),
	HEADER_VALUE("thread_id", VALUE_THREAD, "thread of the header, or None"),
	HEADER_VALUE("provider", VALUE_PROVIDER, "name or GUID of the provider, or None"),
	HEADER_VALUE("id", VALUE_ID, "id of a manifest event or a WPP message, or None"),
	HEADER_VALUE("opcode", VALUE_OPCODE, "opcode, or None"),
	HEADER_VALUE("level", VALUE_LEVEL, "level, or None"),
	HEADER_VALUE("version", VALUE_VERSION, "version of the data, or None"),
	{ 0 }
};

static PyMethodDef event_methods[] = {
	{ "keys", event_keys, METH_NOARGS,
	  "keys()\n--\n\nNames of the event's fields; event[name] is the value of one." },
	{ 0 }
};

static PyType_Slot event_slots[] = {
	{ Py_tp_doc, (void *)"An event of a trace. dict(event) has its fields." },
	{ Py_tp_dealloc, event_free },
	{ Py_tp_repr, event_repr },
	{ Py_tp_members, event_members },
	{ Py_tp_getset, event_values },
	{ Py_tp_methods, event_methods },
	{ Py_mp_subscript, event_subscript },
	{ 0 }
};

static PyType_Spec event_spec = {
	.name = "ntklog.Event",
	.basicsize = sizeof(struct event),
	.itemsize = 1,
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
		 Py_TPFLAGS_IMMUTABLETYPE,
	.slots = event_slots,
};

/**
 * event_class_add() - add the class to the module
 * @module: module
 *
 * Return: 0, or -1 with an exception.
 */
int event_class_add(PyObject *module)
{
	event_class = (PyTypeObject *)PyType_FromSpec(&event_spec);
	return event_class ? PyModule_AddObjectRef(module, "Event", (PyObject *)event_class) : -1;
}
