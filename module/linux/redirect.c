// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code relies on two guarantees of ftrace:
 *
 * - When a registration returns, all CPUs execute the patched instruction.
 * - When an ops with FTRACE_OPS_FL_DYNAMIC has been unregistered, no task executes its trampoline,
 *   or the hook or replacement behind it, even if the task was preempted there. ftrace ensures this
 *   with a grace period of Tasks RCU.
 *
 * Tasks RCU waits neither for idle tasks nor for the release of held spin locks. Idle tasks and
 * holders of spin locks run with preemption off, so synchronize_rcu() waits for them.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "../ground/compat.h"
#include "code.h"
#include "redirect.h"

#ifdef NTKLOG_CAN_REDIRECT

/**
 * ntklog_find_function() - look up the address of a kernel function
 * @name: symbol name
 *
 * kallsyms_lookup_name() is not exported. Registering a disabled kprobe resolves the symbol without
 * patching any code.
 *
 * Context: task; may sleep.
 * Return: the address, or 0 if the kernel has no such symbol or does not allow a kprobe on it.
 */
unsigned long ntklog_find_function(const char *name)
{
	struct kprobe probe = {
		.symbol_name = name,
		.flags = KPROBE_FLAG_DISABLED,
	};
	unsigned long address;

	if (register_kprobe(&probe))
		return 0;
	address = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	return address;
}

/* Each address may be that of the function or of the instruction that ftrace patches. */
static bool ntklog_is_same_function(unsigned long function, const void *other)
{
	return ntklog_get_address_after_call(function) ==
	       ntklog_get_address_after_call((unsigned long)other);
}

/* Returns false if the kind of lock cannot be used. Without a hook the address is 0. */
static bool ntklog_resolve_target(struct ntklog_target *target, const void *original_entry)
{
	unsigned long inner_address;

	target->address = ntklog_find_function(target->name);
	if (!target->address)
		return target->optional;
	if ((target->exported_address &&
	     !ntklog_is_same_function(target->address, target->exported_address)) ||
	    (original_entry && original_entry != ntklog_get_address_after_call(target->address))) {
		target->address = 0;
		return false;
	}
	inner_address = target->inner_name ? ntklog_find_function(target->inner_name) : 0;
	if (!inner_address || !ntklog_function_has_call_to(target->address, inner_address))
		return true;
	target->address = 0;
	return target->optional;
}

/**
 * ntklog_resolve_targets() - look up the addresses of all functions to hook
 * @hooks: array of hooks; the addresses of their functions are filled in
 * @count: number of elements in @hooks
 *
 * Context: task; may sleep.
 * Return: NULL, or the name of the first function that prevents the use of @hooks.
 */
const char *ntklog_resolve_targets(struct ntklog_hook *hooks, size_t count)
{
	const char *unusable_name = NULL;
	size_t i, j;

	for (i = 0; i < count; i++)
		for (j = 0; j < hooks[i].target_count; j++) {
			struct ntklog_target *target = &hooks[i].targets[j];

			if (!ntklog_resolve_target(target, hooks[i].original_entry) &&
			    !unusable_name)
				unusable_name = target->name;
		}
	return unusable_name;
}

static size_t ntklog_count_hook_targets(const struct ntklog_hook *hook)
{
	size_t i, count = 0;

	for (i = 0; i < hook->target_count; i++)
		count += !!hook->targets[i].address;
	return count;
}

/**
 * ntklog_count_targets() - count the functions that can be hooked on this kernel
 * @hooks: array of hooks, after ntklog_resolve_targets()
 * @count: number of elements in @hooks
 *
 * Context: any.
 * Return: number of functions with an address.
 */
size_t ntklog_count_targets(const struct ntklog_hook *hooks, size_t count)
{
	size_t i, function_count = 0;

	for (i = 0; i < count; i++)
		function_count += ntklog_count_hook_targets(&hooks[i]);
	return function_count;
}

/* Callback of the guard, which has to trace a function, and traces one that is rarely called. */
static void ntklog_ftrace_guard_callback(unsigned long ip, unsigned long parent,
					 struct ftrace_ops *ops, struct ftrace_regs *regs)
{
}

static struct ftrace_ops ntklog_ftrace_guard;
static bool ntklog_ftrace_guard_registered, ntklog_ftrace_guard_stuck;

