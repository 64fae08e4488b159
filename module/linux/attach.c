// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order in which a kind's functions are redirected and restored.
 *
 * On:	perf's tracking goes on and is armed; releases are redirected, then acquisitions. When
 *	the first of these is, all releases have been for long, on all processors: whoever
 *	acquires a lock through us releases it through us. Releases of what was acquired before
 *	are counted as that, until threads that were on their way into an acquisition, and
 *	owners, are waited for.
 * Off:	acquisitions are restored, and who is in ours, or owns a lock by it, is waited for:
 *	redirected releases give back their slots. Then releases are restored and who is in ours
 *	is waited for, and perf's tracking goes, if nobody else wants it.
 *
 * Where some acquisitions are chosen a release that finds none is what most are: there is nothing
 * to arm and nothing to wait for after the acquisitions are redirected.
 */

#include <linux/cpufeature.h>
#include <linux/rcupdate.h>

#include "attach.h"

#ifdef NTKLOG_LINUX_LOCKS

/**
 * ntklog_why_not_attach() - find a kind's functions, and what keeps them from being redirected
 * @functions: the kind's
 * @lacks: set to whether it is that this kernel lacks one
 *
 * Context: load.
 * Return: NULL; or the reason, or the name of the function that it lacks.
 */
const char __init *ntklog_why_not_attach(struct ntklog_linux_functions *functions, bool *lacks)
{
	*lacks = false;
#ifdef X86_FEATURE_CALL_DEPTH
	if (boot_cpu_has(X86_FEATURE_CALL_DEPTH))
		return "retbleed=stuff counts calls";
#endif
	*lacks = true;
	return ntklog_find_functions(functions->redirects, functions->count);
}

/**
 * ntklog_is_stuck() - ftrace has switched itself off: are some functions redirected for good?
 * @functions: a kind's
 *
 * Context: as ntklog_attach().
 * Return: whether they are.
 */
bool ntklog_is_stuck(const struct ntklog_linux_functions *functions)
{
	size_t i;

	for (i = 0; i < functions->count; i++)
		if (functions->redirects[i].is_stuck)
			return true;
	return false;
}

/* Before the first function comes to us. */
static void ntklog_join(const struct ntklog_linux_functions *functions)
{
	if (functions->way == NTKLOG_SAMPLING)
		ntklog_start_sampling_spin_locks();
	else
		ntklog_join_spin_locks();
}

/* When all do. */
static void ntklog_has_joined(const struct ntklog_linux_functions *functions)
{
	if (functions->way == NTKLOG_SAMPLING)
		return;
	/* Who was preempted in the kernel's own function, about to acquire; then who owns. */
	synchronize_rcu_tasks();
	synchronize_rcu();
	ntklog_spin_locks_joined();
}

/* When none does any more, if so it is. */
static void ntklog_leave(const struct ntklog_linux_functions *functions)
{
	if (ntklog_is_stuck(functions))
		return;
	if (functions->way == NTKLOG_SAMPLING)
		ntklog_stop_sampling_spin_locks();
	else
		ntklog_leave_spin_locks();
}

/**
 * ntklog_attach() - redirect a kind's functions
 * @functions: the kind's, for which there is no reason not to
 * @way: to which of ours
 * @failed: set to what could not be
 *
 * Context: thread; may sleep. One at a time.
 * Return: 0, or a negative errno, and then none is: see ntklog_redirect_functions() and
 * ntklog_keep_ftrace_enabled().
 */
int ntklog_attach(struct ntklog_linux_functions *functions, enum ntklog_way way,
		  const char **failed)
{
	int err;

	err = ntklog_keep_ftrace_enabled();
	if (err) {
		*failed = err == -EHOSTDOWN ? "kernel.ftrace_enabled" : "ftrace";
		return err;
	}
	functions->way = way;
	ntklog_choose_way(functions->redirects, functions->count, way);
	ntklog_join(functions);
	err = ntklog_redirect_functions(functions->redirects, functions->count, true, failed);
	if (err)
		goto leave;
	err = ntklog_redirect_functions(functions->redirects, functions->count, false, failed);
	if (err) {
		/* What some have acquired meanwhile has been released: restoring waits. */
		ntklog_restore_functions(functions->redirects, functions->count, true);
		goto leave;
	}
	ntklog_let_ftrace_go();
	ntklog_has_joined(functions);
	return 0;

leave:
	ntklog_let_ftrace_go();
	ntklog_leave(functions);
	return err;
}

/**
 * ntklog_detach() - undo ntklog_attach()
 * @functions: the kind's
 *
 * Context: as there. What is_stuck is not restored.
 */
void ntklog_detach(struct ntklog_linux_functions *functions)
{
	if (functions->way != NTKLOG_SAMPLING)
		ntklog_part_from_spin_locks();
	ntklog_restore_functions(functions->redirects, functions->count, false);
	/* What is still acquired through us is still released through us. */
	if (ntklog_is_stuck(functions))
		return;
	ntklog_restore_functions(functions->redirects, functions->count, true);
	ntklog_leave(functions);
}

#else /* !NTKLOG_LINUX_LOCKS */

/* What this kernel lacks. */
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

const char __init *ntklog_why_not_attach(struct ntklog_linux_functions *functions, bool *lacks)
{
	*lacks = false;
	return NTKLOG_LACKS;
}

#endif /* !NTKLOG_LINUX_LOCKS */
