// SPDX-License-Identifier: GPL-2.0-only
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

#define NTKLOG_TEXT_SIZE_MAX	512
/* Bytes of a refused text that are printed to the kernel log, with a NUL at the end. */
#define NTKLOG_SHOWN_TEXT_SIZE	48

struct ntklog_inode_data {
	struct list_head list;
	const struct ntklog_file *file;
	void *object;
	bool is_explained;
};

/* Freed when the directory has been removed. */
static LIST_HEAD(ntklog_inode_data_list);

static int ntklog_file_show(struct seq_file *seq, void *unused)
{
	const struct ntklog_inode_data *data = seq->private;

	data->file->show(seq, data->object);
	return 0;
}

static int ntklog_file_open(struct inode *inode, struct file *file)
{
	return single_open(file, ntklog_file_show, inode->i_private);
}

static ssize_t ntklog_file_write(struct file *file, const char __user *buffer,
				 size_t count, loff_t *position)
{
	struct ntklog_inode_data *data = file_inode(file)->i_private;
	char shown_text[NTKLOG_SHOWN_TEXT_SIZE];
	size_t length = count;
	int err = -EINVAL;
	char *text;

	/* Each write() has a whole value. The file does not join several writes. */
	if (!count || count > NTKLOG_TEXT_SIZE_MAX || *position)
		return -EINVAL;
	text = memdup_user_nul(buffer, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (text[length - 1] == '\n')
		text[--length] = '\0';
	strscpy(shown_text, text, sizeof(shown_text));
	if (strlen(text) == length)
		err = data->file->store(data->object, text);
	kfree(text);
	if (err == -EINVAL && !xchg(&data->is_explained, true))
		pr_notice("%pD3: \"%*pE\" is refused: the file takes %s\n", file,
			  (int)strlen(shown_text), shown_text, data->file->accepted_values);
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
	struct ntklog_inode_data *data = kzalloc(sizeof(*data), GFP_KERNEL);
	struct dentry *dentry;

	if (!data)
		return -ENOMEM;
	data->file = file;
	data->object = object;
	list_add(&data->list, &ntklog_inode_data_list);
	dentry = debugfs_create_file(file->name, file->store ? 0600 : 0400,
				     directory, data,
				     file->store ? &ntklog_file_fops :
						   &ntklog_file_read_fops);
	return PTR_ERR_OR_ZERO(dentry);
}

/**
 * ntklog_free_files() - free the inode data of the text files
 *
 * Context: module unload, or a load that failed; the directory has been removed.
 */
void ntklog_free_files(void)
{
	struct ntklog_inode_data *data, *next;

	list_for_each_entry_safe(data, next, &ntklog_inode_data_list, list) {
		list_del(&data->list);
		kfree(data);
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
	/* kstrtou32() alone would accept a newline at the end. */
	if (text[strspn(text, "0123456789")] || kstrtou32(text, 10, value))
		return -EINVAL;
	return 0;
}

struct ntklog_file_contents {
	size_t size;
	void *bytes;
};

/**
 * ntklog_contents_open() - open a file with contents that do not change until it is closed
 * @file: the file
 * @bytes: the contents, from kvmalloc(), which ntklog_contents_release() frees; or an error pointer
 * @size: size of the contents in bytes
 *
 * Context: task.
 * Return: 0 or a negative errno.
 */
int ntklog_contents_open(struct file *file, void *bytes, size_t size)
{
	struct ntklog_file_contents *contents;

	if (IS_ERR(bytes))
		return PTR_ERR(bytes);
	contents = kzalloc(sizeof(*contents), GFP_KERNEL);
	if (!contents) {
		kvfree(bytes);
		return -ENOMEM;
	}
	contents->bytes = bytes;
	contents->size = size;
	file->private_data = contents;
	return 0;
}

/**
 * ntklog_contents_read() - read() of a file that ntklog_contents_open() has opened
 * @file: the file
 * @buffer: buffer of the caller
 * @count: size of the buffer in bytes
 * @position: position in the file
 *
 * Context: task.
 * Return: number of bytes copied, or -EFAULT.
 */
ssize_t ntklog_contents_read(struct file *file, char __user *buffer, size_t count, loff_t *position)
{
	struct ntklog_file_contents *contents = file->private_data;

	return simple_read_from_buffer(buffer, count, position, contents->bytes, contents->size);
}

/**
 * ntklog_contents_release() - close a file that ntklog_contents_open() has opened
 * @inode: unused
 * @file: the file
 *
 * Context: task.
 * Return: 0.
 */
int ntklog_contents_release(struct inode *inode, struct file *file)
{
	struct ntklog_file_contents *contents = file->private_data;

	kvfree(contents->bytes);
	kfree(contents);
	return 0;
}