/* Registered hooks keep ftrace enabled, so the guard is only needed while there are none. */
static unsigned int ntklog_registered_hook_count;

static void ntklog_reset_ftrace_guard(void)
{
	/* Wait for CPUs that iterate over the list of all ops, as in ntklog_unregister_hooks(). */
	synchronize_rcu();
	ftrace_free_filter(&ntklog_ftrace_guard);
	memset(&ntklog_ftrace_guard, 0, sizeof(ntklog_ftrace_guard));
}

/**
 * ntklog_pin_ftrace_enabled() - ensure that kernel.ftrace_enabled is 1 and stays 1
 * @failed_name: after an error, set to the name of the sysctl, or to "ftrace"
 *
 * While kernel.ftrace_enabled is 0, register_ftrace_direct() succeeds without patching the
 * function. It also changes the ftrace record of the function. Unregistering does not undo this
 * change, and ftrace disables itself for good when it finds the inconsistent record.
 *
 * Therefore a guard is registered first. The guard has FTRACE_OPS_FL_PERMANENT set before it is
 * registered, so ftrace returns -EBUSY while kernel.ftrace_enabled is 0, before it changes any
 * record. While the guard is registered, writing 0 to kernel.ftrace_enabled fails. The flag cannot
 * be set in the ops of a hook before its registration, because register_ftrace_direct() overwrites
 * the flags.
 *
 * Context: task; may sleep. Callers are serialized.
 * Return: 0; the caller must then call ntklog_unpin_ftrace_enabled(). -EHOSTDOWN if
 * kernel.ftrace_enabled is 0. Another negative errno if ftrace does not work.
 */
int ntklog_pin_ftrace_enabled(const char **failed_name)
{
	int err;

	if (ntklog_ftrace_guard_stuck) {
		*failed_name = "ftrace";
		return -ENODEV;
	}
	if (ntklog_registered_hook_count)
		return 0;
	ntklog_ftrace_guard.func = ntklog_ftrace_guard_callback;
	ntklog_ftrace_guard.flags = FTRACE_OPS_FL_PERMANENT;
	err = ftrace_set_filter_ip(&ntklog_ftrace_guard, (unsigned long)ntklog_resolve_targets,
				   0, 0);
	if (!err)
		err = register_ftrace_function(&ntklog_ftrace_guard);
	if (!err) {
		ntklog_ftrace_guard_registered = true;
		return 0;
	}
	ntklog_reset_ftrace_guard();
	*failed_name = err == -EBUSY ? "kernel.ftrace_enabled" : "ftrace";
	return err == -EBUSY ? -EHOSTDOWN : err;
}

/**
 * ntklog_unpin_ftrace_enabled() - undo ntklog_pin_ftrace_enabled()
 *
 * Context: task; may sleep. Callers are serialized.
 */
void ntklog_unpin_ftrace_enabled(void)
{
	int err;

	if (!ntklog_ftrace_guard_registered)
		return;
	ntklog_ftrace_guard_registered = false;
	err = unregister_ftrace_function(&ntklog_ftrace_guard);
	if (!err) {
		ntklog_reset_ftrace_guard();
		return;
	}
	/* ftrace has disabled itself and keeps the ops on its list: never unload the module. */
	pr_err("ftrace has failed (%d): functions of the kernel cannot be restored\n", err);
	ntklog_ftrace_guard_stuck = true;
	__module_get(THIS_MODULE);
}

static void ntklog_reset_hook(struct ntklog_hook *hook)
{
	ftrace_free_filter(&hook->ops);
	/* Clear the pointers to the freed filter hashes, which ftrace_free_filter() leaves. */
	memset(&hook->ops, 0, sizeof(hook->ops));
	hook->draining = false;
}

/*
 * ftrace_ops::ops_func of entry hooks: let an ops that modifies the instruction pointer, such as a
 * kprobe with a post handler or a livepatch, share the function. The trampoline of an entry hook
 * returns into the function, so both ops work.
 */
static int ntklog_allow_ipmodify(struct ftrace_ops *ops, enum ftrace_ops_cmd command)
{
	return 0;
}

static int ntklog_allow_ipmodify_at(struct ftrace_ops *ops, unsigned long ip,
				    enum ftrace_ops_cmd command)
{
	return 0;
}

