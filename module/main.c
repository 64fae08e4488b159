// SPDX-License-Identifier: GPL-2.0-only
/* Load and unload, and the module's parameters. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/init.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <asm/tsc.h>

#include "debugfs.h"
#include "etw/buffer.h"
#include "etw/session.h"
#include "ke/irql_private.h"
#include "ke/numbered_spin_lock.h"
#include "perf/spin_lock.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

EXPORT_TRACEPOINT_SYMBOL_GPL(spinlock);

static unsigned int buffer_size = ETW_BUFFER_SIZE_DEFAULT;
module_param(buffer_size, uint, 0400);
MODULE_PARM_DESC(buffer_size, "bytes of each buffer of a session, 4096 to 1048576, default 65536");

static unsigned int buffers = ETW_BUFFERS_DEFAULT;
module_param(buffers, uint, 0400);
MODULE_PARM_DESC(buffers, "buffers of each processor, 2 to 1024, default 16");

/* In the order of perf_spin_lock_parameters[]. */
static unsigned int spinlock[PERF_SPIN_LOCK_PARAMETERS];
static unsigned int spinlock_given;
module_param_array(spinlock, uint, &spinlock_given, 0400);
MODULE_PARM_DESC(spinlock, "spin_threshold,acquire_sample_rate,contention_sample_rate,hold_threshold; at least 1,1000,1,1000000 (the defaults; the last may be 0)");

static int __init ntklog_set_parameters(void)
{
	unsigned int i;

	for (i = 0; i < spinlock_given; i++) {
		const struct perf_spin_lock_parameter *parameter =
			&perf_spin_lock_parameters[i];

		if (perf_set_spin_lock_parameter(parameter, spinlock[i]) !=
		    STATUS_SUCCESS) {
			pr_err("spinlock: %s=%u is less than %u%s\n",
			       parameter->name, spinlock[i], parameter->minimum,
			       parameter->zero ? " and not 0" : "");
			return -EINVAL;
		}
	}
	return 0;
}

static int __init ntklog_init(void)
{
	int err;

	/* Every time in every event is of this clock. */
	if (!tsc_khz) {
		pr_err("no TSC on this machine\n");
		return -ENODEV;
	}
	err = ntklog_set_parameters();
	if (err)
		return err;
	err = etw_init_sessions(buffer_size, buffers);
	if (err)
		return err;
	ke_numbered_spin_lock_init();
	perf_spin_lock_init();
	err = ntklog_debugfs_init();
	if (err) {
		pr_err("cannot make the files in debugfs (%d)\n", err);
		ntklog_debugfs_exit();
		return err;
	}
	return 0;
}

static void __exit ntklog_exit(void)
{
	/* The buffers' files before the directories that they are in. */
	etw_exit_sessions();
	ntklog_debugfs_exit();
	ke_irql_exit();
}

module_init(ntklog_init);
module_exit(ntklog_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("The NT Kernel Logger's lock instrumentation for Linux");
MODULE_LICENSE("GPL");
