// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks that count interrupts in the slots of the locks that the CPU holds. Most interrupts call
 * irq_enter_rcu(). The reschedule interrupt does not, but it has a tracepoint.
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

#ifdef NTKLOG_CAN_REDIRECT_SPINNING

#include <asm/trace/irq_vectors.h>

#define INTERRUPT_ENTRY_FUNCTION	"irq_enter_rcu"
#define RESCHEDULE_TRACEPOINT		"reschedule_entry"

static unsigned long ntklog_irq_enter_address;
static struct tracepoint *ntklog_reschedule_entry_tp;

/* Number of kinds that need the hooks. Written with ntklog_linux_mutex held. */
static unsigned int ntklog_interrupt_hook_user_count;

/*
 * The handler of an interrupt that demultiplexes others calls irq_enter_rcu() again. Count such an
 * interrupt once: only at its first call in_hardirq() is false, because ftrace calls the hook
 * before irq_enter_rcu() marks the CPU as being in a hard interrupt.
 */
static notrace void ntklog_irq_enter_hook(unsigned long ip, unsigned long parent,
					  struct ftrace_ops *ops, struct ftrace_regs *regs)
{
	if (!in_hardirq())
		ntklog_count_interrupt_in_slots();
}

static notrace void ntklog_reschedule_probe(void *unused, int vector)
{
	ntklog_count_interrupt_in_slots();
}

static struct ftrace_ops ntklog_irq_enter_ops;
static bool ntklog_irq_enter_hook_is_stuck;

/**
 * ntklog_resolve_interrupt_hooks() - look up the function and the tracepoint to hook
 *
 * Context: task.
 * Return: NULL, or the name of the function or tracepoint that the kernel lacks.
 */
const char *ntklog_resolve_interrupt_hooks(void)
{
	if (!ntklog_irq_enter_address)
		ntklog_irq_enter_address = ntklog_find_function(INTERRUPT_ENTRY_FUNCTION);
	if (!ntklog_reschedule_entry_tp)
		ntklog_reschedule_entry_tp = ntklog_find_tracepoint(RESCHEDULE_TRACEPOINT);
	if (!ntklog_irq_enter_address)
		return INTERRUPT_ENTRY_FUNCTION;
	return ntklog_reschedule_entry_tp ? NULL : RESCHEDULE_TRACEPOINT;
}

static int ntklog_register_irq_enter_hook(void)
{
	int err;

	/* Clear the state that the previous registration has left in the ops. */
	memset(&ntklog_irq_enter_ops, 0, sizeof(ntklog_irq_enter_ops));
	ntklog_irq_enter_ops.func = ntklog_irq_enter_hook;
	err = ftrace_set_filter_ip(&ntklog_irq_enter_ops, ntklog_irq_enter_address, 0, 0);
	if (!err)
		err = register_ftrace_function(&ntklog_irq_enter_ops);
	if (err) {
		/* Wait for CPUs that iterate over the list of all ops. */
		synchronize_rcu();
		ftrace_free_filter(&ntklog_irq_enter_ops);
	}
	return err;
}

/**
 * ntklog_register_interrupt_hooks() - count interrupts in the slots of held locks
 * @failed_name: after an error, set to the name of the function or tracepoint that cannot be hooked
 *
 * Context: task; may sleep; ntklog_pin_ftrace_enabled() in effect. Callers are serialized.
 * Return: 0, and the caller must call ntklog_unregister_interrupt_hooks(); or a negative errno.
 */
int ntklog_register_interrupt_hooks(const char **failed_name)
{
	int err;

	*failed_name = INTERRUPT_ENTRY_FUNCTION;
	if (ntklog_irq_enter_hook_is_stuck)
		return -ENODEV;
	if (ntklog_interrupt_hook_user_count++)
		return 0;
	/* Check at compile time that the probe has the type of its tracepoint. */
	check_trace_callback_type_reschedule_entry(ntklog_reschedule_probe);
	*failed_name = RESCHEDULE_TRACEPOINT;
	err = tracepoint_probe_register(ntklog_reschedule_entry_tp, ntklog_reschedule_probe, NULL);
	if (err)
		goto err_users;
	*failed_name = INTERRUPT_ENTRY_FUNCTION;
	err = ntklog_register_irq_enter_hook();
	if (err)
		goto err_tracepoint;
	*failed_name = NULL;
	return 0;

err_tracepoint:
	tracepoint_probe_unregister(ntklog_reschedule_entry_tp, ntklog_reschedule_probe, NULL);
	tracepoint_synchronize_unregister();
err_users:
	ntklog_interrupt_hook_user_count--;
	return err;
}

/**
 * ntklog_interrupt_hooks_are_stuck() - test whether the hook of irq_enter_rcu() is stuck
 *
 * Context: task, after ntklog_unregister_interrupt_hooks(). Callers are serialized.
 * Return: true if ftrace calls the hook until reboot.
 */
bool ntklog_interrupt_hooks_are_stuck(void)
{
	return ntklog_irq_enter_hook_is_stuck;
}

/**
 * ntklog_unregister_interrupt_hooks() - undo ntklog_register_interrupt_hooks()
 *
 * The call for the last kind removes the hooks. When that call returns no CPU runs a hook. If
 * ftrace fails, the hooks stay until reboot: see ntklog_interrupt_hooks_are_stuck().
 *
 * Context: task; may sleep. Callers are serialized.
 */
void ntklog_unregister_interrupt_hooks(void)
{
	int err;

	if (--ntklog_interrupt_hook_user_count)
		return;
	err = unregister_ftrace_function(&ntklog_irq_enter_ops);
	if (err) {
		/* ftrace has disabled itself and keeps the ops on its list. */
		pr_err("ftrace has failed (%d): functions of the kernel cannot be restored\n", err);
		ntklog_irq_enter_hook_is_stuck = true;
		__module_get(THIS_MODULE);
		return;
	}
	/* Wait for CPUs that iterate over the list of all ops. */
	synchronize_rcu();
	ftrace_free_filter(&ntklog_irq_enter_ops);
	tracepoint_probe_unregister(ntklog_reschedule_entry_tp, ntklog_reschedule_probe, NULL);
	tracepoint_synchronize_unregister();
}

#endif /* NTKLOG_CAN_REDIRECT_SPINNING */