/* Newer kernels also pass the address of the function to ops_func. */
typedef int (*ntklog_ops_func_t)(struct ftrace_ops *ops, enum ftrace_ops_cmd command);

#define NTKLOG_ALLOW_IPMODIFY_OPS_FUNC						\
	__builtin_choose_expr(__builtin_types_compatible_p(ftrace_ops_func_t,	\
							   ntklog_ops_func_t),	\
			      ntklog_allow_ipmodify, ntklog_allow_ipmodify_at)

static int ntklog_register_hook(struct ntklog_hook *hook)
{
	struct ftrace_ops *ops = &hook->ops;
	int err = 0;
	size_t i;

	if (hook->entry_only)
		ops->ops_func = NTKLOG_ALLOW_IPMODIFY_OPS_FUNC;
	for (i = 0; i < hook->target_count && !err; i++)
		if (hook->targets[i].address)
			err = ftrace_set_filter_ip(ops, hook->targets[i].address, 0, 0);
	if (!err)
		err = ntklog_register_direct(ops, (unsigned long)hook->selected_trampoline);
	if (err) {
		/* CPUs may iterate over ftrace's list, to which the ops may have been added. */
		synchronize_rcu();
		ntklog_reset_hook(hook);
		return err;
	}
	hook->registered = true;
	ntklog_registered_hook_count++;
	/*
	 * Refuse kernel.ftrace_enabled=0 while the hook is registered. No lock is needed,
	 * because ftrace does not write the flags of an ops while it stays registered.
	 */
	ops->flags |= FTRACE_OPS_FL_PERMANENT;
	return 0;
}

/**
 * ntklog_select_variant() - select the variant that the next registration of hooks installs
 * @hooks: array of hooks, none of them registered
 * @count: number of elements in @hooks
 * @variant: the variant
 *
 * Context: task.
 */
void ntklog_select_variant(struct ntklog_hook *hooks, size_t count,
			   enum ntklog_hook_variant variant)
{
	size_t i;

	for (i = 0; i < count; i++)
		hooks[i].selected_trampoline = hooks[i].trampolines[variant];
}

/* If one hook fails, the others are removed again. */
static int ntklog_register_matching_hooks(struct ntklog_hook *hooks, size_t count, bool is_release,
					  const char **failed_name)
{
	size_t i;
	int err;

	for (i = 0; i < count; i++) {
		if (hooks[i].is_release != is_release || !ntklog_count_hook_targets(&hooks[i]))
			continue;
		err = ntklog_register_hook(&hooks[i]);
		if (err) {
			*failed_name = hooks[i].targets[0].name;
			ntklog_unregister_hooks(hooks, count, is_release);
			return err;
		}
	}
	return 0;
}

/**
 * ntklog_register_hooks() - install the hooks of a lock kind
 * @hooks: array of hooks
 * @count: number of elements in @hooks
 * @failed_name: set to the name of the first function of the hook that failed
 *
 * Installs release hooks before acquire hooks, so that each lock that is acquired through an
 * acquire hook is released through a release hook.
 *
 * Context: task; may sleep. Between ntklog_pin_ftrace_enabled() and ntklog_unpin_ftrace_enabled().
 * Return: 0, or a negative errno, and then none of the hooks is installed, except stuck ones.
 */
int ntklog_register_hooks(struct ntklog_hook *hooks, size_t count, const char **failed_name)
{
	int err = ntklog_register_matching_hooks(hooks, count, true, failed_name);

	if (err)
		return err;
	err = ntklog_register_matching_hooks(hooks, count, false, failed_name);
	/*
	 * ntklog_register_matching_hooks() has removed the acquire hooks again and has waited for a
	 * grace period: all spin locks that were acquired through one of them have been released.
	 */
	if (err)
		ntklog_unregister_hooks(hooks, count, true);
	return err;
}

/*
 * Called after ntklog_hide_hooks(). ftrace waits for a grace period for each ops with
 * FTRACE_OPS_FL_DYNAMIC, because its owner may free it. The ops of hooks are static: clear the flag
 * unless @wait, so that one grace period at the end of a batch suffices.
 */
