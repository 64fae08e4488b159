/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DEBUGFS_H
#define _NTKLOG_DEBUGFS_H

int ntklog_debugfs_init(void);
void ntklog_debugfs_create_files(void);
void ntklog_debugfs_exit(void);

#endif /* _NTKLOG_DEBUGFS_H */
