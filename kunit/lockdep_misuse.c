// SPDX-License-Identifier: GPL-2.0-only
/*
 * Use NT's locks in a way that could deadlock, but does not deadlock here, so that lockdep has to
 * report the use. Lockdep disables itself after its first report, so each misuse needs a boot.
 *
 *	insmod lockdep_misuse.ko misuse=abba
 *
 * To return to user space while a spin lock is held, or a resource if 2 is written:
 *
 *	insmod lockdep_misuse.ko misuse=none
 *	echo 1 > /sys/kernel/debug/lockdep_misuse
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>
#include <ntklog/eresource.h>
#include <ntklog/ex_spin_lock.h>
#include <ntklog/queued_spin_lock.h>
#include <ntklog/spin_lock.h>

static char *misuse = "abba";
module_param(misuse, charp, 0444);
MODULE_PARM_DESC(misuse, "abba, irq, recursive, ex_recursive, ex_shared_recursive, resource_abba, resource_recursive or none");

static struct kspin_lock lock_a, lock_b;
static struct kspin_lock same_class[2];
static struct ex_spin_lock ex_same_class[2];

static void acquire_both(struct kspin_lock *first, struct kspin_lock *second)
{
	struct klock_queue_handle handle[2];

	ke_acquire_in_stack_queued_spin_lock(first, &handle[0]);
	ke_acquire_in_stack_queued_spin_lock(second, &handle[1]);
	ke_release_in_stack_queued_spin_lock(&handle[1]);
	ke_release_in_stack_queued_spin_lock(&handle[0]);
}

static void misuse_abba(void)
{
	acquire_both(&lock_a, &lock_b);
	acquire_both(&lock_b, &lock_a);
}

static DECLARE_COMPLETION(interrupted);

static enum hrtimer_restart acquire_in_interrupt(struct hrtimer *timer)
{
	struct klock_queue_handle handle;

	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&lock_a, &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	complete(&interrupted);
	return HRTIMER_NORESTART;
}

static void misuse_irq(void)
{
	struct klock_queue_handle handle;
	struct hrtimer timer;

	ke_acquire_in_stack_queued_spin_lock(&lock_a, &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = acquire_in_interrupt;
	hrtimer_start(&timer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL_HARD);
	wait_for_completion(&interrupted);
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
}

/* Acquire two locks of one class, which lockdep takes for one lock. */
static void misuse_recursive(void)
{
	acquire_both(&same_class[0], &same_class[1]);
}

static void misuse_ex_recursive(void)
{
	u8 old_irql = ex_acquire_spin_lock_exclusive(&ex_same_class[0]);

	ex_acquire_spin_lock_exclusive_at_dpc_level(&ex_same_class[1]);
	ex_release_spin_lock_exclusive_from_dpc_level(&ex_same_class[1]);
	ex_release_spin_lock_exclusive(&ex_same_class[0], old_irql);
}

/* Acquire a lock shared twice, which deadlocks if a task waits for it exclusively in between. */
static void misuse_ex_shared_recursive(void)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&ex_same_class[0]);

	ex_acquire_spin_lock_shared_at_dpc_level(&ex_same_class[0]);
	ex_release_spin_lock_shared_from_dpc_level(&ex_same_class[0]);
	ex_release_spin_lock_shared(&ex_same_class[0], old_irql);
}

static struct eresource resource_a, resource_same_class[2];
static DEFINE_MUTEX(mutex);

static void misuse_resource_abba(void)
{
	ex_acquire_resource_shared_lite(&resource_a, true);
	mutex_lock(&mutex);
	mutex_unlock(&mutex);
	ex_release_resource_lite(&resource_a);
	mutex_lock(&mutex);
	ex_acquire_resource_exclusive_lite(&resource_a, true);
	ex_release_resource_lite(&resource_a);
	mutex_unlock(&mutex);
}

static void misuse_resource_recursive(void)
{
	ex_acquire_resource_shared_lite(&resource_same_class[0], true);
	ex_acquire_resource_exclusive_lite(&resource_same_class[1], true);
	ex_release_resource_lite(&resource_same_class[1]);
	ex_release_resource_lite(&resource_same_class[0]);
}

/* 1: acquire a lock, 2: a resource, which stays held when write() returns to user space. */
static ssize_t hold_write(struct file *file, const char __user *text, size_t size, loff_t *offset)
{
	static struct klock_queue_handle handle;
	char choice;

	if (get_user(choice, text))
		return -EFAULT;
	if (choice == '2') {
		ex_acquire_resource_exclusive_lite(&resource_a, true);
		return size;
	}
	ke_acquire_in_stack_queued_spin_lock(&lock_a, &handle);
	ke_lower_irql(handle.old_irql);
	return size;
}

static const struct file_operations hold_fops = {
	.owner = THIS_MODULE,
	.write = hold_write,
};

static struct dentry *hold_file;

static void misuse_none(void)
{
}

static const struct {
	const char *name;
	void (*run)(void);
} misuses[] = {
	{ "abba", misuse_abba },
	{ "irq", misuse_irq },
	{ "recursive", misuse_recursive },
	{ "ex_recursive", misuse_ex_recursive },
	{ "ex_shared_recursive", misuse_ex_shared_recursive },
	{ "resource_abba", misuse_resource_abba },
	{ "resource_recursive", misuse_resource_recursive },
	{ "none", misuse_none },
};

static int __init lockdep_misuse_init(void)
{
	size_t i;

	ke_initialize_spin_lock(&lock_a);
	ke_initialize_spin_lock(&lock_b);
	for (i = 0; i < ARRAY_SIZE(same_class); i++) {
		ke_initialize_spin_lock(&same_class[i]);
		ex_initialize_spin_lock(&ex_same_class[i]);
		ex_initialize_resource_lite(&resource_same_class[i]);
	}
	ex_initialize_resource_lite(&resource_a);
	for (i = 0; i < ARRAY_SIZE(misuses); i++) {
		if (!strcmp(misuse, misuses[i].name)) {
			misuses[i].run();
			hold_file = debugfs_create_file("lockdep_misuse", 0200, NULL, NULL,
							&hold_fops);
			return 0;
		}
	}
	pr_err("misuse=%s is unknown\n", misuse);
	return -EINVAL;
}

/* Nothing undoes the misuse. Without an exit function the module could not be unloaded. */
static void __exit lockdep_misuse_exit(void)
{
	debugfs_remove(hold_file);
}

module_init(lockdep_misuse_init);
module_exit(lockdep_misuse_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Misuses ntklog's locks so that lockdep complains");
MODULE_LICENSE("GPL");
