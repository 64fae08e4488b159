// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel thread that never gives up its CPU voluntarily, so that no grace period of Tasks RCU
 * ends.
 */

#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

static struct task_struct *spinner;

static int spin(void *unused)
{
	while (!kthread_should_stop())
		cpu_relax();
	return 0;
}

static int __init no_switch_init(void)
{
	spinner = kthread_create(spin, NULL, "no_switch");
	if (IS_ERR(spinner))
		return PTR_ERR(spinner);
	set_user_nice(spinner, MAX_NICE);
	wake_up_process(spinner);
	return 0;
}

static void __exit no_switch_exit(void)
{
	kthread_stop(spinner);
}

module_init(no_switch_init);
module_exit(no_switch_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Keeps each grace period of Tasks RCU from ending");
MODULE_LICENSE("GPL");
