// SPDX-License-Identifier: GPL-2.0-only
/* The files "claim" and "adopt", and the files that NTKLOG_SESSION_OPEN_CPU opens. */

#include <linux/anon_inodes.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <uapi/ntklog/session.h>

#include "../etw/claim.h"
#include "../etw/logfile.h"
#include "../etw/reader.h"
#include "../etw/run.h"
#include "../ground/address.h"
#include "debugfs_claim.h"

/**
 * ntklog_reader_read() - read() of a file whose private data is a struct etw_reader
 * @file: the file
 * @buffer: buffer of the caller
 * @count: the most bytes to read
 * @position: unused, because a buffer can be read only once
 *
 * Return: as etw_read_buffers().
 */
ssize_t ntklog_reader_read(struct file *file, char __user *buffer, size_t count, loff_t *position)
{
	return etw_read_buffers(file->private_data, buffer, count);
}

/**
 * ntklog_reader_poll() - poll() of a file whose private data is a struct etw_reader
 * @file: the file
 * @wait: the caller's poll table
 *
 * Return: as etw_poll_buffers().
 */
__poll_t ntklog_reader_poll(struct file *file, poll_table *wait)
{
	return etw_poll_buffers(file->private_data, file, wait);
}

/**
 * ntklog_reader_release() - close a file whose private data is a struct etw_reader
 * @inode: unused
 * @file: the file
 *
 * Return: 0.
 */
int ntklog_reader_release(struct inode *inode, struct file *file)
{
	etw_close_reader(file->private_data);
	return 0;
}

static const struct file_operations ntklog_reader_fops = {
	.owner = THIS_MODULE,
	.read = ntklog_reader_read,
	.poll = ntklog_reader_poll,
	.release = ntklog_reader_release,
};

/* Private data of an open file "claim" or "adopt". @mutex protects @header and @size. */
struct ntklog_claim_file {
	struct etw_claim *claim;
	struct mutex mutex;	/* of @header */
	void *header;
	size_t size;
};

static int ntklog_open_claim_file(struct file *file, struct etw_claim *claim)
{
	struct ntklog_claim_file *claim_file;

	if (IS_ERR(claim))
		return PTR_ERR(claim);
	claim_file = kzalloc(sizeof(*claim_file), GFP_KERNEL);
	if (!claim_file) {
		etw_close_claim(claim);
		return -ENOMEM;
	}
	claim_file->claim = claim;
	mutex_init(&claim_file->mutex);
	file->private_data = claim_file;
	return 0;
}

static int ntklog_claim_open(struct inode *inode, struct file *file)
{
	return ntklog_open_claim_file(file, etw_open_claim(inode->i_private));
}

static int ntklog_adopt_open(struct inode *inode, struct file *file)
{
	return ntklog_open_claim_file(file, etw_adopt_session(inode->i_private));
}

static int ntklog_claim_release(struct inode *inode, struct file *file)
{
	struct ntklog_claim_file *claim_file = file->private_data;

	etw_close_claim(claim_file->claim);
	kvfree(claim_file->header);
	kfree(claim_file);
	return 0;
}

/* Called with claim_file->mutex held. */
static int ntklog_make_claim_header(struct ntklog_claim_file *claim_file)
{
	struct etw_run *run = etw_get_claim_run(claim_file->claim);
	size_t size;
	void *header;

	if (IS_ERR(run))
		return PTR_ERR(run);
	header = etw_make_header_buffer(run, &size);
	etw_put_run(run);
	if (IS_ERR(header))
		return PTR_ERR(header);
	kvfree(claim_file->header);
	claim_file->header = header;
	claim_file->size = size;
	return 0;
}

static ssize_t ntklog_claim_read(struct file *file, char __user *buffer, size_t count,
				 loff_t *position)
{
	struct ntklog_claim_file *claim_file = file->private_data;
	ssize_t copied = 0;

	if (mutex_lock_interruptible(&claim_file->mutex))
		return -ERESTARTSYS;
	if (!*position || !claim_file->header)
		copied = ntklog_make_claim_header(claim_file);
	if (!copied)
		copied = simple_read_from_buffer(buffer, count, position, claim_file->header,
						 claim_file->size);
	mutex_unlock(&claim_file->mutex);
	return copied;
}

static int ntklog_ioctl_start(struct etw_claim *claim, void __user *argument)
{
	struct ntklog_session_start start;

	if (copy_from_user(&start, argument, sizeof(start)))
		return -EFAULT;
	return etw_start_claimed_session(claim, &start);
}

