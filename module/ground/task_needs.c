// SPDX-License-Identifier: GPL-2.0-only

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "compat.h"
#include "task_cache.h"
#include "task_needs.h"
#include "task_table.h"
#include "tracepoint.h"

/*
 * Protects ntklog_task_needs and the two variables below. A task takes this mutex only without
 * tracepoints_mutex, because registering the probe takes tracepoints_mutex.
 */
static DEFINE_MUTEX(ntklog_task_needs_mutex);
static bool ntklog_exit_probe_is_registered;
/* Number of loaded modules that are in the kernel's list of users of this module. */
static unsigned int ntklog_user_module_count;

/*
 * A task that writes pages out may wait for the mutex. So its holder must not allocate memory in a
 * way that waits for such a task. Returns the argument of ntklog_unlock_task_needs().
 */
static unsigned int ntklog_lock_task_needs(void)
{
	unsigned int flags = memalloc_noio_save();

	mutex_lock(&ntklog_task_needs_mutex);
	return flags;
}

static void ntklog_unlock_task_needs(unsigned int flags)
{
	mutex_unlock(&ntklog_task_needs_mutex);
	memalloc_noio_restore(flags);
}

static void ntklog_free_idle_record(struct ntklog_task *record, void *unused)
{
	/* The task itself frees a record with exit_is_missed: see ntklog_put_current_record(). */
	if (!record->exit_is_missed && !ntklog_record_has_nt_state(record) &&
	    ntklog_unlink_task_record(record))
		ntklog_free_unlinked_record(record);
}

/* Called while no hook runs and ntklog_task_needs is 0. */
static void ntklog_free_idle_task_records(void)
{
	ntklog_visit_task_records(ntklog_free_idle_record, NULL);
}

static void ntklog_warn_of_leaked_region(struct ntklog_task *record, void *unused)
{
	if (record->is_at_apc_level)
		pr_warn_ratelimited("thread %d was left at APC_LEVEL\n",
				    task_pid_nr(record->task));
	if (record->critical_region_depth)
		pr_warn_ratelimited("thread %d was left in a critical region\n",
				    task_pid_nr(record->task));
	if (record->guarded_region_depth)
		pr_warn_ratelimited("thread %d was left in a guarded region\n",
				    task_pid_nr(record->task));
}

/* The exiting task may still call ntklog when it closes its files: see exit_is_missed. */
static void ntklog_task_exit_probe(void *data, struct task_struct *task)
{
	struct ntklog_task *record;

	/* In kernels after 6.12 a probe may be preempted. */
	rcu_read_lock();
	record = ntklog_find_task_record(task);
	if (record && ntklog_unlink_task_record(record)) {
		ntklog_warn_of_leaked_region(record, NULL);
		ntklog_free_unlinked_record(record);
	}
	rcu_read_unlock();
}

/* The probe must have the exact type of the tracepoint, because CFI checks indirect calls. */
static void ntklog_group_exit_probe(void *data, struct task_struct *task, bool group_dead)
{
	ntklog_task_exit_probe(data, task);
}

static void *const ntklog_exit_probe = ntklog_exit_probe_has_group_dead() ?
	(void *)ntklog_group_exit_probe : (void *)ntklog_task_exit_probe;

static struct tracepoint *ntklog_exit_tracepoint;

/* Called with ntklog_task_needs_mutex held. */
static int ntklog_register_exit_probe(void)
{
	int err;

	if (ntklog_exit_probe_is_registered)
		return 0;
	err = tracepoint_probe_register(ntklog_exit_tracepoint, ntklog_exit_probe, NULL);
	ntklog_exit_probe_is_registered = !err;
	return err;
}

/* Called with ntklog_task_needs_mutex held. */
static void ntklog_unregister_exit_probe(void)
{
	if (!ntklog_exit_probe_is_registered)
		return;
	tracepoint_probe_unregister(ntklog_exit_tracepoint, ntklog_exit_probe, NULL);
	tracepoint_synchronize_unregister();
	ntklog_exit_probe_is_registered = false;
}

/* Called with ntklog_task_needs_mutex held. @need: NTKLOG_NEEDED_BY_* */
static int ntklog_add_need(unsigned int need)
{
	int err = ntklog_register_exit_probe();

	if (err)
		return err;
	WRITE_ONCE(ntklog_task_needs, ntklog_task_needs | need);
	ntklog_make_spare_task_records();
	return 0;
}

/* Called with ntklog_task_needs_mutex held. @need: NTKLOG_NEEDED_BY_* */
static void ntklog_remove_need(unsigned int need)
{
	WRITE_ONCE(ntklog_task_needs, ntklog_task_needs & ~need);
	if (!ntklog_task_needs) {
		ntklog_wait_for_insertions();
		ntklog_free_idle_task_records();
		/* The exit of a task whose record is left must be reported. */
		if (!ntklog_count_task_records())
			ntklog_unregister_exit_probe();
	}
	/* No hook runs: see ntklog_unpin_task_records(). */
	if (!(ntklog_task_needs & NTKLOG_NEEDED_BY_HOOKS))
		ntklog_free_excess_task_records();
}

