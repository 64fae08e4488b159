/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SESSION_H
#define _NTKLOG_SESSION_H

/* Sessions of the module: settings, state and counts. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel.h"

/**
 * struct session_group - events that a session may log
 * @name: for the option -e
 * @mask_name: NT's
 * @mask: NT's
 * @help: what they are
 * @linux_kind: of Linux' own locks: what the module's file linux calls the kind; NULL: of others
 * @sleeps: such a lock, whoever waits for which sleeps
 */
struct session_group {
	const char *name;
	const char *mask_name;
	uint32_t mask;
	const char *help;
	const char *linux_kind;
	bool sleeps;
};

extern const struct session_group session_groups[];
extern const size_t session_group_count;

/**
 * struct session_settings - of a session; 0 and NULL: as it is
 * @groups: names of groups, separated by commas
 * @buffer_size: bytes
 * @buffers: of each processor
 * @flush_ms: after which buffers that are not full can be read
 * @mode: "sequential" or "buffering"
 * @stacks: events that carry a stack, separated by commas, or "none"
 */
struct session_settings {
	const char *groups;
	unsigned long buffer_size;
	unsigned long buffers;
	unsigned long flush_ms;
	const char *mode;
	const char *stacks;
};

/* All that can, for who does not say which. */
#define SESSION_STACKS_ALL	"spinlock,resource,contextswap"
#define SESSION_STACKS_NONE	"none"

/**
 * struct session_counts - of a session's run, all processors
 * @generated: events
 * @written: events
 * @lost: events
 * @finished: buffers
 * @unread: buffers
 */
struct session_counts {
	uint64_t generated;
	uint64_t written;
	uint64_t lost;
	uint64_t finished;
	uint64_t unread;
};

const char *session_group_trouble(const struct session_group *group, char text[KERNEL_TEXT]);
const char *session_default_groups(void);
int session_check_groups(const char *groups);
int session_check_stacks(const char *stacks);
bool session_wants(const char *groups, uint32_t group);
bool session_has_events(const char *groups);
unsigned long session_parse_size(const char *text);
bool session_is_started(int number);
int session_find_free(void);
int session_find_started(void);
int session_counts(int number, struct session_counts *counts);
int session_configure(int number, const struct session_settings *settings);
int session_start(int number);
int session_stop(int number);
int session_get_linux_mode(const char *mode, char old[KERNEL_TEXT]);
int session_set_linux_mode(const char *mode);

#endif /* _NTKLOG_SESSION_H */
