/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_SESSION_H
#define _NTKLOG_ETW_SESSION_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <uapi/ntklog/group_mask.h>

struct dentry;
struct etw_buffer_cpu;
struct rchan;
struct seq_file;

#define ETW_SESSIONS	1

/**
 * struct etw_session - a logger session
 * @id: its number, the LoggerId of its buffers
 * @name: its name
 * @directory: where its files are; set once at load
 * @group_mask: which events it wants; changed only while it does not log
 * @buffer_size: bytes of each buffer, for the next start
 * @buffers: of each processor, for the next start
 * @logging: events go into the buffers. Set with release when all else is
 *	ready, cleared before anything goes; read by etw_log_event()
 * @channel: the buffers of the present or last run, NULL before the first
 * @buffer_cpu: the counts of the same run
 * @sequence_number: of the buffer taken into use last, over all processors
 * @clock_frequency: ticks of the session clock (TSC) per second
 * @start_clock: session clock at the start
 * @start_time: FILETIME of the same moment
 * @end_time: FILETIME of the stop, 0 while the session runs
 * @boot_time: FILETIME
 * @thread_id: who started it
 * @process_id: who started it
 *
 * All is written with etw_mutex held, but for @sequence_number and what
 * @channel and @buffer_cpu point to, which the loggers write.
 */
struct etw_session {
	unsigned int id;
	const char *name;
	struct dentry *directory;
	struct perfinfo_groupmask group_mask;
	u32 buffer_size;
	u32 buffers;
	bool logging;
	struct rchan *channel;
	struct etw_buffer_cpu __percpu *buffer_cpu;
	atomic64_t sequence_number;
	u64 clock_frequency;
	u64 start_clock;
	s64 start_time;
	s64 end_time;
	s64 boot_time;
	u32 thread_id;
	u32 process_id;
};

extern struct etw_session etw_sessions[ETW_SESSIONS];
extern struct mutex etw_mutex;

int etw_init_sessions(u32 buffer_size, u32 buffers);
void etw_exit_sessions(void);
int etw_start_session(struct etw_session *session);
int etw_stop_session(struct etw_session *session);
int etw_flush_session(struct etw_session *session);
int etw_set_buffer_size(struct etw_session *session, u32 bytes);
int etw_set_buffers(struct etw_session *session, u32 buffers);
int etw_set_group_mask(struct etw_session *session,
		       const struct perfinfo_groupmask *mask);
struct perfinfo_groupmask etw_global_group_mask(void);
void etw_show_stats(struct seq_file *file, struct etw_session *session);

#endif /* _NTKLOG_ETW_SESSION_H */
