// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the ioctls of /dev/ntklog from a program of 64 or 32 bits. Prints TAP.
 *
 * Information classes: 0x1F is SystemPerformanceTraceInformation, whose buffer begins with a number
 * of its own (1: group mask, 5: spin locks, 6: stacks), and 0x0C SystemLocksInformation.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>
#include <ntklog/ioctl.h>
#include <ntklog/system_information.h>

static int device_fd;
static unsigned int return_length;

static void check(const char *name, int passed)
{
	printf("%s - ioctl of %zu bits: %s\n", passed ? "ok" : "not ok", 8 * sizeof(void *), name);
}

/* Return the NTSTATUS, or minus errno. */
static long long call_ioctl(unsigned long number, unsigned int class, const void *buffer,
			    unsigned int length)
{
	struct ntklog_system_information arguments = {
		.system_information_class = class,
		.system_information_length = length,
		.system_information = (uintptr_t)buffer,
		.return_length = 0xEEEEEEEE,
		.status = 0xEEEEEEEE,
	};

	if (ioctl(device_fd, number, &arguments))
		return -errno;
	return_length = arguments.return_length;
	return arguments.status;
}

static long long query(unsigned int class, void *buffer, unsigned int length)
{
	return call_ioctl(NTKLOG_QUERY_SYSTEM_INFORMATION, class, buffer, length);
}

static long long set(unsigned int class, const void *buffer, unsigned int length)
{
	return call_ioctl(NTKLOG_SET_SYSTEM_INFORMATION, class, buffer, length);
}

static void check_parameters(void)
{
	uint32_t defaults[] = { 5, 1, 1000, 1, 1000000 }, wanted[] = { 5, 2, 1001, 3, 1000001 };
	uint32_t wrong[] = { 5, 2, 999, 3, 1000001 }, got[16] = { 5 };

	check("queries defaults of spin locks", query(0x1F, got, 0x14) == 0 &&
	      return_length == 0x14 && !memcmp(got, defaults, 0x14));
	check("sets parameters of spin locks", set(0x1F, wanted, 0x14) == 0);
	check("queries the parameters that were set", query(0x1F, got, 0x14) == 0 &&
	      !memcmp(got, wanted, 0x14));
	check("refuses a value that is too small",
	      set(0x1F, wrong, 0x14) == STATUS_INVALID_PARAMETER);
	check("refuses a wrong length", set(0x1F, wanted, 0x18) == STATUS_INFO_LENGTH_MISMATCH);
	check("refuses a great length", set(0x1F, wanted, 0x80000000) == -EFAULT ||
	      set(0x1F, got, 0x40) == STATUS_INFO_LENGTH_MISMATCH);
	got[0] = 9;
	check("refuses the unknown trace class 9",
	      query(0x1F, got, 0x14) == STATUS_NOT_IMPLEMENTED);
	check("refuses the unknown system class 0x20",
	      query(0x20, got, 0x14) == STATUS_INVALID_INFO_CLASS);
	got[0] = 5;
	check("refused calls change nothing",
	      query(0x1F, got, 0x14) == 0 && !memcmp(got, wanted, 0x14));
	check("sets the defaults again", set(0x1F, defaults, 0x14) == 0);
}

static void check_group_mask(void)
{
	struct event_trace_groupmask_information information = {
		.event_trace_information_class = 1,
		.trace_handle = 7,
	};

	check("queries a group mask", query(0x1F, &information, sizeof(information)) == 0 &&
	      information.event_trace_group_masks.masks[1] == 0x00010000);
	information.event_trace_group_masks.masks[1] = 0x00020004;
	check("sets a group mask", set(0x1F, &information, sizeof(information)) == 0);
	information.event_trace_group_masks.masks[1] = 0;
	check("queries the group mask that was set",
	      query(0x1F, &information, sizeof(information)) == 0 &&
	      information.event_trace_group_masks.masks[1] == 0x00020004);
	information.event_trace_group_masks.masks[1] = 0x00010000;
	check("sets the group mask again", set(0x1F, &information, sizeof(information)) == 0);
	information.trace_handle = 8;
	check("refuses the group mask of session 8, which does not exist",
	      set(0x1F, &information, sizeof(information)) == STATUS_INVALID_PARAMETER);
}

