// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <uapi/ntklog/event.h>

#include "../etw/group_mask.h"
#include "../etw/observe.h"
#include "../etw/provider.h"
#include "../ground/compat.h"
#include "../perf/sleeping_lock.h"
#include "contention.h"
#include "lock_kinds.h"
#include "releases.h"
#include "rundown.h"
#include "selftest.h"
#include "sleeping_lock.h"
#include "spinning_attach.h"
#include "waits.h"

/*
 * NTKLOG_LINUX_MODE_*. Written at load, and with etw_mutex and ntklog_linux_mutex held, while no
 * kind that spins is attached or has a subscriber. Rundown events read it without a lock.
 */
u32 ntklog_linux_mode;

const char *ntklog_linux_forbidden_reason = "the module is being loaded";

/*
 * Held while a kind is attached or detached, and during a self-test.
 *
 * These operations wait for grace periods of Tasks RCU. A kernel task that does not schedule
 * voluntarily delays such a grace period without limit. Therefore work items attach, detach and run
 * the self-test. A task that waits for a work item or for this mutex can be killed, unless it
 * unloads the module.
 */
DEFINE_MUTEX(ntklog_linux_mutex);

/* Woken when the work item of a kind, or ntklog_end_detaching_work, has finished. */
static DECLARE_WAIT_QUEUE_HEAD(ntklog_linux_waitqueue);

static void ntklog_update_lock_kind(struct ntklog_event_group *group,
				    const struct perfinfo_groupmask *wanted_groups);
static int ntklog_get_kind_err(const struct etw_provider *provider);
static void ntklog_run_kind_work(struct work_struct *work);

#ifdef NTKLOG_CAN_REDIRECT_SPINNING
#define LINUX_FUNCTIONS(_kind)	(&ntklog_linux_##_kind##_functions)
#else
#define LINUX_FUNCTIONS(_kind)	NULL
#endif

#ifdef NTKLOG_CAN_HOOK_SLEEPING
#define LINUX_SLEEPING_FUNCTIONS(_kind)	(&ntklog_linux_##_kind##_functions)
#else
#define LINUX_SLEEPING_FUNCTIONS(_kind)	NULL
#endif

#define LINUX_EVENT_GROUP(_index, _group, _rundown)				\
	.group = {								\
		.provider = {							\
			.group = _group,					\
			.rundown = _rundown,					\
			.get_err = ntklog_get_kind_err,				\
		},								\
		.update = ntklog_update_lock_kind,				\
		/* Registering hooks takes locks that must be taken before tracepoints_mutex. */ \
		.updates_by_work = true,					\
		NTKLOG_EVENT_GROUP_INITIALIZER(ntklog_lock_kinds[_index].group),	\
	},									\
	.work = __WORK_INITIALIZER(ntklog_lock_kinds[_index].work, ntklog_run_kind_work)

#define LINUX_KIND(_index, _name, _functions, _mode, _group)			\
{										\
	.name = _name,								\
	.functions = LINUX_FUNCTIONS(_functions),				\
	.spin_kind = PERF_SPIN_LOCK_KIND(_mode),				\
	LINUX_EVENT_GROUP(_index, _group, ntklog_fill_spin_lock_rundown),	\
}

