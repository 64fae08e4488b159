// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kinds of Linux' own locks: which of them this kernel supports, and when each is attached. A kind
 * is attached while its event group has a subscriber; otherwise the kernel is not changed.
 *
 * Spin locks and rwlocks are observed in one of three modes: "full" tracks each acquisition,
 * "sampled" tracks some acquisitions that are chosen when they are made, and "waits" uses only the
 * kernel's contention tracepoints. The order of hooking is described in attach.c,
 * sleeping_attach.c and waits.c.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <uapi/ntklog/event.h>

#include "../etw/group_mask.h"
#include "../etw/observe.h"
#include "../etw/provider.h"
#include "../etw/rundown.h"
#include "../etw/session.h"
#include "../ground/compat.h"
#include "../ground/task_table.h"
#include "../perf/sleeping_lock.h"
#include "../perf/event_group.h"
#include "../trace.h"
#include "attach.h"
#include "contention.h"
#include "interrupts.h"
#include "kind.h"
#include "locks.h"
#include "rundown.h"
#include "selftest.h"
#include "sleeping_lock.h"
#include "waits.h"

u32 ntklog_linux_test_cycles __read_mostly = 1;

static const char *const ntklog_linux_modes[] = {
	[NTKLOG_LINUX_MODE_FULL] = "full",
	[NTKLOG_LINUX_MODE_SAMPLED] = "sampled",
	[NTKLOG_LINUX_MODE_WAITS] = "waits",
};

/*
 * NTKLOG_LINUX_MODE_*. Written with etw_mutex and ntklog_linux_mutex held, while no kind that spins
 * is attached or has a subscriber. Rundown events read it without a lock.
 */
u32 ntklog_linux_mode;

/* Reason why no kind can be observed in any mode, or NULL. Written at module load. */
static const char *ntklog_linux_forbidden = "the module is being loaded";

/**
 * struct ntklog_linux_kind - a kind of lock
 * @name: name of the kind in messages and in the file "linux"
 * @functions: functions to redirect or hook; NULL if that is not possible with this configuration
 * @unavailable: reason why the functions cannot be redirected, or the name of a function that the
 *	kernel lacks; NULL if they can. Written at module load and after a failure of ftrace
 * @lacks_function: @unavailable is the name of a function
 * @is_on: the kind is attached, and is not being detached; other functions read it without the
 *	mutex
 * @failed: name of the function for which the last attachment failed, or NULL
 * @err: 0, or the negative errno of that failure
 * @attach_us: duration of the last attachment, in microseconds
 * @detach_us: duration of the last detachment, in microseconds
 * @whose: PERF_SPIN_LOCK_KIND() of a kind that spins
 * @class: NTKLOG_SLEEPING_CLASS() of a kind that sleeps; 0 for a kind that spins
 * @want: event group of the kind; its subscribers decide whether the kind is attached
 * @is_wanted: the state that @work is to bring about; written before @requests, with the mutex of
 *	@want held
 * @requests: number of requests to @work; written with the mutex of @want held
 * @completed: value of @requests when @work last took ntklog_linux_mutex, after it has finished;
 *	written by @work
 * @operation: "attaching" or "detaching" while @work does so, "testing" while a self-test does,
 *	otherwise NULL. Written with ntklog_linux_mutex held, read by the file "linux"
 * @since: jiffies at the start of @operation
 * @work: attaches or detaches the kind
 *
 * @unavailable, @lacks_function, @is_on, @failed, @err, @attach_us and @detach_us are written with
 * ntklog_linux_mutex held.
 */
struct ntklog_linux_kind {
	const char *name;
	struct ntklog_linux_functions *functions;
	const char *unavailable;
	bool lacks_function;
	bool is_on;
	const char *failed;
	int err;
	s64 attach_us;
	s64 detach_us;
	u8 whose;
	u32 class;
	struct ntklog_event_group want;
	bool is_wanted;
	u32 requests;
	u32 completed;
	const char *operation;
	unsigned long since;
	struct work_struct work;
};

