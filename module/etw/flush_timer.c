// SPDX-License-Identifier: GPL-2.0-only
#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "../ground/compat.h"
#include "flush.h"
#include "flush_timer.h"
#include "run.h"
#include "session.h"

/**
 * etw_schedule_flush() - arm or cancel the flush timer of a session
 * @session: a started session
 *
 * Context: task; etw_mutex held.
 */
void etw_schedule_flush(struct etw_session *session)
{
	if (session->settings.flush_timer && session->run->mode == ETW_MODE_SEQUENTIAL)
		mod_delayed_work(system_percpu_wq, &session->flush_work,
				 msecs_to_jiffies(session->settings.flush_timer));
	else
		cancel_delayed_work(&session->flush_work);
}

/* etw_mutex is not taken, because the start of another session may hold it for seconds. */
static void etw_run_flush_work(struct work_struct *work)
{
	struct etw_session *session = container_of(to_delayed_work(work),
						   struct etw_session, flush_work);
	struct etw_run *run = NULL;
	u32 milliseconds;

	spin_lock(&etw_session_lock);
	milliseconds = session->settings.flush_timer;
	if (session->is_logging && milliseconds && session->run->mode == ETW_MODE_SEQUENTIAL)
		run = etw_get_run(session->run);
	spin_unlock(&etw_session_lock);
	if (!run)
		return;
	etw_flush_buffers(run, ETW_FLUSH_TIMER);
	etw_put_run(run);
	/*
	 * A stop clears @is_logging with the lock held and then cancels the work. Test and queue
	 * with the lock held too, so that the stop cancels what is queued here.
	 */
	spin_lock(&etw_session_lock);
	if (session->is_logging)
		queue_delayed_work(system_percpu_wq, &session->flush_work,
				   msecs_to_jiffies(milliseconds));
	spin_unlock(&etw_session_lock);
}

/**
 * etw_init_flush_timer() - initialize the flush timer of a session
 * @session: the session
 *
 * Context: module load.
 */
void etw_init_flush_timer(struct etw_session *session)
{
	INIT_DELAYED_WORK(&session->flush_work, etw_run_flush_work);
}
