// SPDX-License-Identifier: GPL-2.0-only
/* Records of events for columns, and the description of their layouts: see records.h. */

#include "records.h"

#include <string.h>

#include "macros.h"

#define FIRST_CAPACITY	0x10000

static bool select_type(struct record_choice *choice, PyObject *name)
{
	const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
	bool has_any = false;
	size_t i;

	if (!text)
		return false;
	for (i = 0; i < EVENT_TYPES; i++) {
		if (strcmp(event_types[i].name, text))
			continue;
		choice->is_wanted[i] = true;
		has_any = true;
	}
	if (!has_any)
		PyErr_Format(PyExc_ValueError, "no event with fields has the name \"%s\"", text);
	return has_any;
}

/* Read a tuple of (offset, size, new offset). Returns false with an exception. */
static bool read_pieces(struct record_pieces *pieces, PyObject *tuple, size_t whole_size)
{
	Py_ssize_t count = PyTuple_Size(tuple), i;
	size_t head = sizeof(struct record_head), end, align = 1;

	if (count < 0)
		return false;
	if (count > RECORD_PIECES_MAX) {
		PyErr_SetString(PyExc_ValueError, "too many fields");
		return false;
	}
	for (i = 0; i < count; i++) {
		struct record_piece *piece = &pieces->pieces[i];

		if (!PyArg_ParseTuple(PyTuple_GetItem(tuple, i), "HHH", &piece->from,
				      &piece->size, &piece->to))
			return false;
		end = piece->to + piece->size;
		if ((size_t)piece->from + piece->size >
		    (piece->from < head ? head : whole_size) || end > FIRST_CAPACITY / 2) {
			PyErr_SetString(PyExc_ValueError, "a field is outside of the record");
			return false;
		}
		if (end > pieces->size)
			pieces->size = end;
		if (piece->size > align)
			align = piece->size;
	}
	pieces->size = (pieces->size + align - 1) / align * align;
	pieces->count = count;
	return true;
}

/**
 * record_choice_make() - read a program's choice of events and fields
 * @choice: set to the choice
 * @names: tuple of names of events; empty: all events with fields
 * @pieces: tuple of the types, of tuples of the pointer sizes, of tuples of pieces; no pieces: the
 *	whole record
 *
 * Return: true, or false with an exception.
 */
bool record_choice_make(struct record_choice *choice, PyObject *names, PyObject *pieces)
{
	Py_ssize_t count = PyTuple_Size(names), i;
	PyObject *layout32, *layout64;

	memset(choice, 0, sizeof(*choice));
	for (i = 0; i < count; i++)
		if (!select_type(choice, PyTuple_GetItem(names, i)))
			return false;
	if (!count)
		memset(choice->is_wanted, true, sizeof(choice->is_wanted));
	for (i = 0; i < (Py_ssize_t)EVENT_TYPES; i++) {
		PyObject *pair = PyTuple_GetItem(pieces, i);
		const size_t *sizes = event_types[i].data_sizes;
		size_t head = sizeof(struct record_head);

		if (!pair || !PyArg_ParseTuple(pair, "O!O!", &PyTuple_Type, &layout32,
					       &PyTuple_Type, &layout64) ||
		    !read_pieces(&choice->pieces[i][0], layout32, head + sizes[0]) ||
		    !read_pieces(&choice->pieces[i][1], layout64, head + sizes[1]))
			return false;
	}
	return true;
}

static size_t padded_size(size_t size)
{
	return (size + 7) / 8 * 8;
}

/* Make place for one more record. Returns false with an exception. */
static bool reserve(struct record_array *array, size_t size)
{
	size_t capacity = array->capacity ? 2 * array->capacity : FIRST_CAPACITY;

	if (array->used + size <= array->capacity)
		return true;
	if (!array->array)
		array->array = PyByteArray_FromStringAndSize(NULL, capacity);
	else if (PyByteArray_Resize(array->array, capacity))
		return false;
	if (!array->array)
		return false;
	array->bytes = PyByteArray_AsString(array->array);
	array->capacity = capacity;
	return true;
}

static void copy_number(char *to, const char *from, size_t size)
{
	if (size == 8)
		memcpy(to, from, 8);
	else if (size == 4)
		memcpy(to, from, 4);
	else
		memcpy(to, from, size);
}

/* Copy the numbers of an event that the program has chosen. */
static void copy_pieces(char *at, const struct record_pieces *pieces,
			const struct record_head *head, const unsigned char *data)
{
	size_t i;

	for (i = 0; i < pieces->count; i++) {
		const struct record_piece *piece = &pieces->pieces[i];

		if (piece->from < sizeof(*head))
			copy_number(at + piece->to, (const char *)head + piece->from, piece->size);
		else
			copy_number(at + piece->to,
				    (const char *)data + piece->from - sizeof(*head), piece->size);
	}
}

static void copy_whole(char *at, const struct record_head *head, const struct etl_event *event)
{
	size_t size = sizeof(*head) + event->data_size;

	memcpy(at, head, sizeof(*head));
	memcpy(at + sizeof(*head), event->data, event->data_size);
	memset(at + size, 0, padded_size(size) - size);
}

/**
 * records_add() - add the record of an event
 * @records: records
 * @event: event
 * @type: type of the event, whose size its data has
 *
 * Return: true, or false with an exception.
 */
