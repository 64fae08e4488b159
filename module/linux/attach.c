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
 * While each acquisition is tracked, interrupts are heard of: from before the first to after the
 * last.
 *
 * Where some acquisitions are chosen a release that finds none is what most are: there is nothing
 * to arm and nothing to wait for after the acquisitions are redirected.
 */

#include <linux/cpufeature.h>
#include <linux/rcupdate.h>

#include "attach.h"
#include "do_raw.h"
#include "interrupts.h"

#ifdef NTKLOG_LINUX_LOCKS

/**
 * ntklog_check_attach() - find a kind's functions, and what keeps them from being redirected
 * @functions: the kind's
 * @lacks: set to whether it is that this kernel lacks one
 *
 * Context: load.
 * Return: NULL; or the reason, or the name of the function that it lacks.
 */
const char __init *ntklog_check_attach(struct ntklog_linux_functions *functions, bool *lacks)
{
	const char *missing;

	*lacks = false;
#ifdef X86_FEATURE_CALL_DEPTH
	if (boot_cpu_has(X86_FEATURE_CALL_DEPTH))
		return "retbleed=stuff counts calls";
#endif
	*lacks = true;
	missing = ntklog_check_interrupt_hooks() ?: ntklog_find_do_raw();
	return missing ?: ntklog_resolve_targets(functions->hooks, functions->count);
}

/* Before the first function comes to us. */
static int ntklog_prepare_attach(const struct ntklog_linux_functions *functions,
				 const char **failed)
{
	int err;

	if (functions->variant == NTKLOG_VARIANT_SAMPLE) {
		ntklog_start_sampling_spin_locks();
		return 0;
	}
	err = ntklog_register_interrupt_hooks(failed);
	if (!err)
		ntklog_begin_spin_lock_attach();
	return err;
}

/* When all do. */
static void ntklog_finish_attach(const struct ntklog_linux_functions *functions)
{
	if (functions->variant == NTKLOG_VARIANT_SAMPLE)
		return;
	/* Who was preempted in the kernel's own function, about to acquire; then who owns. */
	synchronize_rcu_tasks();
	synchronize_rcu();
	ntklog_end_spin_lock_attach();
}

/* When none does any more, if so it is. */
static void ntklog_finish_detach(const struct ntklog_linux_functions *functions)
{
	if (ntklog_is_stuck(functions))
		return;
	if (functions->variant == NTKLOG_VARIANT_SAMPLE) {
		ntklog_stop_sampling_spin_locks();
		return;
	}
	ntklog_end_spin_lock_detach();
	ntklog_unregister_interrupt_hooks();
}

/**
 * ntklog_attach() - redirect a kind's functions
 * @functions: the kind's, for which there is no reason not to
 * @variant: to which of ours
 * @failed: set to what could not be
 *
 * Context: thread; may sleep. One at a time.
 * Return: 0, or a negative errno, and then none is: see ntklog_register_hooks() and
 * ntklog_pin_ftrace_enabled().
 */
int ntklog_attach(struct ntklog_linux_functions *functions, enum ntklog_hook_variant variant,
		  const char **failed)
{
	int err;

	err = ntklog_pin_ftrace_enabled();
	if (err) {
		*failed = err == -EHOSTDOWN ? "kernel.ftrace_enabled" : "ftrace";
		return err;
	}
	functions->variant = variant;
	ntklog_select_variant(functions->hooks, functions->count, variant);
	err = ntklog_prepare_attach(functions, failed);
	if (err) {
		ntklog_unpin_ftrace_enabled();
		return err;
	}
	err = ntklog_register_hooks(functions->hooks, functions->count, true, failed);
	if (err)
		goto leave;
	err = ntklog_register_hooks(functions->hooks, functions->count, false, failed);
	if (err) {
		/* What some have acquired meanwhile has been released: restoring waits. */
		ntklog_unregister_hooks(functions->hooks, functions->count, true);
		goto leave;
	}
	ntklog_unpin_ftrace_enabled();
	ntklog_finish_attach(functions);
	return 0;

leave:
	ntklog_unpin_ftrace_enabled();
	ntklog_finish_detach(functions);
	return err;
}

/**
 * ntklog_detach() - undo ntklog_attach()
 * @functions: the kind's
 *
 * Context: as there. What is stuck is not restored.
 */
void ntklog_detach(struct ntklog_linux_functions *functions)
{
	if (functions->variant != NTKLOG_VARIANT_SAMPLE)
		ntklog_begin_spin_lock_detach();
	ntklog_unregister_hooks(functions->hooks, functions->count, false);
	/* What is still acquired through us is still released through us. */
	if (ntklog_is_stuck(functions))
		return;
	ntklog_unregister_hooks(functions->hooks, functions->count, true);
	ntklog_finish_detach(functions);
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
#elif defined(NTKLOG_DO_RAW_IS_GUARDED)
#define NTKLOG_LACKS	"CONFIG_DEBUG_SPINLOCK with CONFIG_X86_KERNEL_IBT or CFI"
#elif !defined(CONFIG_UNINLINE_SPIN_UNLOCK)
#define NTKLOG_LACKS	"no CONFIG_PREEMPT_BUILD: unlocks are inlined"
#else
#define NTKLOG_LACKS	"no CONFIG_QUEUED_SPINLOCKS"
#endif

const char __init *ntklog_check_attach(struct ntklog_linux_functions *functions, bool *lacks)
{
	*lacks = false;
	return NTKLOG_LACKS;
}

#endif /* !NTKLOG_LINUX_LOCKS */