static int ntklog_ioctl_get_counts(struct etw_claim *claim, void __user *argument)
{
	struct ntklog_session_counts counts;
	int err;

	if (copy_from_user(&counts, argument, sizeof(counts)))
		return -EFAULT;
	err = etw_get_claim_counts(claim, &counts);
	if (err)
		return err;
	return copy_to_user(argument, &counts, sizeof(counts)) ? -EFAULT : 0;
}

static int ntklog_ioctl_get_info(struct etw_claim *claim, void __user *argument)
{
	struct ntklog_session_info info;
	int err;

	if (copy_from_user(&info, argument, sizeof(info)))
		return -EFAULT;
	err = etw_get_claim_info(claim, &info);
	if (err)
		return err;
	return copy_to_user(argument, &info, sizeof(info)) ? -EFAULT : 0;
}

static int ntklog_ioctl_open_cpu(struct etw_claim *claim, void __user *argument)
{
	struct ntklog_session_cpu call;
	struct etw_reader *reader;
	struct etw_run *run;
	unsigned int cpu;
	int fd;

	fd = ntklog_may_read_addresses();
	if (fd)
		return fd;
	if (copy_from_user(&call, argument, sizeof(call)))
		return -EFAULT;
	if (call.size != sizeof(call) || call.cpu >= nr_cpu_ids)
		return -EINVAL;
	/* The number comes from user space: prevent speculation past nr_cpu_ids. */
	cpu = array_index_nospec(call.cpu, nr_cpu_ids);
	if (!cpu_possible(cpu))
		return -EINVAL;
	run = etw_get_claim_run(claim);
	if (IS_ERR(run))
		return PTR_ERR(run);
	reader = etw_open_reader(run, cpu);
	etw_put_run(run);
	if (IS_ERR(reader))
		return PTR_ERR(reader);
	fd = anon_inode_getfd("[ntklog]", &ntklog_reader_fops, reader, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		etw_close_reader(reader);
	return fd;
}

static long ntklog_claim_ioctl(struct file *file, unsigned int number, unsigned long address)
{
	struct ntklog_claim_file *claim_file = file->private_data;
	void __user *argument = (void __user *)address;
	struct etw_claim *claim = claim_file->claim;

	switch (number) {
	case NTKLOG_SESSION_START:
		return ntklog_ioctl_start(claim, argument);
	case NTKLOG_SESSION_STOP:
		return etw_stop_claimed_session(claim);
	case NTKLOG_SESSION_COUNTS:
		return ntklog_ioctl_get_counts(claim, argument);
	case NTKLOG_SESSION_OPEN_CPU:
		return ntklog_ioctl_open_cpu(claim, argument);
	case NTKLOG_SESSION_INFO:
		return ntklog_ioctl_get_info(claim, argument);
	case NTKLOG_SESSION_FLUSH:
		return etw_flush_claimed_session(claim);
	case NTKLOG_SESSION_KEEP:
		return etw_keep_claimed_session(claim);
	default:
		return -ENOTTY;
	}
}

#define NTKLOG_CLAIM_FOPS(_open)					\
{									\
	.owner = THIS_MODULE,						\
	.open = _open,							\
	.read = ntklog_claim_read,					\
	.unlocked_ioctl = ntklog_claim_ioctl,				\
	/* The structures have the same layout in 32-bit programs. */	\
	.compat_ioctl = compat_ptr_ioctl,				\
	.llseek = default_llseek,					\
	.release = ntklog_claim_release,				\
}

static const struct file_operations ntklog_claim_fops = NTKLOG_CLAIM_FOPS(ntklog_claim_open);
static const struct file_operations ntklog_adopt_fops = NTKLOG_CLAIM_FOPS(ntklog_adopt_open);

/**
 * ntklog_create_claim_files() - create the files "claim" and "adopt"
 * @directory: parent directory
 * @session: the session; NULL: only "claim", for any session
 *
 * debugfs_create_file() would wrap the file operations, but its wrapper has no compat_ioctl. The
 * wrapper protects an open file from the removal of its operations. Here that is not needed,
 * because an open file holds a reference to the module.
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int ntklog_create_claim_files(struct dentry *directory, struct etw_session *session)
{
	struct dentry *dentry = debugfs_create_file_unsafe("claim", 0600, directory, session,
							   &ntklog_claim_fops);

	if (!IS_ERR(dentry) && session)
		dentry = debugfs_create_file_unsafe("adopt", 0600, directory, session,
						    &ntklog_adopt_fops);
	return PTR_ERR_OR_ZERO(dentry);
}