static void ntklog_unregister_hook(struct ntklog_hook *hook, bool wait)
{
	int err;

	if (!wait)
		hook->ops.flags &= ~FTRACE_OPS_FL_DYNAMIC;
	err = ntklog_unregister_direct(&hook->ops, (unsigned long)hook->selected_trampoline);
	if (err) {	/* ftrace has disabled itself and has reported why. */
		pr_err("cannot restore %s (%d)\n", hook->targets[0].name, err);
		hook->ops.flags &= ~FTRACE_OPS_FL_STUB;
		hook->stuck = true;
		return;
	}
	hook->registered = false;
	hook->draining = true;
	ntklog_registered_hook_count--;
}

static bool ntklog_hook_is_removable(const struct ntklog_hook *hook, bool is_release)
{
	return hook->is_release == is_release && hook->registered && !hook->stuck;
}

/*
 * Have ftrace ignore the ops of the hooks that are about to be unregistered. Returns their number.
 *
 * If another ftrace user shares a function, CPUs call ftrace_ops_list_func(), which iterates over
 * the ops of all users. Without FTRACE_OPS_FL_DYNAMIC, unregister_ftrace_direct() clears ops->func
 * while a CPU may be about to call it: CPU 0 finds the ops in the list; CPU 1 removes the ops and
 * clears the pointer; CPU 0 finds no function and disables ftrace for good. ftrace skips an ops
 * with FTRACE_OPS_FL_STUB before it reads the pointer. After the grace period all CPUs see the
 * flag, because they iterate with preemption off. From here on the hook of a shared function may
 * miss calls.
 */
static size_t ntklog_hide_hooks(struct ntklog_hook *hooks, size_t count, bool is_release)
{
	size_t i, hidden_count = 0;

	for (i = 0; i < count; i++)
		if (ntklog_hook_is_removable(&hooks[i], is_release)) {
			hooks[i].ops.flags |= FTRACE_OPS_FL_STUB;
			hidden_count++;
		}
	synchronize_rcu();
	return hidden_count;
}

/**
 * ntklog_unregister_hooks() - remove all acquire hooks or all release hooks of a lock kind
 * @hooks: array of hooks
 * @count: number of elements in @hooks
 * @is_release: true to remove the release hooks, false to remove the acquire hooks
 *
 * When this function returns, no task is in a trampoline, hook or replacement of the removed hooks.
 * All spin locks that were held on entry have been released.
 *
 * Context: task; may sleep.
 */
void ntklog_unregister_hooks(struct ntklog_hook *hooks, size_t count, bool is_release)
{
	size_t i, remaining_count = ntklog_hide_hooks(hooks, count, is_release);

	for (i = 0; i < count; i++)
		if (ntklog_hook_is_removable(&hooks[i], is_release))
			ntklog_unregister_hook(&hooks[i], !--remaining_count);
	synchronize_rcu();
	/* Clear the ops only after the grace period, because CPUs may use the ops until then. */
	for (i = 0; i < count; i++)
		if (hooks[i].draining && hooks[i].is_release == is_release)
			ntklog_reset_hook(&hooks[i]);
}

/**
 * ntklog_unregister_hooks_nowait() - remove all hooks of a lock kind, without the grace period
 * @hooks: array of hooks
 * @count: number of elements in @hooks
 *
 * Removes acquire hooks before release hooks. The caller must wait for the grace periods and call
 * ntklog_reset_unregistered_hooks() before it installs any of the hooks again and before the module
 * is unloaded.
 *
 * Context: task; may sleep. On return tasks may still execute a trampoline.
 */
void ntklog_unregister_hooks_nowait(struct ntklog_hook *hooks, size_t count)
{
	int is_release;
	size_t i;

	for (is_release = 0; is_release <= 1; is_release++) {
		ntklog_hide_hooks(hooks, count, is_release);
		for (i = 0; i < count; i++)
			if (ntklog_hook_is_removable(&hooks[i], is_release))
				ntklog_unregister_hook(&hooks[i], false);
	}
}

/**
 * ntklog_reset_unregistered_hooks() - finish ntklog_unregister_hooks_nowait()
 * @hooks: array of hooks
 * @count: number of elements in @hooks
 *
 * The caller must have called synchronize_rcu_tasks() and synchronize_rcu() after
 * ntklog_unregister_hooks_nowait(), so that no task is in a trampoline or hook.
 *
 * Context: task.
 */
void ntklog_reset_unregistered_hooks(struct ntklog_hook *hooks, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (hooks[i].draining)
			ntklog_reset_hook(&hooks[i]);
}

#endif /* NTKLOG_CAN_REDIRECT */
