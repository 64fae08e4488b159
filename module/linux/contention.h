/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_CONTENTION_H
#define _NTKLOG_LINUX_CONTENTION_H

typedef void (*ntklog_contention_begin_probe_t)(void *unused, void *lock, unsigned int flags);
typedef void (*ntklog_contention_end_probe_t)(void *unused, void *lock, int err);

const char *ntklog_find_contention_tracepoints(void);
int ntklog_watch_contention(ntklog_contention_begin_probe_t begin_probe,
			    ntklog_contention_end_probe_t end_probe, const char **failed_name);
void ntklog_stop_watching_contention(ntklog_contention_begin_probe_t begin_probe,
				     ntklog_contention_end_probe_t end_probe);

#endif /* _NTKLOG_LINUX_CONTENTION_H */
