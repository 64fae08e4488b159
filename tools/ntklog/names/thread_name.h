/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_THREAD_NAME_H
#define _NTKLOG_THREAD_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Name, process and cgroup of a thread from a time on.
 * @valid_from: session clock from which on this is true; 0: from the start
 * @process_id: id of its process; 0: not known. Linux' processes have the ids and the names of
 *	their first threads. Those of Windows have entries of their own, because a thread may get
 *	the id of a process that has ended
 * @cgroup: path of its cgroup; NULL: not known
 * @rank: the name with the greatest rank of a thread and time counts: names from a file of names
 *	outrank names from the trace, and later names outrank earlier ones
 * @is_windows_process: the entry is a process of Windows, not a thread
 */
struct thread_name {
	uint64_t valid_from;
	uint32_t id;
	uint32_t process_id;
	const char *name;
	const char *cgroup;
	size_t rank;
	bool is_windows_process;
};

#endif /* _NTKLOG_THREAD_NAME_H */