/*
 * Held while a kind is attached or detached, and over a self-test.
 *
 * Both wait for grace periods of Tasks RCU. A kernel task that does not schedule voluntarily delays
 * such a grace period without limit. Therefore work items attach, detach and run the self-test, and
 * tasks of users wait for them, or for this mutex, only killably. The file "linux" is readable
 * meanwhile.
 */
static DEFINE_MUTEX(ntklog_linux_mutex);

/* Woken when the work item of a kind, or ntklog_end_detaching_work, has finished. */
static DECLARE_WAIT_QUEUE_HEAD(ntklog_linux_wait);

static void ntklog_update_linux_kind(struct ntklog_event_group *want,
				     const struct perfinfo_groupmask *wanted);
static int ntklog_get_kind_err(const struct etw_provider *provider);
static void ntklog_run_kind_work(struct work_struct *work);

#ifdef NTKLOG_LINUX_LOCKS
#define LINUX_FUNCTIONS(_kind)	(&ntklog_linux_##_kind##_functions)
#else
#define LINUX_FUNCTIONS(_kind)	NULL
#endif

#ifdef NTKLOG_LINUX_SLEEPING_LOCKS
#define LINUX_SLEEPING_FUNCTIONS(_kind)	(&ntklog_linux_##_kind##_functions)
#else
#define LINUX_SLEEPING_FUNCTIONS(_kind)	NULL
#endif

#define LINUX_WANT(_i, _group, _rundown)					\
	.want = {								\
		.provider = {							\
			.group = _group,					\
			.rundown = _rundown,					\
			.get_err = ntklog_get_kind_err,				\
		},								\
		.update = ntklog_update_linux_kind,				\
		/* Registering hooks takes locks that must be taken before tracepoints_mutex. */ \
		.updates_by_work = true,					\
		NTKLOG_EVENT_GROUP_INITIALIZER(ntklog_linux_kinds[_i].want),		\
	},									\
	.work = __WORK_INITIALIZER(ntklog_linux_kinds[_i].work, ntklog_run_kind_work)

#define LINUX_KIND(_i, _name, _functions, _mode, _group)			\
{										\
	.name = _name,								\
	.functions = LINUX_FUNCTIONS(_functions),				\
	.whose = PERF_SPIN_LOCK_KIND(_mode),					\
	LINUX_WANT(_i, _group, ntklog_spin_lock_rundown),			\
}

