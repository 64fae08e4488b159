// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spin locks and rwlocks are observed in one of four modes. "full" tracks acquisitions, "sampled"
 * some of them. "waits" uses the kernel's tracepoints contention_begin and contention_end, and
 * "holders" also contended_release.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <uapi/ntklog/event.h>

#include "../etw/group_mask.h"
#include "../etw/observe.h"
#include "../etw/rundown.h"
#include "../etw/session.h"
#include "../ground/task_table.h"
#include "../perf/event_group.h"
#include "../perf/sleeping_lock.h"
#include "../trace.h"
#include "interrupts.h"
#include "lock_kinds.h"
#include "locks.h"
#include "releases.h"
#include "rundown.h"
#include "selftest.h"
#include "sleeping_lock.h"
#include "spinning_attach.h"

u32 ntklog_cycles_per_spin __read_mostly = 1;

static const char *const ntklog_linux_mode_names[] = {
	[NTKLOG_LINUX_MODE_FULL] = "full",
	[NTKLOG_LINUX_MODE_SAMPLED] = "sampled",
	[NTKLOG_LINUX_MODE_WAITS] = "waits",
	[NTKLOG_LINUX_MODE_HOLDERS] = "holders",
};

/* Use the minimum of several tries, because interrupts may prolong a try. */
static void __init ntklog_measure_cycles_per_spin(void)
{
	enum { TEST_COUNT = 256, TRY_COUNT = 8 };
	static u32 word __initdata = 1;
	u32 min_cycles = U32_MAX;
	int i, j;

	for (i = 0; i < TRY_COUNT; i++) {
		u32 start = ntklog_read_time().low;

		for (j = 0; j < TEST_COUNT && READ_ONCE(word); j++)
			cpu_relax();
		min_cycles = min(min_cycles, ntklog_read_time().low - start);
	}
	ntklog_cycles_per_spin = max(min_cycles / TEST_COUNT, 1U);
}

static const char *ntklog_get_unavailable_prefix(const struct ntklog_lock_kind *kind,
						 const char *reason)
{
	return reason == kind->unavailable_reason && kind->lacks_function ?
	       "no usable function " : "";
}

static void __init ntklog_report_unavailable_kind(const struct ntklog_lock_kind *kind)
{
	const char *reason = ntklog_get_kind_unavailable_reason(kind);

	if (reason)
		pr_info("Linux' locks of kind %s cannot be watched here: %s%s%s\n", kind->name,
			ntklog_get_unavailable_prefix(kind, reason), reason,
			ntklog_get_kind_fallback_hint(kind));
}

static int ntklog_find_mode(const char *name)
{
	return match_string(ntklog_linux_mode_names, ARRAY_SIZE(ntklog_linux_mode_names), name);
}

/**
 * ntklog_linux_init() - resolve the kernel's lock functions, and register the event groups
 * @is_allowed: false if the module parameter linux_locks forbids to observe Linux' locks
 * @mode: name of the initial mode
 *
 * Context: module load, before a session exists.
 * Return: 0, or -EINVAL if there is no such mode.
 */
int __init ntklog_linux_init(bool is_allowed, const char *mode)
{
	struct ntklog_lock_kind *kind;

	if (ntklog_find_mode(mode) < 0)
		return -EINVAL;
	ntklog_measure_cycles_per_spin();
	ntklog_releases_init();
	/* For ntklog_selftest_init(). No other task needs the mutex yet. */
	mutex_lock(&ntklog_linux_mutex);
	ntklog_linux_mode = ntklog_find_mode(mode);
	ntklog_selftest_init();
	ntklog_linux_forbidden_reason = is_allowed ? NULL : "linux_locks=0";
	ntklog_for_each_kind(kind) {
		kind->unavailable_reason = ntklog_kind_sleeps(kind) ?
			ntklog_resolve_sleeping_kind(kind->functions, &kind->lacks_function) :
			ntklog_resolve_spinning_kind(kind->functions, &kind->lacks_function);
		ntklog_report_unavailable_kind(kind);
	}
	mutex_unlock(&ntklog_linux_mutex);
	/*
	 * The mutex must not be held here, because ntklog_event_group_init() may wait for the work
	 * item of the kind, which takes the mutex.
	 */
	ntklog_for_each_kind(kind)
		ntklog_event_group_init(&kind->group);
	ntklog_linux_rundown_init();
	return 0;
}

/**
 * ntklog_linux_exit() - detach all kinds for good
 *
 * On return no task and no CPU executes code of the module through a trampoline.
 *
 * Context: module unload, when no session is left, or a load that failed; may sleep.
 */
