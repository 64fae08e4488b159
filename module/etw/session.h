/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_SESSION_H
#define _NTKLOG_ETW_SESSION_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <uapi/ntklog/group_mask.h>

struct dentry;
struct etw_buffer_cpu;
struct etw_group_change;
struct rchan;
struct rchan_buf;
struct seq_file;

/* As many as NT has system loggers. */
#define ETW_SESSIONS		8
#define ETW_NAME_MAX		64	/* with its NUL */

#define ETW_FLUSH_TIMER_DEFAULT	1000
#define ETW_FLUSH_TIMER_MAX	3600000

/**
 * enum etw_mode - what becomes of events when a processor's buffers are full
 * @ETW_MODE_SEQUENTIAL: the new ones are lost
 * @ETW_MODE_BUFFERING: the oldest buffer is overwritten
 */
enum etw_mode {
	ETW_MODE_SEQUENTIAL,
	ETW_MODE_BUFFERING,
};

/**
 * struct etw_session - a logger session
 * @id: its number, the LoggerId of its buffers
 * @name: its name
 * @directory: where its files are; set once at load
 * @group_mask: which events it wants; read by etw_log_event(), a word at a time
 * @contextswap_version: in which version of four it wants context swaps; likewise
 * @mode: for the next start
 * @run_mode: of the present or last run
 * @flush_timer: milliseconds between two flushes while it logs; 0: none
 * @flush_work: makes them
 * @frozen: a snapshot is taken; events are lost, and counted, meanwhile
 * @buffer_size: bytes of each buffer, for the next start
 * @buffers: of each processor, for the next start
 * @logging: events go into the buffers; see etw_logging
 * @channel: the buffers of the present or last run, NULL before the first
 * @first_buffer: the buffer whose file was made first, while it is there
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
	char name[ETW_NAME_MAX];
	struct dentry *directory;
	struct perfinfo_groupmask group_mask;
	u8 contextswap_version;
	enum etw_mode mode;
	enum etw_mode run_mode;
	u32 flush_timer;
	struct delayed_work flush_work;
	bool frozen;
	u32 buffer_size;
	u32 buffers;
	bool logging;
	struct rchan *channel;
	struct rchan_buf *first_buffer;
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

/*
 * A bit for each session that logs. Written with etw_mutex held: set with release
 * when all of the session is ready, cleared before anything of it goes. Read with
 * acquire by etw_log_event().
 */
extern unsigned long etw_logging;

int etw_init_sessions(u32 buffer_size, u32 buffers);
void etw_allow_sessions(void);
void etw_exit_sessions(void);
int etw_start_session(struct etw_session *session);
int etw_stop_session(struct etw_session *session);
int etw_flush_session(struct etw_session *session);
int etw_set_buffer_size(struct etw_session *session, u32 bytes);
int etw_set_buffers(struct etw_session *session, u32 buffers);
int etw_set_name(struct etw_session *session, const char *name);
int etw_set_mode(struct etw_session *session, enum etw_mode mode);
int etw_set_flush_timer(struct etw_session *session, u32 milliseconds);
int etw_set_contextswap_version(struct etw_session *session, u32 version);
void etw_change_group_mask(struct etw_session *session,
			   const struct etw_group_change *change);
struct perfinfo_groupmask etw_get_group_mask(struct etw_session *session);
struct perfinfo_groupmask etw_global_group_mask(void);
void etw_show_stats(struct seq_file *file, struct etw_session *session);

#endif /* _NTKLOG_ETW_SESSION_H */