/* No rundown of its own: ntklog_sleeping_rundown() reports the rates once for all these kinds. */
#define LINUX_SLEEPING_KIND(_i, _name, _NAME)					\
{										\
	.name = #_name,								\
	.functions = LINUX_SLEEPING_FUNCTIONS(_name),				\
	.class = NTKLOG_SLEEPING_CLASS(_NAME),				\
	LINUX_WANT(_i, PERF_LINUX_##_NAME, NULL),				\
}

static struct ntklog_linux_kind ntklog_linux_kinds[] = {
	LINUX_KIND(0, "spinlock", spin_lock, PERF_SPIN_LOCK_LINUX_SPIN, PERF_LINUX_SPINLOCK),
	LINUX_KIND(1, "rwlock", rw_lock, PERF_SPIN_LOCK_LINUX_RW, PERF_LINUX_RWLOCK),
	LINUX_SLEEPING_KIND(2, mutex, MUTEX),
	LINUX_SLEEPING_KIND(3, rwsem, RWSEM),
	LINUX_SLEEPING_KIND(4, semaphore, SEMAPHORE),
	LINUX_SLEEPING_KIND(5, rt_mutex, RT_MUTEX),
	LINUX_SLEEPING_KIND(6, percpu_rwsem, PERCPU_RWSEM),
	LINUX_SLEEPING_KIND(7, ww_mutex, WW_MUTEX),
};

/* The mode applies only to kinds that spin. */
static bool ntklog_kind_records_waits_only(const struct ntklog_linux_kind *kind)
{
	return !kind->class && ntklog_linux_mode == NTKLOG_LINUX_MODE_WAITS;
}

/* Return the reason why mode "waits" is not available for a kind, or NULL if it is. */
static const char *ntklog_check_wait_tracepoints(const struct ntklog_linux_kind *kind)
{
	/* With PREEMPT_RT the tracepoints report rwlocks as sleeping locks. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) &&
	    kind->whose != PERF_SPIN_LOCK_KIND(PERF_SPIN_LOCK_LINUX_SPIN))
		return "CONFIG_PREEMPT_RT has other locks";
	return ntklog_check_contention_tracepoints();
}

/* Return the reason why a kind cannot be observed in the current mode, or NULL if it can. */
static const char *ntklog_kind_unavailable_reason(const struct ntklog_linux_kind *kind)
{
	if (ntklog_linux_forbidden)
		return ntklog_linux_forbidden;
	return ntklog_kind_records_waits_only(kind) ? ntklog_check_wait_tracepoints(kind) :
						      kind->unavailable;
}

/* Return the end of a message that proposes another mode, or an empty string. */
static const char *ntklog_kind_fallback_hint(const struct ntklog_linux_kind *kind)
{
	return !ntklog_linux_forbidden && !kind->class && !ntklog_kind_records_waits_only(kind) &&
	       !ntklog_check_wait_tracepoints(kind) ? "; mode \"waits\" can be had" : "";
}

static bool ntklog_kind_is_stuck(const struct ntklog_linux_kind *kind)
{
	return kind->functions && ntklog_is_stuck(kind->functions);
}

static int ntklog_attach_kind(struct ntklog_linux_kind *kind)
{
	if (kind->class)
		return ntklog_attach_sleeping(kind->functions, kind->class, &kind->failed);
	switch (ntklog_linux_mode) {
	case NTKLOG_LINUX_MODE_WAITS:
		return ntklog_watch_waits(kind->whose, &kind->failed);
	case NTKLOG_LINUX_MODE_SAMPLED:
		return ntklog_attach(kind->functions, NTKLOG_VARIANT_SAMPLE, &kind->failed);
	default:
		return ntklog_attach(kind->functions, NTKLOG_VARIANT_TRACK, &kind->failed);
	}
}

static void ntklog_end_detaching(struct work_struct *work)
{
	mutex_lock(&ntklog_linux_mutex);
	ntklog_end_detaching_sleeping();
	mutex_unlock(&ntklog_linux_mutex);
	wake_up_all(&ntklog_linux_wait);
}

static DECLARE_DELAYED_WORK(ntklog_end_detaching_work, ntklog_end_detaching);

/* Delay after which a stopped session has detached all kinds, so that one grace period suffices. */
#define NTKLOG_END_DETACHING_AFTER	HZ

static void ntklog_detach_kind(struct ntklog_linux_kind *kind)
{
	if (kind->class) {
		ntklog_detach_sleeping(kind->functions, kind->class);
		schedule_delayed_work(&ntklog_end_detaching_work, NTKLOG_END_DETACHING_AFTER);
	} else if (ntklog_kind_records_waits_only(kind)) {
		ntklog_stop_watching_waits(kind->whose);
	} else {
		ntklog_detach(kind->functions);
	}
}

/* Detach a kind with a replacement that has failed the self-test. */
static void ntklog_disable_broken_kind(struct ntklog_linux_kind *kind, const char *wrong)
{
	kind->failed = wrong;
	WRITE_ONCE(kind->err, -EPROTO);
	/* Pairs with the smp_load_acquire() in ntklog_get_kind_err(). */
	smp_store_release(&kind->is_on, false);
	/* Sessions that observe the kind do so up to here, not up to the end of a self-test. */
	etw_schedule_observing();
	ntklog_detach_kind(kind);
}

static void ntklog_enable_kind(struct ntklog_linux_kind *kind)
{
	const char *wrong = NULL;

	kind->err = 0;
	kind->failed = NULL;
	kind->err = ntklog_attach_kind(kind);
	if (kind->err)
		return;
	if (!kind->class && !ntklog_kind_records_waits_only(kind))
		wrong = ntklog_selftest(kind->functions, NULL);
	if (wrong)
		ntklog_disable_broken_kind(kind, wrong);
	else
		WRITE_ONCE(kind->is_on, true);
}

/* If ftrace could not restore a function, the kernel still calls into the module. Never unload. */
static void ntklog_pin_module_if_stuck(struct ntklog_linux_kind *kind)
{
	if (kind->unavailable || !ntklog_kind_is_stuck(kind))
		return;
	kind->unavailable = "ftrace has failed: its functions cannot be restored";
	__module_get(THIS_MODULE);
}

static void ntklog_warn_attach_failed(const struct ntklog_linux_kind *kind)
{
	if (kind->err == -EHOSTDOWN)
		pr_warn("Linux' %ss are not watched: kernel.ftrace_enabled is 0\n", kind->name);
	else if (kind->err == -EPROTO)
		pr_warn("Linux' %ss are not watched: %s does not do what the kernel's own function does\n",
			kind->name, kind->failed);
	else if (kind->err)
		pr_warn("Linux' %ss are not watched: %s cannot be redirected (%d)%s\n",
			kind->name, kind->failed, kind->err,
			kind->err == -EBUSY ? ": somebody else has redirected it" : "");
}

static void ntklog_begin_operation(struct ntklog_linux_kind *kind, const char *operation)
{
	WRITE_ONCE(kind->since, jiffies);
	WRITE_ONCE(kind->operation, operation);
}

/* Attach or detach the kind, as @is_wanted says. */
static void ntklog_run_kind_work(struct work_struct *work)
{
	struct ntklog_linux_kind *kind = container_of(work, struct ntklog_linux_kind, work);
	u32 request;
	ktime_t start;
	bool on;

	/* A self-test may hold the mutex for long, and another request may come meanwhile. */
	mutex_lock(&ntklog_linux_mutex);
	/* Pairs with the smp_store_release() in ntklog_update_linux_kind(). */
	request = smp_load_acquire(&kind->requests);
	on = READ_ONCE(kind->is_wanted);
	start = ktime_get();
	if (on && !kind->is_on && !ntklog_kind_unavailable_reason(kind)) {
		ntklog_begin_operation(kind, "attaching");
		ntklog_enable_kind(kind);
		kind->attach_us = ktime_us_delta(ktime_get(), start);
		ntklog_warn_attach_failed(kind);
	} else if (!on && kind->is_on && !ntklog_kind_unavailable_reason(kind)) {
		ntklog_begin_operation(kind, "detaching");
		/* First: a session that starts meanwhile must not call the kind observed. */
		WRITE_ONCE(kind->is_on, false);
		ntklog_detach_kind(kind);
		kind->detach_us = ktime_us_delta(ktime_get(), start);
	}
	ntklog_pin_module_if_stuck(kind);
	WRITE_ONCE(kind->operation, NULL);
	mutex_unlock(&ntklog_linux_mutex);
	/* Publishes the state of the kind. Pairs with ntklog_request_is_completed(). */
	smp_store_release(&kind->completed, request);
	wake_up_all(&ntklog_linux_wait);
	/* The task that waited may have been killed. */
	etw_schedule_observing();
}

static bool ntklog_request_is_completed(struct ntklog_linux_kind *kind, u32 request)
{
	/* Pairs with the smp_store_release() in ntklog_run_kind_work(). */
	return (s32)(smp_load_acquire(&kind->completed) - request) >= 0;
}

/* Seconds after which the kernel log says what a task waits for. */
#define NTKLOG_WARN_AFTER_S	10

/* Wait until a request is completed, or the current task is killed. */
static void ntklog_wait_for_kind(struct ntklog_linux_kind *kind, u32 request)
{
	long left;

	left = wait_event_killable_timeout(ntklog_linux_wait,
					   ntklog_request_is_completed(kind, request),
					   NTKLOG_WARN_AFTER_S * HZ);
	if (left)
		return;
	pr_warn("Linux' %ss: a task has waited for %u s until they are attached or detached: a kernel task that does not schedule delays a grace period of Tasks RCU\n",
		kind->name, NTKLOG_WARN_AFTER_S);
	wait_event_killable(ntklog_linux_wait, ntklog_request_is_completed(kind, request));
}

static void ntklog_update_linux_kind(struct ntklog_event_group *want,
				     const struct perfinfo_groupmask *wanted)
{
	struct ntklog_linux_kind *kind = container_of(want, struct ntklog_linux_kind, want);
	u32 request = kind->requests + 1;

	WRITE_ONCE(kind->is_wanted, etw_group_mask_test(wanted, want->provider.group));
	/* Publishes is_wanted. Pairs with the smp_load_acquire() in ntklog_run_kind_work(). */
	smp_store_release(&kind->requests, request);
	queue_work(system_long_wq, &kind->work);
	/*
	 * Do not wait in the work item of a tracepoint, which holds the mutex of @want that
	 * sessions wait for; nor in an exiting task that closes its claim, because nothing can kill
	 * it.
	 */
	if (current->flags & (PF_WQ_WORKER | PF_EXITING))
		return;
	ntklog_wait_for_kind(kind, request);
}

static int ntklog_get_kind_err(const struct etw_provider *provider)
{
	struct ntklog_linux_kind *kind = container_of(provider, struct ntklog_linux_kind,
						      want.provider);

	/* Pairs with the smp_store_release() in ntklog_disable_broken_kind(). */
	if (!READ_ONCE(kind->is_wanted) || smp_load_acquire(&kind->is_on))
		return 0;
	if (!ntklog_request_is_completed(kind, READ_ONCE(kind->requests)))
		return -EINTR;
	return READ_ONCE(kind->err) ?: -EOPNOTSUPP;
}

/* Measure how long a waiter takes to test a lock once. Use the minimum: interrupts may disturb. */
static void __init ntklog_measure_test(void)
{
	enum { TESTS = 256, TRIES = 8 };
	static u32 word __initdata = 1;
	u32 best = U32_MAX;
	int i, j;

	for (i = 0; i < TRIES; i++) {
		u32 start = ntklog_read_time().low;

		for (j = 0; j < TESTS && READ_ONCE(word); j++)
			cpu_relax();
		best = min(best, ntklog_read_time().low - start);
	}
	ntklog_linux_test_cycles = max(best / TESTS, 1U);
}

/* Print why a kind cannot be observed in the initial mode. */
static void __init ntklog_report_unavailable_kind(const struct ntklog_linux_kind *kind)
{
	const char *why = ntklog_kind_unavailable_reason(kind);

	if (why)
		pr_info("Linux' %ss cannot be watched here: %s%s%s\n", kind->name,
			why == kind->unavailable && kind->lacks_function ? "no function " : "", why,
			ntklog_kind_fallback_hint(kind));
}

static int ntklog_find_mode(const char *name)
{
	return match_string(ntklog_linux_modes, ARRAY_SIZE(ntklog_linux_modes), name);
}

/**
 * ntklog_linux_init() - resolve the kernel's lock functions, and register the event groups
 * @allowed: false if the module parameter linux_locks forbids to observe Linux' locks
 * @mode: name of the initial mode
 *
 * A kind that this kernel does not support is reported in a message and is not an error.
 *
 * Context: module load, before a session exists.
 * Return: 0, or -EINVAL if there is no such mode.
 */
int __init ntklog_linux_init(bool allowed, const char *mode)
{
	size_t i;

	if (ntklog_find_mode(mode) < 0)
		return -EINVAL;
	ntklog_measure_test();
	/* No file exists yet, and no work item runs. The mutex protects the test's state. */
	mutex_lock(&ntklog_linux_mutex);
	ntklog_linux_mode = ntklog_find_mode(mode);
	ntklog_selftest_init();
	ntklog_linux_forbidden = allowed ? NULL : "linux_locks=0";
	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++) {
		struct ntklog_linux_kind *kind = &ntklog_linux_kinds[i];

		kind->unavailable = kind->class ?
			ntklog_check_attach_sleeping(kind->functions, &kind->lacks_function) :
			ntklog_check_attach(kind->functions, &kind->lacks_function);
		ntklog_report_unavailable_kind(kind);
	}
	mutex_unlock(&ntklog_linux_mutex);
	/* Without the mutex: an update waits for the kind's work item, which takes the mutex. */
	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++)
		ntklog_event_group_init(&ntklog_linux_kinds[i].want);
	ntklog_linux_rundown_init();
	return 0;
}

