/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_IOCTL_H
#define _UAPI_NTKLOG_IOCTL_H

/* ioctls of /dev/ntklog: NtQuerySystemInformation() and NtSetSystemInformation(). */

#include <linux/ioctl.h>
#include <ntklog/layout.h>

/* SystemInformationClass */
#define SYSTEM_LOCKS_INFORMATION		0x0C
#define SYSTEM_PERFORMANCE_TRACE_INFORMATION	0x1F

/**
 * struct ntklog_system_information - arguments and results of both ioctls
 * @system_information_class: SYSTEM_*_INFORMATION
 * @system_information_length: size of the buffer in bytes
 * @system_information: address of the buffer
 * @return_length: out: number of bytes returned; for STATUS_INFO_LENGTH_MISMATCH the number needed,
 *	if it is known; 0 after a set
 * @status: out: NTSTATUS
 *
 * The layout is the same for callers of 32 and of 64 bits.
 */
struct ntklog_system_information {
	__u32 system_information_class;
	__u32 system_information_length;
	__u64 system_information;
	__u32 return_length;
	__u32 status;
};

NTKLOG_ASSERT_SIZE(struct ntklog_system_information, 0x18);
NTKLOG_ASSERT_OFFSET(struct ntklog_system_information, system_information_class, 0x00);
NTKLOG_ASSERT_OFFSET(struct ntklog_system_information, system_information_length, 0x04);
NTKLOG_ASSERT_OFFSET(struct ntklog_system_information, system_information, 0x08);
NTKLOG_ASSERT_OFFSET(struct ntklog_system_information, return_length, 0x10);
NTKLOG_ASSERT_OFFSET(struct ntklog_system_information, status, 0x14);

/* An ioctl that fills in @status returns 0, whatever @status is. */
#define NTKLOG_QUERY_SYSTEM_INFORMATION \
	_IOWR(0xE7, 0, struct ntklog_system_information)
#define NTKLOG_SET_SYSTEM_INFORMATION \
	_IOWR(0xE7, 1, struct ntklog_system_information)

#endif /* _UAPI_NTKLOG_IOCTL_H */
