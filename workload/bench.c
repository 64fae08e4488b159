// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the overhead of NT's locks and of Linux' locks when the module is loaded.
 *
 * Prints a line for each measurement, from which bench/bench.sh makes tables:
 *
 *	ntklog_bench: pair STATE NAME CYCLES/1000
 *	ntklog_bench: contended STATE NAME CPUS ACQUISITIONS/S LEAST MOST
 *	ntklog_bench: handover STATE NAME CYCLES
 *
 * `pair` is the time of one uncontended iteration of a loop of bench_ops, minus that of an empty
 * iteration, in thousandths of a TSC cycle; under QEMU's -icount a cycle is an instruction.
 * `contended` is the number of acquisitions per second of all CPUs, which do nothing else. LEAST
 * and MOST are the shares of the CPUs with the fewest and the most acquisitions, in thousandths of
 * an even share. `handover` is the median time from a release on one CPU until a thread that slept
 * on another CPU has acquired the lock. STATE is the module parameter `state`, which names the
 * setting of the instrumentation.
 *
 * If sched_switch or sched_waking has a probe, a `pair` is also the time of one call of this probe,
 * minus that of an empty function: NAME is `context_swap` for a switch between two threads,
 * `context_swap_from_idle` for one from the idle thread, and `ready_thread` for a wake-up.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/task.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <linux/tracepoint.h>
#include <ntklog/eresource.h>
#include <ntklog/ex_spin_lock.h>
#include <ntklog/queued_spin_lock.h>
#include <ntklog/spin_lock.h>

#include "bench_handover.h"
#include "bench_no_hooks.h"
#include "bench_owners.h"

static char *state = "off";
module_param(state, charp, 0444);
MODULE_PARM_DESC(state, "name of the instrumentation's setting, for the output");

/* A multiple of the smallest acquire_sample_rate, so that all runs have equally many samples. */
static unsigned int times = 20000;
module_param(times, uint, 0444);
MODULE_PARM_DESC(times, "number of pairs in each measurement");

static unsigned int contended_ms;
module_param(contended_ms, uint, 0444);
MODULE_PARM_DESC(contended_ms, "duration of each contended run, milliseconds; 0: none");

static char *only = "";
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "name of the only pair to measure; empty: all");

static bool apc_level;
module_param(apc_level, bool, 0444);
MODULE_PARM_DESC(apc_level, "measure the pairs while another thread is at APC_LEVEL");

#define BENCH_MAX_BELOW	9

static unsigned int below;
module_param(below, uint, 0444);
MODULE_PARM_DESC(below, "spin locks held while a pair with interrupts disabled is measured; at most 9");

#define BENCH_MAX_OWNERS	20000

static unsigned int owners;
module_param(owners, uint, 0444);
MODULE_PARM_DESC(owners, "threads that hold a resource during the measurements; at most 20000");

static raw_spinlock_t raw_lock = __RAW_SPIN_LOCK_UNLOCKED(raw_lock);
static DEFINE_SPINLOCK(linux_lock);
static DEFINE_RWLOCK(linux_rwlock);
static struct kspin_lock queued_lock, second_lock, ordinary_lock;
static struct kspin_lock locks_below[BENCH_MAX_BELOW];
static struct ex_spin_lock ex_lock;
static DECLARE_RWSEM(linux_rwsem);
static struct semaphore linux_semaphore;
static struct eresource resource;
static DEFINE_MUTEX(linux_mutex);
static DEFINE_RT_MUTEX(linux_rt_mutex);

#define BENCH_PAIR(_name, _declare, _acquire, _release)			\
static noinline void run_##_name(unsigned int count)			\
{									\
	_declare;							\
									\
	while (count--) {						\
		_acquire;						\
		_release;						\
	}								\
}

BENCH_PAIR(raw_spin_lock, (void)0,
	   raw_spin_lock(&raw_lock), raw_spin_unlock(&raw_lock))
BENCH_PAIR(spin_lock_bh, (void)0,
	   spin_lock_bh(&linux_lock), spin_unlock_bh(&linux_lock))
BENCH_PAIR(spin_lock_irqsave, unsigned long flags,
	   spin_lock_irqsave(&linux_lock, flags),
	   spin_unlock_irqrestore(&linux_lock, flags))
BENCH_PAIR(read_lock, (void)0,
	   read_lock(&linux_rwlock), read_unlock(&linux_rwlock))