/**
 * ntklog_linux_exit() - detach all kinds for good
 *
 * On return no task and no CPU executes code of the module through a trampoline.
 *
 * Context: module unload, when no session is left; may sleep.
 */
void ntklog_linux_exit(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++) {
		ntklog_event_group_exit(&ntklog_linux_kinds[i].want);
		flush_work(&ntklog_linux_kinds[i].work);
	}
	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++) {
		/* The kernel still calls the module. Never return, so that it is not freed. */
		while (ntklog_kind_is_stuck(&ntklog_linux_kinds[i]))
			schedule_timeout_uninterruptible(HZ);
	}
	while (ntklog_interrupt_hooks_are_stuck())
		schedule_timeout_uninterruptible(HZ);
	/* No kind is attached, so the work item is not scheduled again. */
	cancel_delayed_work_sync(&ntklog_end_detaching_work);
	ntklog_end_detaching(NULL);
}

/* Seconds for which reading "linux" waits for detached kinds. */
#define NTKLOG_DESCRIBE_TIMEOUT_S	10

static void ntklog_describe_kind(struct seq_file *seq, const struct ntklog_linux_kind *kind)
{
	const char *why = ntklog_kind_unavailable_reason(kind);
	const char *operation = READ_ONCE(kind->operation);

	seq_printf(seq, "%s: ", kind->name);
	if (operation)
		seq_printf(seq, "%s for %lu s, waiting for a grace period of Tasks RCU\n",
			   operation, (jiffies - READ_ONCE(kind->since)) / HZ);
	else if (why)
		seq_printf(seq, "unavailable: %s%s%s\n",
			   why == kind->unavailable && kind->lacks_function ? "no function " : "",
			   why,
			   ntklog_kind_fallback_hint(kind));
	else if (kind->err)
		seq_printf(seq, "failed: %s (%d)\n", kind->failed, kind->err);
	else if (ntklog_kind_records_waits_only(kind))
		seq_printf(seq, "%s, waits only, attached in %lld us, detached in %lld us\n",
			   kind->is_on ? "on" : "off", kind->attach_us, kind->detach_us);
	else
		seq_printf(seq, "%s, %zu functions, attached in %lld us, detached in %lld us\n",
			   kind->is_on ? "on" : "off", ntklog_function_count(kind->functions),
			   kind->attach_us, kind->detach_us);
}

