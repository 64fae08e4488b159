/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SESSION_H
#define _NTKLOG_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntklog/group_mask.h>

#include "kernel.h"

/* Bytes for the names of all groups, separated by commas. */
#define SESSION_GROUPS_SIZE	256

/*
 * @name: name for the option -e
 * @linux_kind: kind of Linux' own locks, as the module's file "linux" names it; NULL: the group is
 *	not about Linux' locks
 * @is_sleeping_kind: waiters for a lock of this kind sleep
 */
struct session_group {
	const char *name;
	const char *mask_name;
	uint32_t mask;
	const char *help;
	const char *linux_kind;
	bool is_sleeping_kind;
};

extern const struct session_group session_groups[];
extern const size_t session_group_count;

/*
 * @buffer_size, @buffer_count: bytes of a buffer, and buffers of each CPU; 0: as the session has
 *	them
 * @flush_ms: period of flushing buffers that are not full, in ms; 0: none
 */
struct session_settings {
	const char *groups;
	unsigned long buffer_size;
	unsigned long buffer_count;
	unsigned long flush_ms;
	uint32_t mode;
	uint32_t stack_events;
};

/*
 * Counts of a session's present or last run, over all CPUs.
 * @lost: number of events for which no buffer had space
 * @finished_buffer_count: number of full or flushed buffers
 * @unread_buffer_count: number of these that were not read
 */
struct session_counts {
	uint64_t generated;
	uint64_t written;
	uint64_t lost;
	uint64_t finished_buffer_count;
	uint64_t unread_buffer_count;
};

const char *session_explain_kind(const char *kind, char text[KERNEL_TEXT]);
const char *session_explain_group(const struct session_group *group, char text[KERNEL_TEXT]);
const char *session_find_unknown_group(const char *groups);
bool session_list_possible_groups(char *groups, size_t size, bool with_sleeping_locks);
const char *session_default_groups(void);
int session_parse_groups(const char *groups, struct perfinfo_groupmask *mask);
bool session_mask_has(const struct perfinfo_groupmask *mask, uint32_t group);
bool session_groups_include(const char *groups, uint32_t group);
bool session_groups_have_events(const char *groups);
int session_parse_number(const char *text);
int session_parse_stacks(const char *text, uint32_t *stacks);
unsigned long session_parse_size(const char *text);
bool session_is_started(int number);
int session_find_started(void);
bool session_any_is_started(void);
int read_session_counts(int number, struct session_counts *counts);
void session_report_none_is_free(void);

#endif /* _NTKLOG_SESSION_H */
