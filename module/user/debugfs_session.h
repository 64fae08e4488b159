/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DEBUGFS_SESSION_H
#define _NTKLOG_DEBUGFS_SESSION_H

struct dentry;

int ntklog_create_session_directories(struct dentry *directory);
void ntklog_free_session_files(void);

#endif /* _NTKLOG_DEBUGFS_SESSION_H */
