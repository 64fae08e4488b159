// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test the ioctls of /dev/ntklog from a program of 64 or 32 bits. Prints TAP. The last checks run
 * without CAP_PERFMON and CAP_SYS_ADMIN.
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

static int device;
static unsigned int returned;

static void check(const char *name, int good)
{
	printf("%s - ioctl of %zu bits: %s\n", good ? "ok" : "not ok", 8 * sizeof(void *), name);
}

/* Return the NTSTATUS, or minus errno. */
static long long call(unsigned long number, unsigned int class, const void *buffer,
		      unsigned int length)
{
	struct ntklog_system_information arguments = {
		.system_information_class = class,
		.system_information_length = length,
		.system_information = (uintptr_t)buffer,
		.return_length = 0xEEEEEEEE,
		.status = 0xEEEEEEEE,
	};

	if (ioctl(device, number, &arguments))
		return -errno;
	returned = arguments.return_length;
	return arguments.status;
}

static long long query(unsigned int class, void *buffer, unsigned int length)
{
	return call(NTKLOG_QUERY_SYSTEM_INFORMATION, class, buffer, length);
}

static long long set(unsigned int class, const void *buffer, unsigned int length)
{
	return call(NTKLOG_SET_SYSTEM_INFORMATION, class, buffer, length);
}

static void check_parameters(void)
{
	uint32_t defaults[] = { 5, 1, 1000, 1, 1000000 }, wanted[] = { 5, 2, 1001, 3, 1000001 };
	uint32_t wrong[] = { 5, 2, 999, 3, 1000001 }, got[16] = { 5 };

	check("queries spin locks", query(0x1F, got, 0x14) == 0 && returned == 0x14 &&
	      !memcmp(got, defaults, 0x14));
	check("sets spin locks", set(0x1F, wanted, 0x14) == 0);
	check("has set spin locks", query(0x1F, got, 0x14) == 0 && !memcmp(got, wanted, 0x14));
	check("refuses a value", set(0x1F, wrong, 0x14) == STATUS_INVALID_PARAMETER);
	check("refuses a length", set(0x1F, wanted, 0x18) == STATUS_INFO_LENGTH_MISMATCH);
	check("refuses a great length", set(0x1F, wanted, 0x80000000) == -EFAULT ||
	      set(0x1F, got, 0x40) == STATUS_INFO_LENGTH_MISMATCH);
	got[0] = 9;
	check("does not know class 9", query(0x1F, got, 0x14) == STATUS_NOT_IMPLEMENTED);
	check("does not know system class 0x20",
	      query(0x20, got, 0x14) == STATUS_INVALID_INFO_CLASS);
	got[0] = 5;
	check("nothing was changed", query(0x1F, got, 0x14) == 0 && !memcmp(got, wanted, 0x14));
	check("sets the defaults", set(0x1F, defaults, 0x14) == 0);
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
	check("has set the group mask", query(0x1F, &information, sizeof(information)) == 0 &&
	      information.event_trace_group_masks.masks[1] == 0x00020004);
	information.event_trace_group_masks.masks[1] = 0x00010000;
	check("sets the group mask back", set(0x1F, &information, sizeof(information)) == 0);
	information.trace_handle = 8;
	check("has no session 8",
	      set(0x1F, &information, sizeof(information)) == STATUS_INVALID_PARAMETER);
}

/* Set and query the events that have a stack. */
static void check_stacks(void)
{
	uint32_t information[6] = { 6, 0, 7, 0, 0x052B, 0x0524 }, wrong[5] = { 6, 0, 7, 0, 0x0F4B };
	uint32_t none[4] = { 6, 0, 7, 0 }, got[16] = { 6, 0, 7, 0 };

	check("no event carries a stack", query(0x1F, got, 0x10) == 0 && returned == 0x10);
	check("sets which do", set(0x1F, information, 0x18) == 0);
	check("says how many bytes they take",
	      query(0x1F, got, 0x14) == STATUS_INFO_LENGTH_MISMATCH && returned == 0x18);
	check("has set them", query(0x1F, got, sizeof(got)) == 0 && returned == 0x18 &&
	      got[4] == 0x0524 && got[5] == 0x052B);
	check("refuses an event that cannot", set(0x1F, wrong, 0x14) == STATUS_INVALID_PARAMETER);
	check("still has them", query(0x1F, got, 0x18) == 0 && got[4] == 0x0524);
	check("sets none", set(0x1F, none, 0x10) == 0 && query(0x1F, got, 0x10) == 0 &&
	      returned == 0x10);
}

static void check_locks(void)
{
	static struct rtl_process_locks64 *locks;
	static uint64_t buffer[0x10000];
	long long status;

	check("tells how much the locks need",
	      query(0x0C, buffer, 0) == STATUS_INFO_LENGTH_MISMATCH && returned >= 8);
	status = query(0x0C, buffer, sizeof(buffer));
	locks = (void *)buffer;
	check("queries locks", status == 0 &&
	      returned == 8 + 0x30 * locks->number_of_locks);
}

static void check_bad_addresses(void)
{
	uint32_t wanted[] = { 5, 2, 1001, 3, 1000001 };

	check("no buffer", query(0x1F, NULL, 0x14) == -EFAULT && set(0x1F, NULL, 0x14) == -EFAULT);
	check("a buffer that is not there", set(0x1F, (void *)16, 0x14) == -EFAULT);
	check("no arguments", ioctl(device, NTKLOG_SET_SYSTEM_INFORMATION, NULL) == -1 &&
	      errno == EFAULT);
	check("another number", ioctl(device, _IO(0xE7, 9), wanted) == -1 && errno == ENOTTY);
	check("a number of another size", ioctl(device, _IOWR(0xE7, 0, int), wanted) == -1 &&
	      errno == ENOTTY);
}

static void check_without_rights(void)
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
	check("gives up its rights", !syscall(SYS_capset, &header, data));
	check("may not set", set(0x1F, wanted, 0x14) == STATUS_ACCESS_DENIED);
	check("may not query locks", query(0x0C, got, 0) == STATUS_ACCESS_DENIED);
	check("may query parameters", query(0x1F, got, 0x14) == 0 && got[1] == 1);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	device = open("/dev/ntklog", O_RDWR);
	check("opens", device >= 0);
	check_parameters();
	check_group_mask();
	check_stacks();
	check_locks();
	check_bad_addresses();
	check_without_rights();
	return 0;
}
