// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stand-ins for relay and for module/etw/run.c and session.c: a session that overwrites its oldest
 * buffers, so that it needs no reader.
 */

#include <linux/relay.h>
#include <sys/mman.h>
#include <uapi/ntklog/buffer.h>

#include "etw/event.h"
#include "etw/run.h"
#include "etw/session.h"
#include "ground/identity.h"
#include "ground/irql.h"
#include "ground/slab_cache.h"
#include "perf/stack.h"

#define SHIM_BUFFER_SIZE	SZ_64K
#define SHIM_BUFFERS		64

struct static_key_false shim_trace_key = STATIC_KEY_FALSE_INIT;
struct static_key_false etw_stacks_key = STATIC_KEY_FALSE_INIT;
DEFINE_PER_CPU(struct ke_irql, ke_irql);
u64 etw_stack_sessions_by_event[ETW_STACKED_EVENTS];
struct etw_session etw_sessions[ETW_SESSIONS];
struct rchan_buf etw_closed_buffer = { .offset = ETW_BUFFER_SIZE_MAX };
unsigned int ntklog_slab_cache_word_index = 1;

static struct rchan shim_channel = {
	.subbuf_size = SHIM_BUFFER_SIZE,
	.n_subbufs = SHIM_BUFFERS,
};
static struct etw_run shim_run = {
	.mode = ETW_MODE_BUFFERING,
	.buffer_size = SHIM_BUFFER_SIZE,
	.channel = &shim_channel,
};

void ntklog_write_stack_slow(u64 sessions, u64 event_time, unsigned long caller, bool is_hooked)
{
	abort();
}

static void shim_start_buffer(struct rchan_buf *buf)
{
	const struct rchan *channel = buf->chan;

	buf->data = buf->start +
		    buf->subbufs_produced % channel->n_subbufs * channel->subbuf_size;
	memset(buf->data, 0, sizeof(struct wmi_buffer_header));
	buf->offset = sizeof(struct wmi_buffer_header);
}

size_t relay_switch_subbuf(struct rchan_buf *buf, size_t length)
{
	buf->subbufs_produced++;
	shim_start_buffer(buf);
	return length;
}

void relay_subbufs_consumed(struct rchan *chan, unsigned int cpu, size_t count)
{
	(*per_cpu_ptr(chan->buf, cpu))->subbufs_consumed += count;
}

/* Allocate the buffers of a CPU in small pages, as relay does, and touch each page. */
static struct rchan_buf *shim_open_buffers(int cpu)
{
	size_t size = SHIM_BUFFER_SIZE * SHIM_BUFFERS;
	size_t buf_size = ALIGN(sizeof(struct rchan_buf), SMP_CACHE_BYTES);
	struct rchan_buf *buf = aligned_alloc(SMP_CACHE_BYTES, buf_size);
	void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!buf || start == MAP_FAILED) {
		perror("memory of a session");
		exit(1);
	}
	madvise(start, size, MADV_NOHUGEPAGE);
	memset(start, ETW_BUFFER_FILL, size);
	*buf = (struct rchan_buf) { .start = start, .chan = &shim_channel, .cpu = cpu };
	shim_start_buffer(buf);
	return buf;
}

void shim_start_session(void)
{
	struct etw_session *session = &etw_sessions[0];
	int cpu;

	shim_channel.buf = alloc_percpu(struct rchan_buf *);
	shim_run.cpus = alloc_percpu(struct etw_buffer_cpu);
	for_each_possible_cpu(cpu) {
		*per_cpu_ptr(shim_channel.buf, cpu) = shim_open_buffers(cpu);
		per_cpu_ptr(shim_run.cpus, cpu)->buf = &etw_closed_buffer;
		per_cpu_ptr(shim_run.cpus, cpu)->buffer_size = SHIM_BUFFER_SIZE;
	}
	etw_run_cpus[session->id] = shim_run.cpus;
	session->run = &shim_run;
	session->is_logging = true;
	session->settings.group_mask.masks[PERF_MASK_INDEX(PERF_LINUX_SPINLOCK)] =
		PERF_MASK_BITS(PERF_LINUX_SPINLOCK);
	etw_publish_sessions();
	if (ntklog_set_identities_always_enabled(true))
		abort();
}
