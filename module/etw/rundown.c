// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rundown events: the parameters of the providers. A session gets a rundown event when it begins
 * (*_DC_START) and when it ceases (*_DC_END) to log a group. A change of parameters writes both
 * events into each started session whose groups use them: the END has the values until now, the
 * START the values from now on.
 *
 * Rundown events are written on the CPU whose buffers are the last in the file, so that the buffer
 * that a stop marks as the end of the file usually has events.
 */

#include <linux/err.h>
#include <linux/list.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <uapi/ntklog/event.h>

#include "event.h"
#include "flush.h"
#include "group_mask.h"
#include "provider.h"
#include "run.h"
#include "rundown.h"
#include "session.h"
#include "stacks.h"

static const struct perfinfo_groupmask etw_no_groups;

static void etw_log_rundown_event(struct etw_session *session,
				  const struct etw_rundown_event *event)
{
	if (event->length)
		etw_log_session_event(session, event->hook_id, event->version, event->data,
				      event->length);
}

/* @stacks_have_changed: log the rundown of stacks also if no event of the session has a stack. */
struct etw_rundown_request {
	struct etw_session *session;
	const struct perfinfo_groupmask *before;
	const struct perfinfo_groupmask *after;
	bool stacks_have_changed;
};

static void etw_log_group_rundown(void *data)
{
	const struct etw_rundown_request *rundown = data;
	struct etw_session *session = rundown->session;
	struct etw_rundown_event event;
	struct etw_provider *provider;

	list_for_each_entry(provider, &etw_providers, list) {
		bool was_enabled = etw_group_mask_test(rundown->before, provider->group);

		if (!provider->rundown ||
		    was_enabled == etw_group_mask_test(rundown->after, provider->group))
			continue;
		event.groups = was_enabled ? rundown->before : rundown->after;
		provider->rundown(&event, was_enabled);
		etw_log_rundown_event(session, &event);
	}
	if (etw_make_stacks_rundown(&event, session->settings.stacks,
				    rundown->after == &etw_no_groups) ||
	    rundown->stacks_have_changed)
		etw_log_rundown_event(session, &event);
}

/**
 * etw_log_rundown_of_groups() - log the parameters of groups that a session begins or ceases to log
 * @session: a session that is being started, is started, or is being stopped
 * @before: its groups up to now; NULL: none, at the start
 * @after: its groups from now on; NULL: none, at the stop
 *
 * Also logs which events of the session carry a stack, if any does.
 *
 * Context: task; etw_mutex held.
 */
void etw_log_rundown_of_groups(struct etw_session *session, const struct perfinfo_groupmask *before,
			       const struct perfinfo_groupmask *after)
{
	struct etw_rundown_request rundown = {
		.session = session,
		.before = before ?: &etw_no_groups,
		.after = after ?: &etw_no_groups,
	};

	etw_call_on_last_cpu(session->run, etw_log_group_rundown, &rundown);
}

/**
 * etw_log_rundown_of_stacks() - log which events of a session carry a stack, also if none does
 * @session: a started session
 *
 * Context: task; etw_mutex held.
 */
void etw_log_rundown_of_stacks(struct etw_session *session)
{
	struct etw_rundown_request rundown = {
		.session = session,
		.before = &session->settings.group_mask,
		.after = &session->settings.group_mask,
		.stacks_have_changed = true,
	};

	etw_call_on_last_cpu(session->run, etw_log_group_rundown, &rundown);
}

/**
 * etw_list_holds() - log the locks that are held now
 * @session: a started session; only locks of groups that it observes are listed
 *
 * Context: task; etw_mutex held.
 */
void etw_list_holds(struct etw_session *session)
{
	struct etw_provider *provider;

	list_for_each_entry(provider, &etw_providers, list)
		if (provider->list_holds &&
		    etw_group_mask_test(&session->run->observed_groups, provider->group))
			provider->list_holds(session);
}

static size_t etw_write_rundown_event(u8 *buffer, size_t buffer_size,
				      const struct etw_rundown_event *event)
{
	struct perfinfo_trace_header header;
	size_t size;

	etw_make_trace_header(&header, event->hook_id, event->version, event->length);
	size = ALIGN(header.size, TRACE_EVENT_ALIGNMENT);
	if (WARN_ON_ONCE(size > buffer_size))
		return 0;
	memset(buffer, 0, size);
	memcpy(buffer, &header, sizeof(header));
	memcpy(buffer + sizeof(header), event->data, event->length);
	return size;
}