static void check_stacks(void)
{
	uint32_t two_events[6] = { 6, 0, 7, 0, 0x052B, 0x0524 }, wrong[5] = { 6, 0, 7, 0, 0x0F4B };
	uint32_t empty_list[4] = { 6, 0, 7, 0 }, got[16] = { 6, 0, 7, 0 };

	check("no event has a stack by default",
	      query(0x1F, got, 0x10) == 0 && return_length == 0x10);
	check("sets two events that have stacks", set(0x1F, two_events, 0x18) == 0);
	check("a query with a short buffer returns the length of the list",
	      query(0x1F, got, 0x14) == STATUS_INFO_LENGTH_MISMATCH && return_length == 0x18);
	check("queries the events that have stacks", query(0x1F, got, sizeof(got)) == 0 &&
	      return_length == 0x18 && got[4] == 0x0524 && got[5] == 0x052B);
	check("refuses an event that cannot have a stack",
	      set(0x1F, wrong, 0x14) == STATUS_INVALID_PARAMETER);
	check("a refused list changes nothing", query(0x1F, got, 0x18) == 0 && got[4] == 0x0524);
	check("sets an empty list of events with stacks", set(0x1F, empty_list, 0x10) == 0 &&
	      query(0x1F, got, 0x10) == 0 && return_length == 0x10);
}

static void check_locks(void)
{
	static struct rtl_process_locks64 *locks;
	static uint64_t buffer[0x10000];
	long long status;

	check("a query without a buffer returns the length of the locks",
	      query(0x0C, buffer, 0) == STATUS_INFO_LENGTH_MISMATCH && return_length >= 8);
	status = query(0x0C, buffer, sizeof(buffer));
	locks = (void *)buffer;
	check("queries locks", status == 0 &&
	      return_length == 8 + 0x30 * locks->number_of_locks);
}

static void check_bad_addresses(void)
{
	uint32_t wanted[] = { 5, 2, 1001, 3, 1000001 };

	check("refuses a NULL buffer", query(0x1F, NULL, 0x14) == -EFAULT &&
	      set(0x1F, NULL, 0x14) == -EFAULT);
	check("refuses a buffer that is not mapped", set(0x1F, (void *)16, 0x14) == -EFAULT);
	check("refuses NULL arguments",
	      ioctl(device_fd, NTKLOG_SET_SYSTEM_INFORMATION, NULL) == -1 && errno == EFAULT);
	check("refuses an unknown ioctl number", ioctl(device_fd, _IO(0xE7, 9), wanted) == -1 &&
	      errno == ENOTTY);
	check("refuses an ioctl number with another size",
	      ioctl(device_fd, _IOWR(0xE7, 0, int), wanted) == -1 && errno == ENOTTY);
}

static void check_without_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	uint32_t wanted[] = { 5, 2, 1001, 3, 1000001 }, got[5] = { 5 };

	if (syscall(SYS_capget, &header, data)) {
		check("capget", 0);
		return;
	}
	data[0].effective &= ~(1u << CAP_SYS_ADMIN);
	data[CAP_PERFMON / 32].effective &= ~(1u << CAP_PERFMON % 32);
	check("capset drops the capabilities", !syscall(SYS_capset, &header, data));
	check("without capabilities set is denied",
	      set(0x1F, wanted, 0x14) == STATUS_ACCESS_DENIED);
	check("without capabilities a query of locks is denied",
	      query(0x0C, got, 0) == STATUS_ACCESS_DENIED);
	check("without capabilities a query of parameters succeeds",
	      query(0x1F, got, 0x14) == 0 && got[1] == 1);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	device_fd = open("/dev/ntklog", O_RDWR);
	check("opens /dev/ntklog", device_fd >= 0);
	check_parameters();
	check_group_mask();
	check_stacks();
	check_locks();
	check_bad_addresses();
	check_without_capabilities();
	return 0;
}
