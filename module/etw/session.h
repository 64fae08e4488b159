/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_SESSION_H
#define _NTKLOG_ETW_SESSION_H

#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <uapi/ntklog/group_mask.h>

struct dentry;
struct etw_group_change;
struct etw_run;

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
 * @group_mask: which events it wants; see etw_sessions_by_group
 * @stacks: which of them carry a stack, bits by enum etw_stacked; see etw_stack_sessions_by_event
 * @mode: for the next start
 * @flush_timer: milliseconds between two flushes while it logs; 0: none
 * @flush_work: makes them
 * @buffer_size: bytes of each buffer, for the next start
 * @buffers: of each processor, for the next start
 * @logging: events go into the buffers; see etw_sessions_by_group
 * @run: the present or last run, NULL before the first; a reference. Loggers use it while
 *	they find the session in etw_sessions_by_group
 *
 * All is written with etw_mutex held.
 */
struct etw_session {
	unsigned int id;
	char name[ETW_NAME_MAX];
	struct dentry *directory;
	struct perfinfo_groupmask group_mask;
	u32 stacks;
	enum etw_mode mode;
	u32 flush_timer;
	struct delayed_work flush_work;
	u32 buffer_size;
	u32 buffers;
	bool logging;
	struct etw_run *run;
};

extern struct etw_session etw_sessions[ETW_SESSIONS];
extern struct mutex etw_mutex;

int etw_init_sessions(u32 buffer_size, u32 buffers);
void etw_enable_session_start(void);
void etw_exit_sessions(void);
int etw_start_session(struct etw_session *session);
bool etw_session_has_group(u32 group);
int etw_stop_session(struct etw_session *session);
bool etw_session_is_started(struct etw_session *session);
int etw_flush_session(struct etw_session *session);
int etw_set_buffer_size(struct etw_session *session, u32 bytes);
int etw_set_buffers(struct etw_session *session, u32 buffers);
int etw_set_name(struct etw_session *session, const char *name);
int etw_set_mode(struct etw_session *session, enum etw_mode mode);
int etw_set_flush_timer(struct etw_session *session, u32 milliseconds);
int etw_set_contextswap_version(struct etw_session *session, u32 version);
void etw_change_group_mask(struct etw_session *session,
			   const struct etw_group_change *change);
void etw_set_stacks(struct etw_session *session, u32 stacks);
u32 etw_get_stacks(struct etw_session *session);
size_t etw_put_rundown(const struct etw_session *session, u8 *to, size_t room);
struct perfinfo_groupmask etw_get_group_mask(struct etw_session *session);
struct perfinfo_groupmask etw_global_group_mask(void);

#endif /* _NTKLOG_ETW_SESSION_H */
