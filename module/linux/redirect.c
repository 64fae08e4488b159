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
#include "redirect.h"

#ifdef NTKLOG_CAN_REDIRECT

/* A kprobe that is never armed changes nothing, and tells. 0: this kernel has none of this name. */
static unsigned long ntklog_find_function(const char *name)
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

/**
 * ntklog_find_functions() - where are they?
 * @redirects: the functions; addresses are filled in
 * @count: of them
 *
 * Context: thread.
 * Return: NULL, or the name of one that this kernel does not have and that is not optional.
 */
const char *ntklog_find_functions(struct ntklog_redirect *redirects, size_t count)
{
	const char *missing = NULL;
	size_t i;

	for (i = 0; i < count; i++) {
		redirects[i].address = ntklog_find_function(redirects[i].name);
		if (!redirects[i].address && !redirects[i].optional && !missing)
			missing = redirects[i].name;
	}
	return missing;
}

/* On a function that only ntklog_linux_init() calls: nobody comes by it. */
static void ntklog_do_nothing(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
			      struct ftrace_regs *regs)
{
}

static struct ftrace_ops ntklog_keeper;
static bool ntklog_keeper_is_stuck;

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
	ntklog_keeper.func = ntklog_do_nothing;
	ntklog_keeper.flags = FTRACE_OPS_FL_PERMANENT;
	err = ftrace_set_filter_ip(&ntklog_keeper, (unsigned long)ntklog_find_functions, 0, 0);
	if (!err)
		err = register_ftrace_function(&ntklog_keeper);
	if (err)
		ntklog_forget_keeper();
	return err == -EBUSY ? -EHOSTDOWN : err;
}

/**
 * ntklog_let_ftrace_go() - undo ntklog_keep_ftrace_enabled()
 *
 * Context: as there.
 */
void ntklog_let_ftrace_go(void)
{
	int err = unregister_ftrace_function(&ntklog_keeper);

	if (!err) {
		ntklog_forget_keeper();
		return;
	}
	/* ftrace has switched itself off, and has the ops in its list for good. */
	pr_err("ftrace is out of order (%d)\n", err);
	ntklog_keeper_is_stuck = true;
	__module_get(THIS_MODULE);
}

static void ntklog_forget(struct ntklog_redirect *redirect)
{
	ftrace_free_filter(&redirect->ops);
	/* Else its next use finds what this one has left, such as callbacks of RCU's. */
	memset(&redirect->ops, 0, sizeof(redirect->ops));
	redirect->is_on = false;
}

static int ntklog_redirect_function(struct ntklog_redirect *redirect)
{
	struct ftrace_ops *ops = &redirect->ops;
	int err;

	err = ftrace_set_filter_ip(ops, redirect->address, 0, 0);
	if (!err)
		err = ntklog_register_direct(ops, (unsigned long)redirect->trampoline);
	if (err) {
		/* In ftrace's list for a moment, perhaps: who walks that has preemption off. */
		synchronize_rcu();
		ntklog_forget(redirect);
		return err;
	}
	redirect->is_on = true;
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
		if (redirects[i].releases != releases || !redirects[i].address)
			continue;
		err = ntklog_redirect_function(&redirects[i]);
		if (err) {
			*failed = redirects[i].name;
			ntklog_restore_functions(redirects, count, releases);
			return err;
		}
	}
	return 0;
}

/*
 * Does the function call our trampoline, and not ftrace, which calls all that are interested? Then
 * nobody walks over its ops on the function's behalf.
 */
static bool ntklog_is_redirected_alone(const struct ntklog_redirect *redirect)
{
	const u8 *code = (const u8 *)redirect->address;
	s32 distance;

	if (*code != CALL_INSN_OPCODE)
		code += ENDBR_INSN_SIZE;
	memcpy(&distance, code + 1, sizeof(distance));
	return *code == CALL_INSN_OPCODE &&
	       code + CALL_INSN_SIZE + distance == (const u8 *)redirect->trampoline;
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
		left += redirects[i].is_on && redirects[i].releases == releases;
	/* Who walks over the ops of a function that was shared until a moment ago. */
	synchronize_rcu();
	for (i = 0; i < count; i++) {
		struct ntklog_redirect *redirect = &redirects[i];
		int err;

		if (!redirect->is_on || redirect->releases != releases)
			continue;
		/*
		 * ftrace waits for each ops that may be freed, a tenth of a second and more.
		 * These are not freed, so one wait is enough for all: that for the last. But where
		 * the function tracer or a kprobe is on the function too, there is one that looks
		 * at the ops, which are reset when ftrace has waited.
		 */
		if (--left && ntklog_is_redirected_alone(redirect))
			redirect->ops.flags &= ~FTRACE_OPS_FL_DYNAMIC;
		err = ntklog_unregister_direct(&redirect->ops, (unsigned long)redirect->trampoline);
		if (err) {	/* ftrace has switched itself off: it has said why. */
			pr_err("cannot restore %s (%d)\n", redirect->name, err);
			redirect->is_stuck = true;
		}
	}
	synchronize_rcu();
	/* All that RCU's callbacks may still look at until the wait is over. */
	for (i = 0; i < count; i++)
		if (redirects[i].is_on && !redirects[i].is_stuck &&
		    redirects[i].releases == releases)
			ntklog_forget(&redirects[i]);
}

#endif /* NTKLOG_CAN_REDIRECT */
