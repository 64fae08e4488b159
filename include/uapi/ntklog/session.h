/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
#ifndef _UAPI_NTKLOG_SESSION_H
#define _UAPI_NTKLOG_SESSION_H

/*
 * A recording through one open file, in /sys/kernel/debug/ntklog/sessions:
 *
 *	claim		open() claims any free session: stopped, unclaimed, without buffers that
 *			are neither read nor in a snapshot
 *	<n>/claim	open() claims session n
 *	<n>/adopt	open() claims session n with its present or last run, which may have been
 *			started by hand
 *	<n>/owner	"PID COMM" of the claim's opener, or "none"
 *
 * open() fails with EBUSY if no session is free, or if session n has an owner. open() of <n>/claim
 * also fails with EBUSY if session n runs. A claim belongs to the open file description. When the
 * file is closed, also by the end of the process, the module stops the session, frees the buffers
 * of the claim's run and restores the settings that the session had before, unless
 * NTKLOG_SESSION_KEEP has given up the claim. While a session is claimed, the other files of the
 * session can be read, but a change by one of them fails with EBUSY.
 *
 * read() and pread() of a claim give the first buffer of the ETL file, which has the header. A read
 * at offset 0 makes this buffer anew; the buffer is final after NTKLOG_SESSION_STOP. ENODATA: the
 * claim has no run.
 *
 * The layouts are the same for callers of 32 and of 64 bits. The caller sets @size to the size
 * of the structure; another size fails with EINVAL.
 */

#include <linux/ioctl.h>
#include <ntklog/group_mask.h>
#include <ntklog/layout.h>

#define NTKLOG_SESSION_NAME_SIZE	64	/* with its NUL */

/* mode: treatment of new events when the buffers of a CPU are full */
#define NTKLOG_SESSION_SEQUENTIAL	0	/* new events are lost, and counted */
#define NTKLOG_SESSION_BUFFERING	1	/* new events overwrite the oldest buffer */

/**
 * struct ntklog_session_start - the settings of a run
 * @size: bytes of this structure
 * @flags: 0
 * @name: 1 to 63 printable ASCII characters and a NUL; empty: the session's present name
 * @group_mask: the event groups
 * @buffer_size: bytes of a buffer, a multiple of the page size from 4 KiB to 1 MiB; 0: the
 *	session's present size
 * @buffers: number of buffers of each CPU, 2 to 1024; 0: the session's present number
 * @mode: NTKLOG_SESSION_SEQUENTIAL or NTKLOG_SESSION_BUFFERING
 * @flush_timer: milliseconds between two flushes, up to an hour; 0: no timer
 * @stacks: the events that carry a stack, NTKLOG_STACKS_*
 * @contextswap_version: version of the context switch events; 0: the newest
 */
struct ntklog_session_start {
	__u32 size;
	__u32 flags;
	char name[NTKLOG_SESSION_NAME_SIZE];
	struct perfinfo_groupmask group_mask;
	__u32 buffer_size;
	__u32 buffers;
	__u32 mode;
	__u32 flush_timer;
	__u32 stacks;
	__u32 contextswap_version;
};

NTKLOG_ASSERT_SIZE(struct ntklog_session_start, 0x80);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_start, size, 0x00);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_start, flags, 0x04);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_start, name, 0x08);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_start, group_mask, 0x48);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_start, buffer_size, 0x68);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_start, buffers, 0x6C);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_start, mode, 0x70);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_start, flush_timer, 0x74);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_start, stacks, 0x78);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_start, contextswap_version, 0x7C);

/* cpu: the sum of all CPUs */
#define NTKLOG_SESSION_ALL_CPUS		0xFFFFFFFF

/**
 * struct ntklog_session_counts - the counts of the present or last run
 * @size: bytes of this structure
 * @cpu: in: a CPU, or NTKLOG_SESSION_ALL_CPUS for the sum. ENXIO: the run has no buffers on the CPU
 * @generated: events that were to be written
 * @written: events that were written into buffers
 * @lost: events that were not written
 * @finished: buffers that were full or were flushed
 * @unread: finished buffers that have been neither read nor overwritten
 * @overwritten: buffers that newer events have overwritten
 * @processors: the highest CPU with buffers, plus 1
 * @reserved: out: 0
 */
struct ntklog_session_counts {
	__u32 size;
	__u32 cpu;
	__u64 generated;
	__u64 written;
	__u64 lost;
	__u64 finished;
	__u64 unread;
	__u64 overwritten;
	__u32 processors;
	__u32 reserved;
};