bool records_add(struct records *records, const struct etl_event *event,
		 const struct event_type *type)
{
	const struct record_head head = {
		.time_stamp = event->time_stamp,
		.cpu = event->processor,
		.version = event->version,
	};
	size_t number = type - event_types, is_64bit = event->pointer_size == 8, size;
	const struct record_pieces *pieces = &records->choice.pieces[number][is_64bit];
	struct record_array *array = &records->arrays[number][is_64bit];

	if (!records->choice.is_wanted[number])
		return true;
	size = pieces->count ? pieces->size : padded_size(sizeof(head) + event->data_size);
	if (!reserve(array, size))
		return false;
	if (pieces->count)
		copy_pieces(array->bytes + array->used, pieces, &head, event->data);
	else
		copy_whole(array->bytes + array->used, &head, event);
	array->used += size;
	records->count++;
	return true;
}

/*
 * Append the tuple of records_take() for one type and pointer size to a list, unless there are no
 * records of it. Returns false with an exception.
 */
static bool append_records(PyObject *list, size_t type, unsigned int pointer_size,
			   struct record_array *array)
{
	PyObject *item;
	bool is_appended;

	if (!array->array)
		return true;
	if (PyByteArray_Resize(array->array, array->used))
		return false;
	item = Py_BuildValue("nIO", (Py_ssize_t)type, pointer_size, array->array);
	is_appended = item && !PyList_Append(list, item);
	Py_XDECREF(item);
	return is_appended;
}

/**
 * records_take() - make Python's list of the records
 * @records: records, to which no more are added
 *
 * Return: list of tuples (index of the type, pointer size, bytearray); NULL with an exception.
 */
PyObject *records_take(struct records *records)
{
	PyObject *list = PyList_New(0);
	size_t i;

	for (i = 0; list && i < EVENT_TYPES; i++)
		if (!append_records(list, i, 4, &records->arrays[i][0]) ||
		    !append_records(list, i, 8, &records->arrays[i][1]))
			Py_CLEAR(list);
	return list;
}

/**
 * records_free() - free the records that Python does not use
 * @records: records; all zero afterwards
 */
void records_free(struct records *records)
{
	size_t i;

	for (i = 0; i < EVENT_TYPES; i++) {
		Py_XDECREF(records->arrays[i][0].array);
		Py_XDECREF(records->arrays[i][1].array);
	}
	*records = (struct records) { 0 };
}

/* Make a dictionary of the names of values, or None if the values have no names. */
static PyObject *make_value_names(const struct event_field *field)
{
	PyObject *symbols, *value;
	size_t i;
	int err = 0;

	if (field->format != FIELD_SYMBOL)
		return Py_NewRef(Py_None);
	symbols = PyDict_New();
	for (i = 0; symbols && i < field->symbol_count && !err; i++) {
		PyObject *name = PyUnicode_FromString(field->symbols[i].name);

		value = PyLong_FromUnsignedLong(field->symbols[i].value);
		err = !name || !value || PyDict_SetItem(symbols, value, name);
		Py_XDECREF(value);
		Py_XDECREF(name);
	}
	if (err)
		Py_CLEAR(symbols);
	return symbols;
}

static PyObject *make_field(const struct event_field *field, bool is_64bit)
{
	const struct field_place *where = &field->places[is_64bit], *minus =
		&field->subtracted_places[is_64bit];
	PyObject *symbols = make_value_names(field);
	size_t head = sizeof(struct record_head);

	if (!symbols)
		return NULL;
	return Py_BuildValue("snInIIIiIN", field->name, (Py_ssize_t)(head + where->offset),
			     (unsigned int)where->size, (Py_ssize_t)(head + minus->offset),
			     (unsigned int)minus->size, (unsigned int)field->mask,
			     (unsigned int)field->shift, field->format == FIELD_SIGNED,
			     (unsigned int)field->version, symbols);
}

static PyObject *make_layout(const struct event_type *type, bool is_64bit)
{
	size_t size = sizeof(struct record_head) + padded_size(type->data_sizes[is_64bit]);
	PyObject *fields = PyTuple_New(type->field_count), *field;
	size_t i;

	for (i = 0; fields && i < type->field_count; i++) {
		field = make_field(&type->fields[i], is_64bit);
		if (!field || PyTuple_SetItem(fields, i, field))
			Py_CLEAR(fields);
	}
	return fields ? Py_BuildValue("nN", (Py_ssize_t)size, fields) : NULL;
}

static PyObject *make_type(const struct event_type *type)
{
	PyObject *layout32 = make_layout(type, false), *layout64 = make_layout(type, true);

	if (layout32 && layout64)
		return Py_BuildValue("sNN", type->name, layout32, layout64);
	Py_XDECREF(layout32);
	Py_XDECREF(layout64);
	return NULL;
}

/**
 * record_types_add() - add the description of all records to the module
 * @module: module
 *
 * TYPES is a tuple of (name, layout of 4-byte pointers, layout of 8-byte pointers); a layout is
 * (bytes of a record, tuple of fields); a field is (name, offset, bytes, offset and bytes of the
 * number to subtract, mask, shift, is signed, version that has it or 0, names of values or None).
 *
 * Return: 0, or -1 with an exception.
 */
int record_types_add(PyObject *module)
{
	PyObject *types = PyTuple_New(EVENT_TYPES), *type;
	size_t i;
	int err;

	for (i = 0; types && i < EVENT_TYPES; i++) {
		type = make_type(&event_types[i]);
		if (!type || PyTuple_SetItem(types, i, type))
			Py_CLEAR(types);
	}
	if (!types)
		return -1;
	err = PyModule_AddObjectRef(module, "TYPES", types);
	Py_DECREF(types);
	return err;
}
