// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attach: register the probes, for the first kind; hook the release functions, then the acquire
 *	functions. The release of a lock that was acquired before the attachment is unmatched.
 * Detach: restore the acquire functions, then the release functions. The slots of held locks are
 *	dropped when no task is in a hook any more, because a task may hold a lock for long. A work
 *	item waits for the grace period, and then unregisters the probes, if no kind is attached.
 */

#include <linux/cpufeature.h>
#include <linux/kernel.h>
#include <linux/percpu-rwsem.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/stacktrace.h>
#include <trace/events/lock.h>

#include "contention.h"
#include "kind.h"
#include "sleeping_lock.h"

#ifdef NTKLOG_CAN_HOOK_SLEEPING

#include "../perf/sleeping_lock.h"

/* Written with ntklog_linux_mutex held. */
static unsigned int ntklog_attached_sleeping_kind_count;
static bool ntklog_contention_is_watched;

/*
 * Depth of nested waits for spinning locks on a CPU. contention_begin tells whether a lock spins,
 * contention_end does not. A spinning task stays on its CPU, so while the depth is not 0, the next
 * contention_end on the CPU belongs to a spinning lock. Written by its own CPU, with preemption
 * off; cleared while no probe is registered.
 */
static DEFINE_PER_CPU(unsigned int, ntklog_spin_wait_depth);

/*
 * True while the waits of readers of percpu_rw_semaphores are recorded. Written with
 * ntklog_linux_mutex held; read by the probes. After it has been cleared, synchronize_rcu() waits
 * for the probes that have seen it set.
 */
static bool ntklog_percpu_readers_are_watched;

/* Stack frames to search for __percpu_down_read(), and an upper bound of its size. */
#define NTKLOG_READER_FRAMES_MAX	12
#define NTKLOG_DOWN_READ_SIZE_MAX	1024

static unsigned long ntklog_find_percpu_reader_caller(void)
{
	unsigned long frames[NTKLOG_READER_FRAMES_MAX];
	unsigned int i, count = stack_trace_save(frames, ARRAY_SIZE(frames), 0);

	for (i = 0; i + 1 < count; i++)
		if (frames[i] - (unsigned long)__percpu_down_read < NTKLOG_DOWN_READ_SIZE_MAX)
			return frames[i + 1];
	return 0;
}

/* A reader that does not wait runs inlined code, which has no hook. */
static void ntklog_track_percpu_reader(const void *lock)
{
	preempt_disable_notrace();
	if (READ_ONCE(ntklog_percpu_readers_are_watched))
		ntklog_track_sleeping_acquire_slow(lock, ntklog_find_percpu_reader_caller(),
						   NTKLOG_SLEEPING_CLASS(PERCPU_RWSEM) |
						   NTKLOG_SLEEPING_SHARED);
	preempt_enable_notrace();
}

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
	    !ntklog_get_sleeping_lock_owner(lock, NTKLOG_SLEEPING_CLASS(MUTEX)))
		return;
	if (!in_task())
		return;
	if (flags == (LCB_F_PERCPU | LCB_F_READ))
		ntklog_track_percpu_reader(lock);
	class = ntklog_begin_sleeping_wait(lock);
	owner = class ? ntklog_get_sleeping_lock_owner(lock, class) : NULL;
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
 * ntklog_resolve_sleeping_kind() - resolve the functions of a kind that sleeps
 * @functions: functions of the kind
 * @lacks_function: set to true if the return value is the name of a function, otherwise to false
 *
 * Context: module load.
 * Return: NULL, or the reason why the kind is unavailable, which may be the name of a function.
 */
const char __init *ntklog_resolve_sleeping_kind(struct ntklog_lock_functions *functions,
						bool *lacks_function)
{
	const char *reason;

	*lacks_function = false;
#ifdef X86_FEATURE_CALL_DEPTH
	if (boot_cpu_has(X86_FEATURE_CALL_DEPTH))
		return "retbleed=stuff counts calls";
#endif
#ifdef CONFIG_ARM64_BTI_KERNEL
	/* A far branch needs a landing pad, which the original lacks behind the patched call. */
	return "CONFIG_ARM64_BTI_KERNEL";
#endif
	reason = ntklog_find_contention_tracepoints();
	if (reason)
		return reason;
	reason = ntklog_resolve_targets(functions->hooks, functions->hook_count);
	*lacks_function = reason;
	return reason;
}

/*
 * Detached kinds whose slots have not been dropped yet, because their grace period has not ended.
 * Written with ntklog_linux_mutex held; the number of kinds is also read without the mutex.
 */
static struct {
	struct ntklog_lock_functions *functions;
	u32 class;
} ntklog_detaching_kinds[NTKLOG_SLEEPING_CLASS_COUNT];
static unsigned int ntklog_detaching_kind_count;

/**
 * ntklog_sleeping_detach_is_pending() - test whether ntklog_finish_sleeping_detach() has work to do
 *
 * Context: any. The value may be stale when it is returned.
 * Return: true if a kind has been detached whose slots have not been dropped yet.
 */
bool ntklog_sleeping_detach_is_pending(void)
{
	return READ_ONCE(ntklog_detaching_kind_count);
}