BENCH_PAIR(write_lock, (void)0,
	   write_lock(&linux_rwlock), write_unlock(&linux_rwlock))
BENCH_PAIR(in_stack_at_dpc_level, struct klock_queue_handle handle,
	   ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&queued_lock, &handle),
	   ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle))
BENCH_PAIR(in_stack_raising, struct klock_queue_handle handle,
	   ke_acquire_in_stack_queued_spin_lock(&queued_lock, &handle),
	   ke_release_in_stack_queued_spin_lock(&handle))
BENCH_PAIR(numbered_raising, u8 old_irql,
	   old_irql = ke_acquire_queued_spin_lock(LOCK_QUEUE_IO_VPB_LOCK),
	   ke_release_queued_spin_lock(LOCK_QUEUE_IO_VPB_LOCK, old_irql))
BENCH_PAIR(ordinary_at_dpc_level, (void)0,
	   ke_acquire_spin_lock_at_dpc_level(&ordinary_lock),
	   ke_release_spin_lock_from_dpc_level(&ordinary_lock))
BENCH_PAIR(ordinary_raising, u8 old_irql,
	   ke_acquire_spin_lock(&ordinary_lock, &old_irql),
	   ke_release_spin_lock(&ordinary_lock, old_irql))
BENCH_PAIR(ordinary_to_synch, u8 old_irql,
	   old_irql = ke_acquire_spin_lock_raise_to_synch(&ordinary_lock),
	   ke_release_spin_lock(&ordinary_lock, old_irql))
BENCH_PAIR(critical_region, (void)0,
	   ke_enter_critical_region(), ke_leave_critical_region())
BENCH_PAIR(ex_shared_at_dpc_level, (void)0,
	   ex_acquire_spin_lock_shared_at_dpc_level(&ex_lock),
	   ex_release_spin_lock_shared_from_dpc_level(&ex_lock))
BENCH_PAIR(ex_exclusive_at_dpc_level, (void)0,
	   ex_acquire_spin_lock_exclusive_at_dpc_level(&ex_lock),
	   ex_release_spin_lock_exclusive_from_dpc_level(&ex_lock))
BENCH_PAIR(down_write, (void)0,
	   down_write(&linux_rwsem), up_write(&linux_rwsem))
BENCH_PAIR(down_read, (void)0,
	   down_read(&linux_rwsem), up_read(&linux_rwsem))
BENCH_PAIR(mutex, (void)0, mutex_lock(&linux_mutex), mutex_unlock(&linux_mutex))
BENCH_PAIR(mutex_trylock, (void)0,
	   WARN_ON_ONCE(!mutex_trylock(&linux_mutex)), mutex_unlock(&linux_mutex))
BENCH_PAIR(rt_mutex, (void)0, rt_mutex_lock(&linux_rt_mutex), rt_mutex_unlock(&linux_rt_mutex))
BENCH_PAIR(semaphore, (void)0, down(&linux_semaphore), up(&linux_semaphore))
BENCH_PAIR(resource_exclusive, (void)0,
	   ex_acquire_resource_exclusive_lite(&resource, true),
	   ex_release_resource_lite(&resource))
BENCH_PAIR(resource_shared, (void)0,
	   ex_acquire_resource_shared_lite(&resource, true),
	   ex_release_resource_lite(&resource))
BENCH_PAIR(empty, (void)0, barrier(), barrier())

static __always_inline void bench_two_locks(unsigned int count, bool is_nested)
{
	struct klock_queue_handle handle[2];

	while (count--) {
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&queued_lock, &handle[0]);
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&second_lock, &handle[1]);
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[is_nested]);
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[!is_nested]);
	}
}

static noinline void run_in_stack_lifo(unsigned int count)
{
	bench_two_locks(count, true);
}

static noinline void run_in_stack_fifo(unsigned int count)
{
	bench_two_locks(count, false);
}

/*
 * @needs_interrupts: the pair must be called with interrupts enabled, for example because it raises
 *	the IRQL, disables softirqs or may sleep. Other pairs are measured with interrupts disabled
 * @contended: the pair is also measured on several CPUs
 */
