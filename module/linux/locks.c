// SPDX-License-Identifier: GPL-2.0-only
/*
 * When Linux' own locks are observed: who wants them, what this kernel allows, and the order in
 * which its functions are redirected and restored. Nothing of the kernel is touched while nobody
 * wants it.
 *
 * On:	perf's tracking goes on and is armed; releases are redirected, then acquisitions. When
 *	the first of these is, all releases have been for long, on all processors: whoever
 *	acquires a lock through us releases it through us. Releases of what was acquired before
 *	are counted as that, until threads that were on their way into an acquisition, and
 *	owners, are waited for.
 * Off:	acquisitions are restored, and who is in ours, or owns a lock by it, is waited for:
 *	redirected releases give back their slots. Then releases are restored and who is in ours
 *	is waited for, and perf's tracking goes, if nobody else wants it.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpufeature.h>
#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/processor.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>

#include "../etw/group_mask.h"
#include "../etw/provider.h"
#include "../perf/want.h"
#include "../trace.h"
#include "kind.h"
#include "locks.h"
#include "selftest.h"

u32 ntklog_linux_test_cycles __read_mostly = 1;

#ifdef NTKLOG_LINUX_LOCKS

/**
 * struct ntklog_linux_kind - a kind of lock
 * @name: for people
 * @functions: what is redirected
 * @unavailable: why it cannot be, or if it @lacks one the function; NULL: it can be. Written as
 *	@is_on, at load, when the files are there already, and when ftrace is out of order
 * @lacks: this kernel does not have the function
 * @is_on: it is; written with ntklog_linux_mutex held, and read without by who asks for groups
 * @failed: the function of the last attempt that failed, or NULL; written as @is_on
 * @err: why
 * @attach_us: microseconds that the last attempt took
 * @detach_us: that the last restoring took
 * @want: who wants it
 */
struct ntklog_linux_kind {
	const char *name;
	const struct ntklog_linux_functions *functions;
	const char *unavailable;
	bool lacks;
	bool is_on;
	const char *failed;
	int err;
	s64 attach_us;
	s64 detach_us;
	struct ntklog_want want;
};

/* Two kinds join and leave perf's tracking one at a time. Inside of a want's mutex. */
static DEFINE_MUTEX(ntklog_linux_mutex);

static void ntklog_update_linux_spin_locks(const struct perfinfo_groupmask *wanted);
static void ntklog_update_linux_rw_locks(const struct perfinfo_groupmask *wanted);

#define LINUX_KIND(_i, _name, _functions, _group, _update)			\
{										\
	.name = _name,								\
	.functions = &(_functions),						\
	.unavailable = "the module is being loaded",				\
	.want = {								\
		.provider = {							\
			.group = _group,					\
			.rundown = ntklog_spin_lock_rundown,			\
		},								\
		.update = _update,						\
		/* Registering functions takes locks that are outside of tracepoints_mutex. */ \
		.by_work = true,						\
		PERF_WANT_INITIALIZER(ntklog_linux_kinds[_i].want),		\
	},									\
}

static struct ntklog_linux_kind ntklog_linux_kinds[] = {
	LINUX_KIND(0, "spinlock", ntklog_linux_spin_lock_functions, PERF_LINUX_SPINLOCK,
		   ntklog_update_linux_spin_locks),
	LINUX_KIND(1, "rwlock", ntklog_linux_rw_lock_functions, PERF_LINUX_RWLOCK,
		   ntklog_update_linux_rw_locks),
};

/* ftrace has switched itself off: are some functions redirected for good? */
static bool ntklog_is_stuck(const struct ntklog_linux_kind *kind)
{
	const struct ntklog_linux_functions *functions = kind->functions;
	size_t i;

	for (i = 0; i < functions->count; i++)
		if (functions->redirects[i].is_stuck)
			return true;
	return false;
}

