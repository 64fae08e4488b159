/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DEBUGFS_FILE_H
#define _NTKLOG_DEBUGFS_FILE_H

/* Two kinds of files in debugfs: text files, and files whose contents open() makes. */

#include <linux/types.h>

struct dentry;
struct file;
struct inode;
struct seq_file;

/* @store gets the text without the newline at its end, and may modify it. NULL: read only. */
struct ntklog_file {
	const char *name;
	void (*show)(struct seq_file *file, void *object);
	int (*store)(void *object, char *text);
	const char *accepted_values;
};

int ntklog_create_file(const struct ntklog_file *file, struct dentry *directory, void *object);
void ntklog_free_files(void);
int ntklog_parse_number(const char *text, u32 *value);

int ntklog_contents_open(struct file *file, void *bytes, size_t size);
ssize_t ntklog_contents_read(struct file *file, char __user *buffer, size_t count,
			     loff_t *position);
int ntklog_contents_release(struct inode *inode, struct file *file);

#endif /* _NTKLOG_DEBUGFS_FILE_H */
