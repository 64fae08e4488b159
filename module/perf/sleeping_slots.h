/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SLEEPING_SLOTS_H
#define _NTKLOG_PERF_SLEEPING_SLOTS_H

/* The slots of a task's sleeping locks: the action word, and the search for a slot. */

#include <linux/build_bug.h>
#include <linux/types.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_resource.h>

struct ntklog_sleeping_slot;
struct ntklog_task;

/* How a lock is acquired: bits in the low half of slot->action. The high half is the class. */
#define NTKLOG_SLEEPING_EXCLUSIVE	(WMI_RESOURCE_ACTION_ACQUIRE_EXCLUSIVE & \
					 ~WMI_RESOURCE_ACTION_CLASS)
#define NTKLOG_SLEEPING_SHARED		(WMI_RESOURCE_ACTION_ACQUIRE_SHARED & \
					 ~WMI_RESOURCE_ACTION_CLASS)
/* The bit that is set in NTKLOG_SLEEPING_EXCLUSIVE and clear in NTKLOG_SLEEPING_SHARED. */
#define NTKLOG_SLEEPING_EXCLUSIVE_BIT	(NTKLOG_SLEEPING_EXCLUSIVE & ~NTKLOG_SLEEPING_SHARED)

/*
 * State bits in slot->action. A slot with any of them is released by the slow path.
 *
 * WAITING	the task waits for the lock
 * WAITED	a wait is over, and slot->wait_time is valid
 * ABOVE_HOLE	the release of this slot must lower next_sleeping_slot past the slot below
 * CLAIMED	a party has claimed the slot in order to free it
 */
#define NTKLOG_SLEEPING_WAITING		0x4000
#define NTKLOG_SLEEPING_WAITED		0x8000
#define NTKLOG_SLEEPING_ABOVE_HOLE	0x2000
#define NTKLOG_SLEEPING_CLAIMED		0x1000

/* Number of lock classes. Bits 16 to 19 of an action hold the class, starting at 1. */
#define NTKLOG_SLEEPING_CLASS_COUNT	6

/*
 * The class as slot->action stores it: without the top bit, which is set in all Linux classes. One
 * instruction can thus store an action as a sign-extended immediate into slot->state.
 */
#define NTKLOG_SLEEPING_LINUX_BIT	0x80000000
#define NTKLOG_SLEEPING_CLASS(_name)	(WMI_RESOURCE_CLASS_LINUX_##_name &	\
					 ~NTKLOG_SLEEPING_LINUX_BIT)

static_assert(WMI_RESOURCE_CLASS_LINUX_MUTEX == 0x80010000);
static_assert(WMI_RESOURCE_CLASS_LINUX_WW_MUTEX ==
	      0x80000000 + (NTKLOG_SLEEPING_CLASS_COUNT << 16));
static_assert(PERF_LINUX_WW_MUTEX == (PERF_LINUX_MUTEX << (NTKLOG_SLEEPING_CLASS_COUNT - 1) |
				      0xA0000000));

static inline u32 ntklog_get_action_class(u32 action)
{
	return action & WMI_RESOURCE_ACTION_CLASS;
}

struct ntklog_sleeping_slot *
ntklog_find_sleeping_slot(struct ntklog_task *record, const void *lock, u32 class);
void ntklog_repair_slot_stack(struct ntklog_task *record, struct ntklog_sleeping_slot *slot);
struct ntklog_sleeping_slot *ntklog_alloc_sleeping_slot(struct ntklog_task *record,
							bool *is_reclaimed);

#endif /* _NTKLOG_PERF_SLEEPING_SLOTS_H */