static int ntklog_attach(struct ntklog_linux_kind *kind)
{
	const struct ntklog_linux_functions *functions = kind->functions;
	int err;

	err = ntklog_keep_ftrace_enabled();
	if (err) {
		kind->failed = err == -EHOSTDOWN ? "kernel.ftrace_enabled" : "ftrace";
		return err;
	}
	ntklog_join_spin_locks();
	err = ntklog_redirect_functions(functions->redirects, functions->count, true,
					&kind->failed);
	if (err)
		goto leave;
	err = ntklog_redirect_functions(functions->redirects, functions->count, false,
					&kind->failed);
	if (err) {
		/* What some have acquired meanwhile has been released: restoring waits. */
		ntklog_restore_functions(functions->redirects, functions->count, true);
		goto leave;
	}
	ntklog_let_ftrace_go();
	/* Who was preempted in the kernel's own function, about to acquire; then who owns. */
	synchronize_rcu_tasks();
	synchronize_rcu();
	ntklog_spin_locks_joined();
	return 0;

leave:
	ntklog_let_ftrace_go();
	if (!ntklog_is_stuck(kind))
		ntklog_leave_spin_locks();
	return err;
}

static void ntklog_detach(struct ntklog_linux_kind *kind)
{
	const struct ntklog_linux_functions *functions = kind->functions;

	ntklog_part_from_spin_locks();
	ntklog_restore_functions(functions->redirects, functions->count, false);
	/* What is still acquired through us is still released through us. */
	if (ntklog_is_stuck(kind))
		return;
	ntklog_restore_functions(functions->redirects, functions->count, true);
	if (!ntklog_is_stuck(kind))
		ntklog_leave_spin_locks();
}

/* Not to go on with what is not the same. */
static void ntklog_let_go(struct ntklog_linux_kind *kind, const char *wrong)
{
	ntklog_detach(kind);
	WRITE_ONCE(kind->is_on, false);
	kind->failed = wrong;
	kind->err = -EPROTO;
}

static void ntklog_switch_on(struct ntklog_linux_kind *kind)
{
	const char *wrong;

	kind->failed = NULL;
	kind->err = ntklog_attach(kind);
	if (kind->err)
		return;
	wrong = ntklog_selftest(kind->functions, NULL);
	if (wrong)
		ntklog_let_go(kind, wrong);
	else
		WRITE_ONCE(kind->is_on, true);
}

/* The kernel goes on calling our functions: they stay, and so does the module. */
static void ntklog_give_up_if_stuck(struct ntklog_linux_kind *kind)
{
	if (kind->unavailable || !ntklog_is_stuck(kind))
		return;
	kind->unavailable = "ftrace is out of order: its functions cannot be restored";
	__module_get(THIS_MODULE);
}

static void ntklog_complain(const struct ntklog_linux_kind *kind)
{
	if (kind->err == -EHOSTDOWN)
		pr_warn("Linux' %ss are not watched: kernel.ftrace_enabled is 0\n", kind->name);
	else if (kind->err == -EPROTO)
		pr_warn("Linux' %ss are not watched: %s would not do what the kernel's own does\n",
			kind->name, kind->failed);
	else if (kind->err)
		pr_warn("Linux' %ss are not watched: %s cannot be redirected (%d)%s\n",
			kind->name, kind->failed, kind->err,
			kind->err == -EBUSY ? ": somebody else does" : "");
}

static void ntklog_update_linux_kind(struct ntklog_linux_kind *kind,
				     const struct perfinfo_groupmask *wanted)
{
	bool on = etw_group_mask_test(wanted, kind->want.provider.group);
	ktime_t start = ktime_get();

	mutex_lock(&ntklog_linux_mutex);
	if (on && !kind->is_on && !kind->unavailable) {
		ntklog_switch_on(kind);
		kind->attach_us = ktime_us_delta(ktime_get(), start);
		ntklog_complain(kind);
	} else if (!on && kind->is_on && !kind->unavailable) {
		ntklog_detach(kind);
		WRITE_ONCE(kind->is_on, false);
		kind->detach_us = ktime_us_delta(ktime_get(), start);
	}
	ntklog_give_up_if_stuck(kind);
	mutex_unlock(&ntklog_linux_mutex);
}

