// SPDX-License-Identifier: GPL-2.0-only
/*
 * nmi_locks: interrupt the CPUs by NMIs. Each NMI tries a spin lock and, while it holds that, an
 * rwlock. A thread sends NMIs through the APIC to all CPUs but its own. Unloading prints for each
 * CPU:
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
static DEFINE_PER_CPU(unsigned long, nmis_handled);
static DEFINE_PER_CPU(unsigned long, locks_taken);

/*
 * CPUs that have been sent an NMI and have not handled it yet. The sending thread sets bits, and
 * clears those of CPUs that are offline; a CPU's NMI clears its own bit. An NMI of a CPU without a
 * bit is left to the kernel.
 */
static struct cpumask awaited_cpus;
static struct task_struct *sender;

static void take_locks(void)
{
	if (!raw_spin_trylock(&spin_lock_of_all))
		return;
	this_cpu_inc(locks_taken);
	if (read_trylock(&rw_lock_of_all)) {
		this_cpu_inc(locks_taken);
		read_unlock(&rw_lock_of_all);
	}
	if (write_trylock(&rw_lock_of_all)) {
		this_cpu_inc(locks_taken);
		write_unlock(&rw_lock_of_all);
	}
	raw_spin_unlock(&spin_lock_of_all);
}

static int handle_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!cpumask_test_and_clear_cpu(smp_processor_id(), &awaited_cpus))
		return NMI_DONE;
	this_cpu_inc(nmis_handled);
	take_locks();
	return NMI_HANDLED;
}

static int send_nmis(void *unused)
{
	static struct cpumask busy_cpus, target_cpus;
	int cpu;

	while (!kthread_should_stop()) {
		/*
		 * A CPU that is offline has lost the NMI that it was sent, so no longer await it.
		 */
		preempt_disable();
		/* NMIs clear bits at the same time. Their CPUs are targets in the next turn. */
		data_race(cpumask_and(&busy_cpus, &awaited_cpus, cpu_possible_mask));
		/* Clear single bits for the same reason. */
		for_each_cpu_andnot(cpu, &busy_cpus, cpu_online_mask)
			cpumask_clear_cpu(cpu, &awaited_cpus);
		cpumask_andnot(&target_cpus, cpu_online_mask, &busy_cpus);
		cpumask_clear_cpu(smp_processor_id(), &target_cpus);
		for_each_cpu(cpu, &target_cpus)
			cpumask_set_cpu(cpu, &awaited_cpus);
		if (!cpumask_empty(&target_cpus))
			apic->send_IPI_mask(&target_cpus, NMI_VECTOR);
		preempt_enable();
		usleep_range(200, 400);
	}
	return 0;
}

/* A CPU that was offline has lost its NMI, so do not wait for CPUs that are offline. */
static bool is_online_cpu_awaited(void)
{
	/* NMIs clear bits at the same time: the caller asks again. */
	return data_race(cpumask_intersects(&awaited_cpus, cpu_online_mask));
}

static int __init nmi_locks_init(void)
{
	int err = register_nmi_handler(NMI_LOCAL, handle_nmi, 0, "nmi_locks");

	if (err)
		return err;
	sender = kthread_run(send_nmis, NULL, "nmi_locks");
	if (IS_ERR(sender))
		unregister_nmi_handler(NMI_LOCAL, "nmi_locks");
	return PTR_ERR_OR_ZERO(sender);
}
module_init(nmi_locks_init);

static void __exit nmi_locks_exit(void)
{
	int cpu, tries;

	kthread_stop(sender);
	for (tries = 0; tries < 500 && is_online_cpu_awaited(); tries++)
		msleep(20);
	unregister_nmi_handler(NMI_LOCAL, "nmi_locks");
	for_each_possible_cpu(cpu)
		pr_info("cpu%d: %lu NMIs, %lu locks taken\n", cpu, per_cpu(nmis_handled, cpu),
			per_cpu(locks_taken, cpu));
}
module_exit(nmi_locks_exit);

MODULE_DESCRIPTION("Takes Linux' locks in NMIs");
MODULE_LICENSE("GPL");
