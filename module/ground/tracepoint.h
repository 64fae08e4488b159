/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_TRACEPOINT_H
#define _NTKLOG_GROUND_TRACEPOINT_H

struct tracepoint;

struct tracepoint *ntklog_find_tracepoint(const char *name);

#endif /* _NTKLOG_GROUND_TRACEPOINT_H */
