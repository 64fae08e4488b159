// SPDX-License-Identifier: GPL-2.0-only
/* Logger sessions: what they are set to, their start and their stop. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bits.h>
#include <linux/cpu.h>
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "../compat.h"
#include "buffer.h"
#include "clock.h"
#include "event.h"
#include "flush.h"
#include "group_mask.h"
#include "provider.h"
#include "run.h"
#include "session.h"
#include "stacks.h"

/*
 * Guards all sessions and the list of providers. Outermost of our locks: the
 * static keys, relay and debugfs have theirs below it.
 */
DEFINE_MUTEX(etw_mutex);

static LIST_HEAD(etw_providers);

/* Guarded by etw_mutex: from the end of the load to the begin of the unload. */
static bool etw_is_open;

struct etw_session etw_sessions[ETW_SESSIONS];
EXPORT_SYMBOL_IF_KUNIT(etw_sessions);

/* Called with etw_mutex held: who logs, or what they want, has changed. */
static void etw_publish_wanting_sessions(void)
{
	int word, bit, i;

	for (word = 0; word < PERF_NUM_MASKS; word++) {
		for (bit = 0; bit < ETW_GROUPS_IN_MASK; bit++) {
			u64 wanting = 0;

			for (i = 0; i < ETW_SESSIONS; i++)
				if (etw_sessions[i].logging &&
				    etw_sessions[i].group_mask.masks[word] & BIT(bit))
					wanting |= 1ULL << i * ETW_WANTED_SHIFT;
			/* All of a session before its byte. Pairs with etw_sessions_for_event(). */
			ntklog_write_word_release(etw_sessions_by_group[word][bit], wanting);
		}
	}
}

/* Called with etw_mutex held. */
static void etw_set_logging(struct etw_session *session, bool logging)
{
	WRITE_ONCE(session->logging, logging);
	/* Before its first event, and after its last one: see etw_stop_locked(). */
	if (logging)
		etw_publish_stack_sessions();
	etw_publish_wanting_sessions();
}

/**
 * etw_register_provider() - take a maker of events into the house
 * @provider: static
 *
 * Context: load, before there is a session.
 */
void etw_register_provider(struct etw_provider *provider)
{
	mutex_lock(&etw_mutex);
	list_add_tail(&provider->list, &etw_providers);
	mutex_unlock(&etw_mutex);
}

/* Called with etw_mutex held. */
static void etw_update_providers(const struct perfinfo_groupmask *mask)
{
	struct etw_provider *provider;

	list_for_each_entry(provider, &etw_providers, list)
		provider->set_mask(provider, mask);
}

/* Called with etw_mutex held: what all sessions that log want, but for one. */
static struct perfinfo_groupmask
etw_group_mask_union_except(const struct etw_session *without)
{
	struct perfinfo_groupmask mask = {};
	int i;

	for (i = 0; i < ETW_SESSIONS; i++)
		if (etw_sessions[i].logging && &etw_sessions[i] != without)
			etw_group_mask_or(&mask, &etw_sessions[i].group_mask);
	return mask;
}

/**
 * etw_global_group_mask() - the union of all running sessions' masks
 *
 * Context: thread; may sleep.
 * Return: the mask.
 */
struct perfinfo_groupmask etw_global_group_mask(void)
{
	struct perfinfo_groupmask mask;

	mutex_lock(&etw_mutex);
	mask = etw_group_mask_union_except(NULL);
	mutex_unlock(&etw_mutex);
	return mask;
}
EXPORT_SYMBOL_IF_KUNIT(etw_global_group_mask);

static const struct perfinfo_groupmask etw_no_groups;

struct etw_rundown {
	struct etw_session *session;
	const struct perfinfo_groupmask *before;
	const struct perfinfo_groupmask *after;
	bool of_stacks;
};

static void etw_do_rundown(void *data)
{
	const struct etw_rundown *rundown = data;
	struct etw_rundown_event event;
	struct etw_provider *provider;

	list_for_each_entry(provider, &etw_providers, list) {
		bool was_on = etw_group_mask_test(rundown->before, provider->group);

		if (!provider->rundown ||
		    was_on == etw_group_mask_test(rundown->after, provider->group))
			continue;
		event.groups = was_on ? rundown->before : rundown->after;
		provider->rundown(&event, was_on);
		if (!event.length)
			continue;
		etw_log_session_event(rundown->session, event.hook_id, event.version,
				      event.data, event.length);
	}
	if (etw_stacks_rundown(&event, rundown->session->stacks,
			       rundown->after == &etw_no_groups) || rundown->of_stacks)
		etw_log_session_event(rundown->session, event.hook_id, event.version,
				      event.data, event.length);
}

