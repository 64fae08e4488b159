/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TRACE_CREATE_H
#define _NTKLOG_TRACE_CREATE_H

/* Making the file that a session is written to. */

int trace_create(const char *path, int *fd);

#endif /* _NTKLOG_TRACE_CREATE_H */