/**
 * etw_write_rundown() - write the rundown that a session would get if it stopped now
 * @session: a started session
 * @buffer: buffer for the events
 * @size: bytes of @buffer; ETW_BUFFER_SIZE_MIN is enough for the events of all providers
 *
 * Context: task; etw_mutex held.
 * Return: number of bytes written.
 */
size_t etw_write_rundown(const struct etw_session *session, u8 *buffer, size_t size)
{
	const struct perfinfo_groupmask *groups = &session->settings.group_mask;
	struct etw_rundown_event event;
	struct etw_provider *provider;
	size_t used_bytes = 0;

	list_for_each_entry(provider, &etw_providers, list) {
		if (!provider->rundown || !etw_group_mask_test(groups, provider->group))
			continue;
		event.groups = groups;
		provider->rundown(&event, true);
		if (event.length)
			used_bytes += etw_write_rundown_event(buffer + used_bytes,
							      size - used_bytes, &event);
	}
	if (etw_make_stacks_rundown(&event, session->settings.stacks, true))
		used_bytes += etw_write_rundown_event(buffer + used_bytes, size - used_bytes,
						      &event);
	return used_bytes;
}

/* A change of parameters that is under way. @old_events is indexed by session and provider. */
struct etw_parameter_change {
	struct etw_session *session;
	struct etw_rundown_event old_events[];
};

static size_t etw_count_providers(void)
{
	struct etw_provider *provider;
	size_t count = 0;

	list_for_each_entry(provider, &etw_providers, list)
		count++;
	return count;
}

static void etw_make_rundown_event(const struct etw_provider *provider,
				   const struct etw_session *session,
				   struct etw_rundown_event *event, bool is_end)
{
	event->length = 0;
	event->groups = &session->settings.group_mask;
	if (provider->rundown && etw_group_mask_test(event->groups, provider->group))
		provider->rundown(event, is_end);
}

static void etw_log_parameter_change(void *data)
{
	struct etw_parameter_change *change = data;
	struct etw_session *session = change->session;
	struct etw_rundown_event *old_event = change->old_events +
					      session->id * etw_count_providers();
	struct etw_rundown_event new_event;
	struct etw_provider *provider;

	list_for_each_entry(provider, &etw_providers, list) {
		etw_make_rundown_event(provider, session, &new_event, false);
		if (!provider->rundown_has_counts &&
		    (new_event.length != old_event->length ||
		     memcmp(new_event.data, old_event->data, new_event.length))) {
			etw_log_rundown_event(session, old_event);
			etw_log_rundown_event(session, &new_event);
		}
		old_event++;
	}
}

/**
 * etw_begin_parameter_change() - begin to change parameters that rundown events hold
 *
 * Context: task; may sleep. On success etw_mutex is held up to etw_end_parameter_change().
 * Return: the change, -EINTR after a fatal signal, or -ENOMEM.
 */
struct etw_parameter_change *etw_begin_parameter_change(void)
{
	struct etw_parameter_change *change;
	struct etw_provider *provider;
	struct etw_rundown_event *old_event;
	int i;

	if (mutex_lock_killable(&etw_mutex))
		return ERR_PTR(-EINTR);
	change = kzalloc(struct_size(change, old_events, ETW_SESSIONS * etw_count_providers()),
			 GFP_KERNEL);
	if (!change) {
		mutex_unlock(&etw_mutex);
		return ERR_PTR(-ENOMEM);
	}
	old_event = change->old_events;
	for (i = 0; i < ETW_SESSIONS; i++)
		list_for_each_entry(provider, &etw_providers, list)
			etw_make_rundown_event(provider, &etw_sessions[i], old_event++, true);
	return change;
}

/**
 * etw_end_parameter_change() - log the change of parameters into all started sessions
 * @change: the change
 *
 * Context: task; may sleep.
 */
void etw_end_parameter_change(struct etw_parameter_change *change)
{
	int i;

	for (i = 0; i < ETW_SESSIONS; i++) {
		if (!etw_sessions[i].is_logging)
			continue;
		change->session = &etw_sessions[i];
		etw_call_on_last_cpu(change->session->run, etw_log_parameter_change, change);
	}
	mutex_unlock(&etw_mutex);
	kfree(change);
}
