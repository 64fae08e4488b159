// SPDX-License-Identifier: GPL-2.0-only
/* Kinds of files in debugfs. See debugfs_file.h. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "debugfs_file.h"

/* Longer than any text that a file takes. */
#define NTKLOG_TEXT_MAX	512
/* The kernel log shows one byte less of a refused text. */
#define NTKLOG_TEXT_SHOWN	48

/*
 * @is_explained: the kernel log has what the file takes; set by the first refused write
 */
struct ntklog_open_file {
	const struct ntklog_file *file;
	void *object;
	bool is_explained;
};

static int ntklog_file_show(struct seq_file *seq, void *unused)
{
	struct ntklog_open_file *open = seq->private;

	open->file->show(seq, open->object);
	return 0;
}

static int ntklog_file_open(struct inode *inode, struct file *file)
{
	return single_open(file, ntklog_file_show, inode->i_private);
}

static ssize_t ntklog_file_write(struct file *file, const char __user *from,
				 size_t count, loff_t *position)
{
	struct ntklog_open_file *open = file_inode(file)->i_private;
	char start[NTKLOG_TEXT_SHOWN];
	size_t length = count;
	int err = -EINVAL;
	char *text;

	/* One write is one value: nothing is put together from parts. */
	if (!count || count > NTKLOG_TEXT_MAX || *position)
		return -EINVAL;
	text = memdup_user_nul(from, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (text[length - 1] == '\n')
		text[--length] = '\0';
	strscpy(start, text, sizeof(start));
	if (strlen(text) == length)
		err = open->file->store(open->object, text);
	kfree(text);
	if (err == -EINVAL && !xchg(&open->is_explained, true))
		pr_notice("%pD3: \"%*pE\" is refused: the file takes %s\n", file,
			  (int)strlen(start), start, open->file->takes);
	if (err)
		return err;
	*position += count;
	return count;
}

static const struct file_operations ntklog_file_read_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_file_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static const struct file_operations ntklog_file_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_file_open,
	.read = seq_read,
	.write = ntklog_file_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* Objects that the inodes point to. Freed when the directory has been removed. */
static LIST_HEAD(ntklog_open_files);

struct ntklog_file_node {
	struct list_head list;
	struct ntklog_open_file open;
};

/**
 * ntklog_create_file() - create a text file
 * @file: description of the file; must stay valid
 * @directory: parent directory
 * @object: argument for the functions of @file
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int ntklog_create_file(const struct ntklog_file *file, struct dentry *directory, void *object)
{
	struct ntklog_file_node *node = kzalloc(sizeof(*node), GFP_KERNEL);
	struct dentry *dentry;

	if (!node)
		return -ENOMEM;
	node->open.file = file;
	node->open.object = object;
	list_add(&node->list, &ntklog_open_files);
	dentry = debugfs_create_file(file->name, file->store ? 0600 : 0400,
				     directory, &node->open,
				     file->store ? &ntklog_file_fops :
						   &ntklog_file_read_fops);
	return PTR_ERR_OR_ZERO(dentry);
}

/**
 * ntklog_free_files() - free the objects of the text files
 *
 * Context: unload, or a load that failed; the directory has been removed.
 */
void ntklog_free_files(void)
{
	struct ntklog_file_node *node, *next;

	list_for_each_entry_safe(node, next, &ntklog_open_files, list) {
		list_del(&node->list);
		kfree(node);
	}
}

/**
 * ntklog_parse_number() - parse a number of decimal digits, without sign, blank or newline
 * @text: the text
 * @value: set to the number
 *
 * Context: any.
 * Return: 0, or -EINVAL.
 */
int ntklog_parse_number(const char *text, u32 *value)
{
	/* kstrtou32() takes a newline at the end. */
	if (text[strspn(text, "0123456789")] || kstrtou32(text, 10, value))
		return -EINVAL;
	return 0;
}

/* Private data of a file that ntklog_made_open() has opened. */
struct ntklog_made {
	size_t size;
	void *bytes;
};

/**
 * ntklog_made_open() - open a file whose contents have just been made
 * @file: the file
 * @bytes: the contents, from kvmalloc(), which ntklog_made_release() frees; or an error pointer
 * @size: size of the contents in bytes
 *
 * Context: thread.
 * Return: 0 or a negative errno.
 */
int ntklog_made_open(struct file *file, void *bytes, size_t size)
{
	struct ntklog_made *made;

	if (IS_ERR(bytes))
		return PTR_ERR(bytes);
	made = kzalloc(sizeof(*made), GFP_KERNEL);
	if (!made) {
		kvfree(bytes);
		return -ENOMEM;
	}
	made->bytes = bytes;
	made->size = size;
	file->private_data = made;
	return 0;
}

/**
 * ntklog_made_read() - read() of a file that ntklog_made_open() has opened
 * @file: the file
 * @to: buffer of the caller
 * @count: size of the buffer in bytes
 * @position: position in the file
 *
 * Context: thread.
 * Return: number of bytes copied, or -EFAULT.
 */
ssize_t ntklog_made_read(struct file *file, char __user *to, size_t count, loff_t *position)
{
	struct ntklog_made *made = file->private_data;

	return simple_read_from_buffer(to, count, position, made->bytes, made->size);
}

/**
 * ntklog_made_release() - close a file that ntklog_made_open() has opened
 * @inode: unused
 * @file: the file
 *
 * Context: thread.
 * Return: 0.
 */
int ntklog_made_release(struct inode *inode, struct file *file)
{
	struct ntklog_made *made = file->private_data;

	kvfree(made->bytes);
	kfree(made);
	return 0;
}
