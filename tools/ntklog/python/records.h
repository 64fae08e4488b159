/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PYTHON_RECORDS_H
#define _NTKLOG_PYTHON_RECORDS_H

/*
 * Records of events, from which the package makes columns. All records of one type of event and one
 * pointer size are in one bytearray: a struct record_head, the data, and zeros up to a multiple of
 * 8 bytes; or the numbers of these that the program has chosen. The package makes arrays that point
 * into the bytearray, so that a record is copied once.
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

/* Most numbers of a record that a program can choose. */
#define RECORD_PIECES_MAX	40

/* A number of a record. @from: offset in the whole record; @to: offset in the made record */
struct record_piece {
	uint16_t from;
	uint16_t size;
	uint16_t to;
};

/* Numbers of which a record consists. @count: 0: the record is whole. @size: bytes of the record */
struct record_pieces {
	size_t count;
	size_t size;
	struct record_piece pieces[RECORD_PIECES_MAX];
};

/*
 * A program's choice of events and fields.
 *
 * @is_wanted: by type: the program wants the records of this type
 * @pieces: by type and by pointer size, as the arrays of struct records
 */
struct record_choice {
	bool is_wanted[EVENT_TYPES];
	struct record_pieces pieces[EVENT_TYPES][2];
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
 * @choice: the program's choice
 * @count: number of records
 * @arrays: records by type and by pointer size: 4 and 8 bytes
 */
struct records {
	struct record_choice choice;
	size_t count;
	struct record_array arrays[EVENT_TYPES][2];
};

bool record_choice_make(struct record_choice *choice, PyObject *names, PyObject *pieces);
bool records_add(struct records *records, const struct etl_event *event,
		 const struct event_type *type);
PyObject *records_take(struct records *records);
void records_free(struct records *records);
int record_types_add(PyObject *module);

#endif /* _NTKLOG_PYTHON_RECORDS_H */
