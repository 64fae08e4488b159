// SPDX-License-Identifier: GPL-2.0-only
/*
 * rt_levels: print NT's IRQL in the contexts of a PREEMPT_RT kernel, and the differences of NT's
 * locks:
 *
 *	rt_levels: CONTEXT IRQL
 *	rt_levels: owners COUNT		number of owners that a resource accepts at DISPATCH_LEVEL,
 *					where no table of owners can be allocated; then the number
 *					at PASSIVE_LEVEL
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

/* Number of owners; the resource's table grows several times. */
#define OWNERS		64

static struct kspin_lock nt_lock;
static struct eresource resource;
static DECLARE_COMPLETION(is_done);

static void tell(const char *context)
{
	pr_info("%s %u\n", context, ke_get_current_irql());
}

static enum hrtimer_restart softirq_timer(struct hrtimer *timer)
{
	struct klock_queue_handle handle;
	u8 old_irql;

	tell("softirq");
	ke_acquire_in_stack_queued_spin_lock_for_dpc(&nt_lock, &handle);
	tell("softirq,for_dpc");
	ke_release_in_stack_queued_spin_lock_for_dpc(&handle);
	tell("softirq,released");
	ke_raise_irql(DISPATCH_LEVEL, &old_irql);
	ke_acquire_spin_lock_at_dpc_level(&nt_lock);
	ke_release_spin_lock_from_dpc_level(&nt_lock);
	ke_lower_irql(old_irql);
	/* The kernel has to report this once. */
	ke_acquire_spin_lock_at_dpc_level(&nt_lock);
	ke_release_spin_lock_from_dpc_level(&nt_lock);
	complete(&is_done);
	return HRTIMER_NORESTART;
}

static enum hrtimer_restart hardirq_timer(struct hrtimer *timer)
{
	tell("hardirq");
	complete(&is_done);
	return HRTIMER_NORESTART;
}

static void run_timer(enum hrtimer_restart (*function)(struct hrtimer *timer),
		      enum hrtimer_mode mode)
{
	struct hrtimer timer;

	hrtimer_setup(&timer, function, CLOCK_MONOTONIC, mode);
	hrtimer_start(&timer, 0, mode);
	wait_for_completion(&is_done);
	hrtimer_cancel(&timer);
}

/* Return an owner pointer; a thread can set many of them. */
static unsigned long pointer_of(unsigned int owner)
{
	return (unsigned long)&resource + 0x1000 * owner + 3;
}

static unsigned int own_more(unsigned int owners)
{
	while (owners < OWNERS && ex_acquire_resource_shared_lite(&resource, false)) {
		ex_set_resource_owner_pointer(&resource, (void *)pointer_of(owners));
		owners++;
	}
	return owners;
}

static void own_at_dispatch_level(void)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();
	unsigned int owners = own_more(0);

	ke_lower_irql(old_irql);
	pr_info("owners %u\n", owners);
	owners = own_more(owners);
	pr_info("owners %u\n", owners);
	/* The last release frees the table. */
	old_irql = ke_raise_irql_to_dpc_level();
	while (owners--)
		ex_release_resource_for_thread_lite(&resource, pointer_of(owners));
	ke_lower_irql(old_irql);
}

static int __init rt_levels_init(void)
{
	static DEFINE_SPINLOCK(sleeping);
	static DEFINE_RAW_SPINLOCK(raw);
	u8 old_irql;

	ke_initialize_spin_lock(&nt_lock);
	ex_initialize_resource_lite(&resource);
	tell("thread");
	local_bh_disable();
	tell("local_bh_disable");
	local_bh_enable();
	spin_lock(&sleeping);
	tell("spin_lock");
	spin_unlock(&sleeping);
	preempt_disable();
	tell("preempt_disable");
	preempt_enable();
	raw_spin_lock(&raw);
	tell("raw_spin_lock");
	raw_spin_unlock(&raw);
	ke_raise_irql(DISPATCH_LEVEL, &old_irql);
	tell("raised");
	ke_lower_irql(old_irql);
	ke_raise_irql(APC_LEVEL, &old_irql);
	tell("apc");
	ke_lower_irql(old_irql);
	old_irql = ke_raise_irql_to_synch_level();
	tell("synch");
	ke_lower_irql(old_irql);
	tell("lowered");
	run_timer(softirq_timer, HRTIMER_MODE_REL_SOFT);
	run_timer(hardirq_timer, HRTIMER_MODE_REL_HARD);
	own_at_dispatch_level();
	ex_delete_resource_lite(&resource);
	return 0;
}
module_init(rt_levels_init);

static void __exit rt_levels_exit(void)
{
}
module_exit(rt_levels_exit);

MODULE_DESCRIPTION("Tells NT's IRQL of contexts of PREEMPT_RT");
MODULE_LICENSE("GPL");