NTKLOG_ASSERT_SIZE(struct ntklog_session_counts, 0x40);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_counts, size, 0x00);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_counts, cpu, 0x04);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_counts, generated, 0x08);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_counts, written, 0x10);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_counts, lost, 0x18);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_counts, finished, 0x20);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_counts, unread, 0x28);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_counts, overwritten, 0x30);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_counts, processors, 0x38);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_counts, reserved, 0x3C);

/* A CPU whose buffers are to be read. */
struct ntklog_session_cpu {
	__u32 size;
	__u32 cpu;
};

NTKLOG_ASSERT_SIZE(struct ntklog_session_cpu, 0x08);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_cpu, size, 0x00);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_cpu, cpu, 0x04);

/* state */
#define NTKLOG_SESSION_IDLE		0	/* the claim has no run */
#define NTKLOG_SESSION_STARTED		1
#define NTKLOG_SESSION_FINISHED		2	/* stopped: all buffers can be read */

/* An event group, PERF_*, that could not be attached. @error: positive errno. */
struct ntklog_session_failure {
	__u32 group;
	__u32 error;
};

NTKLOG_ASSERT_SIZE(struct ntklog_session_failure, 0x08);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_failure, group, 0x00);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_failure, error, 0x04);

#define NTKLOG_SESSION_FAILURES		14

/**
 * struct ntklog_session_info - a claimed session
 * @size: bytes of this structure
 * @session: its number
 * @state: NTKLOG_SESSION_IDLE, NTKLOG_SESSION_STARTED or NTKLOG_SESSION_FINISHED
 * @failures: number of entries in @failure
 * @failure: the groups of the run that could not be attached
 */
struct ntklog_session_info {
	__u32 size;
	__u32 session;
	__u32 state;
	__u32 failures;
	struct ntklog_session_failure failure[NTKLOG_SESSION_FAILURES];
};

NTKLOG_ASSERT_SIZE(struct ntklog_session_info, 0x80);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_info, size, 0x00);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_info, session, 0x04);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_info, state, 0x08);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_info, failures, 0x0C);
NTKLOG_ASSERT_OFFSET(struct ntklog_session_info, failure, 0x10);

/*
 * Start a run. EINVAL: a setting is out of range; EEXIST: another session has the name; EBUSY: the
 * session runs; ENOMEM: there is no memory for the buffers; EINTR: a signal; EBADFD: the claim has
 * been given up; ENODEV: the module is being unloaded. If the call fails, the session is as before,
 * except that a run that a snapshot has copied may have been freed. Otherwise the buffers of the
 * claim's earlier run are freed, or stay as long as a file of NTKLOG_SESSION_OPEN_CPU reads them.
 */
#define NTKLOG_SESSION_START	_IOW(0xE7, 16, struct ntklog_session_start)

/* Stop the run, whose buffers can all be read afterwards. EINVAL: the session does not run. */
#define NTKLOG_SESSION_STOP	_IO(0xE7, 17)

/* Get the counts of the run. ENODATA: the claim has no run. */
#define NTKLOG_SESSION_COUNTS	_IOWR(0xE7, 18, struct ntklog_session_counts)

/*
 * Open a file, with close-on-exec, of the finished buffers of this run on a CPU, like
 * sessions/<n>/cpu<m>. The ioctl returns the file descriptor, which stays valid when the claim is
 * closed or starts another run. read() returns 0 if no buffer is finished and unread, and fails
 * with EBUSY while a run in mode NTKLOG_SESSION_BUFFERING goes on; poll() reports POLLHUP if the
 * run will finish no more buffers. ENODATA: the claim has no run; EINVAL: there can be no such CPU.
 */
#define NTKLOG_SESSION_OPEN_CPU	_IOW(0xE7, 19, struct ntklog_session_cpu)

/* Get the number, the state and the failures of the claimed session. */
#define NTKLOG_SESSION_INFO	_IOWR(0xE7, 20, struct ntklog_session_info)

/*
 * Make the events that were written so far readable, except for those in the last free buffer of
 * each CPU. EINVAL: the session does not run, or its mode is NTKLOG_SESSION_BUFFERING, in which
 * sessions/<n>/snapshot is read instead.
 */
#define NTKLOG_SESSION_FLUSH	_IO(0xE7, 21)

/*
 * Give up the claim, but keep the session: it continues to run or keeps its buffers, as after a
 * start by hand, and keeps its settings. Every later ioctl on the file fails with EBADFD.
 */
#define NTKLOG_SESSION_KEEP	_IO(0xE7, 22)

#endif /* _UAPI_NTKLOG_SESSION_H */
