// SPDX-License-Identifier: GPL-2.0-only
/*
 * Find, patch and restore kernel functions; see redirect.h.
 *
 * All functions of this file may sleep, and their callers serialize them. The code relies on two
 * guarantees of ftrace:
 *
 * - When a registration returns, all CPUs execute the patched instruction.
 * - When the last ops of a batch has been unregistered, no task executes its trampoline, or the
 *   hook or replacement behind it, even if the task was preempted there. ftrace ensures this with
 *   a grace period of Tasks RCU.
 *
 * Tasks RCU does not wait for idle tasks or for the release of spin locks. Both run with preemption
 * off, so synchronize_rcu() waits for them.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "../compat.h"
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

/*
 * Resolve @place. Its address stays 0 if the function must not be hooked. Returns false if a
 * mandatory function is missing or does not have the expected code.
 */
static bool ntklog_look_at_place(struct ntklog_place *place, const void *behind)
{
	unsigned long wrapped;

	place->address = ntklog_find_function(place->name);
	if (!place->address)
		return place->optional;
	if (behind && behind != ntklog_behind_call(place->address))
		return false;
	wrapped = place->wraps ? ntklog_find_function(place->wraps) : 0;
	if (!wrapped || !ntklog_code_calls(place->address, wrapped))
		return true;
	place->address = 0;
	return place->optional;
}

/**
 * ntklog_find_functions() - look up the addresses of all functions to hook
 * @redirects: array of hooks; the addresses of their functions are filled in
 * @count: number of elements in @redirects
 *
 * Context: task; may sleep.
 * Return: NULL, or the name of the first mandatory function that is missing or does not have the
 * expected code.
 */
const char *ntklog_find_functions(struct ntklog_redirect *redirects, size_t count)
{
	const char *missing = NULL;
	size_t i, j;

	for (i = 0; i < count; i++)
		for (j = 0; j < redirects[i].place_count; j++) {
			struct ntklog_place *place = &redirects[i].places[j];

			if (!ntklog_look_at_place(place, redirects[i].behind) && !missing)
				missing = place->name;
		}
	return missing;
}

static size_t ntklog_count_places(const struct ntklog_redirect *redirect)
{
	size_t i, count = 0;

	for (i = 0; i < redirect->place_count; i++)
		count += !!redirect->places[i].address;
	return count;
}

/**
 * ntklog_count_functions() - count the functions that can be hooked on this kernel
 * @redirects: array of hooks, after ntklog_find_functions()
 * @count: number of elements in @redirects
 *
 * Context: any.
 * Return: number of functions with an address.
 */
size_t ntklog_count_functions(const struct ntklog_redirect *redirects, size_t count)
{
	size_t i, functions = 0;

	for (i = 0; i < count; i++)
		functions += ntklog_count_places(&redirects[i]);
	return functions;
}

/*
 * Callback of the guard. Its only target is ntklog_find_functions(), which only module init calls,
 * so the callback never runs.
 */
static void ntklog_do_nothing(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			      struct ftrace_regs *regs)
{
}

static struct ftrace_ops ntklog_keeper;
static bool ntklog_keeper_is_on, ntklog_keeper_is_stuck;

/*
 * Number of registered hooks. They have FTRACE_OPS_FL_PERMANENT and keep ftrace enabled, so that
 * the guard is only needed while this is 0.
 */
static unsigned int ntklog_redirected;

static void ntklog_forget_keeper(void)
{
	/* Wait for CPUs that iterate over the list of all ops, as in ntklog_restore_functions(). */
	synchronize_rcu();
	ftrace_free_filter(&ntklog_keeper);
	memset(&ntklog_keeper, 0, sizeof(ntklog_keeper));
}

/**
 * ntklog_keep_ftrace_enabled() - ensure that kernel.ftrace_enabled is 1 and stays 1
 *
 * While kernel.ftrace_enabled is 0, register_ftrace_direct() succeeds without patching the
 * function. It also changes the ftrace record of the function. Unregistering does not undo this
 * change, and ftrace disables itself for good when it finds the inconsistent record.
 *
 * Therefore a guard is registered first. The guard has FTRACE_OPS_FL_PERMANENT set before it is
 * registered, so ftrace returns -EBUSY while kernel.ftrace_enabled is 0, before it changes any
 * record. While the guard is registered, writing 0 to kernel.ftrace_enabled fails. The ops of hooks
 * cannot do this on their own: register_ftrace_direct() overwrites their flags.
 *
 * Context: task; may sleep. Callers are serialized.
 * Return: 0; the caller must then call ntklog_let_ftrace_go(). -EHOSTDOWN if kernel.ftrace_enabled
 * is 0. Another negative errno if ftrace does not work.
 */
