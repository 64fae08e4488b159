// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding and redirecting functions of the kernel; see redirect.h.
 *
 * Everything here is called by one thread at a time, and may sleep. What ftrace promises, and
 * this is built on: when a registration returns, every processor executes the new first
 * instruction; when the last of a batch has been unregistered, no thread is in a trampoline, in
 * one of our functions that it led to, or between the two, however long it had been preempted
 * there (Tasks RCU). What Tasks RCU does not look at - idle threads - and owners of locks RCU
 * itself waits for: they have preemption off.
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
 * ntklog_find_function() - where is it?
 * @name: its name
 *
 * A kprobe that is never armed changes nothing, and tells.
 *
 * Context: thread.
 * Return: its address; 0: this kernel has none of this name.
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

/* One that is left alone has no address. Returns whether it can be what it is to be. */
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
 * ntklog_find_functions() - where are they?
 * @redirects: the functions; addresses are filled in
 * @count: of @redirects
 *
 * Context: thread.
 * Return: NULL, or the name of one that this kernel does not have, or has in another way, and that
 * is not optional.
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
 * ntklog_count_functions() - how many of them does this kernel have?
 * @redirects: the functions, which have been found
 * @count: of @redirects
 *
 * Context: any.
 * Return: so many.
 */
size_t ntklog_count_functions(const struct ntklog_redirect *redirects, size_t count)
{
	size_t i, functions = 0;

	for (i = 0; i < count; i++)
		functions += ntklog_count_places(&redirects[i]);
	return functions;
}

/* On a function that only ntklog_linux_init() calls: nobody comes by it. */
static void ntklog_do_nothing(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			      struct ftrace_regs *regs)
{
}

static struct ftrace_ops ntklog_keeper;
static bool ntklog_keeper_is_on, ntklog_keeper_is_stuck;

/* How many functions are redirected: what is permanent keeps ftrace enabled too. */
static unsigned int ntklog_redirected;

static void ntklog_forget_keeper(void)
{
	/* Who walks over all ops, and RCU's callbacks: as ntklog_restore_functions(). */
	synchronize_rcu();
	ftrace_free_filter(&ntklog_keeper);
	memset(&ntklog_keeper, 0, sizeof(ntklog_keeper));
}

/**
 * ntklog_keep_ftrace_enabled() - see that kernel.ftrace_enabled is 1, and stays so
 *
 * With 0 a registration succeeds and changes no instruction. ftrace notes at the function what is
 * wanted of it, does not take it back when the registration is undone, and switches itself off
 * for good when it comes across that. So there is an ops first that is refused before anything is
 * noted, for it is permanent when it is registered, which makes ftrace_enabled=0 fail from then on.
 * Those of the redirected functions become permanent after it: registering sets their flags.
 *
 * Context: thread; may sleep. One at a time.
 * Return: 0, and then ntklog_let_ftrace_go() is to follow; -EHOSTDOWN if it is 0; or what else
 * keeps ftrace from tracing.
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
 * Context: as there.
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
	/* ftrace has switched itself off, and has the ops in its list for good. */
	pr_err("ftrace has failed (%d): functions of the kernel cannot be restored\n", err);
	ntklog_keeper_is_stuck = true;
	__module_get(THIS_MODULE);
}

static void ntklog_forget(struct ntklog_redirect *redirect)
{
	ftrace_free_filter(&redirect->ops);
	/* Else its next use finds what this one has left, such as callbacks of RCU's. */
	memset(&redirect->ops, 0, sizeof(redirect->ops));
	redirect->is_leaving = false;
}

/* What changes where a function goes, such as a kprobe, may come beside a hook. */
static int ntklog_share(struct ftrace_ops *ops, enum ftrace_ops_cmd command)
{
	return 0;
}

static int ntklog_share_at(struct ftrace_ops *ops, unsigned long ip, enum ftrace_ops_cmd command)
{
	return 0;
}