/* The event, padded; its bytes. */
static size_t etw_put_rundown_event(u8 *to, size_t room, const struct etw_rundown_event *event)
{
	struct perfinfo_trace_header header;
	size_t size;

	etw_make_trace_header(&header, event->hook_id, event->version, event->length);
	size = ALIGN(header.size, TRACE_EVENT_ALIGNMENT);
	if (WARN_ON_ONCE(size > room))
		return 0;
	memset(to, 0, size);
	memcpy(to, &header, sizeof(header));
	memcpy(to + sizeof(header), event->data, event->length);
	return size;
}

/**
 * etw_put_rundown() - write what a session's rundown would be if it stopped now
 * @session: a session that logs
 * @to: where to
 * @room: bytes there, for all providers; as many as the least buffer has
 *
 * Context: thread; etw_mutex held.
 * Return: bytes that were written.
 */
size_t etw_put_rundown(const struct etw_session *session, u8 *to, size_t room)
{
	struct etw_rundown_event event;
	struct etw_provider *provider;
	size_t used = 0;

	list_for_each_entry(provider, &etw_providers, list) {
		if (!provider->rundown ||
		    !etw_group_mask_test(&session->group_mask, provider->group))
			continue;
		event.groups = &session->group_mask;
		provider->rundown(&event, true);
		if (event.length)
			used += etw_put_rundown_event(to + used, room - used, &event);
	}
	if (etw_stacks_rundown(&event, session->stacks, true))
		used += etw_put_rundown_event(to + used, room - used, &event);
	return used;
}

/*
 * Called with etw_mutex held, for what goes on or off. The rundown at the end is
 * written on the processor whose file comes last, so that the last buffer of the
 * file is in use when the session stops and can be marked as the last.
 */
static void etw_call_rundown(struct etw_rundown *rundown)
{
	cpus_read_lock();
	smp_call_function_single(etw_last_file_cpu(rundown->session->run), etw_do_rundown,
				 rundown, 1);
	cpus_read_unlock();
}

static void etw_rundown(struct etw_session *session,
			const struct perfinfo_groupmask *before,
			const struct perfinfo_groupmask *after)
{
	struct etw_rundown rundown = {
		.session = session,
		.before = before,
		.after = after,
	};

	etw_call_rundown(&rundown);
}

/* Likewise, where nothing has changed but which events carry a stack, be it that none does. */
static void etw_rundown_stacks(struct etw_session *session)
{
	struct etw_rundown rundown = {
		.session = session,
		.before = &session->group_mask,
		.after = &session->group_mask,
		.of_stacks = true,
	};

	if (session->logging)
		etw_call_rundown(&rundown);
}

/* Called with etw_mutex held, for a session that logs. */
static void etw_schedule_flush(struct etw_session *session)
{
	if (session->flush_timer && session->run->mode == ETW_MODE_SEQUENTIAL)
		mod_delayed_work(system_percpu_wq, &session->flush_work,
				 msecs_to_jiffies(session->flush_timer));
	else
		cancel_delayed_work(&session->flush_work);
}

static void etw_flush_work(struct work_struct *work)
{
	struct etw_session *session = container_of(to_delayed_work(work),
						   struct etw_session, flush_work);

	mutex_lock(&etw_mutex);
	if (session->logging) {
		etw_flush_buffers(session->run, ETW_FLUSH_TIMER);
		etw_schedule_flush(session);
	}
	mutex_unlock(&etw_mutex);
}

/* Called with etw_mutex held, for a session that does not log. */
static void etw_drop_run(struct etw_session *session)
{
	etw_put_run(session->run);
	session->run = NULL;
}

/**
 * etw_start_session() - start logging
 * @session: a session that is stopped; buffers of an earlier run are dropped
 *
 * What nobody has read of the earlier run is dropped only when the new buffers are there.
 *
 * Context: thread; may sleep.
 * Return: 0, -EBUSY if it is started already, -ENOMEM if there is no memory for so
 * many buffers of that size, -ENODEV while the module comes or goes.
 */
