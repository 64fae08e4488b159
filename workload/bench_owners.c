// SPDX-License-Identifier: GPL-2.0-only
/* Threads that each hold a resource and sleep. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <ntklog/eresource.h>
#include <ntklog/irql.h>

#include "bench_owners.h"

struct bench_owner {
	struct task_struct *task;
	struct eresource resource;
	struct completion owns;
};

static struct bench_owner *bench_owners;
static unsigned int bench_owner_count;

static int bench_owner_thread(void *data)
{
	struct bench_owner *owner = data;

	ke_enter_critical_region();
	ex_acquire_resource_exclusive_lite(&owner->resource, true);
	complete(&owner->owns);
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	ex_release_resource_lite(&owner->resource);
	ke_leave_critical_region();
	return 0;
}

/**
 * bench_owners_start() - start threads that each hold a resource
 * @owners: number of threads
 *
 * The pause after each 64 threads lets a work item refill the spare records of tasks.
 *
 * Context: task.
 * Return: 0, or a negative errno if no thread runs.
 */
int bench_owners_start(unsigned int owners)
{
	bench_owners = kvcalloc(owners, sizeof(*bench_owners), GFP_KERNEL);
	if (!bench_owners)
		return -ENOMEM;
	for (bench_owner_count = 0; bench_owner_count < owners; bench_owner_count++) {
		struct bench_owner *owner = &bench_owners[bench_owner_count];

		init_completion(&owner->owns);
		owner->task = kthread_create(bench_owner_thread, owner, "ntklog_owner");
		if (IS_ERR(owner->task)) {
			int err = PTR_ERR(owner->task);

			pr_err("no thread %u of %u (%d)\n", bench_owner_count, owners, err);
			bench_owners_stop();
			return err;
		}
		ex_initialize_resource_lite(&owner->resource);
		wake_up_process(owner->task);
		wait_for_completion(&owner->owns);
		if (bench_owner_count % 64 == 63)
			msleep(20);
	}
	return 0;
}

/**
 * bench_owners_stop() - stop the threads of bench_owners_start() and free their resources
 *
 * Context: task.
 */
void bench_owners_stop(void)
{
	while (bench_owner_count) {
		struct bench_owner *owner = &bench_owners[--bench_owner_count];

		kthread_stop(owner->task);
		ex_delete_resource_lite(&owner->resource);
	}
	kvfree(bench_owners);
	bench_owners = NULL;
}