/* What ftrace asks is called with the function's address by newer kernels. */
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
		/* In ftrace's list for a moment, perhaps: who walks that has preemption off. */
		synchronize_rcu();
		ntklog_forget(redirect);
		return err;
	}
	redirect->is_on = true;
	ntklog_redirected++;
	/*
	 * For as long as it is redirected kernel.ftrace_enabled=0 is refused. Nobody else changes
	 * the flags while the ops stays as it is.
	 */
	ops->flags |= FTRACE_OPS_FL_PERMANENT;
	return 0;
}

/**
 * ntklog_choose_way() - what are they redirected to, when they are?
 * @redirects: the functions, none of them redirected
 * @count: of them
 * @way: to what
 *
 * Context: thread.
 */
void ntklog_choose_way(struct ntklog_redirect *redirects, size_t count, enum ntklog_way way)
{
	size_t i;

	for (i = 0; i < count; i++)
		redirects[i].trampoline = redirects[i].trampolines[way];
}

/**
 * ntklog_redirect_functions() - redirect one half of them
 * @redirects: the functions
 * @count: of them
 * @releases: those that release, or those that do not
 * @failed: set to the name of the one that could not be
 *
 * Context: thread; may sleep. Between ntklog_keep_ftrace_enabled() and ntklog_let_ftrace_go().
 * Return: 0; or a negative errno, and then none of the half is: -EBUSY if somebody else has a
 * direct call there, or changes where it goes.
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
 * Do the functions call our trampoline, and not ftrace, which calls all that are interested? Then
 * nobody walks over the ops on a function's behalf.
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
 * ftrace waits for each ops that may be freed, a tenth of a second and more. These are not, so
 * one wait is enough for all: @waits. But where the function tracer or a kprobe is on the function
 * too, there is one that looks at the ops, which are reset when ftrace has waited.
 */
static void ntklog_restore_function(struct ntklog_redirect *redirect, bool waits)
{
	int err;

	if (!waits && ntklog_is_redirected_alone(redirect))
		redirect->ops.flags &= ~FTRACE_OPS_FL_DYNAMIC;
	err = ntklog_unregister_direct(&redirect->ops, (unsigned long)redirect->trampoline);
	if (err) {	/* ftrace has switched itself off: it has said why. */
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
 * ntklog_restore_functions() - undo ntklog_redirect_functions()
 * @redirects: the functions
 * @count: of them
 * @releases: which half
 *
 * Context: thread; may sleep. At the return nobody is in a trampoline of these or in what it
 * led to, and spin locks that were owned are not any more.
 * One that is_stuck is still redirected, for ftrace is out of order, and for good.
 */
void ntklog_restore_functions(struct ntklog_redirect *redirects, size_t count, bool releases)
{
	size_t i, left = 0;

	for (i = 0; i < count; i++)
		left += ntklog_may_be_restored(&redirects[i]) && redirects[i].releases == releases;
	/* Who walks over the ops of a function that was shared until a moment ago. */
	synchronize_rcu();
	for (i = 0; i < count; i++)
		if (ntklog_may_be_restored(&redirects[i]) && redirects[i].releases == releases)
			ntklog_restore_function(&redirects[i], !--left);
	synchronize_rcu();
	/* All that RCU's callbacks may still look at until the wait is over. */
	for (i = 0; i < count; i++)
		if (redirects[i].is_leaving && redirects[i].releases == releases)
			ntklog_forget(&redirects[i]);
}

/**
 * ntklog_restore_without_waiting() - begin to undo ntklog_redirect_functions(), of both halves
 * @redirects: the functions
 * @count: of them
 *
 * The acquisitions first. ntklog_forget_restored() is to follow, before any of them is redirected
 * again, and before this module's text goes.
 *
 * Context: thread; may sleep. At the return nobody new comes to us; some may still be there.
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
 * ntklog_forget_restored() - end what ntklog_restore_without_waiting() began
 * @redirects: the functions
 * @count: of them
 *
 * Context: thread; who was on his way into a trampoline, there, or in what it led to, has been
 * waited for by synchronize_rcu_tasks() and synchronize_rcu().
 */
void ntklog_forget_restored(struct ntklog_redirect *redirects, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (redirects[i].is_leaving)
			ntklog_forget(&redirects[i]);
}

#endif /* NTKLOG_CAN_REDIRECT */
