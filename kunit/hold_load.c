// SPDX-License-Identifier: GPL-2.0-only
/*
 * Block the loading of ntklog before its init function, and its unloading after its exit function,
 * until a script writes to the parameter "held". A module notifier may sleep, so the notifiers of
 * this module wait.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>
#include <linux/types.h>

/* Longest wait, so that a script that fails does not block the machine. */
#define HOLD_MAX	(60 * HZ)

static const char *held_state = "none";
static DECLARE_COMPLETION(hold_may_end);

static int held_get(char *buffer, const struct kernel_param *parameter)
{
	return sysfs_emit(buffer, "%s\n", READ_ONCE(held_state));
}

static int held_set(const char *text, const struct kernel_param *parameter)
{
	if (!strcmp(READ_ONCE(held_state), "none"))
		return -EINVAL;
	complete(&hold_may_end);
	return 0;
}

static const struct kernel_param_ops held_ops = {
	.get = held_get,
	.set = held_set,
};

module_param_cb(held, &held_ops, NULL, 0600);
MODULE_PARM_DESC(held, "none, coming or going: where ntklog is held; write anything: let it go on");

static void hold(const struct module *module, const char *where)
{
	if (strcmp(module->name, "ntklog"))
		return;
	WRITE_ONCE(held_state, where);
	if (!wait_for_completion_timeout(&hold_may_end, HOLD_MAX))
		pr_err("nobody has let ntklog go on\n");
	WRITE_ONCE(held_state, "none");
}

static int hold_coming_module(struct notifier_block *notifier, unsigned long state, void *module)
{
	if (state == MODULE_STATE_COMING)
		hold(module, "coming");
	return NOTIFY_OK;
}

static int hold_going_module(struct notifier_block *notifier, unsigned long state, void *module)
{
	if (state == MODULE_STATE_GOING)
		hold(module, "going");
	return NOTIFY_OK;
}

/* Hold ntklog while tracefs has its files: the tracing subsystem's notifier has priority 1. */
static struct notifier_block hold_coming_notifier = {
	.notifier_call = hold_coming_module,
	.priority = -100,
};

static struct notifier_block hold_going_notifier = {
	.notifier_call = hold_going_module,
	.priority = 100,
};

static int __init hold_load_init(void)
{
	int err = register_module_notifier(&hold_coming_notifier);

	if (err)
		return err;
	err = register_module_notifier(&hold_going_notifier);
	if (err)
		unregister_module_notifier(&hold_coming_notifier);
	return err;
}

static void __exit hold_load_exit(void)
{
	unregister_module_notifier(&hold_coming_notifier);
	unregister_module_notifier(&hold_going_notifier);
}

module_init(hold_load_init);
module_exit(hold_load_exit);

MODULE_AUTHOR("The ntklog authors");
MODULE_DESCRIPTION("Holds ntklog before its init and after its exit");
MODULE_LICENSE("GPL");