/**
 * ntklog_pin_task_records() - keep the memory of records from being used for anything else
 *
 * A hook reads the record in ntklog_current with preemption on: see ntklog_record_is_current().
 *
 * Context: task; may sleep. Callers are serialized.
 * Return: 0, or a negative errno if the exit of tasks cannot be observed.
 */
int ntklog_pin_task_records(void)
{
	unsigned int flags = ntklog_lock_task_needs();
	int err = ntklog_add_need(NTKLOG_NEEDED_BY_HOOKS);

	ntklog_unlock_task_needs(flags);
	/*
	 * Wait for calls of ntklog_free_record_rcu() that have not seen the new need and return
	 * their record to the slab allocator. Later calls keep it as a spare record.
	 */
	rcu_barrier();
	return err;
}

/**
 * ntklog_unpin_task_records() - undo ntklog_pin_task_records()
 *
 * Context: task; may sleep. No hook runs. Callers are serialized.
 */
void ntklog_unpin_task_records(void)
{
	unsigned int flags = ntklog_lock_task_needs();

	ntklog_remove_need(NTKLOG_NEEDED_BY_HOOKS);
	ntklog_unlock_task_needs(flags);
}

/**
 * ntklog_keep_task_records() - keep records for a caller that is not known as a user of NT's locks
 *
 * A module that finds functions by symbol_get() is not in the kernel's list of users.
 *
 * Context: task; may sleep.
 */
void ntklog_keep_task_records(void)
{
	unsigned int flags = ntklog_lock_task_needs();

	if (!(ntklog_task_needs & NTKLOG_NEEDED_BY_MODULES))
		ntklog_add_need(NTKLOG_NEEDED_BY_MODULES);
	ntklog_unlock_task_needs(flags);
}

/* The kernel's struct module_use, whose definition modules cannot include in newer kernels. */
struct ntklog_module_use {
	struct list_head source_list;
	struct list_head target_list;
	struct module *source;
	struct module *target;
};

/* Return true if @module uses symbols of this module. @module is being loaded or unloaded. */
static bool ntklog_module_uses_this(struct module *module)
{
#ifdef CONFIG_MODULE_UNLOAD
	const struct ntklog_module_use *use;

	list_for_each_entry(use, &module->target_list, target_list) {
		/* With another layout of the entries, each module counts as a user. */
		if (WARN_ON_ONCE(use->source != module))
			return true;
		if (use->target == THIS_MODULE)
			return true;
	}
	return false;
#else
	return true;
#endif
}

/* Another user may be a module that found functions by symbol_get(), or an open file. */
static bool ntklog_has_other_users(void)
{
#ifdef CONFIG_MODULE_UNLOAD
	return module_refcount(THIS_MODULE) > 1;
#else
	return true;
#endif
}

static int ntklog_notify_module_event(struct notifier_block *notifier, unsigned long event,
				      void *data)
{
	unsigned int flags;
	int err = 0;

	if ((event != MODULE_STATE_COMING && event != MODULE_STATE_GOING) ||
	    !ntklog_module_uses_this(data))
		return NOTIFY_DONE;
	flags = ntklog_lock_task_needs();
	if (event == MODULE_STATE_COMING) {
		err = ntklog_add_need(NTKLOG_NEEDED_BY_MODULES);
		ntklog_user_module_count += !err;
	} else if (!--ntklog_user_module_count && !ntklog_has_other_users()) {
		ntklog_remove_need(NTKLOG_NEEDED_BY_MODULES);
	}
	ntklog_unlock_task_needs(flags);
	return notifier_from_errno(err);
}

static struct notifier_block ntklog_module_notifier = {
	.notifier_call = ntklog_notify_module_event,
};

/**
 * ntklog_task_records_init() - allocate the table of records, and watch the loading of modules
 *
 * Context: module load.
 * Return: 0, -ENOMEM, or -ENOENT if the kernel has no tracepoint sched_process_exit.
 */
int __init ntklog_task_records_init(void)
{
	int err;

	ntklog_init_task_cache();
	ntklog_exit_tracepoint = ntklog_find_tracepoint("sched_process_exit");
	if (!ntklog_exit_tracepoint)
		return -ENOENT;
	err = ntklog_alloc_task_table();
	if (!err)
		err = register_module_notifier(&ntklog_module_notifier);
	if (err)
		ntklog_free_task_table();
	return err;
}

/**
 * ntklog_task_records_exit() - free the records of all tasks
 *
 * Context: module unload, when no user of the module is left; or a failed load.
 */
void ntklog_task_records_exit(void)
{
	unregister_module_notifier(&ntklog_module_notifier);
	/*
	 * record->task is valid: the task of a record in the table has not exited, or the record
	 * holds a reference to the task (exit_is_missed).
	 */
	ntklog_visit_task_records(ntklog_warn_of_leaked_region, NULL);
	mutex_lock(&ntklog_task_needs_mutex);
	ntklog_unregister_exit_probe();
	mutex_unlock(&ntklog_task_needs_mutex);
	ntklog_free_task_table();
}