static int ntklog_watch_sleeping_contention(const char **failed_name)
{
	int cpu, err;

	if (ntklog_contention_is_watched)
		return 0;
	/* Forget waits that had not ended when the probes were last unregistered. */
	for_each_possible_cpu(cpu)
		per_cpu(ntklog_spin_wait_depth, cpu) = 0;
	err = ntklog_watch_contention(ntklog_contention_begin_probe, ntklog_contention_end_probe,
				      failed_name);
	ntklog_contention_is_watched = !err;
	return err;
}

static void ntklog_stop_watching_sleeping_contention(void)
{
	if (ntklog_attached_sleeping_kind_count || !ntklog_contention_is_watched)
		return;
	ntklog_stop_watching_contention(ntklog_contention_begin_probe, ntklog_contention_end_probe);
	ntklog_contention_is_watched = false;
}

/**
 * ntklog_finish_sleeping_detach() - finish ntklog_detach_sleeping_kind() for all detached kinds
 *
 * Context: task; may sleep, without limit while a kernel task does not schedule. Callers are
 * serialized.
 */
void ntklog_finish_sleeping_detach(void)
{
	unsigned int i;

	if (!ntklog_detaching_kind_count)
		return;
	synchronize_rcu_tasks();
	synchronize_rcu();
	/* The probes look up records, which ntklog_disable_sleeping_class() may free. */
	ntklog_stop_watching_sleeping_contention();
	for (i = 0; i < ntklog_detaching_kind_count; i++) {
		struct ntklog_lock_functions *functions = ntklog_detaching_kinds[i].functions;

		ntklog_reset_unregistered_hooks(functions->hooks, functions->hook_count);
		/* The kernel still calls the hooks of a stuck kind, which need the task records. */
		if (!ntklog_functions_are_stuck(functions))
			ntklog_disable_sleeping_class(ntklog_detaching_kinds[i].class);
	}
	WRITE_ONCE(ntklog_detaching_kind_count, 0);
}

/**
 * ntklog_attach_sleeping_kind() - hook the functions of a kind that sleeps
 * @functions: functions of the kind; ntklog_resolve_sleeping_kind() has returned NULL for them
 * @class: NTKLOG_SLEEPING_CLASS() of the locks
 * @failed_name: after an error, set to the name of the function, tracepoint or sysctl that failed
 *
 * Context: task; may sleep. Callers are serialized.
 * Return: 0; or a negative errno, and then no function is hooked, except for a kind for which
 * ntklog_functions_are_stuck() is true.
 */
int ntklog_attach_sleeping_kind(struct ntklog_lock_functions *functions, u32 class,
				const char **failed_name)
{
	int err;

	ntklog_finish_sleeping_detach();
	err = ntklog_pin_ftrace_enabled(failed_name);
	if (err)
		return err;
	functions->variant = NTKLOG_VARIANT_TRACK;
	ntklog_select_variant(functions->hooks, functions->hook_count, functions->variant);
	*failed_name = "sched_process_exit or sched_switch";
	err = ntklog_enable_sleeping_class(class);
	if (err)
		goto unpin;
	err = ntklog_watch_sleeping_contention(failed_name);
	if (err)
		goto stop;
	err = ntklog_register_hooks(functions->hooks, functions->hook_count, failed_name);
	if (err)
		goto stop_watching;
	ntklog_attached_sleeping_kind_count++;
	if (class == NTKLOG_SLEEPING_CLASS(PERCPU_RWSEM))
		WRITE_ONCE(ntklog_percpu_readers_are_watched, true);
	ntklog_unpin_ftrace_enabled();
	return 0;

stop_watching:
	ntklog_stop_watching_sleeping_contention();
stop:
	if (!ntklog_functions_are_stuck(functions))
		ntklog_disable_sleeping_class(class);
unpin:
	ntklog_unpin_ftrace_enabled();
	return err;
}

/**
 * ntklog_detach_sleeping_kind() - begin to undo ntklog_attach_sleeping_kind()
 * @functions: functions of the kind
 * @class: NTKLOG_SLEEPING_CLASS() of the locks
 *
 * ntklog_finish_sleeping_detach() must follow before the module is unloaded.
 *
 * Context: task; may sleep. Callers are serialized.
 */
void ntklog_detach_sleeping_kind(struct ntklog_lock_functions *functions, u32 class)
{
	if (class == NTKLOG_SLEEPING_CLASS(PERCPU_RWSEM))
		WRITE_ONCE(ntklog_percpu_readers_are_watched, false);
	ntklog_unregister_hooks_nowait(functions->hooks, functions->hook_count);
	ntklog_detaching_kinds[ntklog_detaching_kind_count].functions = functions;
	ntklog_detaching_kinds[ntklog_detaching_kind_count].class = class;
	WRITE_ONCE(ntklog_detaching_kind_count, ntklog_detaching_kind_count + 1);
	ntklog_attached_sleeping_kind_count--;
}

#else /* !NTKLOG_CAN_HOOK_SLEEPING */

const char __init *ntklog_resolve_sleeping_kind(struct ntklog_lock_functions *functions,
						bool *lacks_function)
{
	*lacks_function = false;
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

#endif /* !NTKLOG_CAN_HOOK_SLEEPING */
