/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_IDENTITY_H
#define _UAPI_NTKLOG_IDENTITY_H

/* Kinds of Linux locks in the debugfs file "identities". */
#define NTKLOG_IDENTITY_SPIN		1
#define NTKLOG_IDENTITY_RW		2
#define NTKLOG_IDENTITY_MUTEX		3
#define NTKLOG_IDENTITY_RWSEM		4
#define NTKLOG_IDENTITY_SEMAPHORE	5
#define NTKLOG_IDENTITY_RT_MUTEX	6
#define NTKLOG_IDENTITY_PERCPU_RWSEM	7
#define NTKLOG_IDENTITY_WW_MUTEX	8
#define NTKLOG_IDENTITY_KINDS		9

/* Convert a WMI_RESOURCE_CLASS_LINUX_* to the kind. */
#define NTKLOG_IDENTITY_OF_CLASS(_class)	((((_class) >> 16) & 0xF) + 2)

#endif /* _UAPI_NTKLOG_IDENTITY_H */
