// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file held is for a machine on which tasks are blocked. The visit of the locks therefore runs
 * under RCU and takes no lock.
 */

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/stacktrace.h>

#include "../ground/address.h"
#include "../ground/compat.h"
#include "../linux/held_locks.h"
#include "../perf/sleeping_lock.h"
#include "debugfs_held.h"

#define NTKLOG_HELD_FRAMES	16

static const char *const ntklog_held_lock_kinds[1 + NTKLOG_SLEEPING_CLASS_COUNT] = {
	"unknown", "mutex", "rwsem", "semaphore", "rt_mutex", "percpu_rwsem", "ww_mutex",
};

static void ntklog_show_lock(struct seq_file *seq, struct task_struct *task,
			     const struct ntklog_held_lock *held)
{
	const u64 cycles = ntklog_cycles_since(held->since, 0);
	const u32 kind = ntklog_get_action_class(held->action) >> 16;
	char symbol[KSYM_SYMBOL_LEN];

	seq_printf(seq, "0x%llx %s %s %s %d %llu %u",
		   ntklog_get_displayed_address((unsigned long)held->lock),
		   ntklog_held_lock_kinds[kind < ARRAY_SIZE(ntklog_held_lock_kinds) ? kind : 0],
		   held->action & NTKLOG_SLEEPING_EXCLUSIVE_BIT ? "exclusive" : "shared",
		   held->is_waiting ? "waiting" : "held", task_pid_nr(task),
		   mul_u64_u32_div(cycles, 1000, NTKLOG_CLOCK_KHZ), held->contention_count);
	seq_printf(seq, " %s", ntklog_format_symbol((unsigned long)held->lock, symbol));
	seq_printf(seq, " %s ", ntklog_format_symbol(held->caller, symbol));
	/* A task can give itself any name. */
	seq_escape(seq, task->comm, "\n\\");
	seq_putc(seq, '\n');
}

#ifdef NTKLOG_HAS_STACKS_OF_TASKS
/* Show the stack of a task that does not run. The task may start to run meanwhile. */
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
		seq_printf(seq, "\t%s\n", ntklog_format_symbol(frames[i], symbol));
}
#else
static void ntklog_show_stack(struct seq_file *seq, struct task_struct *task)
{
}
#endif

static void ntklog_show_task(struct task_struct *task, const struct ntklog_held_lock *locks,
			     size_t count, void *data)
{
	struct seq_file *seq = data;
	bool is_holder = false;
	size_t i;

	for (i = 0; i < count; i++) {
		ntklog_show_lock(seq, task, &locks[i]);
		is_holder |= !locks[i].is_waiting;
	}
	if (is_holder)
		ntklog_show_stack(seq, task);
}

static int ntklog_held_show(struct seq_file *seq, void *object)
{
	int err = ntklog_may_read_addresses();

	if (err)
		return err;
	seq_puts(seq, "Address Kind Mode State ThreadId Microseconds Waits Symbol Caller Task\n");
	ntklog_visit_held_locks(ntklog_show_task, seq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ntklog_held);

/**
 * ntklog_create_held_file() - create the file held
 * @directory: its directory
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int ntklog_create_held_file(struct dentry *directory)
{
	return PTR_ERR_OR_ZERO(debugfs_create_file("held", 0400, directory, NULL,
						   &ntklog_held_fops));
}
