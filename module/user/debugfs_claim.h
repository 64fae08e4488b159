/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DEBUGFS_CLAIM_H
#define _NTKLOG_DEBUGFS_CLAIM_H

#include <linux/poll.h>
#include <linux/types.h>

struct dentry;
struct etw_session;
struct file;
struct inode;

ssize_t ntklog_reader_read(struct file *file, char __user *buffer, size_t count, loff_t *position);
__poll_t ntklog_reader_poll(struct file *file, poll_table *wait);
int ntklog_reader_release(struct inode *inode, struct file *file);
int ntklog_create_claim_files(struct dentry *directory, struct etw_session *session);

#endif /* _NTKLOG_DEBUGFS_CLAIM_H */