int ntklog_keep_ftrace_enabled(void)
{
	int err;

	if (ntklog_keeper_is_stuck)
		return -ENODEV;
	if (ntklog_redirected)
		return 0;
	ntklog_keeper.func = ntklog_do_nothing;
	ntklog_keeper.flags = FTRACE_OPS_FL_PERMANENT;
	err = ftrace_set_filter_ip(&ntklog_keeper, (unsigned long)ntklog_find_functions, 0, 0);
	if (!err)
		err = register_ftrace_function(&ntklog_keeper);
	if (err)
		ntklog_forget_keeper();
	else
		ntklog_keeper_is_on = true;
	return err == -EBUSY ? -EHOSTDOWN : err;
}

/**
 * ntklog_let_ftrace_go() - undo ntklog_keep_ftrace_enabled()
 *
 * Context: task; may sleep. Callers are serialized.
 */
void ntklog_let_ftrace_go(void)
{
	int err;

	if (!ntklog_keeper_is_on)
		return;
	ntklog_keeper_is_on = false;
	err = unregister_ftrace_function(&ntklog_keeper);
	if (!err) {
		ntklog_forget_keeper();
		return;
	}
	/* ftrace has disabled itself and keeps the ops on its list: never unload the module. */
	pr_err("ftrace has failed (%d): functions of the kernel cannot be restored\n", err);
	ntklog_keeper_is_stuck = true;
	__module_get(THIS_MODULE);
}

static void ntklog_forget(struct ntklog_redirect *redirect)
{
	ftrace_free_filter(&redirect->ops);
	/*
	 * ftrace_free_filter() leaves the pointers to the freed filter hashes in the ops. Clear
	 * them, so that the next registration does not use them.
	 */
	memset(&redirect->ops, 0, sizeof(redirect->ops));
	redirect->is_leaving = false;
}

/*
 * ftrace_ops::ops_func of hooks: let an ops that modifies the instruction pointer, such as a kprobe
 * with a post handler or a livepatch, share the function. The hook returns into the function, so
 * both work.
 */
static int ntklog_share(struct ftrace_ops *ops, enum ftrace_ops_cmd command)
{
	return 0;
}

static int ntklog_share_at(struct ftrace_ops *ops, unsigned long ip, enum ftrace_ops_cmd command)
{
	return 0;
}

/*
 * Newer kernels also pass the address of the function. Select the callback that has the type that
 * this kernel expects.
 */
typedef int (*ntklog_share_t)(struct ftrace_ops *ops, enum ftrace_ops_cmd command);

#define NTKLOG_SHARE								\
	__builtin_choose_expr(__builtin_types_compatible_p(ftrace_ops_func_t,	\
							   ntklog_share_t),	\
			      ntklog_share, ntklog_share_at)

static int ntklog_redirect_function(struct ntklog_redirect *redirect)
{
	struct ftrace_ops *ops = &redirect->ops;
	int err = 0;
	size_t i;

	if (redirect->is_hook)
		ops->ops_func = NTKLOG_SHARE;
	for (i = 0; i < redirect->place_count && !err; i++)
		if (redirect->places[i].address)
			err = ftrace_set_filter_ip(ops, redirect->places[i].address, 0, 0);
	if (!err)
		err = ntklog_register_direct(ops, (unsigned long)redirect->trampoline);
	if (err) {
		/*
		 * The failed registration may have added the ops to ftrace's list for a short time.
		 * CPUs iterate over this list with preemption off; wait for them.
		 */
		synchronize_rcu();
		ntklog_forget(redirect);
		return err;
	}
	redirect->is_on = true;
	ntklog_redirected++;
	/*
	 * Refuse kernel.ftrace_enabled=0 while the hook is registered. No lock is needed,
	 * because ftrace does not write the flags of an ops while it stays registered.
	 */
	ops->flags |= FTRACE_OPS_FL_PERMANENT;
	return 0;
}

/**
 * ntklog_choose_way() - select the set of trampolines for the next registration
 * @redirects: array of hooks, none of them registered
 * @count: number of elements in @redirects
 * @way: the set
 *
 * Context: task.
 */
void ntklog_choose_way(struct ntklog_redirect *redirects, size_t count, enum ntklog_way way)
{
	size_t i;

	for (i = 0; i < count; i++)
		redirects[i].trampoline = redirects[i].trampolines[way];
}

/**
 * ntklog_redirect_functions() - install all acquire hooks or all release hooks of a lock kind
 * @redirects: array of hooks
 * @count: number of elements in @redirects
 * @releases: true to install the release hooks, false to install the others
 * @failed: set to the name of the first function of the hook that failed
 *
 * Context: task; may sleep. Between ntklog_keep_ftrace_enabled() and ntklog_let_ftrace_go().
 * Return: 0, or a negative errno, and then none of the selected hooks is installed. -EBUSY if
 * another user has a direct call or modifies the instruction pointer at one of the functions.
 */
