// SPDX-License-Identifier: GPL-2.0-only
/*
 * A claim belongs to one open file. Until it ends or is given up, changes of the session by hand
 * fail with EBUSY: see etw_lock_unclaimed_session().
 */

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/ntklog/event.h>

#include "claim.h"
#include "control.h"
#include "event.h"
#include "flush.h"
#include "group_mask.h"
#include "observe.h"
#include "run.h"
#include "session.h"
#include "settings.h"
#include "stacks.h"

/* The user of a stopped session may still need unread buffers. Called with etw_mutex held. */
static bool etw_session_is_free(const struct etw_session *session)
{
	return !session->claim && !session->is_logging &&
	       (!session->run || session->run->is_in_snapshot ||
		!etw_run_has_unread_buffers(session->run));
}

/* Called with etw_mutex held. Users choose session 0 first, so the search begins at the end. */
static struct etw_session *etw_find_free_session(void)
{
	int i;

	for (i = ETW_SESSIONS; i-- > 0;)
		if (etw_session_is_free(&etw_sessions[i]))
			return &etw_sessions[i];
	return NULL;
}

/* Called with etw_mutex held. */
static void etw_init_claim(struct etw_claim *claim, struct etw_session *session)
{
	claim->session = session;
	claim->pid = task_tgid_nr(current);
	get_task_comm(claim->comm, current);
	spin_lock(&etw_session_lock);
	session->saved_settings = session->settings;
	session->claim = claim;
	spin_unlock(&etw_session_lock);
}

/* Called with etw_mutex held. */
static void etw_detach_claim(struct etw_claim *claim)
{
	spin_lock(&etw_session_lock);
	claim->session->claim = NULL;
	claim->is_given_up = true;
	spin_unlock(&etw_session_lock);
}

/* Waiters for the end of closed claims. etw_end_closed_claims() wakes them. */
static DECLARE_WAIT_QUEUE_HEAD(etw_closed_claims_wait);

static bool etw_claim_is_ending(const struct etw_session *session)
{
	bool is_ending;

	spin_lock(&etw_session_lock);
	is_ending = session->claim && session->claim->is_closed;
	spin_unlock(&etw_session_lock);
	return is_ending;
}

static struct etw_claim *etw_claim_session(struct etw_session *session, bool adopts_run)
{
	struct etw_claim *claim = kzalloc(sizeof(*claim), GFP_KERNEL);
	int err = 0;

	if (!claim)
		return ERR_PTR(-ENOMEM);
	/* If the file of the session's claim has been closed, wait until the work item ends it. */
	if ((session && wait_event_killable(etw_closed_claims_wait,
					    !etw_claim_is_ending(session))) ||
	    mutex_lock_killable(&etw_mutex)) {
		kfree(claim);
		return ERR_PTR(-EINTR);
	}
	if (!session)
		session = etw_find_free_session();
	if (!session || session->claim || (session->is_logging && !adopts_run)) {
		err = -EBUSY;
	} else {
		etw_init_claim(claim, session);
		claim->has_run = adopts_run;
	}
	mutex_unlock(&etw_mutex);
	if (!err)
		return claim;
	kfree(claim);
	return ERR_PTR(err);
}

/**
 * etw_open_claim() - claim a stopped session
 * @session: the session; NULL: any free session
 *
 * Context: task; may sleep.
 * Return: the claim, for etw_close_claim(), or a negative errno.
 */
struct etw_claim *etw_open_claim(struct etw_session *session)
{
	return etw_claim_session(session, false);
}

/**
 * etw_adopt_session() - claim a session together with its present or last run
 * @session: the session, started or stopped
 *
 * Context: task; may sleep.
 * Return: the claim, for etw_close_claim(); -EBUSY if the session is claimed; -EINTR; -ENOMEM.
 */
struct etw_claim *etw_adopt_session(struct etw_session *session)
{
	return etw_claim_session(session, true);
}

/* Called with etw_mutex held. */
static void etw_end_claim(struct etw_claim *claim)
{
	struct etw_session *session = claim->session;

	if (session->is_logging)
		etw_stop_session_locked(session);
	if (claim->has_run)
		etw_drop_run(session);
	etw_apply_settings(session, &session->saved_settings);
	etw_detach_claim(claim);
}

static void etw_end_closed_claims(struct work_struct *work)
{
	struct etw_claim *claim;
	int i;

	mutex_lock(&etw_mutex);
	for (i = 0; i < ETW_SESSIONS; i++) {
		claim = etw_sessions[i].claim;
		if (!claim || !READ_ONCE(claim->is_closed))
			continue;
		etw_end_claim(claim);
		kfree(claim);
	}
	mutex_unlock(&etw_mutex);
	wake_up_all(&etw_closed_claims_wait);
}