static const struct bench_op {
	const char *name;
	void (*run)(unsigned int times);
	bool needs_interrupts;
	bool contended;
} bench_ops[] = {
	{ "raw_spin_lock", run_raw_spin_lock, .contended = true },
	{ "read_lock", run_read_lock },
	{ "write_lock", run_write_lock },
	{ "spin_lock_irqsave", run_spin_lock_irqsave },
	{ "spin_lock_bh", run_spin_lock_bh, .needs_interrupts = true },
	{ "no_hooks_at_dpc_level", bench_no_hooks_at_dpc_level },
	{ "in_stack_at_dpc_level", run_in_stack_at_dpc_level, .contended = true },
	{ "in_stack_lifo", run_in_stack_lifo },
	{ "in_stack_fifo", run_in_stack_fifo },
	{ "ordinary_at_dpc_level", run_ordinary_at_dpc_level, .contended = true },
	{ "ex_shared_at_dpc_level", run_ex_shared_at_dpc_level },
	{ "ex_exclusive_at_dpc_level", run_ex_exclusive_at_dpc_level, .contended = true },
	{ "no_hooks_raising", bench_no_hooks_raising, .needs_interrupts = true },
	{ "in_stack_raising", run_in_stack_raising, .needs_interrupts = true },
	{ "numbered_raising", run_numbered_raising, .needs_interrupts = true },
	{ "ordinary_raising", run_ordinary_raising, .needs_interrupts = true },
	{ "ordinary_to_synch", run_ordinary_to_synch, .needs_interrupts = true },
	{ "critical_region", run_critical_region, .needs_interrupts = true },
	{ "mutex", run_mutex, .needs_interrupts = true },
	{ "mutex_trylock", run_mutex_trylock, .needs_interrupts = true },
	{ "rt_mutex", run_rt_mutex, .needs_interrupts = true },
	{ "semaphore", run_semaphore, .needs_interrupts = true },
	{ "down_write", run_down_write, .needs_interrupts = true },
	{ "down_read", run_down_read, .needs_interrupts = true },
	{ "resource_exclusive", run_resource_exclusive, .needs_interrupts = true },
	{ "resource_shared", run_resource_shared, .needs_interrupts = true },
};

/* Number of runs, of which the shortest is the result. */
#define BENCH_TRIES	25

static u64 bench_measure(void (*run)(unsigned int times), bool needs_interrupts)
{
	struct klock_queue_handle handles[BENCH_MAX_BELOW];
	unsigned int held = needs_interrupts ? 0 : below, j;
	u64 least_cycles = U64_MAX;
	int i;

	for (i = 0; i < BENCH_TRIES; i++) {
		unsigned long flags = 0;
		u64 start, cycles;

		if (!needs_interrupts)
			local_irq_save(flags);
		for (j = 0; j < held; j++)
			ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&locks_below[j],
									  &handles[j]);
		start = get_cycles();
		run(times);
		cycles = get_cycles() - start;
		while (j--)
			ke_release_in_stack_queued_spin_lock_from_dpc_level(&handles[j]);
		if (!needs_interrupts)
			local_irq_restore(flags);
		least_cycles = min(least_cycles, cycles);
		cond_resched();
	}
	return least_cycles;
}

static bool bench_is_selected(const char *name)
{
	return !*only || !strcmp(only, name);
}

static void bench_print(const char *name, u64 cycles, u64 empty_cycles)
{
	cycles = cycles > empty_cycles ? cycles - empty_cycles : 0;
	pr_info("pair %s %s %llu\n", state, name, div_u64(cycles * 1000, times));
}

static void bench_measure_pairs(void)
{
	u64 empty_cycles = bench_measure(run_empty, false);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bench_ops); i++) {
		const struct bench_op *op = &bench_ops[i];

		if (bench_is_selected(op->name))
			bench_print(op->name, bench_measure(op->run, op->needs_interrupts),
				    empty_cycles);
	}
}

typedef void (*bench_switch_probe)(void *data, bool preempted, struct task_struct *old,
				   struct task_struct *new, unsigned int old_state);

typedef void (*bench_waking_probe)(void *data, struct task_struct *task);

static struct tracepoint *bench_sched_switch, *bench_sched_waking;

static void bench_find_tracepoint(struct tracepoint *tracepoint, void *unused)
{
	if (!strcmp(tracepoint->name, "sched_switch"))
		bench_sched_switch = tracepoint;
	if (!strcmp(tracepoint->name, "sched_waking"))
		bench_sched_waking = tracepoint;
}

static bool bench_has_probe(const struct tracepoint *tracepoint)
{
	return tracepoint && rcu_access_pointer(tracepoint->funcs);
}

