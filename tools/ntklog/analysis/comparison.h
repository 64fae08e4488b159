/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_COMPARISON_H
#define _NTKLOG_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/etl.h>

#include "event_type.h"
#include "kept_callers.h"
#include "names.h"

enum comparison_operator {
	IS_EQUAL,
	IS_NOT_EQUAL,
	IS_LESS_OR_EQUAL,
	IS_GREATER_OR_EQUAL,
	IS_LESS,
	IS_GREATER,
	CONTAINS,
};

enum subject_kind {
	SUBJECT_FIELD,
	SUBJECT_FIELD_SYMBOL,
	SUBJECT_EVENT,
	SUBJECT_CPU,
	SUBJECT_SECONDS,
	SUBJECT_TIME_STAMP,
	SUBJECT_WRONG_TIME_STAMP,
	SUBJECT_HOOK_ID,
	SUBJECT_VERSION,
	SUBJECT_SIZE,
	SUBJECT_HEADER_TYPE,
	SUBJECT_PMC,
	SUBJECT_PEBS_INDEX,
	SUBJECT_PROVIDER,
	SUBJECT_ID,
	SUBJECT_OPCODE,
	SUBJECT_LEVEL,
	SUBJECT_PROCESS_ID,
	SUBJECT_HOLD,
	SUBJECT_WAIT,
	SUBJECT_LOCK,
	SUBJECT_CALLER,
	SUBJECT_CLASS,
	SUBJECT_THREAD,
	SUBJECT_PROCESS,
	SUBJECT_CGROUP,
};

enum operand_kind {
	OPERAND_NUMBER,
	OPERAND_SIGNED,
	OPERAND_ADDRESS,	/* a number, or a symbol */
	OPERAND_SYMBOL,		/* a number, or one of the names of the field's values */
	OPERAND_CYCLES,		/* a number of cycles, or a time with its unit */
	OPERAND_DURATION,	/* a time with its unit */
	OPERAND_SECONDS,	/* a time; in seconds if it has no unit */
	OPERAND_THREAD,		/* the id or the name of a thread */
	OPERAND_TEXT,
	OPERAND_EVENT,
};

/* Types of events as bits: those of event_types[], and one for all that the tool does not know. */
#define COMPARISON_UNKNOWN_TYPES	(UINT32_C(1) << EVENT_TYPES)
#define COMPARISON_ALL_TYPES		(2 * COMPARISON_UNKNOWN_TYPES - 1)

/*
 * @fields: fields of the subject by type of event, also those of SUBJECT_LOCK, SUBJECT_CALLER,
 *	SUBJECT_CLASS and of tasks; NULL for a type that has no such field
 * @is_thread_id: the field is ThreadId, which the header of an event of unknown type may have too
 * @max_value: greatest value that the subject can have, if the value is a number
 * @text: value as the user wrote it
 * @is_number: the value is @number, not @text
 * @number: the value, of OPERAND_SIGNED an int64_t; or the offset of a symbol
 * @is_time: the value is @ns
 * @symbol: of a symbol the part of @text without offset and module
 * @has_offset: the value is a symbol with the offset @number
 * @module: module of @symbol as "[MODULE]", or NULL; in the memory of @symbol
 * @is_taken_for_class: no symbol has the name, so it is compared with classes; a message said so
 */
struct comparison {
	enum subject_kind subject;
	enum operand_kind kind;
	enum comparison_operator operator;
	const struct event_field *fields[EVENT_TYPES];
	bool is_thread_id;
	unsigned int counter_number;
	uint64_t max_value;
	char *text;
	size_t text_offset;
	bool is_number;
	uint64_t number;
	bool is_time;
	double ns;
	char *symbol;
	bool has_offset;
	const char *module;
	bool is_taken_for_class;
};

int comparison_find_subject(struct comparison *comparison, const char *name, size_t at, char *error,
			    size_t size);
int comparison_resolve_value(struct comparison *comparison, const char *field, char *error,
			     size_t size);
bool comparison_is_of_locks(const struct comparison *comparison);
int comparison_check_names(struct comparison *comparison, const struct names *names,
			   bool has_classes, char *error, size_t size);
uint32_t comparison_find_types(const struct comparison *comparison);
bool comparison_is_true(const struct comparison *comparison, const struct etl_file *file,
			const struct etl_event *event, const struct event_type *type,
			const struct names *names, const struct kept_caller *callers);
bool parse_seconds(const char *text, double *seconds);
void comparison_clear(struct comparison *comparison);

#endif /* _NTKLOG_COMPARISON_H */