static DECLARE_WORK(etw_closed_claims_work, etw_end_closed_claims);

/*
 * Returns true if the mutex is held. An exiting task does not wait, because no signal could end its
 * wait, which may be long.
 */
static bool etw_lock_mutex_unless_killed(void)
{
	if (current->flags & PF_EXITING)
		return mutex_trylock(&etw_mutex);
	return !mutex_lock_killable(&etw_mutex);
}

/**
 * etw_close_claim() - end a claim: stop the session, drop its run, restore its settings
 * @claim: the claim; it is freed. A claim that was given up is only freed
 *
 * If the current task is killed or exiting while another task holds etw_mutex, a work item ends the
 * claim later.
 *
 * Context: task; may sleep for seconds.
 */
void etw_close_claim(struct etw_claim *claim)
{
	/* The file is closed, so nothing else gives up the claim. */
	if (!claim->is_given_up) {
		if (!etw_lock_mutex_unless_killed()) {
			/* From here on the work item, which may be running, may free the claim. */
			spin_lock(&etw_session_lock);
			WRITE_ONCE(claim->is_closed, true);
			spin_unlock(&etw_session_lock);
			queue_work(system_long_wq, &etw_closed_claims_work);
			return;
		}
		etw_end_claim(claim);
		mutex_unlock(&etw_mutex);
	}
	kfree(claim);
}

/**
 * etw_wait_for_closed_claims() - wait until all closed claims have ended
 *
 * Context: module unload. No claim is open.
 */
void etw_wait_for_closed_claims(void)
{
	flush_work(&etw_closed_claims_work);
}

/* Called with etw_mutex held. */
static int etw_fill_start_settings(const struct etw_session *session,
				   const struct ntklog_session_start *start,
				   struct etw_settings *settings)
{
	struct etw_group_mask_change change;

	if (start->size != sizeof(*start) || start->flags ||
	    strnlen(start->name, sizeof(start->name)) == sizeof(start->name) ||
	    etw_group_change_from_mask(&start->group_mask, &change))
		return -EINVAL;
	*settings = session->settings;
	if (*start->name)
		strscpy(settings->name, start->name, sizeof(settings->name));
	etw_group_change_apply(&change, &settings->group_mask);
	settings->buffer_size = start->buffer_size ?: settings->buffer_size;
	settings->buffers = start->buffers ?: settings->buffers;
	settings->mode = start->mode;
	settings->flush_timer = start->flush_timer;
	settings->stacks = start->stacks;
	settings->contextswap_version = start->contextswap_version ?: ETW_EVENT_VERSIONS;
	return etw_check_settings(session, settings);
}

/**
 * etw_start_claimed_session() - start a claimed session, see NTKLOG_SESSION_START
 * @claim: the claim
 * @start: the settings
 *
 * Context: task; may sleep for seconds.
 * Return: 0 or a negative errno.
 */
int etw_start_claimed_session(struct etw_claim *claim, const struct ntklog_session_start *start)
{
	struct etw_session *session = claim->session;
	struct etw_settings settings;
	int err;

	if (mutex_lock_interruptible(&etw_mutex))
		return -EINTR;
	if (claim->is_given_up)
		err = -EBADFD;
	else if (session->is_logging)
		err = -EBUSY;
	else
		err = etw_fill_start_settings(session, start, &settings) ?:
		      etw_start_session_locked(session, &settings);
	if (!err) {
		spin_lock(&etw_session_lock);
		claim->has_run = true;
		spin_unlock(&etw_session_lock);
	}
	mutex_unlock(&etw_mutex);
	return err;
}

/**
 * etw_stop_claimed_session() - stop a claimed session, see NTKLOG_SESSION_STOP
 * @claim: the claim
 *
 * Context: task; may sleep for seconds.
 * Return: 0 or a negative errno.
 */
int etw_stop_claimed_session(struct etw_claim *claim)
{
	int err = 0;

	if (mutex_lock_killable(&etw_mutex))
		return -EINTR;
	if (claim->is_given_up)
		err = -EBADFD;
	else if (!claim->session->is_logging)
		err = -EINVAL;
	else
		etw_stop_session_locked(claim->session);
	mutex_unlock(&etw_mutex);
	return err;
}

/**
 * etw_keep_claimed_session() - give up a claim, see NTKLOG_SESSION_KEEP
 * @claim: the claim
 *
 * Context: task; may sleep.
 * Return: 0, -EBADFD if the claim has been given up before, or -EINTR after a fatal signal.
 */
int etw_keep_claimed_session(struct etw_claim *claim)
{
	int err = 0;

	if (mutex_lock_killable(&etw_mutex))
		return -EINTR;
	if (claim->is_given_up)
		err = -EBADFD;
	else
		etw_detach_claim(claim);
	mutex_unlock(&etw_mutex);
	return err;
}