static void bench_empty_probe(void *data, bool preempted, struct task_struct *old,
			      struct task_struct *new, unsigned int old_state)
{
	barrier();
}

/* Copy of the current task that looks ready to run: a probe is called as if it got the CPU. */
static struct task_struct *bench_ready_task;

static void bench_call_probe(bench_switch_probe probe, void *data, bool from_idle,
			     unsigned int count)
{
	struct task_struct *old = from_idle ? &init_task : current;
	unsigned int old_state = from_idle ? TASK_RUNNING : TASK_INTERRUPTIBLE;

	/* Keep the compiler from inlining the probe, because the scheduler calls it indirectly. */
	OPTIMIZER_HIDE_VAR(probe);
	while (count--)
		probe(data, false, old, bench_ready_task, old_state);
}

static void run_empty_probe(unsigned int count)
{
	bench_call_probe(bench_empty_probe, NULL, false, count);
}

/* Call the first probe. bench_measure() has disabled interrupts, so RCU does not free it. */
static void bench_call_first_probe(bool from_idle, unsigned int count)
{
	const struct tracepoint_func *first = rcu_dereference_sched(bench_sched_switch->funcs);

	if (first)
		bench_call_probe((bench_switch_probe)first->func, first->data, from_idle, count);
}

static void run_context_swap(unsigned int count)
{
	bench_call_first_probe(false, count);
}

static void run_context_swap_from_idle(unsigned int count)
{
	bench_call_first_probe(true, count);
}

static void bench_empty_waking_probe(void *data, struct task_struct *task)
{
	barrier();
}

static void bench_call_waking_probe(bench_waking_probe probe, void *data, unsigned int count)
{
	OPTIMIZER_HIDE_VAR(probe);
	while (count--)
		probe(data, bench_ready_task);
}

static void run_empty_waking_probe(unsigned int count)
{
	bench_call_waking_probe(bench_empty_waking_probe, NULL, count);
}

static void run_ready_thread(unsigned int count)
{
	const struct tracepoint_func *first = rcu_dereference_sched(bench_sched_waking->funcs);

	if (first)
		bench_call_waking_probe((bench_waking_probe)first->func, first->data, count);
}

static void bench_measure_context_swaps(void)
{
	u64 empty_cycles = bench_measure(run_empty_probe, false);

	if (bench_is_selected("context_swap"))
		bench_print("context_swap", bench_measure(run_context_swap, false), empty_cycles);
	if (bench_is_selected("context_swap_from_idle"))
		bench_print("context_swap_from_idle",
			    bench_measure(run_context_swap_from_idle, false), empty_cycles);
}

/* Measure the first probe of a tracepoint alone, because the time of a switch varies. */
static int bench_measure_probes(void)
{
	for_each_kernel_tracepoint(bench_find_tracepoint, NULL);
	bench_ready_task = kmemdup(current, sizeof(*current), GFP_KERNEL);
	if (!bench_ready_task)
		return -ENOMEM;
#ifdef CONFIG_SCHED_INFO
	bench_ready_task->sched_info.last_queued = local_clock();
#endif
	if (bench_has_probe(bench_sched_switch))
		bench_measure_context_swaps();
	if (bench_has_probe(bench_sched_waking) && bench_is_selected("ready_thread"))
		bench_print("ready_thread", bench_measure(run_ready_thread, false),
			    bench_measure(run_empty_waking_probe, false));
	kfree(bench_ready_task);
	return 0;
}

/* @count is written by the thread, and read after it has stopped. */
struct bench_thread {
	struct task_struct *task;
	const struct bench_op *op;
	unsigned int cpu;
	u64 count;
};

static bool bench_is_running;

static int bench_contending_thread(void *data)
{
	struct bench_thread *thread = data;

	while (!kthread_should_stop()) {
		if (!READ_ONCE(bench_is_running)) {
			schedule_timeout_interruptible(1);
			continue;
		}
		local_bh_disable();
		thread->op->run(100);
		local_bh_enable();
		WRITE_ONCE(thread->count, thread->count + 100);
		cond_resched();
	}
	return 0;
}

