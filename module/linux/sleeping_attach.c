// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order in which the functions of a kind of lock that sleeps are hooked and left alone again,
 * and the waits between the two, of which the kernel's tracepoints of contention tell.
 *
 * On:	the tracepoints, for the first kind; releases; acquisitions. Whoever acquires a lock
 *	through us releases it through us. Releases of what was acquired before are unmatched.
 * Off:	acquisitions, then releases. Who still owns a lock may do so for days: it is forgotten,
 *	when who was in a hook has been waited for. That takes a tenth of a second, and is done
 *	for all kinds at once, a moment later. Then the tracepoints go, if no kind is left.
 */

#include <linux/cpufeature.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <trace/events/lock.h>

#include "contention.h"
#include "kind.h"
#include "sleeping_lock.h"

#ifdef NTKLOG_LINUX_SLEEPING_LOCKS

#include "../perf/sleeping_lock.h"

/* Kinds that are attached to; the tracepoints are watched. Written by one at a time. */
static unsigned int ntklog_attached_sleeping_kinds;
static bool ntklog_contention_is_watched;

/*
 * How many waits for locks that spin a processor is in, one within the other. They are told by the
 * same tracepoints, but at their end not as what they are: there it is known by this, for who spins
 * stays on the processor. Only its own processor writes it, with preemption off.
 */
static DEFINE_PER_CPU(unsigned int, ntklog_spin_wait_depth);

static notrace void ntklog_contention_begin_probe(void *unused, void *lock, unsigned int flags)
{
	const struct task_struct *owner;
	u32 class;

	if ((flags & (LCB_F_SPIN | LCB_F_MUTEX)) == LCB_F_SPIN) {
		this_cpu_inc(ntklog_spin_wait_depth);
		return;
	}
	/*
	 * With CONFIG_DEBUG_LOCK_ALLOC, __mutex_lock_common() reports a wait before its first
	 * trylock. A mutex without an owner is acquired without a wait.
	 */
	if (flags == (LCB_F_SPIN | LCB_F_MUTEX) &&
	    !ntklog_owner_of_sleeping_lock(lock, NTKLOG_SLEEPING_CLASS(MUTEX)))
		return;
	if (!in_task())
		return;
	class = ntklog_begin_sleeping_wait(lock);
	owner = class ? ntklog_owner_of_sleeping_lock(lock, class) : NULL;
	if (owner && owner != current)
		ntklog_count_sleeping_contention(lock, class, owner);
}

static notrace void ntklog_contention_end_probe(void *unused, void *lock, int err)
{
	if (this_cpu_read(ntklog_spin_wait_depth))
		this_cpu_dec(ntklog_spin_wait_depth);
	else if (in_task())
		ntklog_end_sleeping_wait(lock, err);
}

/**
 * ntklog_check_attach_sleeping() - find a kind's functions, and what keeps them from being hooked
 * @functions: the kind's
 * @lacks: set to whether it is that this kernel lacks one
 *
 * Context: load.
 * Return: NULL; or the reason, or the name of the function that it lacks.
 */
const char __init *ntklog_check_attach_sleeping(struct ntklog_linux_functions *functions,
						bool *lacks)
{
	const char *why;

	*lacks = false;
#ifdef X86_FEATURE_CALL_DEPTH
	if (boot_cpu_has(X86_FEATURE_CALL_DEPTH))
		return "retbleed=stuff counts calls";
#endif
#ifdef CONFIG_ARM64_BTI_KERNEL
	/* Far branches are to a register: behind a trylock's call is no landing pad for them. */
	return "CONFIG_ARM64_BTI_KERNEL";
#endif
	why = ntklog_check_contention_tracepoints();
	if (why)
		return why;
	*lacks = true;
	return ntklog_resolve_targets(functions->hooks, functions->count);
}

/* Kinds that nobody comes to any more, but who was there has not been waited for. */
static struct {
	struct ntklog_linux_functions *functions;
	u32 class;
} ntklog_detaching_kinds[NTKLOG_SLEEPING_CLASSES];
static unsigned int ntklog_leaving_count;

/**
 * ntklog_sleeping_detach_is_pending() - test whether ntklog_end_detaching_sleeping() has work to do
 *
 * Context: any. The value may be stale when it is returned.
 * Return: true if a kind has been detached whose slots have not been dropped yet.
 */
bool ntklog_sleeping_detach_is_pending(void)
{
	return READ_ONCE(ntklog_leaving_count);
}

static int ntklog_watch_sleeping_contention(const char **failed)
{
	int cpu, err;

	if (ntklog_contention_is_watched)
		return 0;
	/* What had begun when it was last switched off. */
	for_each_possible_cpu(cpu)
		per_cpu(ntklog_spin_wait_depth, cpu) = 0;
	err = ntklog_watch_contention(ntklog_contention_begin_probe, ntklog_contention_end_probe,
				      failed);
	ntklog_contention_is_watched = !err;
	return err;
}