static void ntklog_test_kind(struct seq_file *seq, struct ntklog_linux_kind *kind)
{
	const char *wrong, *failed = kind->failed;
	bool was_on = kind->is_on;
	int err = kind->err;

	if (kind->class)
		return;
	if (ntklog_kind_records_waits_only(kind) && !ntklog_kind_unavailable_reason(kind)) {
		seq_printf(seq, "%s: no functions, in mode \"waits\"\n", kind->name);
		return;
	}
	if (!was_on && !ntklog_kind_unavailable_reason(kind)) {
		kind->failed = NULL;
		ntklog_begin_operation(kind, "testing");
		kind->err = ntklog_attach_kind(kind);
		WRITE_ONCE(kind->operation, NULL);
		ntklog_warn_attach_failed(kind);
	}
	if (ntklog_kind_unavailable_reason(kind) || kind->err) {
		ntklog_describe_kind(seq, kind);
		return;
	}
	wrong = ntklog_selftest(kind->functions, seq);
	if (wrong) {
		ntklog_begin_operation(kind, "testing");
		ntklog_disable_broken_kind(kind, wrong);
		WRITE_ONCE(kind->operation, NULL);
		ntklog_warn_attach_failed(kind);
		seq_printf(seq, "%s: %s differs\n", kind->name, wrong);
		return;
	}
	if (!was_on) {
		ntklog_begin_operation(kind, "testing");
		ntklog_detach_kind(kind);
		WRITE_ONCE(kind->operation, NULL);
		/* A kind with a subscriber was off because of an error: report that error again. */
		if (ntklog_event_group_has_subscribers(&kind->want)) {
			kind->failed = failed;
			kind->err = err;
		}
	}
	seq_printf(seq, "%s: %zu functions do what the kernel's own do\n", kind->name,
		   ntklog_function_count(kind->functions));
}

