// SPDX-License-Identifier: GPL-2.0-only
/* The files claim and adopt, and those of OPEN_CPU. See include/uapi/ntklog/session.h. */

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
 * @to: buffer of the caller
 * @count: the most bytes to read
 * @position: unused; reading takes the buffers out
 *
 * Return: as etw_read_buffers().
 */
ssize_t ntklog_reader_read(struct file *file, char __user *to, size_t count, loff_t *position)
{
	return etw_read_buffers(file->private_data, to, count);
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

/**
 * struct ntklog_claim_file - an open claim
 * @claim: the claim
 * @mutex: protects @header and @size
 * @header: the header buffer that the last read() at offset 0 has made, or NULL
 * @size: bytes of @header
 */
struct ntklog_claim_file {
	struct etw_claim *claim;
	struct mutex mutex;	/* of @header */
	void *header;
	size_t size;
};

static int ntklog_open_claim_file(struct file *file, struct etw_claim *claim)
{
	struct ntklog_claim_file *open;

	if (IS_ERR(claim))
		return PTR_ERR(claim);
	open = kzalloc(sizeof(*open), GFP_KERNEL);
	if (!open) {
		etw_close_claim(claim);
		return -ENOMEM;
	}
	open->claim = claim;
	mutex_init(&open->mutex);
	file->private_data = open;
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
	struct ntklog_claim_file *open = file->private_data;

	etw_close_claim(open->claim);
	kvfree(open->header);
	kfree(open);
	return 0;
}

/* Called with the file's mutex held. */
static int ntklog_make_header(struct ntklog_claim_file *open)
{
	struct etw_run *run = etw_get_claim_run(open->claim);
	size_t size;
	void *header;

	if (IS_ERR(run))
		return PTR_ERR(run);
	header = etw_make_header_buffer(run, &size);
	etw_put_run(run);
	if (IS_ERR(header))
		return PTR_ERR(header);
	kvfree(open->header);
	open->header = header;
	open->size = size;
	return 0;
}

static ssize_t ntklog_claim_read(struct file *file, char __user *to, size_t count,
				 loff_t *position)
{
	struct ntklog_claim_file *open = file->private_data;
	ssize_t done = 0;

	if (mutex_lock_interruptible(&open->mutex))
		return -ERESTARTSYS;
	if (!*position || !open->header)
		done = ntklog_make_header(open);
	if (!done)
		done = simple_read_from_buffer(to, count, position, open->header, open->size);
	mutex_unlock(&open->mutex);
	return done;
}

static int ntklog_claim_start(struct etw_claim *claim, void __user *user)
{
	struct ntklog_session_start start;

	if (copy_from_user(&start, user, sizeof(start)))
		return -EFAULT;
	return etw_start_claimed_session(claim, &start);
}

static int ntklog_claim_counts(struct etw_claim *claim, void __user *user)
{
	struct ntklog_session_counts counts;
	int err;

	if (copy_from_user(&counts, user, sizeof(counts)))
		return -EFAULT;
	err = etw_get_claim_counts(claim, &counts);
	if (err)
		return err;
	return copy_to_user(user, &counts, sizeof(counts)) ? -EFAULT : 0;
}

static int ntklog_claim_info(struct etw_claim *claim, void __user *user)
{
	struct ntklog_session_info info;
	int err;

	if (copy_from_user(&info, user, sizeof(info)))
		return -EFAULT;
	err = etw_get_claim_info(claim, &info);
	if (err)
		return err;
	return copy_to_user(user, &info, sizeof(info)) ? -EFAULT : 0;
}

static int ntklog_claim_open_cpu(struct etw_claim *claim, void __user *user)
{
	struct ntklog_session_cpu call;
	struct etw_reader *reader;
	struct etw_run *run;
	unsigned int cpu;
	int fd;

	fd = ntklog_may_read_addresses();
	if (fd)
		return fd;
	if (copy_from_user(&call, user, sizeof(call)))
		return -EFAULT;
	if (call.size != sizeof(call) || call.cpu >= nr_cpu_ids)
		return -EINVAL;
	/* Not even a mispredicted branch may index beyond the CPUs. */
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

static long ntklog_claim_ioctl(struct file *file, unsigned int number, unsigned long argument)
{
	struct ntklog_claim_file *open = file->private_data;
	void __user *user = (void __user *)argument;
	struct etw_claim *claim = open->claim;

	switch (number) {
	case NTKLOG_SESSION_START:
		return ntklog_claim_start(claim, user);
	case NTKLOG_SESSION_STOP:
		return etw_stop_claimed_session(claim);
	case NTKLOG_SESSION_COUNTS:
		return ntklog_claim_counts(claim, user);
	case NTKLOG_SESSION_OPEN_CPU:
		return ntklog_claim_open_cpu(claim, user);
	case NTKLOG_SESSION_INFO:
		return ntklog_claim_info(claim, user);
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
	/* The structures are the same for 32 bits. */			\
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
 * The files do without debugfs' wrapper of file operations, which has no compat_ioctl. The wrapper
 * protects an open file from the removal of its operations; here the reference to the module that
 * an open file holds does.
 *
 * Context: load.
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