/**
 * etw_get_claim_run() - get the run of a claim
 * @claim: the claim
 *
 * Context: task. Does not wait for a start or a stop of a session.
 * Return: the run, for etw_put_run(); -ENODATA if there is none; -EBADFD if the claim is given up.
 */
struct etw_run *etw_get_claim_run(struct etw_claim *claim)
{
	struct etw_run *run;

	spin_lock(&etw_session_lock);
	if (claim->is_given_up)
		run = ERR_PTR(-EBADFD);
	else if (!claim->has_run || !claim->session->run)
		run = ERR_PTR(-ENODATA);
	else
		run = etw_get_run(claim->session->run);
	spin_unlock(&etw_session_lock);
	return run;
}

/**
 * etw_flush_claimed_session() - make the events that a claimed session has written so far readable
 * @claim: the claim
 *
 * Context: task; may sleep.
 * Return: as etw_flush_run(); -EBADFD if the claim has been given up.
 */
int etw_flush_claimed_session(struct etw_claim *claim)
{
	struct etw_run *run = etw_get_claim_run(claim);
	int err;

	if (IS_ERR(run))
		return PTR_ERR(run) == -ENODATA ? -EINVAL : PTR_ERR(run);
	err = etw_flush_run(run);
	etw_put_run(run);
	return err;
}

static void etw_add_counts(struct ntklog_session_counts *sum, const struct etw_counts *counts)
{
	sum->generated += counts->generated;
	sum->written += counts->written;
	sum->lost += counts->lost;
	sum->finished += counts->finished;
	sum->unread += counts->unread;
	sum->overwritten += counts->overwritten;
}

/**
 * etw_get_claim_counts() - get the counts of a claim's run, see NTKLOG_SESSION_COUNTS
 * @claim: the claim
 * @counts: in: @size and @cpu; out: the counts
 *
 * Context: task; may sleep.
 * Return: 0 or a negative errno.
 */
int etw_get_claim_counts(struct etw_claim *claim, struct ntklog_session_counts *counts)
{
	struct ntklog_session_counts sum = { .size = sizeof(sum), .cpu = counts->cpu };
	struct etw_counts cpu_counts;
	struct etw_run *run;
	bool found = false;
	unsigned int cpu;

	if (counts->size != sizeof(*counts))
		return -EINVAL;
	run = etw_get_claim_run(claim);
	if (IS_ERR(run))
		return PTR_ERR(run);
	etw_lock_buffers(run);
	for_each_possible_cpu(cpu) {
		if (!etw_get_counts(run, cpu, &cpu_counts))
			continue;
		sum.processors = cpu + 1;
		if (sum.cpu != NTKLOG_SESSION_ALL_CPUS && sum.cpu != cpu)
			continue;
		etw_add_counts(&sum, &cpu_counts);
		found = true;
	}
	etw_unlock_buffers(run);
	etw_put_run(run);
	*counts = sum;
	return found ? 0 : -ENXIO;
}

/**
 * etw_get_claim_info() - describe a claimed session, see NTKLOG_SESSION_INFO
 * @claim: the claim
 * @info: in: @size; out: the description
 *
 * Context: task.
 * Return: 0, -EINVAL for another size, or -EBADFD if the claim has been given up.
 */
int etw_get_claim_info(struct etw_claim *claim, struct ntklog_session_info *info)
{
	struct etw_run *run;

	if (info->size != sizeof(*info))
		return -EINVAL;
	run = etw_get_claim_run(claim);
	if (PTR_ERR(run) == -EBADFD)
		return -EBADFD;
	*info = (struct ntklog_session_info) {
		.size = sizeof(*info),
		.session = claim->session->id,
		.state = NTKLOG_SESSION_IDLE,
	};
	if (IS_ERR(run))
		return 0;
	info->state = etw_run_is_finished(run) ? NTKLOG_SESSION_FINISHED : NTKLOG_SESSION_STARTED;
	info->failures = etw_get_failures(run, info->failure);
	etw_put_run(run);
	return 0;
}

/**
 * etw_show_claim_owner() - write which process has claimed a session
 * @seq: output file; gets a line "PID COMM" or "none"
 * @session: the session
 *
 * Context: task.
 */
void etw_show_claim_owner(struct seq_file *seq, struct etw_session *session)
{
	struct etw_claim owner = {};

	spin_lock(&etw_session_lock);
	if (session->claim)
		owner = *session->claim;
	spin_unlock(&etw_session_lock);
	if (owner.session)
		seq_printf(seq, "%d %s\n", owner.pid, owner.comm);
	else
		seq_puts(seq, "none\n");
}