/**
 * ntklog_test_kinds() - compare the replacements of all kinds with the kernel's functions
 * @seq: output; see ntklog_selftest()
 *
 * Only kinds that spin have replacements, and not in mode "waits". A detached kind is attached
 * during its test. A kind whose test fails is detached, and attached again by the next request of a
 * subscriber.
 *
 * Context: work item; may sleep, without limit while a kernel task does not schedule.
 */
void ntklog_test_kinds(struct seq_file *seq)
{
	size_t i;

	seq_puts(seq, "Function Context Word Preempt Softirqs Interrupts Slots Result\n");
	mutex_lock(&ntklog_linux_mutex);
	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++) {
		ntklog_test_kind(seq, &ntklog_linux_kinds[i]);
		ntklog_pin_module_if_stuck(&ntklog_linux_kinds[i]);
	}
	mutex_unlock(&ntklog_linux_mutex);
}

/**
 * ntklog_linux_describe() - print the state of each kind of lock
 * @seq: the file
 *
 * Takes no lock that is held while a kind is attached or detached.
 *
 * Context: task; may sleep, for NTKLOG_DESCRIBE_TIMEOUT_S at most.
 */
void ntklog_linux_describe(struct seq_file *seq)
{
	struct ntklog_sleeping_totals sum;
	size_t i;

	if (ntklog_sleeping_detach_is_pending())
		mod_delayed_work(system_percpu_wq, &ntklog_end_detaching_work, 0);
	/* The slots of detached kinds are dropped at the end of a grace period of Tasks RCU. */
	wait_event_killable_timeout(ntklog_linux_wait, !ntklog_sleeping_detach_is_pending(),
				    NTKLOG_DESCRIBE_TIMEOUT_S * HZ);
	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++)
		ntklog_describe_kind(seq, &ntklog_linux_kinds[i]);
	seq_printf(seq, "mode: %s\ncycles of a test: %u\n",
		   ntklog_linux_modes[ntklog_linux_mode], ntklog_linux_test_cycles);
	sum = ntklog_sum_sleeping_slots();
	seq_printf(seq,
		   "sleeping locks owned: %llu, waited for: %llu, forgotten: %llu, while waited for: %llu\n",
		   sum.held, sum.waiting, sum.dropped, sum.dropped_waits);
	seq_printf(seq, "task records: %u, spare: %u\n", ntklog_task_record_count(),
		   ntklog_spare_task_record_count());
	if (ntklog_sleeping_detach_is_pending())
		seq_puts(seq, "detaching: waiting for a grace period of Tasks RCU\n");
}