static void ntklog_update_linux_spin_locks(const struct perfinfo_groupmask *wanted)
{
	ntklog_update_linux_kind(&ntklog_linux_kinds[0], wanted);
}

static void ntklog_update_linux_rw_locks(const struct perfinfo_groupmask *wanted)
{
	ntklog_update_linux_kind(&ntklog_linux_kinds[1], wanted);
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

static void __init ntklog_find_out(struct ntklog_linux_kind *kind, bool allowed)
{
	if (!allowed) {
		kind->unavailable = "linux_locks=0";
		return;
	}
#ifdef X86_FEATURE_CALL_DEPTH
	if (boot_cpu_has(X86_FEATURE_CALL_DEPTH)) {
		kind->unavailable = "retbleed=stuff counts calls";
		return;
	}
#endif
	kind->unavailable = ntklog_find_functions(kind->functions->redirects,
						  kind->functions->count);
	kind->lacks = kind->unavailable;
	if (!kind->lacks && kind->functions->stranger &&
	    ntklog_find_function(kind->functions->stranger))
		kind->unavailable = "this kernel releases them by a function that is not known";
}

/**
 * ntklog_linux_init() - find the kernel's functions, and let who wants them have them
 * @allowed: it is permitted at all
 *
 * Context: load, before there is a session. What this kernel lacks is said, once, by name;
 * NT's locks work without.
 */
void __init ntklog_linux_init(bool allowed)
{
	size_t i;

	ntklog_measure_test();
	/* The files are there already: who reads one that tests comes before or after. */
	mutex_lock(&ntklog_linux_mutex);
	ntklog_selftest_init();
	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++) {
		struct ntklog_linux_kind *kind = &ntklog_linux_kinds[i];

		ntklog_find_out(kind, allowed);
		if (kind->unavailable)
			pr_info("Linux' %ss cannot be watched here: %s%s\n", kind->name,
				kind->lacks ? "no function " : "", kind->unavailable);
	}
	mutex_unlock(&ntklog_linux_mutex);
	/* What takes that mutex itself, with the want's outside of it. */
	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++)
		ntklog_want_init(&ntklog_linux_kinds[i].want);
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

	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++)
		ntklog_want_exit(&ntklog_linux_kinds[i].want);
	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++) {
		/* The kernel calls what would go now: it does not go. */
		while (ntklog_is_stuck(&ntklog_linux_kinds[i]))
			schedule_timeout_uninterruptible(HZ);
	}
}

static void ntklog_describe_kind(struct seq_file *seq, const struct ntklog_linux_kind *kind)
{
	seq_printf(seq, "%s: ", kind->name);
	if (kind->unavailable)
		seq_printf(seq, "unavailable: %s%s\n", kind->lacks ? "no function " : "",
			   kind->unavailable);
	else if (kind->err)
		seq_printf(seq, "failed: %s (%d)\n", kind->failed, kind->err);
	else
		seq_printf(seq, "%s, %zu functions, attached in %lld us, detached in %lld us\n",
			   kind->is_on ? "on" : "off", kind->functions->count,
			   kind->attach_us, kind->detach_us);
}