void ntklog_linux_exit(void)
{
	struct ntklog_lock_kind *kind;

	ntklog_for_each_kind(kind) {
		ntklog_event_group_exit(&kind->group);
		flush_work(&kind->work);
	}
	ntklog_for_each_kind(kind) {
		/* The kernel still calls the module: never return, so that its code stays. */
		while (ntklog_kind_is_stuck(kind))
			schedule_timeout_uninterruptible(HZ);
	}
	while (ntklog_interrupt_hooks_are_stuck())
		schedule_timeout_uninterruptible(HZ);
	ntklog_end_detaching_now();
}

/* Upper bound of the wait until the slots of detached kinds have been dropped. */
#define NTKLOG_DESCRIBE_TIMEOUT_S	10

static void ntklog_describe_kind(struct seq_file *seq, const struct ntklog_lock_kind *kind)
{
	const char *reason = ntklog_get_kind_unavailable_reason(kind);
	const char *operation = READ_ONCE(kind->operation);

	seq_printf(seq, "%s: ", kind->name);
	if (operation)
		seq_printf(seq, "%s for %lu s, waiting for a grace period of Tasks RCU\n",
			   operation, (jiffies - READ_ONCE(kind->operation_start_jiffies)) / HZ);
	else if (reason)
		seq_printf(seq, "unavailable: %s%s%s\n",
			   ntklog_get_unavailable_prefix(kind, reason), reason,
			   ntklog_get_kind_fallback_hint(kind));
	else if (kind->err)
		seq_printf(seq, "failed: %s (%d)\n", kind->failed_name, kind->err);
	else if (ntklog_kind_uses_tracepoints(kind))
		seq_printf(seq, "%s, %s, attached in %lld us, detached in %lld us\n",
			   kind->is_attached ? "on" : "off",
			   ntklog_kind_uses_release_tracepoint(kind) ? "waits and holders" :
								       "waits only",
			   kind->attach_us, kind->detach_us);
	else
		seq_printf(seq, "%s, %zu functions, attached in %lld us, detached in %lld us\n",
			   kind->is_attached ? "on" : "off",
			   ntklog_count_hookable_functions(kind->functions),
			   kind->attach_us, kind->detach_us);
}

static void ntklog_test_kind(struct seq_file *seq, struct ntklog_lock_kind *kind)
{
	const char *failed_function, *old_failed_name = kind->failed_name;
	bool was_attached = kind->is_attached;
	int old_err = kind->err;

	if (ntklog_kind_sleeps(kind))
		return;
	if (ntklog_kind_uses_tracepoints(kind) && !ntklog_get_kind_unavailable_reason(kind)) {
		seq_printf(seq, "%s: no functions, in mode \"%s\"\n", kind->name,
			   ntklog_linux_mode_names[ntklog_linux_mode]);
		return;
	}
	if (!was_attached && !ntklog_get_kind_unavailable_reason(kind)) {
		kind->failed_name = NULL;
		ntklog_set_operation(kind, "testing");
		kind->err = ntklog_attach_kind(kind);
		ntklog_clear_operation(kind);
		ntklog_warn_attach_failed(kind);
	}
	if (ntklog_get_kind_unavailable_reason(kind) || kind->err) {
		ntklog_describe_kind(seq, kind);
		return;
	}
	failed_function = ntklog_test_replacements(kind->functions, seq);
	if (failed_function) {
		ntklog_set_operation(kind, "testing");
		ntklog_disable_broken_kind(kind, failed_function);
		ntklog_clear_operation(kind);
		ntklog_warn_attach_failed(kind);
		seq_printf(seq, "%s: %s differs\n", kind->name, failed_function);
		return;
	}
	if (!was_attached) {
		ntklog_set_operation(kind, "testing");
		ntklog_detach_kind(kind);
		ntklog_clear_operation(kind);
		/* The error of a kind that has a subscriber stays until its next attachment. */
		if (ntklog_event_group_has_subscribers(&kind->group)) {
			kind->failed_name = old_failed_name;
			kind->err = old_err;
		}
	}
	seq_printf(seq, "%s: %zu functions do what the kernel's own do\n", kind->name,
		   ntklog_count_hookable_functions(kind->functions));
}

/**
 * ntklog_test_kinds() - compare the replacements of all kinds that spin with the kernel's functions
 * @seq: output; see ntklog_test_replacements()
 *
 * A detached kind is attached during its test, if it can be. A kind whose test fails is detached.
 *
 * Context: work item; may sleep, without limit while a kernel task does not schedule.
 */
void ntklog_test_kinds(struct seq_file *seq)
{
	struct ntklog_lock_kind *kind;

	seq_puts(seq, "Function Context Word Preempt Softirqs Interrupts Slots Result\n");
	mutex_lock(&ntklog_linux_mutex);
	ntklog_for_each_kind(kind) {
		ntklog_test_kind(seq, kind);
		ntklog_pin_module_if_stuck(kind);
	}
	mutex_unlock(&ntklog_linux_mutex);
}