/* When nothing is left to be told of. */
static void ntklog_stop_watching_sleeping_contention(void)
{
	if (ntklog_attached_sleeping_kinds || !ntklog_contention_is_watched)
		return;
	ntklog_stop_watching_contention(ntklog_contention_begin_probe, ntklog_contention_end_probe);
	ntklog_contention_is_watched = false;
}

/**
 * ntklog_end_detaching_sleeping() - end what ntklog_detach_sleeping() has begun
 *
 * Context: thread; may sleep. One at a time.
 */
void ntklog_end_detaching_sleeping(void)
{
	unsigned int i;

	if (!ntklog_leaving_count)
		return;
	synchronize_rcu_tasks();
	synchronize_rcu();
	/* The probes look up records, which ntklog_disable_sleeping_class() may free. */
	ntklog_stop_watching_sleeping_contention();
	for (i = 0; i < ntklog_leaving_count; i++) {
		struct ntklog_linux_functions *functions = ntklog_detaching_kinds[i].functions;

		ntklog_reset_unregistered_hooks(functions->hooks, functions->count);
		/* The hooks of a stuck kind are still called, and need the records. */
		if (!ntklog_is_stuck(functions))
			ntklog_disable_sleeping_class(ntklog_detaching_kinds[i].class);
	}
	WRITE_ONCE(ntklog_leaving_count, 0);
}

/**
 * ntklog_attach_sleeping() - hook a kind's functions
 * @functions: the kind's, for which there is no reason not to
 * @class: of its locks
 * @failed: set to what could not be
 *
 * Context: thread; may sleep. One at a time.
 * Return: 0, or a negative errno, and then none is: see ntklog_register_hooks() and
 * ntklog_pin_ftrace_enabled().
 */
int ntklog_attach_sleeping(struct ntklog_linux_functions *functions, u32 class,
			   const char **failed)
{
	int err;

	ntklog_end_detaching_sleeping();
	err = ntklog_pin_ftrace_enabled();
	if (err) {
		*failed = err == -EHOSTDOWN ? "kernel.ftrace_enabled" : "ftrace";
		return err;
	}
	functions->variant = NTKLOG_VARIANT_TRACK;
	ntklog_select_variant(functions->hooks, functions->count, functions->variant);
	*failed = "sched_process_exit";
	err = ntklog_enable_sleeping_class(class);
	if (err)
		goto unpin;
	err = ntklog_watch_sleeping_contention(failed);
	if (err)
		goto stop;
	err = ntklog_register_hooks(functions->hooks, functions->count, true, failed);
	if (err)
		goto stop_watching;
	err = ntklog_register_hooks(functions->hooks, functions->count, false, failed);
	if (err) {
		ntklog_unregister_hooks(functions->hooks, functions->count, true);
		goto stop_watching;
	}
	ntklog_attached_sleeping_kinds++;
	ntklog_unpin_ftrace_enabled();
	return 0;

stop_watching:
	ntklog_stop_watching_sleeping_contention();
stop:
	if (!ntklog_is_stuck(functions))
		ntklog_disable_sleeping_class(class);
unpin:
	ntklog_unpin_ftrace_enabled();
	return err;
}

/**
 * ntklog_detach_sleeping() - begin to undo ntklog_attach_sleeping()
 * @functions: the kind's
 * @class: of its locks
 *
 * ntklog_end_detaching_sleeping() is to follow, some time before this module goes.
 *
 * Context: as there. What is stuck is not restored.
 */
void ntklog_detach_sleeping(struct ntklog_linux_functions *functions, u32 class)
{
	ntklog_unregister_hooks_nowait(functions->hooks, functions->count);
	ntklog_detaching_kinds[ntklog_leaving_count].functions = functions;
	ntklog_detaching_kinds[ntklog_leaving_count].class = class;
	WRITE_ONCE(ntklog_leaving_count, ntklog_leaving_count + 1);
	ntklog_attached_sleeping_kinds--;
}

#else /* !NTKLOG_LINUX_SLEEPING_LOCKS */

const char __init *ntklog_check_attach_sleeping(struct ntklog_linux_functions *functions,
						bool *lacks)
{
	*lacks = false;
#if !defined(CONFIG_X86_64) && !defined(CONFIG_ARM64)
	return "this architecture is neither x86-64 nor arm64";
#elif !defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)
	return "no CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS";
#elif !defined(CONFIG_KPROBES)
	return "no CONFIG_KPROBES";
#else
	return "CONFIG_PREEMPT_RT has other locks";
#endif
}

#endif /* !NTKLOG_LINUX_SLEEPING_LOCKS */