int etw_start_session(struct etw_session *session)
{
	struct perfinfo_groupmask mask;
	struct etw_run *run;
	int err = 0;

	mutex_lock(&etw_mutex);
	if (!etw_is_open) {
		err = -ENODEV;
		goto out;
	}
	if (session->logging) {
		err = -EBUSY;
		goto out;
	}

	etw_check_clock();
	/* Its memory may be what the new buffers are to be made of. */
	if (session->run && (session->run->in_snapshot || !etw_run_is_unread(session->run)))
		etw_drop_run(session);
	run = etw_open_run(session);
	if (IS_ERR(run)) {
		err = PTR_ERR(run);
		goto out;
	}
	etw_drop_run(session);
	session->run = run;
	etw_run_cpus[session->id] = run->cpus;

	/* The rundown is first: nobody else logs yet. */
	etw_rundown(session, &etw_no_groups, &session->group_mask);
	etw_set_logging(session, true);
	mask = etw_group_mask_union_except(NULL);
	etw_update_providers(&mask);
	etw_schedule_flush(session);
out:
	mutex_unlock(&etw_mutex);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(etw_start_session);

/* Called with etw_mutex held, for a session that logs. */
static void etw_stop_locked(struct etw_session *session)
{
	struct perfinfo_groupmask mask = etw_group_mask_union_except(session);

	cancel_delayed_work(&session->flush_work);
	etw_update_providers(&mask);
	etw_rundown(session, &session->group_mask, &etw_no_groups);
	etw_set_logging(session, false);
	/* Loggers, who have interrupts off, have left the buffers. */
	synchronize_rcu();
	etw_publish_stack_sessions();
	etw_flush_buffers(session->run, ETW_FLUSH_LAST);
	session->run->end_time = etw_filetime();
	etw_finish_run(session->run);
}

/**
 * etw_session_has_group() - does a session that logs want these events?
 * @group: PERF_*
 *
 * Context: thread; etw_mutex held.
 * Return: whether one does.
 */
bool etw_session_has_group(u32 group)
{
	const struct perfinfo_groupmask mask = etw_group_mask_union_except(NULL);

	return etw_group_mask_test(&mask, group);
}

/**
 * etw_stop_session() - stop logging; all that was written becomes readable
 * @session: a session that is started
 *
 * Context: thread; may sleep.
 * Return: 0, or -EINVAL if it is stopped already.
 */
int etw_stop_session(struct etw_session *session)
{
	int err = 0;

	mutex_lock(&etw_mutex);
	if (session->logging)
		etw_stop_locked(session);
	else
		err = -EINVAL;
	mutex_unlock(&etw_mutex);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(etw_stop_session);

/**
 * etw_session_is_started() - is a session started?
 * @session: the session
 *
 * Context: thread; may sleep. Waits for a start or stop that is under way.
 * Return: whether it is; if not, all that it has written can be read.
 */
bool etw_session_is_started(struct etw_session *session)
{
	struct etw_run *run = etw_get_run(session);
	bool started = run && !etw_run_is_finished(run);

	etw_put_run(run);
	return started;
}
EXPORT_SYMBOL_IF_KUNIT(etw_session_is_started);

/**
 * etw_flush_session() - make what has been written so far readable
 * @session: a session that is started
 *
 * But for what is in a processor's last free buffer.
 *
 * Context: thread; may sleep.
 * Return: 0, or -EINVAL if it is stopped, or buffering: then a snapshot is the way
 * to read.
 */
int etw_flush_session(struct etw_session *session)
{
	int err = 0;

	mutex_lock(&etw_mutex);
	if (session->logging && session->run->mode == ETW_MODE_SEQUENTIAL)
		etw_flush_buffers(session->run, ETW_FLUSH_REQUEST);
	else
		err = -EINVAL;
	mutex_unlock(&etw_mutex);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(etw_flush_session);

static int etw_check_buffer_size(u32 bytes)
{
	if (bytes < ETW_BUFFER_SIZE_MIN || bytes > ETW_BUFFER_SIZE_MAX ||
	    !PAGE_ALIGNED(bytes))
		return -EINVAL;
	return 0;
}

static int etw_check_buffers(u32 buffers)
{
	if (buffers < ETW_BUFFERS_MIN || buffers > ETW_BUFFERS_MAX)
		return -EINVAL;
	return 0;
}

/**
 * etw_set_buffer_size() - set the size of a session's buffers
 * @session: a session that is stopped
 * @bytes: 4 KiB to 1 MiB, a multiple of the page size
 *
 * Context: thread; may sleep.
 * Return: 0, -EINVAL, or -EBUSY if the session is started.
 */
int etw_set_buffer_size(struct etw_session *session, u32 bytes)
{
	int err = etw_check_buffer_size(bytes);

	if (err)
		return err;
	mutex_lock(&etw_mutex);
	if (session->logging)
		err = -EBUSY;
	else
		session->buffer_size = bytes;
	mutex_unlock(&etw_mutex);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(etw_set_buffer_size);

/**
 * etw_set_buffers() - set the number of a session's buffers
 * @session: a session that is stopped
 * @buffers: of each processor, 2 to 1024
 *
 * Context: thread; may sleep.
 * Return: 0, -EINVAL, or -EBUSY if the session is started.
 */
int etw_set_buffers(struct etw_session *session, u32 buffers)
{
	int err = etw_check_buffers(buffers);

	if (err)
		return err;
	mutex_lock(&etw_mutex);
	if (session->logging)
		err = -EBUSY;
	else
		session->buffers = buffers;
	mutex_unlock(&etw_mutex);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(etw_set_buffers);

/**
 * etw_set_name() - name a session
 * @session: a session that is stopped
 * @name: 1 to 63 printable characters of ASCII
 *
 * Context: thread; may sleep.
 * Return: 0, -EINVAL, -EEXIST if another session has the name, or -EBUSY if the
 * session is started.
 */
int etw_set_name(struct etw_session *session, const char *name)
{
	size_t length = strlen(name), i;
	int err = 0;

	if (!length || length >= ETW_NAME_MAX)
		return -EINVAL;
	for (i = 0; i < length; i++)
		if (!isascii(name[i]) || !isprint(name[i]))
			return -EINVAL;

	mutex_lock(&etw_mutex);
	for (i = 0; i < ETW_SESSIONS; i++)
		if (&etw_sessions[i] != session && !strcmp(etw_sessions[i].name, name))
			err = -EEXIST;
	if (session->logging)
		err = -EBUSY;
	if (!err)
		strscpy(session->name, name, sizeof(session->name));
	mutex_unlock(&etw_mutex);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(etw_set_name);

/**
 * etw_set_mode() - set what becomes of events when the buffers are full
 * @session: a session that is stopped
 * @mode: the mode
 *
 * Context: thread; may sleep.
 * Return: 0, or -EBUSY if the session is started.
 */
int etw_set_mode(struct etw_session *session, enum etw_mode mode)
{
	int err = 0;

	mutex_lock(&etw_mutex);
	if (session->logging)
		err = -EBUSY;
	else
		session->mode = mode;
	mutex_unlock(&etw_mutex);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(etw_set_mode);

/**
 * etw_set_flush_timer() - set how often what is written becomes readable to a reader
 * @session: the session, started or not
 * @milliseconds: up to an hour; 0: only when a buffer is full
 *
 * Context: thread; may sleep.
 * Return: 0 or -EINVAL.
 */
int etw_set_flush_timer(struct etw_session *session, u32 milliseconds)
{
	if (milliseconds > ETW_FLUSH_TIMER_MAX)
		return -EINVAL;
	mutex_lock(&etw_mutex);
	session->flush_timer = milliseconds;
	if (session->logging)
		etw_schedule_flush(session);
	mutex_unlock(&etw_mutex);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(etw_set_flush_timer);

/**
 * etw_set_contextswap_version() - set in which version a session has context swaps
 * @session: the session, started or not
 * @version: 1 to ETW_EVENT_VERSIONS
 *
 * Context: thread.
 * Return: 0 or -EINVAL.
 */
int etw_set_contextswap_version(struct etw_session *session, u32 version)
{
	if (version < 1 || version > ETW_EVENT_VERSIONS)
		return -EINVAL;
	/* Each event says its own version: nothing else depends on it. */
	WRITE_ONCE(etw_contextswap_versions.of_session[session->id], version - 1);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(etw_set_contextswap_version);

/**
 * etw_change_group_mask() - change which events a session wants
 * @session: the session; if it is started, it gets the rundown of what goes on
 *	or off
 * @change: what is to become of its mask
 *
 * Context: thread; may sleep.
 */
void etw_change_group_mask(struct etw_session *session,
			   const struct etw_group_change *change)
{
	struct perfinfo_groupmask before, mask;

	mutex_lock(&etw_mutex);
	before = session->group_mask;
	etw_group_change_apply(change, &session->group_mask);
	if (session->logging) {
		etw_publish_wanting_sessions();
		mask = etw_group_mask_union_except(NULL);
		etw_update_providers(&mask);
		etw_rundown(session, &before, &session->group_mask);
	}
	mutex_unlock(&etw_mutex);
}
EXPORT_SYMBOL_IF_KUNIT(etw_change_group_mask);

/**
 * etw_set_stacks() - set which events of a session carry a stack
 * @session: the session, started or not
 * @stacks: bits by enum etw_stacked
 *
 * While the session logs, it is told of what goes off before the first event without, and of what
 * goes on when each event has it: all after a rundown that says so have a stack.
 *
 * Context: thread; may sleep.
 */
void etw_set_stacks(struct etw_session *session, u32 stacks)
{
	u32 both;

	mutex_lock(&etw_mutex);
	both = session->stacks & stacks;
	if (session->stacks != both) {
		WRITE_ONCE(session->stacks, both);
		etw_rundown_stacks(session);
		etw_publish_stack_sessions();
	}
	if (stacks != both) {
		WRITE_ONCE(session->stacks, stacks);
		etw_publish_stack_sessions();
		/* Loggers, who have interrupts off, have seen it. */
		synchronize_rcu();
		etw_rundown_stacks(session);
	}
	mutex_unlock(&etw_mutex);
}
EXPORT_SYMBOL_IF_KUNIT(etw_set_stacks);

/**
 * etw_get_stacks() - which events of a session carry a stack
 * @session: the session
 *
 * Context: any.
 * Return: bits by enum etw_stacked.
 */
u32 etw_get_stacks(struct etw_session *session)
{
	return READ_ONCE(session->stacks);
}

/**
 * etw_get_group_mask() - which events a session wants
 * @session: the session
 *
 * Context: thread; may sleep.
 * Return: its mask.
 */
struct perfinfo_groupmask etw_get_group_mask(struct etw_session *session)
{
	struct perfinfo_groupmask mask;

	mutex_lock(&etw_mutex);
	mask = session->group_mask;
	mutex_unlock(&etw_mutex);
	return mask;
}

/**
 * etw_init_sessions() - set the sessions to their defaults
 * @buffer_size: bytes of each buffer
 * @buffers: of each processor
 *
 * Context: load.
 * Return: 0, or -EINVAL for a size or number out of range.
 */
int etw_init_sessions(u32 buffer_size, u32 buffers)
{
	int i;

	if (etw_check_buffer_size(buffer_size)) {
		pr_err("buffer_size=%u is not a multiple of %lu from %u to %u\n",
		       buffer_size, PAGE_SIZE, ETW_BUFFER_SIZE_MIN,
		       ETW_BUFFER_SIZE_MAX);
		return -EINVAL;
	}
	if (etw_check_buffers(buffers)) {
		pr_err("buffers=%u is not from %u to %u\n", buffers,
		       ETW_BUFFERS_MIN, ETW_BUFFERS_MAX);
		return -EINVAL;
	}
	etw_check_clock();
	for (i = 0; i < ETW_SESSIONS; i++) {
		struct etw_session *session = &etw_sessions[i];

		session->id = i;
		if (i)
			snprintf(session->name, sizeof(session->name),
				 "System Logger %d", i);
		else
			strscpy(session->name, "NT Kernel Logger",
				sizeof(session->name));
		session->buffer_size = buffer_size;
		session->buffers = buffers;
		session->flush_timer = ETW_FLUSH_TIMER_DEFAULT;
		etw_contextswap_versions.of_session[i] = ETW_EVENT_VERSIONS - 1;
		INIT_DELAYED_WORK(&session->flush_work, etw_flush_work);
		etw_group_mask_set(&session->group_mask, PERF_SPINLOCK);
	}
	return 0;
}

/**
 * etw_enable_session_start() - sessions can be started from now on
 *
 * Files are there before all is: a load that fails has no session to stop.
 *
 * Context: load, when nothing can fail any more.
 */
void etw_enable_session_start(void)
{
	mutex_lock(&etw_mutex);
	etw_is_open = true;
	mutex_unlock(&etw_mutex);
}

/**
 * etw_exit_sessions() - stop all sessions and let their buffers go
 *
 * Context: unload, or a load that failed.
 */
void etw_exit_sessions(void)
{
	int i;

	mutex_lock(&etw_mutex);
	etw_is_open = false;
	for (i = 0; i < ETW_SESSIONS; i++) {
		if (etw_sessions[i].logging)
			etw_stop_locked(&etw_sessions[i]);
		etw_drop_run(&etw_sessions[i]);
	}
	mutex_unlock(&etw_mutex);
	/* They take the mutex, and find that nothing logs. */
	for (i = 0; i < ETW_SESSIONS; i++)
		cancel_delayed_work_sync(&etw_sessions[i].flush_work);
}