/**
 * ntklog_linux_describe() - print the state of each kind of lock, and counts of slots and records
 * @seq: the file
 *
 * Takes no lock that is held while a kind is attached or detached.
 *
 * Context: task; may sleep.
 */
void ntklog_linux_describe(struct seq_file *seq)
{
	struct ntklog_sleeping_slot_totals totals;
	struct ntklog_lock_kind *kind;

	ntklog_wait_for_detached_kinds(NTKLOG_DESCRIBE_TIMEOUT_S);
	ntklog_for_each_kind(kind)
		ntklog_describe_kind(seq, kind);
	seq_printf(seq, "mode: %s\ncycles of a test: %u\n",
		   ntklog_linux_mode_names[ntklog_linux_mode], ntklog_cycles_per_spin);
	totals = ntklog_count_sleeping_slots();
	seq_printf(seq,
		   "sleeping locks owned: %llu, waited for: %llu, forgotten: %llu, while waited for: %llu\n",
		   totals.held_slots, totals.waiting_slots, totals.dropped_slots,
		   totals.dropped_waiting_slots);
	seq_printf(seq, "task records: %u, spare: %u\n", ntklog_count_task_records(),
		   ntklog_count_spare_task_records());
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
	struct ntklog_lock_kind *kind;

	ntklog_for_each_kind(kind)
		if (READ_ONCE(kind->is_attached))
			etw_group_mask_set(mask, kind->group.provider.group);
}

static bool ntklog_spinning_kind_is_in_use(void)
{
	struct ntklog_lock_kind *kind;

	ntklog_for_each_kind(kind)
		if (!ntklog_kind_sleeps(kind) &&
		    (kind->is_attached || ntklog_event_group_has_subscribers(&kind->group)))
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
	seq_printf(seq, "%s\n", ntklog_linux_mode_names[READ_ONCE(ntklog_linux_mode)]);
}

/**
 * ntklog_linux_set_mode() - set the mode in which spin locks and rwlocks are observed
 * @name: name of the mode
 *
 * The mode does not change while spin locks or rwlocks have a subscriber, because the rundown event
 * of a session reports the mode once. Sessions start and stop with etw_mutex held.
 *
 * Context: task; may sleep.
 * Return: 0 or a negative errno.
 */
int ntklog_linux_set_mode(const char *name)
{
	int mode = ntklog_find_mode(name), err = 0;
	struct ntklog_lock_kind *kind;

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
		ntklog_for_each_kind(kind)
			if (!ntklog_kind_sleeps(kind))
				WRITE_ONCE(kind->err, 0);
	}
	mutex_unlock(&ntklog_linux_mutex);
	mutex_unlock(&etw_mutex);
	return err;
}

/**
 * ntklog_linux_set_blocker_rate() - set the sample rate of releases that leave a waiter behind
 * @rate: every Nth of these releases is sampled; 0 for none
 *
 * While the rate is 0, a session with NT's spin locks and without Linux' has no rundown event with
 * the rate. So the rate cannot change from or to 0 while a session logs NT's spin locks.
 *
 * Context: task; may sleep.
 * Return: 0 or a negative errno.
 */
int ntklog_linux_set_blocker_rate(u32 rate)
{
	struct etw_parameter_change *change = etw_begin_parameter_change();
	int err = 0;

	if (IS_ERR(change))
		return PTR_ERR(change);
	if (!rate != !ntklog_spin_lock_blocker_rate && etw_any_session_has_group(PERF_SPINLOCK))
		err = -EBUSY;
	else
		WRITE_ONCE(ntklog_spin_lock_blocker_rate, rate);
	etw_end_parameter_change(change);
	return err;
}

/* The probe needs all these kinds; a filter of the tracepoint can select one. */
static int ntklog_record_first_probe_of_kinds(bool sleeps)
{
	struct ntklog_lock_kind *kind;
	int err;

	ntklog_for_each_kind(kind) {
		if (ntklog_kind_sleeps(kind) != sleeps)
			continue;
		err = ntklog_event_group_record_first_probe(&kind->group);
		/* The error means that the module is being unloaded, which detaches all kinds. */
		if (err)
			return err;
	}
	return 0;
}

static void ntklog_record_no_probe_of_kinds(bool sleeps)
{
	struct ntklog_lock_kind *kind;

	ntklog_for_each_kind(kind)
		if (ntklog_kind_sleeps(kind) == sleeps)
			ntklog_event_group_record_no_probe(&kind->group);
}

int ntklog_linux_tracepoint_reg(void)
{
	return ntklog_record_first_probe_of_kinds(false);
}

void ntklog_linux_tracepoint_unreg(void)
{
	ntklog_record_no_probe_of_kinds(false);
}

int ntklog_sleeping_tracepoint_reg(void)
{
	return ntklog_record_first_probe_of_kinds(true);
}

void ntklog_sleeping_tracepoint_unreg(void)
{
	ntklog_record_no_probe_of_kinds(true);
}
