// SPDX-License-Identifier: GPL-2.0-only
/*
 * rt_levels: print NT's IRQL in the contexts of a PREEMPT_RT kernel, and how many shared owners a
 * resource accepts:
 *
 *	rt_levels: CONTEXT IRQL
 *	rt_levels: owners COUNT		at DISPATCH_LEVEL, where no table of owners can be allocated
 *	rt_levels: owners COUNT		afterwards, at PASSIVE_LEVEL
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/spinlock.h>
#include <ntklog/eresource.h>
#include <ntklog/queued_spin_lock.h>
#include <ntklog/spin_lock.h>

#include "../../module/ground/compat.h"

#define OWNERS		64

static struct kspin_lock nt_lock;
static struct eresource resource;
static DECLARE_COMPLETION(timer_has_run);

static void print_irql(const char *context)
{
	pr_info("%s %u\n", context, ke_get_current_irql());
}

static enum hrtimer_restart softirq_timer(struct hrtimer *timer)
{
	struct klock_queue_handle handle;
	u8 old_irql;

	print_irql("softirq");
	ke_acquire_in_stack_queued_spin_lock_for_dpc(&nt_lock, &handle);
	print_irql("softirq,for_dpc");
	ke_release_in_stack_queued_spin_lock_for_dpc(&handle);
	print_irql("softirq,released");
	ke_raise_irql(DISPATCH_LEVEL, &old_irql);
	ke_acquire_spin_lock_at_dpc_level(&nt_lock);
	ke_release_spin_lock_from_dpc_level(&nt_lock);
	ke_lower_irql(old_irql);
	/* Below DISPATCH_LEVEL this function must not be called: ntklog has to warn once. */
	ke_acquire_spin_lock_at_dpc_level(&nt_lock);
	ke_release_spin_lock_from_dpc_level(&nt_lock);
	complete(&timer_has_run);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart hardirq_timer(struct hrtimer *timer)
{
	print_irql("hardirq");
	complete(&timer_has_run);
	return HRTIMER_NORESTART;
}

static void run_in_timer(enum hrtimer_restart (*function)(struct hrtimer *timer),
			 enum hrtimer_mode mode)
{
	struct hrtimer timer;

	hrtimer_setup(&timer, function, CLOCK_MONOTONIC, mode);
	hrtimer_start(&timer, 0, mode);
	wait_for_completion(&timer_has_run);
	hrtimer_cancel(&timer);
}

/* Return an owner pointer. NT tells it from a thread by both lowest bits. */
static unsigned long owner_pointer(unsigned int owner)
{
	return (unsigned long)&resource + 0x1000 * owner + 3;
}

static unsigned int add_owners(unsigned int owners)
{
	while (owners < OWNERS && ex_acquire_resource_shared_lite(&resource, false)) {
		ex_set_resource_owner_pointer(&resource, (void *)owner_pointer(owners));
		owners++;
	}
	return owners;
}

static void add_owners_at_dispatch_level(void)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();
	unsigned int owners = add_owners(0);

	ke_lower_irql(old_irql);
	pr_info("owners %u\n", owners);
	owners = add_owners(owners);
	pr_info("owners %u\n", owners);
	old_irql = ke_raise_irql_to_dpc_level();
	while (owners--)
		ex_release_resource_for_thread_lite(&resource, owner_pointer(owners));
	ke_lower_irql(old_irql);
}

static int __init rt_levels_init(void)
{
	static DEFINE_SPINLOCK(sleeping_lock);
	static DEFINE_RAW_SPINLOCK(raw_lock);
	u8 old_irql;

	ke_initialize_spin_lock(&nt_lock);
	ex_initialize_resource_lite(&resource);
	print_irql("thread");
	local_bh_disable();
	print_irql("local_bh_disable");
	local_bh_enable();
	spin_lock(&sleeping_lock);
	print_irql("spin_lock");
	spin_unlock(&sleeping_lock);
	preempt_disable();
	print_irql("preempt_disable");
	preempt_enable();
	raw_spin_lock(&raw_lock);
	print_irql("raw_spin_lock");
	raw_spin_unlock(&raw_lock);
	ke_raise_irql(DISPATCH_LEVEL, &old_irql);
	print_irql("raised");
	ke_lower_irql(old_irql);
	ke_raise_irql(APC_LEVEL, &old_irql);
	print_irql("apc");
	ke_lower_irql(old_irql);
	old_irql = ke_raise_irql_to_synch_level();
	print_irql("synch");
	ke_lower_irql(old_irql);
	print_irql("lowered");
	run_in_timer(softirq_timer, HRTIMER_MODE_REL_SOFT);
	run_in_timer(hardirq_timer, HRTIMER_MODE_REL_HARD);
	add_owners_at_dispatch_level();
	ex_delete_resource_lite(&resource);
	return 0;
}
module_init(rt_levels_init);

static void __exit rt_levels_exit(void)
{
}
module_exit(rt_levels_exit);

MODULE_DESCRIPTION("Prints NT's IRQL in the contexts of PREEMPT_RT");
MODULE_LICENSE("GPL");