static void ntklog_test_kind(struct seq_file *seq, struct ntklog_linux_kind *kind)
{
	const char *wrong, *failed = kind->failed;
	bool was_on = kind->is_on;
	int err = kind->err;

	if (!was_on && !kind->unavailable) {
		kind->failed = NULL;
		kind->err = ntklog_attach(kind);
		ntklog_complain(kind);
	}
	if (kind->unavailable || kind->err) {
		ntklog_describe_kind(seq, kind);
		return;
	}
	wrong = ntklog_selftest(kind->functions, seq);
	if (wrong) {
		ntklog_let_go(kind, wrong);
		ntklog_complain(kind);
		seq_printf(seq, "%s: %s differs\n", kind->name, wrong);
		return;
	}
	if (!was_on) {
		ntklog_detach(kind);
		/* Who wants it has it no more than before. */
		if (ntklog_want_has_wanters(&kind->want)) {
			kind->failed = failed;
			kind->err = err;
		}
	}
	seq_printf(seq, "%s: %zu functions do what the kernel's own do\n", kind->name,
		   kind->functions->count);
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
	mutex_lock(&ntklog_linux_mutex);
	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++) {
		ntklog_test_kind(seq, &ntklog_linux_kinds[i]);
		ntklog_give_up_if_stuck(&ntklog_linux_kinds[i]);
	}
	mutex_unlock(&ntklog_linux_mutex);
}

/**
 * ntklog_linux_describe() - a line for each kind of lock: what is it with it?
 * @seq: the file
 *
 * Context: thread.
 */
void ntklog_linux_describe(struct seq_file *seq)
{
	size_t i;

	mutex_lock(&ntklog_linux_mutex);
	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++)
		ntklog_describe_kind(seq, &ntklog_linux_kinds[i]);
	seq_printf(seq, "cycles of a test: %u\n", ntklog_linux_test_cycles);
	mutex_unlock(&ntklog_linux_mutex);
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

/* The tracepoint is both kinds': its filter tells them apart. */
int ntklog_linux_tracepoint_reg(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++) {
		err = ntklog_want_register(&ntklog_linux_kinds[i].want);
		if (err)	/* After exit, which both have had, or will have at once. */
			return err;
	}
	return 0;
}

void ntklog_linux_tracepoint_unreg(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ntklog_linux_kinds); i++)
		ntklog_want_unregister(&ntklog_linux_kinds[i].want);
}

#else /* !NTKLOG_LINUX_LOCKS */

/* What this kernel lacks, or has besides. */
#if !defined(CONFIG_X86_64)
#define NTKLOG_LACKS	"this architecture is not x86-64"
#elif !defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)
#define NTKLOG_LACKS	"no CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS"
#elif !defined(CONFIG_KPROBES)
#define NTKLOG_LACKS	"no CONFIG_KPROBES"
#elif defined(CONFIG_PREEMPT_RT)
#define NTKLOG_LACKS	"CONFIG_PREEMPT_RT has other locks"
#elif defined(CONFIG_DEBUG_SPINLOCK) || defined(CONFIG_DEBUG_LOCK_ALLOC)
#define NTKLOG_LACKS	"CONFIG_DEBUG_SPINLOCK checks locks in a way of its own"
#elif !defined(CONFIG_UNINLINE_SPIN_UNLOCK)
#define NTKLOG_LACKS	"no CONFIG_PREEMPT_BUILD: unlocks are inlined"
#else
#define NTKLOG_LACKS	"no CONFIG_QUEUED_SPINLOCKS"
#endif

/**
 * ntklog_linux_init() - say that Linux' locks cannot be watched
 * @allowed: somebody has allowed it
 *
 * Context: load.
 */
void __init ntklog_linux_init(bool allowed)
{
	if (allowed)
		pr_info("Linux' spin locks and rwlocks cannot be watched here: %s\n", NTKLOG_LACKS);
}

void ntklog_linux_exit(void)
{
}

void ntklog_linux_describe(struct seq_file *seq)
{
	seq_printf(seq, "spinlock: unavailable: %s\nrwlock: unavailable: %s\n", NTKLOG_LACKS,
		   NTKLOG_LACKS);
}

void ntklog_linux_selftest(struct seq_file *seq)
{
	ntklog_linux_describe(seq);
}

void ntklog_linux_add_groups(struct perfinfo_groupmask *mask)
{
}

int ntklog_linux_tracepoint_reg(void)
{
	return 0;
}

void ntklog_linux_tracepoint_unreg(void)
{
}

#endif /* !NTKLOG_LINUX_LOCKS */
