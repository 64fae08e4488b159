// SPDX-License-Identifier: GPL-2.0-only
#include <linux/err.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/overflow.h>
#include <linux/string.h>
#include <uapi/ntklog/ioctl.h>
#include <uapi/ntklog/system_information.h>

#include "../etw/group_mask.h"
#include "../etw/session.h"
#include "../etw/settings.h"
#include "../etw/stacks.h"
#include "../ex/locks_information.h"
#include "../perf/resource.h"
#include "../perf/spin_lock.h"
#include "system_information.h"

static struct ntklog_parameter_set *ntklog_find_perf_information(u32 event_trace_class)
{
	switch (event_trace_class) {
	case EVENT_TRACE_SPINLOCK_INFORMATION_CLASS:
		return &ntklog_spin_lock_parameter_set;
	case EVENT_TRACE_EXECUTIVE_RESOURCE_INFORMATION_CLASS:
		return &ntklog_resource_parameter_set;
	default:
		return NULL;
	}
}

static struct etw_session *ntklog_find_session(u64 trace_handle)
{
	unsigned long number;

	if (trace_handle >= ETW_SESSIONS)
		return NULL;
	/* The number comes from user space: prevent speculation past the end of the array. */
	number = trace_handle;
	return &etw_sessions[array_index_nospec(number, ETW_SESSIONS)];
}

/* Convert the result of a change of a session's settings. @err: 0, -EBUSY or -EINTR */
static u32 ntklog_errno_to_status(int err)
{
	if (!err)
		return STATUS_SUCCESS;
	return err == -EINTR ? STATUS_THREAD_IS_TERMINATING : STATUS_SHARING_VIOLATION;
}

static u32 ntklog_query_group_mask(struct event_trace_groupmask_information *information,
				   size_t length, size_t *return_length)
{
	struct etw_session *session;

	if (length != sizeof(*information))
		return STATUS_INFO_LENGTH_MISMATCH;
	session = ntklog_find_session(information->trace_handle);
	if (!session)
		return STATUS_INVALID_PARAMETER;
	information->padding = 0;
	information->event_trace_group_masks = etw_get_settings(session).group_mask;
	*return_length = length;
	return STATUS_SUCCESS;
}

static u32 ntklog_set_group_mask(const struct event_trace_groupmask_information *information,
				 size_t length)
{
	struct etw_group_mask_change change;
	struct etw_session *session;

	if (length != sizeof(*information))
		return STATUS_INFO_LENGTH_MISMATCH;
	session = ntklog_find_session(information->trace_handle);
	if (!session ||
	    etw_group_change_from_mask(&information->event_trace_group_masks, &change))
		return STATUS_INVALID_PARAMETER;
	return ntklog_errno_to_status(etw_change_group_mask(session, &change));
}

static u32 ntklog_query_stacks(struct event_trace_system_event_information *information,
			       size_t length, size_t *return_length)
{
	u32 hook_ids[ETW_STACKED_EVENTS];
	struct etw_session *session;
	size_t count;

	if (length < sizeof(*information))
		return STATUS_INFO_LENGTH_MISMATCH;
	session = ntklog_find_session(information->trace_handle);
	if (!session)
		return STATUS_INVALID_PARAMETER;
	count = etw_stacks_to_hook_ids(etw_get_settings(session).stacks, hook_ids);
	*return_length = struct_size(information, hook_id, count);
	if (length < *return_length)
		return STATUS_INFO_LENGTH_MISMATCH;
	information->padding = 0;
	memcpy(information->hook_id, hook_ids, count * sizeof(*hook_ids));
	return STATUS_SUCCESS;
}

static u32 ntklog_set_stacks(const struct event_trace_system_event_information *information,
			     size_t length)
{
	struct etw_session *session;
	u32 stacks;

	if (length < sizeof(*information) || length > NTKLOG_INFORMATION_SIZE_MAX ||
	    (length - sizeof(*information)) % sizeof(*information->hook_id))
		return STATUS_INFO_LENGTH_MISMATCH;
	session = ntklog_find_session(information->trace_handle);
	if (!session ||
	    etw_stacks_from_hook_ids(information->hook_id,
				     (length - sizeof(*information)) /
				     sizeof(*information->hook_id), &stacks))
		return STATUS_INVALID_PARAMETER;
	return ntklog_errno_to_status(etw_set_stacks(session, stacks));
}