/**
 * ntklog_linux_add_groups() - add the event groups of the attached kinds to a mask
 * @mask: the mask
 *
 * Context: any.
 */
void ntklog_linux_add_groups(struct perfinfo_groupmask *mask)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++)
		if (READ_ONCE(ntklog_linux_kinds[i].is_on))
			etw_group_mask_set(mask, ntklog_linux_kinds[i].want.provider.group);
}

/* Test whether a kind that spins is attached or has a subscriber, which knows mode and rate. */
static bool ntklog_spinning_kind_is_in_use(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++)
		if (!ntklog_linux_kinds[i].class &&
		    (ntklog_linux_kinds[i].is_on ||
		     ntklog_event_group_has_subscribers(&ntklog_linux_kinds[i].want)))
			return true;
	return false;
}

/**
 * ntklog_linux_show_mode() - print the name of the current mode
 * @seq: output file
 *
 * Context: task.
 */
void ntklog_linux_show_mode(struct seq_file *seq)
{
	seq_printf(seq, "%s\n", ntklog_linux_modes[READ_ONCE(ntklog_linux_mode)]);
}

/**
 * ntklog_linux_set_mode() - set the mode in which spin locks and rwlocks are observed
 * @name: name of the mode
 *
 * The mode does not change while spin locks or rwlocks have a subscriber, because the rundown event
 * of a session reports the mode once. Sessions start and stop with etw_mutex held.
 *
 * Context: task; may sleep.
 * Return: 0; -EINVAL if there is no such mode; -EBUSY if spin locks or rwlocks are attached or have
 * a subscriber; -EINTR if the task is killed.
 */
