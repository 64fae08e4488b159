// SPDX-License-Identifier: GPL-2.0-only

#include <ntklog/group_mask.h>
#include <ntklog/wmi_resource.h>

#include "resource_kind.h"

const struct event_symbol resource_kinds[RESOURCE_KINDS] = {
	[RESOURCE_KIND_NT] = { WMI_RESOURCE_CLASS_RESOURCE, "resource" },
	[RESOURCE_KIND_LINUX_MUTEX] = { WMI_RESOURCE_CLASS_LINUX_MUTEX, "mutex" },
	[RESOURCE_KIND_LINUX_RWSEM] = { WMI_RESOURCE_CLASS_LINUX_RWSEM, "rwsem" },
	[RESOURCE_KIND_LINUX_SEMAPHORE] = { WMI_RESOURCE_CLASS_LINUX_SEMAPHORE, "semaphore" },
	[RESOURCE_KIND_LINUX_RT_MUTEX] = { WMI_RESOURCE_CLASS_LINUX_RT_MUTEX, "rt_mutex" },
	[RESOURCE_KIND_LINUX_PERCPU_RWSEM] = {
		WMI_RESOURCE_CLASS_LINUX_PERCPU_RWSEM, "percpu_rwsem"
	},
	[RESOURCE_KIND_LINUX_WW_MUTEX] = { WMI_RESOURCE_CLASS_LINUX_WW_MUTEX, "ww_mutex" },
};

/**
 * resource_kind_find() - find the kind of lock of an action
 * @action: action of a record
 *
 * Return: the kind, or RESOURCE_KINDS if the class of the action is not known.
 */
enum resource_kind resource_kind_find(uint32_t action)
{
	/* The classes of Linux' locks are numbered as the kinds. */
	uint32_t class = action & WMI_RESOURCE_ACTION_CLASS;
	uint32_t kind = class == WMI_RESOURCE_CLASS_RESOURCE ? RESOURCE_KIND_NT :
			class >> 16 & 0x7FFF;

	return kind < RESOURCE_KINDS && resource_kinds[kind].value == class ? kind :
									RESOURCE_KINDS;
}

/**
 * resource_kind_group() - find the event group of a kind of lock
 * @kind: the kind
 *
 * Return: the group, PERF_*; 0 of RESOURCE_KINDS.
 */
uint32_t resource_kind_group(enum resource_kind kind)
{
	static const uint32_t groups[RESOURCE_KINDS] = {
		[RESOURCE_KIND_NT] = PERF_SYNC_OBJECTS,
		[RESOURCE_KIND_LINUX_MUTEX] = PERF_LINUX_MUTEX,
		[RESOURCE_KIND_LINUX_RWSEM] = PERF_LINUX_RWSEM,
		[RESOURCE_KIND_LINUX_SEMAPHORE] = PERF_LINUX_SEMAPHORE,
		[RESOURCE_KIND_LINUX_RT_MUTEX] = PERF_LINUX_RT_MUTEX,
		[RESOURCE_KIND_LINUX_PERCPU_RWSEM] = PERF_LINUX_PERCPU_RWSEM,
		[RESOURCE_KIND_LINUX_WW_MUTEX] = PERF_LINUX_WW_MUTEX,
	};

	return kind < RESOURCE_KINDS ? groups[kind] : 0;
}

/**
 * resource_is_blocker_only() - test whether a release is written only because it leaves a waiter
 * @action: action of a record
 *
 * Return: true if the release left a waiter behind and NT's rules have not selected it.
 */
bool resource_is_blocker_only(uint32_t action)
{
	enum resource_kind kind = resource_kind_find(action);

	return kind != RESOURCE_KIND_NT && kind != RESOURCE_KINDS &&
	       action & WMI_RESOURCE_ACTION_LINUX_BLOCKER &&
	       !(action & WMI_RESOURCE_ACTION_EXCESSIVE);
}

/**
 * resource_nt_action() - convert the action of any kind of lock to that of NT's resources
 * @action: action of a record
 *
 * Return: WMI_RESOURCE_ACTION_* of an NT resource; or @action unchanged, if it has a class that no
 * kind of lock has, or is another action than a complete release or an excessive wait.
 */
uint32_t resource_nt_action(uint32_t action)
{
	uint32_t nt = WMI_RESOURCE_CLASS_RESOURCE | (action & ~WMI_RESOURCE_ACTION_CLASS);

	if (resource_kind_find(action) == RESOURCE_KINDS)
		return action;
	if (resource_is_blocker_only(action))
		nt &= ~WMI_RESOURCE_ACTION_LINUX_BLOCKER;
	switch (nt) {
	case WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE:
	case WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED:
	case WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_EXCLUSIVE:
	case WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_SHARED:
		return nt;
	default:
		return action;
	}
}
