// SPDX-License-Identifier: GPL-2.0-only
/*
 * When Linux' own locks are observed: who wants them, what this kernel allows, and the order in
 * which its functions are redirected and restored. Nothing of the kernel is touched while nobody
 * wants it.
 *
 * They are watched in one of three modes: "full", each acquisition tracked; "sampled", some chosen
 * when they are made; "waits", the kernel's tracepoints of contention alone. See attach.c and
 * waits.c for what is switched on and off in which order.
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
#include "../etw/provider.h"
#include "../etw/rundown.h"
#include "../etw/session.h"
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

/* In the order of their numbers, NTKLOG_LINUX_MODE_*. */
static const char *const ntklog_linux_modes[] = {
	[NTKLOG_LINUX_MODE_FULL] = "full",
	[NTKLOG_LINUX_MODE_SAMPLED] = "sampled",
	[NTKLOG_LINUX_MODE_WAITS] = "waits",
};

/* Written with ntklog_linux_mutex held, while nobody wants a kind; read without by a rundown. */
u32 ntklog_linux_mode;

/* Why none of them is watched, in whatever mode; or NULL. Written at load. */
static const char *ntklog_linux_forbidden = "the module is being loaded";

/**
 * struct ntklog_linux_kind - a kind of lock
 * @name: for people
 * @functions: what is redirected; NULL: this kernel's cannot be
 * @unavailable: why they cannot be, or if it @lacks one the function; NULL: they can be. Written as
 *	@is_on, at load, when the files are there already, and when ftrace is out of order
 * @lacks: this kernel does not have the function
 * @is_on: it is watched; written with ntklog_linux_mutex held, and read without by who asks for
 *	groups
 * @failed: the function of the last attempt that failed, or NULL; written as @is_on
 * @err: why
 * @attach_us: microseconds that the last attempt took
 * @detach_us: that the last restoring took
 * @whose: PERF_SPIN_LOCK_KIND() of it; of one that sleeps nothing
 * @class: NTKLOG_SLEEPING_CLASS() of one that sleeps; 0: it spins
 * @want: who wants it
 * @is_wanted: the state that @work is to bring about; written before @requests, with the mutex of
 *	@want held
 * @requests: number of requests to @work; written with the mutex of @want held
 * @completed: value of @requests when @work last began to run, after it has finished; written by
 *	@work
 * @operation: what @work is doing now, for the file "linux"; NULL if nothing. Written by @work
 * @since: jiffies at the start of @operation
 * @work: attaches or detaches the kind
 */
struct ntklog_linux_kind {
	const char *name;
	struct ntklog_linux_functions *functions;
	const char *unavailable;
	bool lacks;
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
 * such a grace period without limit. Therefore a work item of the kind attaches and detaches, and
 * tasks of users wait for it, or for this mutex, only killably. The file "linux" is readable
 * meanwhile.
 */
static DEFINE_MUTEX(ntklog_linux_mutex);

/* Woken when the work item of a kind, or ntklog_end_detaching_work, has finished. */
static DECLARE_WAIT_QUEUE_HEAD(ntklog_linux_wait);

static void ntklog_update_linux_kind(struct ntklog_event_group *want,
				     const struct perfinfo_groupmask *wanted);
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
		},								\
		.update = ntklog_update_linux_kind,				\
		/* Registering functions takes locks that are outside of tracepoints_mutex. */ \
		.by_work = true,						\
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

/* What they are told of the rates all of these have together: see rundown.c. */
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

/* Modes are of locks that spin. */
static bool ntklog_kind_records_waits_only(const struct ntklog_linux_kind *kind)
{
	return !kind->class && ntklog_linux_mode == NTKLOG_LINUX_MODE_WAITS;
}