/* ntklog_fill_sleeping_rundown() reports the rates once for all kinds that sleep. */
#define LINUX_SLEEPING_KIND(_index, _name, _CLASS)				\
{										\
	.name = #_name,								\
	.functions = LINUX_SLEEPING_FUNCTIONS(_name),				\
	.class = NTKLOG_SLEEPING_CLASS(_CLASS),					\
	LINUX_EVENT_GROUP(_index, PERF_LINUX_##_CLASS, NULL),			\
}

struct ntklog_lock_kind ntklog_lock_kinds[NTKLOG_LOCK_KIND_COUNT] = {
	LINUX_KIND(0, "spinlock", spin_lock, PERF_SPIN_LOCK_LINUX_SPIN, PERF_LINUX_SPINLOCK),
	LINUX_KIND(1, "rwlock", rw_lock, PERF_SPIN_LOCK_LINUX_RW, PERF_LINUX_RWLOCK),
	LINUX_SLEEPING_KIND(2, mutex, MUTEX),
	LINUX_SLEEPING_KIND(3, rwsem, RWSEM),
	LINUX_SLEEPING_KIND(4, semaphore, SEMAPHORE),
	LINUX_SLEEPING_KIND(5, rt_mutex, RT_MUTEX),
	LINUX_SLEEPING_KIND(6, percpu_rwsem, PERCPU_RWSEM),
	LINUX_SLEEPING_KIND(7, ww_mutex, WW_MUTEX),
};

/**
 * ntklog_kind_uses_tracepoints() - test whether a kind is observed without redirecting functions
 * @kind: the kind
 *
 * Context: any.
 * Return: true in the modes "waits" and "holders", which apply only to kinds that spin.
 */
bool ntklog_kind_uses_tracepoints(const struct ntklog_lock_kind *kind)
{
	return !ntklog_kind_sleeps(kind) && (ntklog_linux_mode == NTKLOG_LINUX_MODE_WAITS ||
					     ntklog_linux_mode == NTKLOG_LINUX_MODE_HOLDERS);
}

/**
 * ntklog_kind_uses_release_tracepoint() - test whether a kind is observed by contended_release
 * @kind: the kind
 *
 * Context: any.
 * Return: true for spin locks in the mode "holders". Rwlocks do not call contended_release.
 */
bool ntklog_kind_uses_release_tracepoint(const struct ntklog_lock_kind *kind)
{
	return ntklog_linux_mode == NTKLOG_LINUX_MODE_HOLDERS && !ntklog_kind_sleeps(kind) &&
	       kind->spin_kind == PERF_SPIN_LOCK_KIND(PERF_SPIN_LOCK_LINUX_SPIN);
}

/* Return the reason why tracepoints cannot report the waits of a kind, or NULL. */
static const char *ntklog_check_wait_tracepoints(const struct ntklog_lock_kind *kind)
{
	/* With PREEMPT_RT the tracepoints report rwlocks as sleeping locks. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) &&
	    kind->spin_kind != PERF_SPIN_LOCK_KIND(PERF_SPIN_LOCK_LINUX_SPIN))
		return "CONFIG_PREEMPT_RT has other locks";
	return ntklog_find_contention_tracepoints();
}

/**
 * ntklog_get_kind_unavailable_reason() - find out why a kind cannot be observed in the current mode
 * @kind: the kind
 *
 * Context: task.
 * Return: the reason, or NULL if the kind can be observed.
 */
const char *ntklog_get_kind_unavailable_reason(const struct ntklog_lock_kind *kind)
{
	const char *reason = NULL;

	if (ntklog_linux_forbidden_reason)
		return ntklog_linux_forbidden_reason;
	if (!ntklog_kind_uses_tracepoints(kind))
		return kind->unavailable_reason;
	if (ntklog_kind_uses_release_tracepoint(kind))
		reason = ntklog_check_release_tracepoint();
	return reason ?: ntklog_check_wait_tracepoints(kind);
}

/**
 * ntklog_get_kind_fallback_hint() - return a hint if mode "waits" can observe a kind
 * @kind: a kind that cannot be observed in the current mode
 *
 * Context: task.
 * Return: the hint, as the end of a message, or an empty string.
 */
const char *ntklog_get_kind_fallback_hint(const struct ntklog_lock_kind *kind)
{
	return !ntklog_linux_forbidden_reason && !ntklog_kind_sleeps(kind) &&
	       ntklog_linux_mode != NTKLOG_LINUX_MODE_WAITS &&
	       !ntklog_check_wait_tracepoints(kind) ? "; mode \"waits\" can be had" : "";
}

/**
 * ntklog_kind_is_stuck() - test whether ftrace has failed to restore a function of a kind
 * @kind: the kind
 *
 * Context: task. Callers are serialized with the work item of the kind.
 * Return: true if the kernel calls the module until reboot.
 */
bool ntklog_kind_is_stuck(const struct ntklog_lock_kind *kind)
{
	return kind->functions && ntklog_functions_are_stuck(kind->functions);
}

static int ntklog_attach_tracepoints(struct ntklog_lock_kind *kind)
{
	int err = ntklog_watch_waits(kind->spin_kind, &kind->failed_name);

	if (err || !ntklog_kind_uses_release_tracepoint(kind))
		return err;
	err = ntklog_watch_releases(&kind->failed_name);
	if (err)
		ntklog_stop_watching_waits(kind->spin_kind);
	return err;
}

/**
 * ntklog_attach_kind() - attach a kind in the current mode
 * @kind: a kind that is available and detached
 *
 * Context: task; may sleep without limit; ntklog_linux_mutex held.
 * Return: 0, or a negative errno; @kind->failed_name is then the name of the function, tracepoint
 * or sysctl that failed.
 */
int ntklog_attach_kind(struct ntklog_lock_kind *kind)
{
	if (ntklog_kind_sleeps(kind))
		return ntklog_attach_sleeping_kind(kind->functions, kind->class,
						   &kind->failed_name);
	if (ntklog_kind_uses_tracepoints(kind))
		return ntklog_attach_tracepoints(kind);
	return ntklog_attach_spinning_kind(kind->functions,
					   ntklog_linux_mode == NTKLOG_LINUX_MODE_SAMPLED ?
					   NTKLOG_VARIANT_SAMPLE : NTKLOG_VARIANT_TRACK,
					   &kind->failed_name);
}

static void ntklog_end_detaching(struct work_struct *work)
{
	mutex_lock(&ntklog_linux_mutex);
	ntklog_finish_sleeping_detach();
	mutex_unlock(&ntklog_linux_mutex);
	wake_up_all(&ntklog_linux_waitqueue);
}

static DECLARE_DELAYED_WORK(ntklog_end_detaching_work, ntklog_end_detaching);

/* Delay after a kind has been detached, so that one grace period may serve several kinds. */
#define NTKLOG_END_DETACHING_JIFFIES	HZ

/**
 * ntklog_detach_kind() - detach a kind in the mode in which it was attached
 * @kind: an attached kind
 *
 * The slots of a kind that sleeps are dropped later, by a work item.
 *
 * Context: task; may sleep without limit; ntklog_linux_mutex held.
 */
void ntklog_detach_kind(struct ntklog_lock_kind *kind)
{
	if (ntklog_kind_sleeps(kind)) {
		ntklog_detach_sleeping_kind(kind->functions, kind->class);
		schedule_delayed_work(&ntklog_end_detaching_work, NTKLOG_END_DETACHING_JIFFIES);
	} else if (ntklog_kind_uses_tracepoints(kind)) {
		if (ntklog_kind_uses_release_tracepoint(kind))
			ntklog_stop_watching_releases();
		ntklog_stop_watching_waits(kind->spin_kind);
	} else {
		ntklog_detach_spinning_kind(kind->functions);
	}
}

/**
 * ntklog_disable_broken_kind() - detach a kind whose replacements have failed the self-test
 * @kind: an attached kind
 * @failed_function: name of the function whose replacement failed
 *
 * Context: task; may sleep without limit; ntklog_linux_mutex held.
 */
void ntklog_disable_broken_kind(struct ntklog_lock_kind *kind, const char *failed_function)
{
	kind->failed_name = failed_function;
	WRITE_ONCE(kind->err, -EPROTO);
	/* Pairs with the smp_load_acquire() in ntklog_get_kind_err(). */
	smp_store_release(&kind->is_attached, false);
	/* Let the sessions log this now, because the self-test of other kinds may take long. */
	etw_schedule_observing();
	ntklog_detach_kind(kind);
}

static void ntklog_enable_kind(struct ntklog_lock_kind *kind)
{
	const char *failed_function = NULL;

	kind->err = 0;
	kind->failed_name = NULL;
	kind->err = ntklog_attach_kind(kind);
	if (kind->err)
		return;
	if (!ntklog_kind_sleeps(kind) && !ntklog_kind_uses_tracepoints(kind))
		failed_function = ntklog_test_replacements(kind->functions, NULL);
	if (failed_function)
		ntklog_disable_broken_kind(kind, failed_function);
	else
		WRITE_ONCE(kind->is_attached, true);
}

/**
 * ntklog_pin_module_if_stuck() - prevent the unload of the module if a kind is stuck
 * @kind: the kind, which becomes unavailable if it is stuck
 *
 * Context: task; ntklog_linux_mutex held.
 */
void ntklog_pin_module_if_stuck(struct ntklog_lock_kind *kind)
{
	if (kind->unavailable_reason || !ntklog_kind_is_stuck(kind))
		return;
	kind->unavailable_reason = "ftrace has failed: its functions cannot be restored";
	__module_get(THIS_MODULE);
}

/**
 * ntklog_warn_attach_failed() - print why the last attachment of a kind failed, if it did
 * @kind: the kind
 *
 * Context: task; ntklog_linux_mutex held.
 */
void ntklog_warn_attach_failed(const struct ntklog_lock_kind *kind)
{
	if (kind->err == -EHOSTDOWN)
		pr_warn("Linux' locks of kind %s are not watched: kernel.ftrace_enabled is 0\n",
			kind->name);
	else if (kind->err == -EPROTO)
		pr_warn("Linux' locks of kind %s are not watched: %s does not do what the kernel's own function does\n",
			kind->name, kind->failed_name);
	else if (kind->err)
		pr_warn("Linux' locks of kind %s are not watched: %s cannot be used (%d)%s\n",
			kind->name, kind->failed_name, kind->err,
			kind->err == -EBUSY ? ": somebody else has redirected it" : "");
}

static void ntklog_run_kind_work(struct work_struct *work)
{
	struct ntklog_lock_kind *kind = container_of(work, struct ntklog_lock_kind, work);
	u32 request_number;
	ktime_t start;
	bool should_attach;

	/* A self-test may hold the mutex for long, so read the latest request after taking it. */
	mutex_lock(&ntklog_linux_mutex);
	/* Pairs with the smp_store_release() in ntklog_update_lock_kind(). */
	request_number = smp_load_acquire(&kind->request_count);
	should_attach = READ_ONCE(kind->should_be_attached);
	start = ktime_get();
	if (should_attach && !kind->is_attached && !ntklog_get_kind_unavailable_reason(kind)) {
		ntklog_set_operation(kind, "attaching");
		ntklog_enable_kind(kind);
		kind->attach_us = ktime_us_delta(ktime_get(), start);
		ntklog_warn_attach_failed(kind);
	} else if (!should_attach && kind->is_attached &&
		   !ntklog_get_kind_unavailable_reason(kind)) {
		ntklog_set_operation(kind, "detaching");
		/* A session that starts meanwhile must not report the kind as observed. */
		WRITE_ONCE(kind->is_attached, false);
		ntklog_detach_kind(kind);
		kind->detach_us = ktime_us_delta(ktime_get(), start);
	}
	ntklog_pin_module_if_stuck(kind);
	ntklog_clear_operation(kind);
	mutex_unlock(&ntklog_linux_mutex);
	/* Publishes the state of the kind. Pairs with ntklog_request_is_completed(). */
	smp_store_release(&kind->completed_requests, request_number);
	wake_up_all(&ntklog_linux_waitqueue);
	/* Log the change here, because the task that has requested it may have been killed. */
	etw_schedule_observing();
}

static bool ntklog_request_is_completed(struct ntklog_lock_kind *kind, u32 request_number)
{
	/* Pairs with the smp_store_release() in ntklog_run_kind_work(). */
	return (s32)(smp_load_acquire(&kind->completed_requests) - request_number) >= 0;
}

#define NTKLOG_WARN_AFTER_S	10

static void ntklog_wait_for_kind(struct ntklog_lock_kind *kind, u32 request_number)
{
	long remaining_jiffies;

	remaining_jiffies =
		wait_event_killable_timeout(ntklog_linux_waitqueue,
					    ntklog_request_is_completed(kind, request_number),
					    NTKLOG_WARN_AFTER_S * HZ);
	if (remaining_jiffies)
		return;
	pr_warn("Linux' locks of kind %s: a task has waited for %u s until they are attached or detached: a kernel task that does not schedule delays a grace period of Tasks RCU\n",
		kind->name, NTKLOG_WARN_AFTER_S);
	wait_event_killable(ntklog_linux_waitqueue,
			    ntklog_request_is_completed(kind, request_number));
}

static void ntklog_update_lock_kind(struct ntklog_event_group *group,
				    const struct perfinfo_groupmask *wanted_groups)
{
	struct ntklog_lock_kind *kind = container_of(group, struct ntklog_lock_kind, group);
	u32 request_number = kind->request_count + 1;

	WRITE_ONCE(kind->should_be_attached,
		   etw_group_mask_test(wanted_groups, group->provider.group));
	/* Publishes should_be_attached. Pairs with smp_load_acquire() in ntklog_run_kind_work(). */
	smp_store_release(&kind->request_count, request_number);
	queue_work(system_long_wq, &kind->work);
	/*
	 * Do not wait in the work item of a tracepoint, which holds the mutex of @group that
	 * sessions wait for, and not in an exiting task, which nothing can kill.
	 */
	if (current->flags & (PF_WQ_WORKER | PF_EXITING))
		return;
	ntklog_wait_for_kind(kind, request_number);
}

static int ntklog_get_kind_err(const struct etw_provider *provider)
{
	struct ntklog_lock_kind *kind = container_of(provider, struct ntklog_lock_kind,
						     group.provider);

	/* Pairs with the smp_store_release() in ntklog_disable_broken_kind(). */
	if (!READ_ONCE(kind->should_be_attached) || smp_load_acquire(&kind->is_attached))
		return 0;
	if (!ntklog_request_is_completed(kind, READ_ONCE(kind->request_count)))
		return -EINTR;
	return READ_ONCE(kind->err) ?: -EOPNOTSUPP;
}

/**
 * ntklog_wait_for_detached_kinds() - wait until the slots of detached kinds have been dropped
 * @seconds: upper bound of the wait
 *
 * Context: task; may sleep. Returns early if the task is killed.
 */
void ntklog_wait_for_detached_kinds(unsigned int seconds)
{
	if (!ntklog_sleeping_detach_is_pending())
		return;
	mod_delayed_work(system_percpu_wq, &ntklog_end_detaching_work, 0);
	wait_event_killable_timeout(ntklog_linux_waitqueue, !ntklog_sleeping_detach_is_pending(),
				    seconds * HZ);
}

/**
 * ntklog_end_detaching_now() - drop the slots of detached kinds without delay
 *
 * Context: module unload, when no kind is attached; may sleep.
 */
void ntklog_end_detaching_now(void)
{
	/* No kind is attached, so no other task schedules the work item again. */
	cancel_delayed_work_sync(&ntklog_end_detaching_work);
	ntklog_end_detaching(NULL);
}
