/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_RELEASES_H
#define _NTKLOG_LINUX_RELEASES_H

/* Releases of spin locks that leave a waiter behind, for the mode "holders". */

void ntklog_releases_init(void);
const char *ntklog_check_release_tracepoint(void);
int ntklog_watch_releases(const char **failed_name);
void ntklog_stop_watching_releases(void);

#endif /* _NTKLOG_LINUX_RELEASES_H */