/* Why not even its waits can be watched; NULL: they can be. */
static const char *ntklog_check_wait_tracepoints(const struct ntklog_linux_kind *kind)
{
	/* There the tracepoints tell of raw spin locks, and of all others as sleeping. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) &&
	    kind->whose != PERF_SPIN_LOCK_KIND(PERF_SPIN_LOCK_LINUX_SPIN))
		return "CONFIG_PREEMPT_RT has other locks";
	return ntklog_check_contention_tracepoints();
}

/* Why the kind cannot be watched in the present mode; NULL: it can be. */
static const char *ntklog_kind_unavailable_reason(const struct ntklog_linux_kind *kind)
{
	if (ntklog_linux_forbidden)
		return ntklog_linux_forbidden;
	return ntklog_kind_records_waits_only(kind) ? ntklog_check_wait_tracepoints(kind) :
						      kind->unavailable;
}

/* What one does instead, or nothing. */
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
		return ntklog_attach(kind->functions, ntklog_spin_lock_blocker_rate ?
				     NTKLOG_VARIANT_BLOCKERS : NTKLOG_VARIANT_TRACK, &kind->failed);
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

/* By then a session that stops has let go of all kinds. */
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

/* Not to go on with what is not the same. */
static void ntklog_disable_broken_kind(struct ntklog_linux_kind *kind, const char *wrong)
{
	ntklog_detach_kind(kind);
	WRITE_ONCE(kind->is_on, false);
	kind->failed = wrong;
	kind->err = -EPROTO;
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

/* The kernel goes on calling our functions: they stay, and so does the module. */
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

/* Bring the kind into the state that is wanted. */
static void ntklog_run_kind_work(struct work_struct *work)
{
	struct ntklog_linux_kind *kind = container_of(work, struct ntklog_linux_kind, work);
	/* Pairs with the smp_store_release() in ntklog_update_linux_kind(). */
	u32 request = smp_load_acquire(&kind->requests);
	bool on = READ_ONCE(kind->is_wanted);
	ktime_t start;

	mutex_lock(&ntklog_linux_mutex);
	start = ktime_get();
	if (on && !kind->is_on && !ntklog_kind_unavailable_reason(kind)) {
		ntklog_begin_operation(kind, "attaching");
		ntklog_enable_kind(kind);
		kind->attach_us = ktime_us_delta(ktime_get(), start);
		ntklog_warn_attach_failed(kind);
	} else if (!on && kind->is_on && !ntklog_kind_unavailable_reason(kind)) {
		ntklog_begin_operation(kind, "detaching");
		ntklog_detach_kind(kind);
		WRITE_ONCE(kind->is_on, false);
		kind->detach_us = ktime_us_delta(ktime_get(), start);
	}
	ntklog_pin_module_if_stuck(kind);
	WRITE_ONCE(kind->operation, NULL);
	mutex_unlock(&ntklog_linux_mutex);
	/* Publishes the state of the kind. Pairs with ntklog_request_is_completed(). */
	smp_store_release(&kind->completed, request);
	wake_up_all(&ntklog_linux_wait);
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
	/* A tracepoint's work item holds the mutex of @want, which sessions wait for. */
	if (current->flags & PF_WQ_WORKER)
		return;
	ntklog_wait_for_kind(kind, request);
	want->provider.err = kind->is_wanted && !READ_ONCE(kind->is_on) ?
			     READ_ONCE(kind->err) ?: -EOPNOTSUPP : 0;
}

/* What one test of a lock's word takes who waits: the least of some, for interrupts come. */
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

/* What is not to be had in the mode that it begins with. */
static void __init ntklog_report_unavailable_kind(const struct ntklog_linux_kind *kind)
{
	const char *why = ntklog_kind_unavailable_reason(kind);

	if (why)
		pr_info("Linux' %ss cannot be watched here: %s%s%s\n", kind->name,
			why == kind->unavailable && kind->lacks ? "no function " : "", why,
			ntklog_kind_fallback_hint(kind));
}

static int ntklog_find_mode(const char *name)
{
	return match_string(ntklog_linux_modes, ARRAY_SIZE(ntklog_linux_modes), name);
}

/**
 * ntklog_linux_init() - find the kernel's functions, and let who wants them have them
 * @allowed: it is permitted at all
 * @mode: in which it begins
 *
 * Context: load, before there is a session. What this kernel lacks is said, once, by name;
 * NT's locks work without.
 * Return: 0, or -EINVAL: there is no such mode.
 */
int __init ntklog_linux_init(bool allowed, const char *mode)
{
	size_t i;

	if (ntklog_find_mode(mode) < 0)
		return -EINVAL;
	ntklog_measure_test();
	/* The files are there already: who reads one that tests comes before or after. */
	mutex_lock(&ntklog_linux_mutex);
	ntklog_linux_mode = ntklog_find_mode(mode);
	ntklog_selftest_init();
	ntklog_linux_forbidden = allowed ? NULL : "linux_locks=0";
	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++) {
		struct ntklog_linux_kind *kind = &ntklog_linux_kinds[i];

		kind->unavailable = kind->class ?
			ntklog_check_attach_sleeping(kind->functions, &kind->lacks) :
			ntklog_check_attach(kind->functions, &kind->lacks);
		ntklog_report_unavailable_kind(kind);
	}
	mutex_unlock(&ntklog_linux_mutex);
	/* What takes that mutex itself, with the want's outside of it. */
	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++)
		ntklog_event_group_init(&ntklog_linux_kinds[i].want);
	ntklog_linux_rundown_init();
	return 0;
}

/**
 * ntklog_linux_exit() - let go of the kernel's functions for good
 *
 * Context: unload, when no session is left. At the return nobody is in this module's text by
 * way of a trampoline.
 */