int ntklog_redirect_functions(struct ntklog_redirect *redirects, size_t count, bool releases,
			      const char **failed)
{
	size_t i;
	int err;

	for (i = 0; i < count; i++) {
		if (redirects[i].releases != releases || !ntklog_count_places(&redirects[i]))
			continue;
		err = ntklog_redirect_function(&redirects[i]);
		if (err) {
			*failed = redirects[i].places[0].name;
			ntklog_restore_functions(redirects, count, releases);
			return err;
		}
	}
	return 0;
}

/*
 * Return true if all functions call the trampoline directly. If another ftrace user shares a
 * function, it calls ftrace instead, and ftrace iterates over the ops of all users.
 */
static bool ntklog_is_redirected_alone(const struct ntklog_redirect *redirect)
{
	size_t i;

	for (i = 0; i < redirect->place_count; i++) {
		unsigned long address = redirect->places[i].address;

		if (address && !ntklog_calls_alone(address, &redirect->ops, redirect->trampoline))
			return false;
	}
	return true;
}

/*
 * Unregister one hook. ftrace waits for a grace period of at least 0.1 s for each ops with
 * FTRACE_OPS_FL_DYNAMIC, because the caller may free it. The ops of hooks are static: clear the
 * flag, so that only the last one of a batch (@waits) waits for all. But keep the flag if another
 * ftrace user shares a function, because a CPU may then be iterating over the ops, which are
 * cleared afterwards.
 */
static void ntklog_restore_function(struct ntklog_redirect *redirect, bool waits)
{
	int err;

	if (!waits && ntklog_is_redirected_alone(redirect))
		redirect->ops.flags &= ~FTRACE_OPS_FL_DYNAMIC;
	err = ntklog_unregister_direct(&redirect->ops, (unsigned long)redirect->trampoline);
	if (err) {	/* ftrace has disabled itself and has reported why. */
		pr_err("cannot restore %s (%d)\n", redirect->places[0].name, err);
		redirect->is_stuck = true;
		return;
	}
	redirect->is_on = false;
	redirect->is_leaving = true;
	ntklog_redirected--;
}

static bool ntklog_may_be_restored(const struct ntklog_redirect *redirect)
{
	return redirect->is_on && !redirect->is_stuck;
}

/**
 * ntklog_restore_functions() - remove all acquire hooks or all release hooks of a lock kind
 * @redirects: array of hooks
 * @count: number of elements in @redirects
 * @releases: true to remove the release hooks, false to remove the others
 *
 * When this function returns, no task is in a trampoline, hook or replacement of the removed hooks.
 * All spin locks that were held on entry have been released. Hooks with is_stuck remain
 * installed until reboot.
 *
 * Context: task; may sleep.
 */
void ntklog_restore_functions(struct ntklog_redirect *redirects, size_t count, bool releases)
{
	size_t i, left = 0;

	for (i = 0; i < count; i++)
		left += ntklog_may_be_restored(&redirects[i]) && redirects[i].releases == releases;
	/*
	 * A function may have been shared with another ftrace user until just now. Wait for CPUs
	 * that still iterate over the ops on its behalf.
	 */
	synchronize_rcu();
	for (i = 0; i < count; i++)
		if (ntklog_may_be_restored(&redirects[i]) && redirects[i].releases == releases)
			ntklog_restore_function(&redirects[i], !--left);
	synchronize_rcu();
	/* Only clear the ops after the grace period, because CPUs may use them until then. */
	for (i = 0; i < count; i++)
		if (redirects[i].is_leaving && redirects[i].releases == releases)
			ntklog_forget(&redirects[i]);
}

/**
 * ntklog_restore_without_waiting() - remove all hooks of a lock kind, without the grace period
 * @redirects: array of hooks
 * @count: number of elements in @redirects
 *
 * Removes acquire hooks before release hooks. The caller must wait for the grace periods and call
 * ntklog_forget_restored() before it installs any of the hooks again and before the module is
 * unloaded.
 *
 * Context: task; may sleep. On return no task enters a trampoline any more, but some may still be
 * in one.
 */
void ntklog_restore_without_waiting(struct ntklog_redirect *redirects, size_t count)
{
	int releases;
	size_t i;

	/* As in ntklog_restore_functions(). */
	synchronize_rcu();
	for (releases = 0; releases <= 1; releases++)
		for (i = 0; i < count; i++)
			if (ntklog_may_be_restored(&redirects[i]) &&
			    redirects[i].releases == releases)
				ntklog_restore_function(&redirects[i], false);
}

/**
 * ntklog_forget_restored() - finish ntklog_restore_without_waiting()
 * @redirects: array of hooks
 * @count: number of elements in @redirects
 *
 * The caller must have called synchronize_rcu_tasks() and synchronize_rcu() since, so that no task
 * is in a trampoline or hook.
 *
 * Context: task.
 */
void ntklog_forget_restored(struct ntklog_redirect *redirects, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (redirects[i].is_leaving)
			ntklog_forget(&redirects[i]);
}

#endif /* NTKLOG_CAN_REDIRECT */
