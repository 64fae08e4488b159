/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_STATUS_H
#define _NTKLOG_STATUS_H

/* Exit statuses. */
enum ntklog_exit_status {
	NTKLOG_OK = 0,
	NTKLOG_FAILED = 1,	/* a file or the system prevents the command */
	NTKLOG_USAGE = 2,	/* the command line is invalid */
	NTKLOG_CHANGED = 3,	/* the condition of diff --fail-if is true */
	NTKLOG_NOT_MET = 3,	/* no event has met the condition of record --on */
};

#endif /* _NTKLOG_STATUS_H */
