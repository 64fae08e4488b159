// SPDX-License-Identifier: GPL-2.0-only
/*
 * nmi_locks: interrupt each CPU by NMIs, some thousand times a second. Each NMI tries nested locks
 * of Linux. Performance counters do not overflow in a virtual machine, so the module sends NMIs
 * through the APIC. The result is printed at unload:
 *
 *	nmi_locks: cpu0: NMIS NMIs, LOCKS locks taken
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>
#include <asm/apic.h>
#include <asm/nmi.h>

static DEFINE_RAW_SPINLOCK(spin_lock_of_all);
static DEFINE_RWLOCK(rw_lock_of_all);
static DEFINE_PER_CPU(unsigned long, nmis);
static DEFINE_PER_CPU(unsigned long, locks);

/* CPUs that have been sent an NMI and have not received it. Other NMIs are the kernel's. */
static struct cpumask awaited;
static struct task_struct *sender;

static void take_locks(void)
{
	if (!raw_spin_trylock(&spin_lock_of_all))
		return;
	this_cpu_inc(locks);
	if (read_trylock(&rw_lock_of_all)) {
		this_cpu_inc(locks);
		read_unlock(&rw_lock_of_all);
	}
	if (write_trylock(&rw_lock_of_all)) {
		this_cpu_inc(locks);
		write_unlock(&rw_lock_of_all);
	}
	raw_spin_unlock(&spin_lock_of_all);
}

static int handle(unsigned int type, struct pt_regs *regs)
{
	if (!cpumask_test_and_clear_cpu(smp_processor_id(), &awaited))
		return NMI_DONE;
	this_cpu_inc(nmis);
	take_locks();
	return NMI_HANDLED;
}

static int send(void *unused)
{
	static struct cpumask mask;
	int cpu;

	while (!kthread_should_stop()) {
		/* No CPU goes offline here. An offline CPU has lost its NMI. */
		preempt_disable();
		/* Clear single bits, because NMIs clear other bits at the same time. */
		for_each_cpu_andnot(cpu, &awaited, cpu_online_mask)
			cpumask_clear_cpu(cpu, &awaited);
		cpumask_andnot(&mask, cpu_online_mask, &awaited);
		cpumask_clear_cpu(smp_processor_id(), &mask);
		for_each_cpu(cpu, &mask)
			cpumask_set_cpu(cpu, &awaited);
		if (!cpumask_empty(&mask))
			apic->send_IPI_mask(&mask, NMI_VECTOR);
		preempt_enable();
		usleep_range(200, 400);
	}
	return 0;
}

static int __init nmi_locks_init(void)
{
	int err = register_nmi_handler(NMI_LOCAL, handle, 0, "nmi_locks");

	if (err)
		return err;
	sender = kthread_run(send, NULL, "nmi_locks");
	if (IS_ERR(sender))
		unregister_nmi_handler(NMI_LOCAL, "nmi_locks");
	return PTR_ERR_OR_ZERO(sender);
}
module_init(nmi_locks_init);

static void __exit nmi_locks_exit(void)
{
	int cpu, turns;

	kthread_stop(sender);
	/* A CPU that went offline and came back has lost its NMI, so limit the wait. */
	for (turns = 0; turns < 500 && cpumask_intersects(&awaited, cpu_online_mask); turns++)
		msleep(20);
	unregister_nmi_handler(NMI_LOCAL, "nmi_locks");
	for_each_possible_cpu(cpu)
		pr_info("cpu%d: %lu NMIs, %lu locks taken\n", cpu, per_cpu(nmis, cpu),
			per_cpu(locks, cpu));
}
module_exit(nmi_locks_exit);

MODULE_DESCRIPTION("Takes Linux' locks in NMIs");
MODULE_LICENSE("GPL");
