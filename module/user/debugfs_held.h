/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DEBUGFS_HELD_H
#define _NTKLOG_DEBUGFS_HELD_H

struct dentry;

int ntklog_create_held_file(struct dentry *directory);

#endif /* _NTKLOG_DEBUGFS_HELD_H */
