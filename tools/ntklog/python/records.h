/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PYTHON_RECORDS_H
#define _NTKLOG_PYTHON_RECORDS_H

/*
 * Records of events, from which the package makes columns. All records of one type of event and one
 * pointer size are in one bytearray: a struct record_head, the data, and zeros up to a multiple of
 * 8 bytes. The package makes arrays that point into the bytearray, so that a record is copied once.
 */

#include "python.h"

#include "event_type.h"

/*
 * Head of a record, before the data of the event.
 *
 * @time_stamp: session clock of the event
 * @cpu: number of the CPU that logged the event
 * @version: version of the event
 */
struct record_head {
	uint64_t time_stamp;
	uint32_t cpu;
	uint16_t version;
	uint16_t reserved;
};

/*
 * Records of one layout.
 *
 * @array: the bytearray; NULL before the first record
 * @bytes: its bytes
 * @used: number of bytes that are in use
 * @capacity: number of @bytes
 */
struct record_array {
	PyObject *array;
	char *bytes;
	size_t used;
	size_t capacity;
};

/*
 * The records that a program wants.
 *
 * @is_wanted: the program wants the records of this type
 * @count: number of records
 * @arrays: records by type and by pointer size: 4 and 8 bytes
 */
struct records {
	size_t count;
	bool is_wanted[EVENT_TYPES];
	struct record_array arrays[EVENT_TYPES][2];
};

bool records_begin(struct records *records, PyObject *names);
bool records_add(struct records *records, const struct etl_event *event,
		 const struct event_type *type);
bool records_are_alike(const struct records *records, const struct records *others);
PyObject *records_take(struct records *records);
void records_free(struct records *records);
int record_types_add(PyObject *module);

#endif /* _NTKLOG_PYTHON_RECORDS_H */
