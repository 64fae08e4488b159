// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hearing of interrupts while Linux' own locks are tracked, so that who acquires one need not read
 * the kernel's counters of them: see ntklog_count_interrupt_in_slots().
 *
 * All of x86's but NMIs come by irq_enter_rcu(), and the scheduler's, which does not, by a
 * tracepoint of its own. What the function tracer's call costs, an interrupt pays, which are few
 * next to locks.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/errno.h>
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "../ground/tracepoint.h"
#include "interrupts.h"

#ifdef NTKLOG_LINUX_LOCKS

#include <asm/trace/irq_vectors.h>

#define INTERRUPT_ENTRY		"irq_enter_rcu"
#define RESCHEDULE_ENTRY	"reschedule_entry"

static unsigned long ntklog_interrupt_entry;
static struct tracepoint *ntklog_reschedule_entry;

/* Who wants to hear of them. Both kinds attach, one at a time. */
static unsigned int ntklog_interrupt_hook_users;

/* In a hard interrupt already: one that stands for several devices' enters twice. */
static notrace void ntklog_irq_enter_hook(unsigned long ip, unsigned long parent,
					  struct ftrace_ops *ops, struct ftrace_regs *regs)
{
	if (!in_hardirq())
		ntklog_count_interrupt_in_slots();
}

static notrace void ntklog_reschedule_begins(void *unused, int vector)
{
	ntklog_count_interrupt_in_slots();
}

static struct ftrace_ops ntklog_interrupt_ops;
static bool ntklog_interrupts_are_stuck;

/**
 * ntklog_check_interrupt_hooks() - does this kernel tell of them?
 *
 * Context: thread.
 * Return: NULL, or the name of what it lacks.
 */
const char *ntklog_check_interrupt_hooks(void)
{
	if (!ntklog_interrupt_entry)
		ntklog_interrupt_entry = ntklog_find_function(INTERRUPT_ENTRY);
	if (!ntklog_reschedule_entry)
		ntklog_reschedule_entry = ntklog_find_tracepoint(RESCHEDULE_ENTRY);
	if (!ntklog_interrupt_entry)
		return INTERRUPT_ENTRY;
	return ntklog_reschedule_entry ? NULL : RESCHEDULE_ENTRY;
}

static int ntklog_register_interrupts(void)
{
	int err;

	/* Else it has what its last use has left. */
	memset(&ntklog_interrupt_ops, 0, sizeof(ntklog_interrupt_ops));
	ntklog_interrupt_ops.func = ntklog_irq_enter_hook;
	err = ftrace_set_filter_ip(&ntklog_interrupt_ops, ntklog_interrupt_entry, 0, 0);
	if (!err)
		err = register_ftrace_function(&ntklog_interrupt_ops);
	if (err) {
		/* Who walks over all ops may have come by it. */
		synchronize_rcu();
		ftrace_free_filter(&ntklog_interrupt_ops);
	}
	return err;
}

/**
 * ntklog_register_interrupt_hooks() - have each noted in the slots of what it interrupts
 * @failed: set to what could not be
 *
 * Context: thread; may sleep. One at a time. Between ntklog_pin_ftrace_enabled() and
 * ntklog_unpin_ftrace_enabled(); ntklog_check_interrupt_hooks() has none.
 * Return: 0, and then ntklog_unregister_interrupt_hooks() is to follow; or a negative errno.
 */
int ntklog_register_interrupt_hooks(const char **failed)
{
	int err;

	*failed = INTERRUPT_ENTRY;
	if (ntklog_interrupts_are_stuck)
		return -ENODEV;
	if (ntklog_interrupt_hook_users++)
		return 0;
	/* The probe is what its tracepoint calls. */
	check_trace_callback_type_reschedule_entry(ntklog_reschedule_begins);
	*failed = RESCHEDULE_ENTRY;
	err = tracepoint_probe_register(ntklog_reschedule_entry, ntklog_reschedule_begins, NULL);
	if (err)
		goto err_hearers;
	*failed = INTERRUPT_ENTRY;
	err = ntklog_register_interrupts();
	if (err)
		goto err_tracepoint;
	*failed = NULL;
	return 0;

err_tracepoint:
	tracepoint_probe_unregister(ntklog_reschedule_entry, ntklog_reschedule_begins, NULL);
	tracepoint_synchronize_unregister();
err_hearers:
	ntklog_interrupt_hook_users--;
	return err;
}

/**
 * ntklog_interrupt_hooks_are_stuck() - has ftrace failed, so that it goes on calling us?
 *
 * Context: as ntklog_unregister_interrupt_hooks(), after it.
 * Return: whether.
 */
bool ntklog_interrupt_hooks_are_stuck(void)
{
	return ntklog_interrupts_are_stuck;
}

/**
 * ntklog_unregister_interrupt_hooks() - undo ntklog_register_interrupt_hooks()
 *
 * Context: thread; may sleep. One at a time. At the return nobody is in what heard of them.
 */
void ntklog_unregister_interrupt_hooks(void)
{
	int err;

	if (--ntklog_interrupt_hook_users)
		return;
	err = unregister_ftrace_function(&ntklog_interrupt_ops);
	if (err) {
		/* ftrace has switched itself off, and has the ops in its list for good. */
		pr_err("ftrace has failed (%d): functions of the kernel cannot be restored\n", err);
		ntklog_interrupts_are_stuck = true;
		__module_get(THIS_MODULE);
		return;
	}
	/* Who walks over all ops. */
	synchronize_rcu();
	ftrace_free_filter(&ntklog_interrupt_ops);
	tracepoint_probe_unregister(ntklog_reschedule_entry, ntklog_reschedule_begins, NULL);
	tracepoint_synchronize_unregister();
}

#endif /* NTKLOG_LINUX_LOCKS */
