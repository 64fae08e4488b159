// SPDX-License-Identifier: GPL-2.0-only
/*
 * class_truth: print the address and class of locks in kernel objects. A class is TYPE.MEMBER, such
 * as inode.i_lock. Each reading of the file class_truth in debugfs walks all threads, and the super
 * blocks, inodes and dentries of some file systems, by the kernel's own lists:
 *
 *	walk BEGIN
 *	ADDRESS CLASS
 *	...
 *	end END
 *
 * BEGIN and END are values of get_cycles().
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/dcache.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/timex.h>
#include <linux/version.h>

/* The number is limited, because the walk holds the spin lock of the super block's inode list. */
static unsigned int inodes = 1500;
module_param(inodes, uint, 0644);
MODULE_PARM_DESC(inodes, "maximum number of inodes that are printed for each super block");

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define DENTRY_ALIAS	d_alias
#else
#define DENTRY_ALIAS	d_u.d_alias
#endif

static struct dentry *class_truth_file;

#define PRINT_LOCK(_seq, _object, _type, _member...) \
	seq_printf(_seq, "%lx " #_type "." #_member "\n", (unsigned long)&(_object)->_member)

static void print_task_locks(struct seq_file *seq, struct task_struct *task)
{
	struct sighand_struct *sighand = rcu_dereference(task->sighand);

	PRINT_LOCK(seq, task, task_struct, alloc_lock);
	PRINT_LOCK(seq, task, task_struct, pi_lock);
	if (sighand)
		PRINT_LOCK(seq, sighand, sighand_struct, siglock);
	PRINT_LOCK(seq, task->signal, signal_struct, wait_chldexit.lock);
	PRINT_LOCK(seq, task->signal, signal_struct, cred_guard_mutex);
	task_lock(task);
	if (task->files)
		PRINT_LOCK(seq, task->files, files_struct, file_lock);
	if (task->mm) {
		PRINT_LOCK(seq, task->mm, mm_struct, mmap_lock);
		PRINT_LOCK(seq, task->mm, mm_struct, page_table_lock);
	}
	task_unlock(task);
}

static void print_inode_locks(struct seq_file *seq, struct inode *inode)
{
	struct dentry *dentry;

	spin_lock(&inode->i_lock);
	PRINT_LOCK(seq, inode, inode, i_lock);
	PRINT_LOCK(seq, inode, inode, i_rwsem);
	PRINT_LOCK(seq, inode, inode, i_data.i_mmap_rwsem);
	PRINT_LOCK(seq, inode, inode, i_data.i_pages.xa_lock);
	hlist_for_each_entry(dentry, &inode->i_dentry, DENTRY_ALIAS)
		PRINT_LOCK(seq, dentry, dentry, d_lockref.lock);
	spin_unlock(&inode->i_lock);
}

static void print_super_block_locks(struct super_block *sb, void *seq_file)
{
	struct seq_file *seq = seq_file;
	unsigned int inodes_left = inodes;
	struct inode *inode;

	PRINT_LOCK(seq, sb, super_block, s_umount);
	PRINT_LOCK(seq, sb, super_block, s_inode_list_lock);
	PRINT_LOCK(seq, sb, super_block, s_vfs_rename_mutex);
	spin_lock(&sb->s_inode_list_lock);
	list_for_each_entry(inode, &sb->s_inodes, i_sb_list) {
		if (!inodes_left--)
			break;
		print_inode_locks(seq, inode);
	}
	spin_unlock(&sb->s_inode_list_lock);
}

static int class_truth_show(struct seq_file *seq, void *unused)
{
	static const char *const types[] = {
		"proc", "sysfs", "tmpfs", "ramfs", "rootfs", "devtmpfs", "tracefs", "debugfs",
		"9p", "pipefs", "sockfs",
	};
	struct task_struct *process, *thread;
	struct file_system_type *type;
	unsigned int i;

	seq_printf(seq, "walk %llu\n", (u64)get_cycles());
	rcu_read_lock();
	for_each_process_thread(process, thread)
		print_task_locks(seq, thread);
	rcu_read_unlock();
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		type = get_fs_type(types[i]);
		if (!type)
			continue;
		iterate_supers_type(type, print_super_block_locks, seq);
		module_put(type->owner);
	}
	seq_printf(seq, "end %llu\n", (u64)get_cycles());
	return 0;
}

static int class_truth_open(struct inode *inode, struct file *file)
{
	/* A buffer for the whole output, because a second walk would differ. */
	return single_open_size(file, class_truth_show, NULL, 8 << 20);
}

static const struct file_operations class_truth_fops = {
	.owner = THIS_MODULE,
	.open = class_truth_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static int __init class_truth_init(void)
{
	class_truth_file = debugfs_create_file("class_truth", 0400, NULL, NULL, &class_truth_fops);
	return PTR_ERR_OR_ZERO(class_truth_file);
}

static void __exit class_truth_exit(void)
{
	debugfs_remove(class_truth_file);
}

module_init(class_truth_init);
module_exit(class_truth_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Prints addresses and classes of locks in kernel objects");
MODULE_LICENSE("GPL");