void ntklog_linux_exit(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++) {
		ntklog_event_group_exit(&ntklog_linux_kinds[i].want);
		flush_work(&ntklog_linux_kinds[i].work);
	}
	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++) {
		/* The kernel calls what would go now: it does not go. */
		while (ntklog_kind_is_stuck(&ntklog_linux_kinds[i]))
			schedule_timeout_uninterruptible(HZ);
	}
	while (ntklog_interrupt_hooks_are_stuck())
		schedule_timeout_uninterruptible(HZ);
	/* Nobody schedules it any more. */
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
			   why == kind->unavailable && kind->lacks ? "no function " : "", why,
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
		kind->err = ntklog_attach_kind(kind);
		ntklog_warn_attach_failed(kind);
	}
	if (ntklog_kind_unavailable_reason(kind) || kind->err) {
		ntklog_describe_kind(seq, kind);
		return;
	}
	wrong = ntklog_selftest(kind->functions, seq);
	if (wrong) {
		ntklog_disable_broken_kind(kind, wrong);
		ntklog_warn_attach_failed(kind);
		seq_printf(seq, "%s: %s differs\n", kind->name, wrong);
		return;
	}
	if (!was_on) {
		ntklog_detach_kind(kind);
		/* Who wants it has it no more than before. */
		if (ntklog_event_group_has_subscribers(&kind->want)) {
			kind->failed = failed;
			kind->err = err;
		}
	}
	seq_printf(seq, "%s: %zu functions do what the kernel's own do\n", kind->name,
		   ntklog_function_count(kind->functions));
}

/**
 * ntklog_linux_selftest() - compare the redirected functions with the kernel's own
 * @seq: the file: see ntklog_selftest()
 *
 * A kind that nobody wants is redirected meanwhile. One of which a function differs is so no
 * more, until somebody begins to want it.
 *
 * Context: thread; may sleep.
 */
void ntklog_linux_selftest(struct seq_file *seq)
{
	size_t i;

	seq_puts(seq, "Function Context Word Preempt Softirqs Interrupts Slots Result\n");
	/* Nobody reads the file if the task is killed. */
	if (mutex_lock_killable(&ntklog_linux_mutex))
		return;
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
		mod_delayed_work(system_wq, &ntklog_end_detaching_work, 0);
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
	seq_printf(seq, "task records: %u, spare: %u\n", ntklog_thread_count(),
		   ntklog_spare_task_record_count());
	if (ntklog_sleeping_detach_is_pending())
		seq_puts(seq, "detaching: waiting for a grace period of Tasks RCU\n");
}

/**
 * ntklog_linux_add_groups() - the groups that are on
 * @mask: gets them
 *
 * Context: thread.
 */
void ntklog_linux_add_groups(struct perfinfo_groupmask *mask)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++)
		if (READ_ONCE(ntklog_linux_kinds[i].is_on))
			etw_group_mask_set(mask, ntklog_linux_kinds[i].want.provider.group);
}

/* Has anybody been told how those that spin are watched? */
static bool ntklog_linux_group_is_enabled(void)
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
 * ntklog_linux_show_mode() - which mode is it?
 * @seq: gets its name
 *
 * Context: thread.
 */
void ntklog_linux_show_mode(struct seq_file *seq)
{
	seq_printf(seq, "%s\n", ntklog_linux_modes[READ_ONCE(ntklog_linux_mode)]);
}

/**
 * ntklog_linux_set_mode() - choose the mode in which they are watched from the next time on
 * @name: of the mode
 *
 * Who wants one of them has said in its trace in which mode it is: no session is half-way on or
 * off while etw_mutex is held.
 *
 * Context: thread; may sleep.
 * Return: 0; -EINVAL: there is no such mode; -EBUSY: somebody wants one of them; -EINTR if the task
 * is killed.
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
	if (mode != ntklog_linux_mode && ntklog_linux_group_is_enabled())
		err = -EBUSY;
	if (!err && mode != ntklog_linux_mode) {
		WRITE_ONCE(ntklog_linux_mode, mode);
		/* What failed was another mode's. */
		for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++)
			ntklog_linux_kinds[i].err = 0;
	}
	mutex_unlock(&ntklog_linux_mutex);
	mutex_unlock(&etw_mutex);
	return err;
}

/**
 * ntklog_linux_set_blockers() - which releases are written because they leave a waiter behind
 * @rate: one of so many; 0: none
 *
 * In mode full the functions that release Linux' locks are others when it is not 0: they look at
 * the lock's word before. A session with NT's locks alone has been told if there is a rate.
 *
 * Context: thread; may sleep.
 * Return: 0; -EBUSY: this would begin or end it, and somebody wants Linux' locks, or a session
 * NT's.
 */
int ntklog_linux_set_blockers(u32 rate)
{
	struct etw_parameter_change *change = etw_begin_parameter_change();
	int err = 0;

	if (IS_ERR(change))
		return PTR_ERR(change);
	mutex_lock(&ntklog_linux_mutex);
	if (!rate != !ntklog_spin_lock_blocker_rate &&
	    (ntklog_linux_group_is_enabled() || etw_session_has_group(PERF_SPINLOCK)))
		err = -EBUSY;
	else
		WRITE_ONCE(ntklog_spin_lock_blocker_rate, rate);
	mutex_unlock(&ntklog_linux_mutex);
	etw_end_parameter_change(change);
	return err;
}

/* A tracepoint is that of all kinds that spin, or that sleep: its filter tells them apart. */
static int ntklog_register_tracepoint(bool sleeping)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++) {
		if (!ntklog_linux_kinds[i].class == sleeping)
			continue;
		err = ntklog_event_group_add_probe(&ntklog_linux_kinds[i].want);
		if (err)	/* After exit, which all have had, or will have at once. */
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