int ntklog_linux_set_mode(const char *name)
{
	int mode = ntklog_find_mode(name), err = 0;
	size_t i;

	if (mode < 0)
		return -EINVAL;
	if (mutex_lock_killable(&etw_mutex))
		return -EINTR;
	if (mutex_lock_killable(&ntklog_linux_mutex)) {
		mutex_unlock(&etw_mutex);
		return -EINTR;
	}
	if (mode != ntklog_linux_mode && ntklog_spinning_kind_is_in_use())
		err = -EBUSY;
	if (!err && mode != ntklog_linux_mode) {
		WRITE_ONCE(ntklog_linux_mode, mode);
		/* The errors of kinds that spin belong to the old mode. */
		for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++)
			if (!ntklog_linux_kinds[i].class)
				WRITE_ONCE(ntklog_linux_kinds[i].err, 0);
	}
	mutex_unlock(&ntklog_linux_mutex);
	mutex_unlock(&etw_mutex);
	return err;
}

/**
 * ntklog_linux_set_blockers() - set the sample rate of releases that leave a waiter behind
 * @rate: one of @rate such releases is written; 0 for none
 *
 * Sessions get the old and the new rate in rundown events. A session of NT's spin locks without
 * Linux' has no such event while the rate is 0.
 *
 * Context: task; may sleep.
 * Return: 0; -EINTR if the task is killed; -ENOMEM; -EBUSY if the rate would change from or to 0
 * while a session logs NT's spin locks.
 */
int ntklog_linux_set_blockers(u32 rate)
{
	struct etw_parameter_change *change = etw_begin_parameter_change();
	int err = 0;

	if (IS_ERR(change))
		return PTR_ERR(change);
	if (!rate != !ntklog_spin_lock_blocker_rate && etw_session_has_group(PERF_SPINLOCK))
		err = -EBUSY;
	else
		WRITE_ONCE(ntklog_spin_lock_blocker_rate, rate);
	etw_end_parameter_change(change);
	return err;
}

/* All kinds that spin share one tracepoint, and all that sleep another. Filters select a kind. */
static int ntklog_register_tracepoint(bool sleeping)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++) {
		if (!ntklog_linux_kinds[i].class == sleeping)
			continue;
		err = ntklog_event_group_add_probe(&ntklog_linux_kinds[i].want);
		/*
		 * With an error the module is being unloaded, and removes the probes of all kinds.
		 */
		if (err)
			return err;
	}
	return 0;
}

static void ntklog_unregister_tracepoint(bool sleeping)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++)
		if (!ntklog_linux_kinds[i].class != sleeping)
			ntklog_event_group_remove_probe(&ntklog_linux_kinds[i].want);
}

int ntklog_linux_tracepoint_reg(void)
{
	return ntklog_register_tracepoint(false);
}

void ntklog_linux_tracepoint_unreg(void)
{
	ntklog_unregister_tracepoint(false);
}

int ntklog_sleeping_tracepoint_reg(void)
{
	return ntklog_register_tracepoint(true);
}

void ntklog_sleeping_tracepoint_unreg(void)
{
	ntklog_unregister_tracepoint(true);
}