static int bench_measure_contended(const struct bench_op *op, unsigned int cpus)
{
	struct bench_thread *threads;
	u64 total_count = 0, least_count = U64_MAX, most_count = 0;
	unsigned int cpu, started = 0, i;
	int err = 0;

	threads = kcalloc(cpus, sizeof(*threads), GFP_KERNEL);
	if (!threads)
		return -ENOMEM;
	for_each_online_cpu(cpu) {
		struct bench_thread *thread = &threads[started];

		if (started == cpus)
			break;
		thread->op = op;
		thread->cpu = cpu;
		thread->task = kthread_create(bench_contending_thread, thread,
					      "ntklog_bench/%u", cpu);
		if (IS_ERR(thread->task)) {
			err = PTR_ERR(thread->task);
			break;
		}
		kthread_bind(thread->task, cpu);
		wake_up_process(thread->task);
		started++;
	}
	if (!err) {
		msleep(20);
		WRITE_ONCE(bench_is_running, true);
		msleep(contended_ms);
		WRITE_ONCE(bench_is_running, false);
	}
	for (i = 0; i < started; i++) {
		kthread_stop(threads[i].task);
		total_count += threads[i].count;
		least_count = min(least_count, threads[i].count);
		most_count = max(most_count, threads[i].count);
	}
	if (!err && total_count)
		pr_info("contended %s %s %u %llu %llu %llu\n", state, op->name,
			cpus, div_u64(total_count * 1000, contended_ms),
			div64_u64(least_count * cpus * 1000, total_count),
			div64_u64(most_count * cpus * 1000, total_count));
	kfree(threads);
	return err;
}

static int bench_stay_at_apc_level(void *data)
{
	u8 old_irql;

	ke_raise_irql(APC_LEVEL, &old_irql);
	complete(data);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	ke_lower_irql(old_irql);
	return 0;
}

/* The measuring thread raises to APC_LEVEL once before, so that it has a task record. */
static int bench_measure_at_apc_level(void)
{
	DECLARE_COMPLETION_ONSTACK(raised);
	struct task_struct *thread;
	u8 old_irql;

	thread = kthread_run(bench_stay_at_apc_level, &raised, "ntklog_bench");
	if (IS_ERR(thread))
		return PTR_ERR(thread);
	wait_for_completion(&raised);
	ke_raise_irql(APC_LEVEL, &old_irql);
	ke_lower_irql(old_irql);
	bench_measure_pairs();
	kthread_stop(thread);
	return 0;
}

static int __init bench_all(void)
{
	static const unsigned int cpu_counts[] = { 2, 4 };
	size_t i, j;
	int err;

	if (apc_level)
		return bench_measure_at_apc_level();
	bench_measure_pairs();
	err = bench_measure_probes();
	if (err || !contended_ms)
		return err;
	err = bench_measure_handovers(state);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(bench_ops); i++) {
		for (j = 0; j < ARRAY_SIZE(cpu_counts); j++) {
			if (!bench_ops[i].contended ||
			    cpu_counts[j] > num_online_cpus())
				continue;
			err = bench_measure_contended(&bench_ops[i], cpu_counts[j]);
			if (err)
				return err;
		}
	}
	return 0;
}

static int __init bench_init(void)
{
	size_t i;
	int err;

	if (below > BENCH_MAX_BELOW || owners > BENCH_MAX_OWNERS) {
		pr_err("below=%u is more than %u, or owners=%u more than %u\n", below,
		       BENCH_MAX_BELOW, owners, BENCH_MAX_OWNERS);
		return -EINVAL;
	}
	if (times < 1000 || times > 10000000 || contended_ms > 60000) {
		pr_err("times=%u is not 1000 to 10000000, or contended_ms=%u over 60000\n",
		       times, contended_ms);
		return -EINVAL;
	}
	ke_initialize_spin_lock(&queued_lock);
	ke_initialize_spin_lock(&second_lock);
	for (i = 0; i < ARRAY_SIZE(locks_below); i++)
		ke_initialize_spin_lock(&locks_below[i]);
	ke_initialize_spin_lock(&ordinary_lock);
	ex_initialize_spin_lock(&ex_lock);
	ex_initialize_resource_lite(&resource);
	sema_init(&linux_semaphore, 1);
	err = bench_owners_start(owners);
	if (!err) {
		err = bench_all();
		bench_owners_stop();
	}
	ex_delete_resource_lite(&resource);
	return err;
}

/* bench_init() measures. Without an exit function the module could not be unloaded. */
static void __exit bench_exit(void)
{
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Benchmark of ntklog's locks");
MODULE_LICENSE("GPL");
