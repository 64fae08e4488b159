// SPDX-License-Identifier: GPL-2.0-only
/* Load and unload, and the module's parameters. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "etw/buffer.h"
#include "etw/claim.h"
#include "etw/control.h"
#include "etw/observe.h"
#include "etw/suspend.h"
#include "ground/address.h"
#include "ground/clock.h"
#include "ground/identity.h"
#include "ground/slab_cache.h"
#include "ground/task_needs.h"
#include "ground/task_notes.h"
#include "ke/numbered_spin_lock.h"
#include "linux/locks.h"
#include "linux/selftest_work.h"
#include "perf/context_swap.h"
#include "perf/ready_thread.h"
#include "perf/resource.h"
#include "perf/spin_lock.h"
#include "perf/spin_lock_cpu.h"
#include "perf/stack.h"
#include "user/debugfs.h"
#include "user/device.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

/*
 * The kernel makes an entry of the tracepoint table in assembler, from the short name as a string.
 * The macros in trace.h that rename the symbols do not apply there. Define the short name as an
 * alias that is local to this file.
 */
#define NTKLOG_LOCAL_TRACEPOINT(name)					\
	asm(".set __tracepoint_" #name ", __tracepoint_ntklog_" #name)
NTKLOG_LOCAL_TRACEPOINT(spinlock);
NTKLOG_LOCAL_TRACEPOINT(linux_spinlock);
NTKLOG_LOCAL_TRACEPOINT(resource);
NTKLOG_LOCAL_TRACEPOINT(linux_resource);
NTKLOG_LOCAL_TRACEPOINT(contextswap);

EXPORT_TRACEPOINT_SYMBOL_GPL(spinlock);
EXPORT_TRACEPOINT_SYMBOL_GPL(linux_spinlock);
EXPORT_TRACEPOINT_SYMBOL_GPL(resource);
EXPORT_TRACEPOINT_SYMBOL_GPL(linux_resource);
EXPORT_TRACEPOINT_SYMBOL_GPL(contextswap);

static unsigned int buffer_size = ETW_BUFFER_SIZE_DEFAULT;
module_param(buffer_size, uint, 0400);
MODULE_PARM_DESC(buffer_size, "bytes of each buffer of a session, 4096 to 1048576, default 65536");

static unsigned int buffers = ETW_BUFFERS_DEFAULT;
module_param(buffers, uint, 0400);
MODULE_PARM_DESC(buffers, "buffers of each processor, 2 to 1024, default 16");

/* Values in the order of the members of NT's structures: see system_information.h. */
static unsigned int spinlock[PERF_SPIN_LOCK_PARAMETER_COUNT];
static unsigned int spinlock_value_count;
module_param_array(spinlock, uint, &spinlock_value_count, 0400);
MODULE_PARM_DESC(spinlock,
		 "spin_threshold,acquire_sample_rate,contention_sample_rate,hold_threshold; at least 1,1000,1,1000000 (the defaults; the last may be 0)");

static unsigned int resource[PERF_RESOURCE_PARAMETER_COUNT];
static unsigned int resource_value_count;
module_param_array(resource, uint, &resource_value_count, 0400);
MODULE_PARM_DESC(resource,
		 "release_sample_rate,contention_sample_rate,excessive_timeouts; at least 1, default 1000,1,1");

static unsigned int excessive_first_ms = 500;
module_param(excessive_first_ms, uint, 0400);
MODULE_PARM_DESC(excessive_first_ms,
		 "milliseconds after which the wait for a resource times out, 1 to 3600000, default 500");

static unsigned int excessive_next_ms = 4000;
module_param(excessive_next_ms, uint, 0400);
MODULE_PARM_DESC(excessive_next_ms,
		 "milliseconds from each such time-out to the next, 1 to 3600000, default 4000");

static unsigned int blocker_rate;
module_param_named(blockers, blocker_rate, uint, 0400);
MODULE_PARM_DESC(blockers,
		 "of the releases of queued locks that leave a waiter behind, one in this many is written as well; 0 (the default): none");

static bool linux_locks = true;
module_param(linux_locks, bool, 0400);
MODULE_PARM_DESC(linux_locks,
		 "whether Linux' own locks may be watched when a session or a tracepoint asks for them (default: yes)");

static char *linux_mode = "full";
module_param(linux_mode, charp, 0400);
MODULE_PARM_DESC(linux_mode,
		 "how Linux' own locks are watched: full (the default), sampled, waits or holders");

static char *addresses = "raw";
module_param(addresses, charp, 0400);
MODULE_PARM_DESC(addresses,
		 "what is shown of the kernel's addresses: raw (the default, as NT), hashed or zero");

static int __init ntklog_set_parameters(const char *name,
					struct ntklog_parameter_set *information,
					const unsigned int *values,
					unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		const struct ntklog_parameter *parameter = &information->parameters[i];

		if (ntklog_set_parameter(parameter, values[i]) != STATUS_SUCCESS) {
			pr_err("%s: %s=%u is less than %u%s\n", name,
			       parameter->name, values[i], parameter->minimum,
			       parameter->zero_permitted ? " and not 0" : "");
			return -EINVAL;
		}
	}
	return 0;
}

