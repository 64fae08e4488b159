// SPDX-License-Identifier: GPL-2.0-only
/* /dev/ntklog: NtQuerySystemInformation() and NtSetSystemInformation() as ioctls. */

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/uaccess.h>
#include <uapi/ntklog/ioctl.h>

#include "../ground/address.h"
#include "device.h"
#include "system_information.h"

static int ntklog_ioctl_query(struct ntklog_system_information *call)
{
	void __user *buffer = u64_to_user_ptr(call->system_information);
	size_t length = call->system_information_length;
	size_t in_length = min_t(size_t, length, NTKLOG_INFORMATION_SIZE_MAX);
	u8 in[NTKLOG_INFORMATION_SIZE_MAX] = {};
	size_t return_length;
	void *out;
	int err = 0;

	if (copy_from_user(in, buffer, in_length))
		return -EFAULT;
	call->status = ntklog_query_system_information(call->system_information_class,
						       in, in_length, length,
						       perfmon_capable() &&
						       !ntklog_may_read_addresses(), &out,
						       &return_length);
	call->return_length = return_length;
	if (out && copy_to_user(buffer, out, return_length))
		err = -EFAULT;
	kvfree(out);
	return err;
}

static int ntklog_ioctl_set(struct ntklog_system_information *call)
{
	void __user *buffer = u64_to_user_ptr(call->system_information);
	size_t length = call->system_information_length;
	u8 in[NTKLOG_INFORMATION_SIZE_MAX] = {};

	if (copy_from_user(in, buffer, min_t(size_t, length, sizeof(in))))
		return -EFAULT;
	call->return_length = 0;
	call->status = ntklog_set_system_information(call->system_information_class, in,
						     length, perfmon_capable() &&
						     !ntklog_may_change_settings());
	return 0;
}

static long ntklog_ioctl(struct file *file, unsigned int number, unsigned long argument)
{
	struct ntklog_system_information __user *user = (void __user *)argument;
	struct ntklog_system_information call;
	int err;

	if (number != NTKLOG_QUERY_SYSTEM_INFORMATION &&
	    number != NTKLOG_SET_SYSTEM_INFORMATION)
		return -ENOTTY;
	if (copy_from_user(&call, user, sizeof(call)))
		return -EFAULT;
	err = number == NTKLOG_QUERY_SYSTEM_INFORMATION ? ntklog_ioctl_query(&call) :
							  ntklog_ioctl_set(&call);
	if (err)
		return err;
	return copy_to_user(user, &call, sizeof(call)) ? -EFAULT : 0;
}

static const struct file_operations ntklog_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = ntklog_ioctl,
	/* The structure has the same layout in 32-bit programs. */
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static struct miscdevice ntklog_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "ntklog",
	.fops = &ntklog_fops,
	.mode = 0600,
};

/**
 * ntklog_device_init() - create /dev/ntklog
 *
 * Context: module load, when sessions and parameters have been initialized.
 * Return: 0 or a negative errno.
 */
int ntklog_device_init(void)
{
	return misc_register(&ntklog_device);
}

/**
 * ntklog_device_exit() - remove /dev/ntklog
 *
 * Context: module unload, when no file of the device is open.
 */
void ntklog_device_exit(void)
{
	misc_deregister(&ntklog_device);
}
