/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EX_LOCKS_INFORMATION_H
#define _NTKLOG_EX_LOCKS_INFORMATION_H

/* All live resources, as they were at one time: NT's SystemLocksInformation. */

#include <uapi/ntklog/system_information.h>

/**
 * struct ex_lock - one of them
 * @information: as NT gives it, with its address as that is shown
 * @resource: its address
 * @owner: the exclusive owner, thread or owner pointer, 0 if there is none
 * @creator: where the resource was initialised
 */
struct ex_lock {
	struct rtl_process_lock_information64 information;
	unsigned long resource;
	unsigned long owner;
	unsigned long creator;
};

/**
 * struct ex_locks - all of them, by address
 * @count: how many
 * @locks: each
 */
struct ex_locks {
	u32 count;
	struct ex_lock locks[];
};

struct ex_locks *ex_query_locks(void);
struct rtl_process_locks64 *ex_query_locks_information(size_t *size);

#endif /* _NTKLOG_EX_LOCKS_INFORMATION_H */