static int __init ntklog_init(void)
{
	int err;

	if (!ntklog_get_clock_frequency()) {
		pr_err("this machine has no " NTKLOG_CLOCK_NAME "\n");
		return -ENODEV;
	}
	err = ntklog_address_init(addresses);
	if (err) {
		pr_err("addresses=%s is not raw, hashed or zero\n", addresses);
		return err;
	}
	err = ntklog_alloc_spin_lock_slots();
	if (err) {
		pr_err("there is no memory for spin locks (%d)\n", err);
		return err;
	}
	err = ntklog_set_parameters("spinlock", &ntklog_spin_lock_parameter_set,
				    spinlock, spinlock_value_count);
	if (err)
		goto err_spin_lock_state;
	err = ntklog_set_parameters("resource", &ntklog_resource_parameter_set,
				    resource, resource_value_count);
	if (err)
		goto err_spin_lock_state;
	ntklog_spin_lock_blocker_rate = blocker_rate;
	err = etw_init_sessions(buffer_size, buffers);
	if (err)
		goto err_spin_lock_state;
	err = ntklog_stack_init();
	if (err) {
		pr_err("there is no memory for stacks (%d)\n", err);
		goto err_spin_lock_state;
	}
	err = ntklog_task_records_init();
	if (err) {
		pr_err("threads cannot be followed (%d)\n", err);
		goto err_stack;
	}
	ntklog_slab_cache_init();
	err = ke_numbered_spin_lock_init();
	if (err) {
		pr_err("there is no memory for numbered spin locks (%d)\n", err);
		goto err_task_records;
	}
	ntklog_spin_lock_init();
	err = ntklog_resource_init(excessive_first_ms, excessive_next_ms);
	if (err) {
		pr_err("resources cannot be tracked: excessive_first_ms=%u excessive_next_ms=%u (%d)\n",
		       excessive_first_ms, excessive_next_ms, err);
		goto err_spin_lock;
	}
	err = ntklog_context_swap_init();
	if (err) {
		pr_err("context switches cannot be followed (%d)\n", err);
		goto err_resource;
	}
	ntklog_ready_thread_init();
	err = ntklog_linux_init(linux_locks, linux_mode);
	if (err) {
		pr_err("linux_mode=%s is not full, sampled, waits or holders\n", linux_mode);
		goto err_context_swap;
	}
	err = ntklog_debugfs_init();
	if (err) {
		pr_err("the directory in debugfs cannot be created (%d)\n", err);
		goto err_linux;
	}
	/*
	 * A failed load frees the module even if one of its files is open and holds a reference.
	 * The device is the first file that can be opened, so no later step makes the load fail.
	 */
	err = ntklog_device_init();
	if (err) {
		pr_err("/dev/ntklog cannot be created (%d)\n", err);
		goto err_debugfs;
	}
	ntklog_debugfs_create_files();
	etw_enable_session_start();
	etw_init_suspend();
	return 0;

err_debugfs:
	ntklog_debugfs_exit();
err_linux:
	ntklog_linux_selftest_exit();
	ntklog_linux_exit();
err_context_swap:
	ntklog_context_swap_exit();
	etw_exit_observing();
err_resource:
	ntklog_resource_exit();
err_spin_lock:
	ntklog_spin_lock_exit();
	ke_numbered_spin_lock_exit();
err_task_records:
	ntklog_task_records_exit();
	ntklog_identity_exit();
	ntklog_task_notes_exit();
err_stack:
	ntklog_stack_exit();
err_spin_lock_state:
	ntklog_free_spin_lock_slots();
	return err;
}

static void __exit ntklog_exit(void)
{
	ntklog_device_exit();
	etw_exit_suspend();
	etw_wait_for_closed_claims();
	/* All sessions stop before the debugfs files are removed. */
	etw_exit_sessions();
	ntklog_debugfs_exit();
	ntklog_ready_thread_exit();
	ntklog_context_swap_exit();
	ntklog_resource_exit();
	ntklog_linux_selftest_exit();
	/* Detach before ntklog_spin_lock_exit(): an attached kind needs tracking. */
	ntklog_linux_exit();
	etw_exit_observing();
	ntklog_spin_lock_exit();
	ke_numbered_spin_lock_exit();
	ntklog_task_records_exit();
	ntklog_identity_exit();
	ntklog_task_notes_exit();
	ntklog_stack_exit();
	ntklog_free_spin_lock_slots();
}

module_init(ntklog_init);
module_exit(ntklog_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("The NT Kernel Logger's lock instrumentation for Linux");
MODULE_LICENSE("GPL");
