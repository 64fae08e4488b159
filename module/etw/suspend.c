// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspend and hibernation of the machine, during which the clock of the events may stop or start
 * again from 0. Therefore no group is observed from before tasks are frozen until after they thaw.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/notifier.h>
#include <linux/printk.h>
#include <linux/suspend.h>

#include "../ground/clock.h"
#include "observe.h"
#include "suspend.h"

/* Clock of the events before the suspend. Written by the notifier; its calls are serialized. */
static u64 etw_suspend_time;

static void etw_warn_of_clock(void)
{
	u64 now = ntklog_time_to_cycles(ntklog_read_time());

	if (now < etw_suspend_time)
		pr_warn("the clock of the events went back from %llu to %llu during the suspend; a recording that goes on has times that are not in order\n",
			etw_suspend_time, now);
}

static int etw_notify_suspend(struct notifier_block *block, unsigned long action, void *unused)
{
	int err = 0;

	switch (action) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
		err = etw_stop_observing_for_suspend();
		etw_suspend_time = ntklog_time_to_cycles(ntklog_read_time());
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
		etw_warn_of_clock();
		etw_resume_observing();
		break;
	}
	return notifier_from_errno(err);
}

static struct notifier_block etw_suspend_notifier = {
	.notifier_call = etw_notify_suspend,
};

/**
 * etw_init_suspend() - begin to log the interruption of the observation by suspends
 *
 * Context: module load, when nothing can fail any more.
 */
void etw_init_suspend(void)
{
	register_pm_notifier(&etw_suspend_notifier);
}

/**
 * etw_exit_suspend() - undo etw_init_suspend()
 *
 * Context: module unload, before the sessions end.
 */
void etw_exit_suspend(void)
{
	unregister_pm_notifier(&etw_suspend_notifier);
}
