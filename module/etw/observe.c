// SPDX-License-Identifier: GPL-2.0-only
/* Events that record when the observation of a group begins and ends. */

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/sched/signal.h>
#include <linux/workqueue.h>
#include <uapi/ntklog/event.h>

#include "buffer.h"
#include "event.h"
#include "flush.h"
#include "group_mask.h"
#include "observe.h"
#include "provider.h"
#include "run.h"
#include "session.h"

/* Delay after which the work item tries to write a lost event again, in jiffies. */
#define ETW_OBSERVE_RETRY	(HZ / 10)

/* Attempts of a suspend to lock etw_mutex, 50 ms apart. A start may hold the mutex for long. */
#define ETW_SUSPEND_ATTEMPTS	400

#define ETW_OBSERVED_SIZE	(sizeof(struct perfinfo_trace_header) + \
				 sizeof(struct ntklog_observed))

struct etw_observed_request {
	struct etw_session *session;
	const struct perfinfo_groupmask *mask;
	bool is_lost;
};

/* True from before a suspend until the resume. While it is true, no observation begins. */
static bool etw_machine_is_suspended;

static void etw_run_observe_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(etw_observe_work, etw_run_observe_work);

static int etw_get_provider_err(const struct etw_provider *provider)
{
	return provider->get_err ? provider->get_err(provider) : 0;
}

/* After a loss, write an event only if the buffer has space, to count the loss only once. */
static bool etw_try_to_log_observed_event(struct etw_observed_request *request, u32 group,
					  bool is_observed)
{
	struct etw_run *run = request->session->run;
	const struct ntklog_observed event = {
		.group = group,
		.observed = is_observed,
	};

	if ((run->has_lost_observed_event && !etw_buffer_has_space(run, ETW_OBSERVED_SIZE)) ||
	    !etw_log_session_event(request->session, PERFINFO_LOG_TYPE_NTKLOG_OBSERVED,
				   NTKLOG_OBSERVED_VERSION, &event, sizeof(event))) {
		request->is_lost = true;
		if (!is_observed)
			etw_group_mask_set(&run->groups_with_lost_end, group);
		return false;
	}
	if (is_observed) {
		etw_group_mask_set(&run->observed_groups, group);
	} else {
		etw_group_mask_clear(&run->observed_groups, group);
		etw_group_mask_clear(&run->groups_with_lost_end, group);
	}
	return true;
}

static void etw_log_observed_groups(void *data)
{
	struct etw_observed_request *request = data;
	struct etw_run *run = request->session->run;
	struct etw_provider *provider;

	list_for_each_entry(provider, &etw_providers, list) {
		const u32 group = provider->group;
		bool is_observed = etw_group_mask_test(request->mask, group) &&
				   !etw_get_provider_err(provider);

		if (!provider->set_mask)
			continue;
		/*
		 * Write an end that was lost before the next begin. Otherwise the file would not
		 * show that the observation was interrupted.
		 */
		if (etw_group_mask_test(&run->observed_groups, group) &&
		    (!is_observed || etw_group_mask_test(&run->groups_with_lost_end, group)) &&
		    !etw_try_to_log_observed_event(request, group, false))
			continue;
		if (is_observed && !etw_group_mask_test(&run->observed_groups, group))
			etw_try_to_log_observed_event(request, group, true);
	}
}

/**
 * etw_log_observed_event() - log where the observation of groups begins and ends
 * @session: a session that is started, or is being stopped
 * @mask: the groups whose observation goes on or begins, if they are attached
 *
 * If the buffers have no space for an event, a work item writes it later, with the time at which it
 * is written, unless the session has stopped by then.
 *
 * Context: task; etw_mutex held; after the providers attached, before they detach.
 */
void etw_log_observed_event(struct etw_session *session, const struct perfinfo_groupmask *mask)
{
	static const struct perfinfo_groupmask no_groups;
	struct etw_observed_request request = {
		.session = session,
		.mask = READ_ONCE(etw_machine_is_suspended) ? &no_groups : mask,
	};

	etw_call_on_last_cpu(session->run, etw_log_observed_groups, &request);
	session->run->has_lost_observed_event = request.is_lost;
	if (request.is_lost)
		queue_delayed_work(system_long_wq, &etw_observe_work, ETW_OBSERVE_RETRY);
}

