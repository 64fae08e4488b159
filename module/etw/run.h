/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_RUN_H
#define _NTKLOG_ETW_RUN_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "clock.h"
#include "session_settings.h"

struct dentry;
struct wmi_buffer_header;

/**
 * struct etw_buffer_cpu - the state of a run on a possible CPU
 * @buf: the CPU's part of the channel, whose @data + @offset is the address of the next event; or
 *	etw_closed_buffer, which is full, so that the next event takes the slow path
 * @buffer_size: bytes of a buffer
 * @generated: events that were to be written
 * @written: events that were written into buffers
 * @lost: events that were not written
 * @overwritten: buffers that were overwritten in buffering mode
 * @written_at_flush: @written at the last flush
 * @has_unmarked_loss: events were lost since the last ETW_BUFFER_FLAG_EVENTS_LOST
 * @wait: readers that wait for a buffer
 * @wake: an irq_work that wakes @wait, because the writer may hold locks of the scheduler
 * @read_mutex: serializes the readers of the CPU
 * @finished: number of finished buffers when the buffers were freed
 * @had_buffers: the CPU had buffers when the buffers were freed
 *
 * Until the run is finished, the CPU itself writes @buf and the counts with interrupts off, and an
 * NMI counts its losses. While the CPU is offline, a flush writes them with cpus_read_lock() held.
 * Any CPU reads the counts. etw_free_read_buffers() writes @finished and @had_buffers. The fields
 * that the fast path of an event needs come first.
 */
struct etw_buffer_cpu {
	struct rchan_buf *buf;
	size_t buffer_size;
	u64 generated;
	u64 written;
	u64 lost;
	u64 overwritten;
	u64 written_at_flush;
	bool has_unmarked_loss;
	wait_queue_head_t wait;
	struct irq_work wake;
	struct mutex read_mutex;	/* held by the reader */
	size_t finished;
	bool had_buffers;
};

/**
 * struct etw_run - the buffers and counts of a session from one start to the stop
 * @references: the session has a reference; so has each open file
 * @mode: mode of the session at the start
 * @is_finished: no logger writes any more, and everything that was written can be read
 * @is_in_snapshot: a snapshot has copied the unread buffers; with etw_mutex held
 * @logger_id: number of the session
 * @channel: the buffers; NULL when they have been freed, see etw_free_read_buffers()
 * @cpus: the state on each possible CPU
 * @sequence_number: number of the buffer that was numbered last, over all CPUs
 * @clocks: the clocks at the start
 * @end_time: FILETIME of the stop; 0 before
 * @starter_thread_id: thread ID of the task that started the session
 * @starter_process_id: process ID of that task
 * @buffer_size: bytes of a buffer
 * @name: the session's name at the start
 * @group_mask: the event groups of the session; updated when they change
 * @observed_groups: the groups that are observed, according to the events; with etw_mutex held
 * @groups_with_lost_end: groups in @observed_groups whose observation has ended, but the event of
 *	its end was lost and will be written later; with etw_mutex held
 * @has_lost_observed_event: such an event will be written later; with etw_mutex held
 * @failed_group_count: number of entries in @failures
 * @failures: the groups that could not be attached
 * @reader_count: number of open readers; with @mutex held
 * @mutex: held over a flush, and while the buffers are counted or freed
 *
 * A writer of @group_mask, @failed_group_count or @failures holds etw_mutex and etw_session_lock, a
 * reader either of them.
 *
 * The stop sets @is_finished with release after the last flush; readers read it with acquire.
 * @end_time is written with etw_mutex held. Loggers write @sequence_number and the memory of
 * @channel and @cpus.
 */
struct etw_run {
	struct kref references;
	enum etw_session_mode mode;
	bool is_finished;
	bool is_in_snapshot;
	unsigned int logger_id;
	struct rchan *channel;
	struct etw_buffer_cpu __percpu *cpus;
	atomic64_t sequence_number;
	struct etw_clock_readings clocks;
	s64 end_time;
	u32 starter_thread_id;
	u32 starter_process_id;
	size_t buffer_size;
	char name[NTKLOG_SESSION_NAME_SIZE];
	struct perfinfo_groupmask group_mask;
	struct perfinfo_groupmask observed_groups;
	struct perfinfo_groupmask groups_with_lost_end;
	bool has_lost_observed_event;
	u32 failed_group_count;
	struct ntklog_session_failure failures[NTKLOG_SESSION_FAILURES];
	unsigned int reader_count;
	struct mutex mutex;	/* of @channel */
};

/* The counts of a run on a CPU: see struct ntklog_session_counts. */
struct etw_counts {
	u64 generated;
	u64 written;
	u64 lost;
	u64 finished;
	u64 unread;
	u64 overwritten;
};

extern struct rchan_buf etw_closed_buffer;

static inline size_t etw_get_finished_buffer_count(const struct rchan_buf *buf)
{
	/* Pairs with smp_wmb() in etw_finish_buffer(). The store is plain, hence data_race(). */
	return data_race(smp_load_acquire(&buf->subbufs_produced));
}

static inline size_t etw_get_consumed_buffer_count(const struct rchan_buf *buf)
{
	/* Pairs with smp_mb() in etw_read_finished_buffers(). The store is plain, too. */
	return data_race(smp_load_acquire(&buf->subbufs_consumed));
}

void etw_init_buffer(struct wmi_buffer_header *header, const struct etw_run *run,
		     size_t size, unsigned int cpu);
struct etw_run *etw_alloc_run(unsigned int logger_id, struct dentry *directory,
			      const struct etw_settings *settings);
struct etw_run *etw_get_run(struct etw_run *run);
void etw_put_run(struct etw_run *run);
void etw_finish_run(struct etw_run *run);
bool etw_run_is_finished(const struct etw_run *run);
struct rchan_buf *etw_get_buffer_of_cpu(const struct etw_run *run, unsigned int cpu);
void etw_lock_buffers(struct etw_run *run);
void etw_unlock_buffers(struct etw_run *run);
void etw_add_reader(struct etw_run *run);
void etw_remove_reader(struct etw_run *run);
bool etw_get_counts(const struct etw_run *run, unsigned int cpu,
		    struct etw_counts *counts);
bool etw_run_has_unread_buffers(struct etw_run *run);
size_t etw_count_numbered_buffers(const struct etw_run *run);

#endif /* _NTKLOG_ETW_RUN_H */