/* @buffer has NTKLOG_INFORMATION_SIZE_MAX bytes and is input and output. */
static u32 ntklog_query_trace(void *buffer, size_t length, size_t *return_length)
{
	struct ntklog_parameter_set *information;
	u32 event_trace_class;

	if (length < sizeof(event_trace_class))
		return STATUS_INFO_LENGTH_MISMATCH;
	memcpy(&event_trace_class, buffer, sizeof(event_trace_class));
	if (event_trace_class == EVENT_TRACE_GROUPMASK_INFORMATION_CLASS)
		return ntklog_query_group_mask(buffer, length, return_length);
	if (event_trace_class == EVENT_TRACE_STACK_TRACING_INFORMATION_CLASS)
		return ntklog_query_stacks(buffer, length, return_length);
	information = ntklog_find_perf_information(event_trace_class);
	if (!information)
		return STATUS_NOT_IMPLEMENTED;
	return ntklog_query_parameter_set(information, buffer, length, return_length);
}

static u32 ntklog_query_locks(size_t length, void **out, size_t *return_length)
{
	struct rtl_process_locks64 *information = ex_query_locks_information(return_length);

	if (IS_ERR(information))
		return STATUS_NO_MEMORY;
	if (*return_length > length) {
		kvfree(information);
		return STATUS_INFO_LENGTH_MISMATCH;
	}
	*out = information;
	return STATUS_SUCCESS;
}

/**
 * ntklog_query_system_information() - NT's NtQuerySystemInformation
 * @information_class: SYSTEM_*_INFORMATION
 * @in: first bytes of the caller's buffer
 * @in_length: number of bytes at @in; at most NTKLOG_INFORMATION_SIZE_MAX
 * @length: size of the caller's buffer in bytes
 * @is_privileged: the caller may see addresses
 * @out: set to the result, to be freed with kvfree(); NULL if there is none
 * @return_length: set to the size of the result in bytes; for locks and stacks, also if @length is
 *	too small
 *
 * Context: task; may sleep.
 * Return: STATUS_*.
 */
u32 ntklog_query_system_information(u32 information_class, const void *in,
				    size_t in_length, size_t length, bool is_privileged,
				    void **out, size_t *return_length)
{
	u8 *buffer;
	u32 status;

	*out = NULL;
	*return_length = 0;
	switch (information_class) {
	case SYSTEM_PERFORMANCE_TRACE_INFORMATION:
		buffer = kvzalloc(NTKLOG_INFORMATION_SIZE_MAX, GFP_KERNEL);
		if (!buffer)
			return STATUS_NO_MEMORY;
		memcpy(buffer, in, in_length);
		status = ntklog_query_trace(buffer, length, return_length);
		if (status == STATUS_SUCCESS)
			*out = buffer;
		else
			kvfree(buffer);
		return status;
	case SYSTEM_LOCKS_INFORMATION:
		if (!is_privileged)
			return STATUS_ACCESS_DENIED;
		return ntklog_query_locks(length, out, return_length);
	default:
		return STATUS_INVALID_INFO_CLASS;
	}
}

/**
 * ntklog_set_system_information() - NT's NtSetSystemInformation
 * @information_class: SYSTEM_*_INFORMATION
 * @in: the caller's buffer, or its first NTKLOG_INFORMATION_SIZE_MAX bytes if it is longer
 * @length: size of the caller's buffer in bytes
 * @is_privileged: the caller may change settings
 *
 * Context: task; may sleep.
 * Return: STATUS_*. Only STATUS_SUCCESS means that something has changed.
 */
u32 ntklog_set_system_information(u32 information_class, const void *in,
				  size_t length, bool is_privileged)
{
	struct ntklog_parameter_set *information;
	u32 event_trace_class;

	if (information_class != SYSTEM_PERFORMANCE_TRACE_INFORMATION)
		return STATUS_INVALID_INFO_CLASS;
	if (!is_privileged)
		return STATUS_ACCESS_DENIED;
	if (length < sizeof(event_trace_class))
		return STATUS_INFO_LENGTH_MISMATCH;
	memcpy(&event_trace_class, in, sizeof(event_trace_class));
	if (event_trace_class == EVENT_TRACE_GROUPMASK_INFORMATION_CLASS)
		return ntklog_set_group_mask(in, length);
	if (event_trace_class == EVENT_TRACE_STACK_TRACING_INFORMATION_CLASS)
		return ntklog_set_stacks(in, length);
	information = ntklog_find_perf_information(event_trace_class);
	if (!information)
		return STATUS_NOT_IMPLEMENTED;
	return ntklog_change_parameter_set(information, in, length);
}