static void etw_store_failures(struct etw_run *run, const struct perfinfo_groupmask *mask)
{
	struct etw_provider *provider;

	spin_lock(&etw_session_lock);
	run->failed_group_count = 0;
	list_for_each_entry(provider, &etw_providers, list) {
		int err = etw_get_provider_err(provider);

		if (!err || !etw_group_mask_test(mask, provider->group) ||
		    run->failed_group_count == ARRAY_SIZE(run->failures))
			continue;
		run->failures[run->failed_group_count++] = (struct ntklog_session_failure) {
			.group = provider->group,
			.error = -err,
		};
	}
	spin_unlock(&etw_session_lock);
}

/* Called with etw_mutex held. */
static void etw_log_observed_in_started_sessions(void)
{
	int i;

	for (i = 0; i < ETW_SESSIONS; i++) {
		struct etw_session *session = &etw_sessions[i];

		if (!session->is_logging)
			continue;
		etw_log_observed_event(session, &session->settings.group_mask);
		etw_store_failures(session->run, &session->settings.group_mask);
	}
}

/**
 * etw_update_providers_for_sessions() - tell the providers which groups started sessions have
 *
 * Context: task; may sleep for seconds; etw_mutex held.
 */
void etw_update_providers_for_sessions(void)
{
	const struct perfinfo_groupmask mask = etw_join_group_masks_except(NULL);

	etw_update_providers(&mask);
	etw_log_observed_in_started_sessions();
}

static void etw_run_observe_work(struct work_struct *work)
{
	mutex_lock(&etw_mutex);
	etw_log_observed_in_started_sessions();
	mutex_unlock(&etw_mutex);
}

/**
 * etw_schedule_observing() - let the started sessions log which groups are observed now
 *
 * Context: any.
 */
void etw_schedule_observing(void)
{
	mod_delayed_work(system_long_wq, &etw_observe_work, 0);
}

/**
 * etw_resume_observing() - let the observation begin again, after a resume or a suspend that failed
 *
 * Context: any. A work item writes the events, because a start may hold etw_mutex for long.
 */
void etw_resume_observing(void)
{
	WRITE_ONCE(etw_machine_is_suspended, false);
	etw_schedule_observing();
}

/**
 * etw_stop_observing_for_suspend() - end the observation of all groups before a suspend
 *
 * Context: task; may sleep for seconds.
 * Return: 0, or a negative errno, and then the observation goes on.
 */
int etw_stop_observing_for_suspend(void)
{
	unsigned int attempts_left = ETW_SUSPEND_ATTEMPTS;

	WRITE_ONCE(etw_machine_is_suspended, true);
	while (!mutex_trylock(&etw_mutex)) {
		if (fatal_signal_pending(current) || !attempts_left--) {
			/* The holder of the mutex may have ended the observation meanwhile. */
			etw_resume_observing();
			return fatal_signal_pending(current) ? -EINTR : -EBUSY;
		}
		msleep(50);
	}
	etw_log_observed_in_started_sessions();
	mutex_unlock(&etw_mutex);
	return 0;
}

/**
 * etw_exit_observing() - cancel the work item that logs the observation, and wait for its end
 *
 * Context: module unload, or a load that failed; no session is started and no provider attaches or
 * detaches.
 */
void etw_exit_observing(void)
{
	cancel_delayed_work_sync(&etw_observe_work);
}

/**
 * etw_get_failures() - get the event groups of a run that could not be attached
 * @run: the run
 * @failures: the result, NTKLOG_SESSION_FAILURES entries
 *
 * Context: task.
 * Return: the number of groups.
 */
u32 etw_get_failures(const struct etw_run *run, struct ntklog_session_failure *failures)
{
	u32 count;

	spin_lock(&etw_session_lock);
	count = run->failed_group_count;
	memcpy(failures, run->failures, count * sizeof(*failures));
	spin_unlock(&etw_session_lock);
	return count;
}
