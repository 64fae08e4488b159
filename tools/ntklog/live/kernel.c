// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>
#include <ntklog/ioctl.h>
#include <ntklog/system_information.h>

#include "kernel.h"
#include "message.h"

#define DEBUGFS		"/sys/kernel/debug"
#define DEVICE		"/dev/ntklog"

/**
 * kernel_directory() - get the directory of the module's files
 *
 * Return: $NTKLOG_DEBUGFS, or the directory in debugfs.
 */
const char *kernel_directory(void)
{
	const char *directory = getenv("NTKLOG_DEBUGFS");

	return directory && *directory ? directory : DEBUGFS "/ntklog";
}

/**
 * kernel_proc_directory() - get the directory with the kernel's symbols, modules and threads
 *
 * Return: $NTKLOG_PROC, or /proc.
 */
const char *kernel_proc_directory(void)
{
	const char *directory = getenv("NTKLOG_PROC");

	return directory && *directory ? directory : "/proc";
}

/**
 * kernel_system_directory() - get the directory with the kernel's types and caches
 *
 * Return: $NTKLOG_SYS, or /sys/kernel.
 */
const char *kernel_system_directory(void)
{
	const char *directory = getenv("NTKLOG_SYS");

	return directory && *directory ? directory : "/sys/kernel";
}

/**
 * kernel_check() - check that the module is loaded and can be used
 *
 * Return: 0, or -1 after a message.
 */
int kernel_check(void)
{
	struct statfs fs;
	int err;

	if (!access(kernel_directory(), R_OK | X_OK))
		return 0;
	err = errno;
	if (getenv("NTKLOG_DEBUGFS")) {
		message("%s: %s", kernel_directory(), strerror(err));
		return -1;
	}
	if (geteuid())
		message("this needs root: try sudo");
	else if (statfs(DEBUGFS, &fs) || fs.f_type != DEBUGFS_MAGIC)
		message("debugfs is not mounted: mount -t debugfs none " DEBUGFS);
	else if (err == ENOENT)
		message("the module is not loaded: modprobe ntklog, or insmod ntklog.ko");
	else
		message("%s: %s", kernel_directory(), strerror(err));
	return -1;
}

static int open_file(int flags, const char *format, va_list arguments)
{
	char path[512];
	int used = snprintf(path, sizeof(path), "%s/", kernel_directory()), fd;

	vsnprintf(path + used, sizeof(path) - used, format, arguments);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/**
 * kernel_read() - read a file of the module
 * @text: set to the contents, cut to @size, without the newline at the end
 * @size: bytes of @text
 * @format: path below kernel_directory()
 *
 * Return: 0 or -errno.
 */
int kernel_read(char *text, size_t size, const char *format, ...)
{
	va_list arguments;
	ssize_t got = 0, n;
	int fd, err = 0;

	va_start(arguments, format);
	fd = open_file(O_RDONLY, format, arguments);
	va_end(arguments);
	if (fd < 0)
		return fd;
	while ((n = read(fd, text + got, size - 1 - got)) > 0)
		got += n;
	if (n < 0)
		err = -errno;
	close(fd);
	text[got] = '\0';
	if (got && text[got - 1] == '\n')
		text[got - 1] = '\0';
	return err;
}

/**
 * kernel_write() - write a file of the module
 * @text: the new contents
 * @format: path below kernel_directory()
 *
 * Return: 0 or -errno.
 */
int kernel_write(const char *text, const char *format, ...)
{
	va_list arguments;
	int fd, err = 0;

	va_start(arguments, format);
	fd = open_file(O_WRONLY | O_TRUNC, format, arguments);
	va_end(arguments);
	if (fd < 0)
		return fd;
	/* The module takes each write as a whole value. */
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/**
 * kernel_set_system_information() - call NtSetSystemInformation() for parameters of the sampling
 * @information: class of the information in the first word, then the parameters
 * @size: bytes of @information
 * @status: set to STATUS_*
 *
 * Return: 0 with any status, or -1 after a message.
 */
int kernel_set_system_information(const void *information, size_t size, uint32_t *status)
{
	struct ntklog_system_information call = {
		.system_information_class = SYSTEM_PERFORMANCE_TRACE_INFORMATION,
		.system_information_length = size,
		.system_information = (uintptr_t)information,
	};
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	int err = 0;

	if (fd < 0) {
		if (errno == ENOENT)
			message("the module is not loaded: modprobe ntklog, or insmod ntklog.ko");
		else if (errno == EACCES)
			message(DEVICE ": this needs root: try sudo");
		else
			message(DEVICE ": %s", strerror(errno));
		return -1;
	}
	if (ioctl(fd, NTKLOG_SET_SYSTEM_INFORMATION, &call)) {
		message(DEVICE ": %s", strerror(errno));
		err = -1;
	}
	close(fd);
	*status = call.status;
	return err;
}
