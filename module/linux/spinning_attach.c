// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order in which the functions of a kind that spins are redirected and restored.
 *
 * Attach: enable tracking; redirect the release functions, then the acquire functions. When the
 *	first acquire function is redirected, all release functions are already redirected on all
 *	CPUs. A lock that is acquired through a replacement is therefore released through one. A
 *	release without a slot counts as "expected" until a grace period has passed, because the
 *	lock may have been acquired before.
 * Detach: restore the acquire functions. Wait until no task is in a replacement and all locks that
 *	were acquired through one have been released; these releases free the slots. Restore the
 *	release functions, wait again, and disable tracking.
 *
 * In mode "sampled" most releases have no slot, and a release without a slot is no error. Tracking
 * is therefore not armed, no interrupt hook is registered, and no grace period is needed after the
 * acquire functions are redirected.
 */

#include <linux/cpufeature.h>
#include <linux/rcupdate.h>

#include "do_raw.h"
#include "interrupts.h"
#include "spinning_attach.h"

#ifdef NTKLOG_CAN_REDIRECT_SPINNING

/**
 * ntklog_resolve_spinning_kind() - resolve the functions of a kind that spins
 * @functions: functions of the kind
 * @lacks_function: set to true if the return value is a name, otherwise to false
 *
 * Context: module load.
 * Return: NULL, or the reason why the kind is unavailable, which may be the name of a function or
 * tracepoint.
 */
const char __init *ntklog_resolve_spinning_kind(struct ntklog_lock_functions *functions,
						bool *lacks_function)
{
	const char *missing_function;

	*lacks_function = false;
#ifdef X86_FEATURE_CALL_DEPTH
	if (boot_cpu_has(X86_FEATURE_CALL_DEPTH))
		return "retbleed=stuff counts calls";
#endif
	missing_function = ntklog_resolve_interrupt_hooks() ?: ntklog_resolve_do_raw() ?:
			   ntklog_resolve_targets(functions->hooks, functions->hook_count);
	*lacks_function = missing_function;
	return missing_function;
}

static int ntklog_prepare_attach(const struct ntklog_lock_functions *functions,
				 const char **failed_name)
{
	int err;

	if (functions->variant == NTKLOG_VARIANT_SAMPLE) {
		ntklog_start_sampling_spin_locks();
		return 0;
	}
	err = ntklog_register_interrupt_hooks(failed_name);
	if (!err)
		ntklog_begin_spin_lock_attach();
	return err;
}

static void ntklog_finish_attach(const struct ntklog_lock_functions *functions)
{
	if (functions->variant == NTKLOG_VARIANT_SAMPLE)
		return;
	/*
	 * Wait for tasks that were preempted in the original function before they acquired the
	 * lock. Then wait until all locks that were acquired by the original have been released.
	 */
	synchronize_rcu_tasks();
	synchronize_rcu();
	ntklog_end_spin_lock_attach();
}

static void ntklog_finish_detach(const struct ntklog_lock_functions *functions)
{
	if (ntklog_functions_are_stuck(functions))
		return;
	if (functions->variant == NTKLOG_VARIANT_SAMPLE) {
		ntklog_stop_sampling_spin_locks();
		return;
	}
	ntklog_end_spin_lock_detach();
	ntklog_unregister_interrupt_hooks();
}

/**
 * ntklog_attach_spinning_kind() - redirect the functions of a kind that spins
 * @functions: functions of the kind; ntklog_resolve_spinning_kind() has returned NULL for them
 * @variant: variant of the replacements
 * @failed_name: after an error, set to the name of the function, tracepoint or sysctl that failed
 *
 * Context: task; may sleep. Callers are serialized.
 * Return: 0; or a negative errno, and then no function is redirected, except for a kind for which
 * ntklog_functions_are_stuck() is true.
 */
int ntklog_attach_spinning_kind(struct ntklog_lock_functions *functions,
				enum ntklog_hook_variant variant, const char **failed_name)
{
	int err;

	err = ntklog_pin_ftrace_enabled(failed_name);
	if (err)
		return err;
	functions->variant = variant;
	ntklog_select_variant(functions->hooks, functions->hook_count, variant);
	err = ntklog_prepare_attach(functions, failed_name);
	if (err) {
		ntklog_unpin_ftrace_enabled();
		return err;
	}
	err = ntklog_register_hooks(functions->hooks, functions->hook_count, failed_name);
	ntklog_unpin_ftrace_enabled();
	if (err)
		ntklog_finish_detach(functions);
	else
		ntklog_finish_attach(functions);
	return err;
}

/**
 * ntklog_detach_spinning_kind() - undo ntklog_attach_spinning_kind()
 * @functions: functions of the kind
 *
 * If an acquire hook is stuck, it stays installed, and so do all release hooks, which free its
 * slots.
 *
 * Context: task; may sleep. Callers are serialized.
 */
void ntklog_detach_spinning_kind(struct ntklog_lock_functions *functions)
{
	if (functions->variant != NTKLOG_VARIANT_SAMPLE)
		ntklog_begin_spin_lock_detach();
	ntklog_unregister_hooks(functions->hooks, functions->hook_count, false);
	if (ntklog_functions_are_stuck(functions))
		return;
	ntklog_unregister_hooks(functions->hooks, functions->hook_count, true);
	ntklog_finish_detach(functions);
}

#else /* !NTKLOG_CAN_REDIRECT_SPINNING */

#if !defined(CONFIG_X86_64)
#define NTKLOG_UNAVAILABLE_REASON	"this architecture is not x86-64"
#elif !defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)
#define NTKLOG_UNAVAILABLE_REASON	"no CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS"
#elif !defined(CONFIG_KPROBES)
#define NTKLOG_UNAVAILABLE_REASON	"no CONFIG_KPROBES"
#elif defined(CONFIG_PREEMPT_RT)
#define NTKLOG_UNAVAILABLE_REASON	"CONFIG_PREEMPT_RT has other locks"
#elif defined(NTKLOG_CANNOT_CALL_DO_RAW)
#define NTKLOG_UNAVAILABLE_REASON	"CONFIG_DEBUG_SPINLOCK with CONFIG_X86_KERNEL_IBT or CFI"
#elif !defined(CONFIG_UNINLINE_SPIN_UNLOCK)
#define NTKLOG_UNAVAILABLE_REASON	"no CONFIG_PREEMPT_BUILD: unlocks are inlined"
#else
#define NTKLOG_UNAVAILABLE_REASON	"no CONFIG_QUEUED_SPINLOCKS"
#endif

const char __init *ntklog_resolve_spinning_kind(struct ntklog_lock_functions *functions,
						bool *lacks_function)
{
	*lacks_function = false;
	return NTKLOG_UNAVAILABLE_REASON;
}

#endif /* !NTKLOG_CAN_REDIRECT_SPINNING */
