// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file held: Linux' sleeping locks that tasks hold or wait for. It is for a machine on which
 * tasks are blocked. Reading it takes no sleeping lock and no spinlock: the records of the tasks,
 * the symbols and the stacks are read under RCU.
 */

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/pid.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>

#include "../ground/address.h"
#include "../ground/compat.h"
#include "../ground/task_table.h"
#include "../perf/sleeping_lock.h"
#include "debugfs_held.h"

/* Innermost functions of a stack that are shown. */
#define NTKLOG_HELD_FRAMES	16

static const char *const ntklog_kinds[1 + NTKLOG_SLEEPING_CLASSES] = {
	"unknown", "mutex", "rwsem", "semaphore", "rt_mutex", "percpu_rwsem", "ww_mutex",
};

/*
 * Test whether a task only spins for an rwsem as a writer: the kernel calls no tracepoint before
 * the task sleeps. Another task may free the lock meanwhile.
 */
static bool ntklog_spins_for_rwsem(const struct rw_semaphore *rwsem, u32 action,
				   const struct task_struct *task)
{
#ifdef CONFIG_PREEMPT_RT
	return false;
#else
	/* The low three bits are flags. */
	unsigned long owner;

	return ntklog_action_class(action) == NTKLOG_SLEEPING_CLASS(RWSEM) &&
	       action & NTKLOG_SLEEPING_EXCLUSIVE_BIT &&
	       !get_kernel_nofault(owner, (unsigned long *)&rwsem->owner) &&
	       (owner & ~7UL) != (unsigned long)task;
#endif
}

/* Show a slot. Returns true if the task holds the lock. */
static bool ntklog_show_slot(struct seq_file *seq, const struct task_struct *task,
			     const struct ntklog_sleeping_slot *slot)
{
	/* Pairs with the smp_store_release() that publishes slot->lock. */
	const void *lock = smp_load_acquire(&slot->lock);
	const u32 action = READ_ONCE(slot->action);
	const u32 kind = ntklog_action_class(action) >> 16;
	const u64 start = ntklog_read_u64(slot->acquire_time);
	const u64 cycles = ntklog_cycles_since(start, 0);
	const unsigned long caller = READ_ONCE(slot->caller);
	const u32 contentions = READ_ONCE(slot->contentions);
	bool is_waiting = action & NTKLOG_SLEEPING_WAITING;
	char symbol[KSYM_SYMBOL_LEN];

	/*
	 * The task may have filled the slot anew meanwhile: test it after the reads of its members.
	 * Pairs with the smp_store_release() that publishes slot->lock.
	 */
	smp_rmb();
	if (!lock || READ_ONCE(slot->lock) != lock ||
	    ntklog_read_u64(slot->acquire_time) != start)
		return false;
	is_waiting |= ntklog_spins_for_rwsem(lock, action, task);
	seq_printf(seq, "0x%llx %s %s %s %d %llu %u", ntklog_address((unsigned long)lock),
		   ntklog_kinds[kind < ARRAY_SIZE(ntklog_kinds) ? kind : 0],
		   action & NTKLOG_SLEEPING_EXCLUSIVE_BIT ? "exclusive" : "shared",
		   is_waiting ? "waiting" : "held", task_pid_nr((struct task_struct *)task),
		   mul_u64_u32_div(cycles, 1000, NTKLOG_CLOCK_KHZ), contentions);
	seq_printf(seq, " %s", ntklog_symbol((unsigned long)lock, symbol));
	seq_printf(seq, " %s ", ntklog_symbol(caller, symbol));
	/* A task may name itself as it likes. */
	seq_escape(seq, task->comm, "\n\\");
	seq_putc(seq, '\n');
	return !is_waiting;
}

#ifdef NTKLOG_HAS_STACKS_OF_TASKS
/* Show where a task is that does not run. The task may start to run meanwhile. */
static void ntklog_show_stack(struct seq_file *seq, struct task_struct *task)
{
	unsigned long frames[NTKLOG_HELD_FRAMES];
	char symbol[KSYM_SYMBOL_LEN];
	unsigned int count, i;

#ifdef CONFIG_SMP
	if (READ_ONCE(task->on_cpu))
		return;
#endif
	count = stack_trace_save_tsk(task, frames, ARRAY_SIZE(frames), 0);
	for (i = 0; i < count; i++)
		seq_printf(seq, "\t%s\n", ntklog_symbol(frames[i], symbol));
}
#else
static void ntklog_show_stack(struct seq_file *seq, struct task_struct *task)
{
}
#endif

static void ntklog_show_task(struct ntklog_task *thread, void *data)
{
	/* RCU keeps the task valid. NULL if it has exited. */
	struct task_struct *task = READ_ONCE(thread->task);
	struct seq_file *seq = data;
	bool is_holder = false;
	int i;

	for (i = 1; task && i <= NTKLOG_THREAD_SLOTS; i++)
		is_holder |= ntklog_show_slot(seq, task, &thread->sleeping_slots[i]);
	if (is_holder)
		ntklog_show_stack(seq, task);
}

static int ntklog_held_show(struct seq_file *seq, void *object)
{
	int err = ntklog_may_read_addresses();

	if (err)
		return err;
	seq_puts(seq, "Address Kind Mode State ThreadId Microseconds Waits Symbol Caller Task\n");
	ntklog_visit_task_records(ntklog_show_task, seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ntklog_held);

/**
 * ntklog_create_held_file() - create the file held
 * @directory: its directory
 *
 * Context: load.
 * Return: 0 or a negative errno.
 */
int ntklog_create_held_file(struct dentry *directory)
{
	return PTR_ERR_OR_ZERO(debugfs_create_file("held", 0400, directory, NULL,
						   &ntklog_held_fops));
}
