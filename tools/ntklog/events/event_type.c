// SPDX-License-Identifier: GPL-2.0-only
/* The events that the tool knows. The layouts come from the wire headers. */

#include <assert.h>
#include <string.h>
#include <strings.h>

#include <ntklog/ready_thread.h>
#include <ntklog/wmi_contextswap.h>
#include <ntklog/wmi_resource.h>
#include <ntklog/wmi_spinlock.h>

#include "event_group.h"
#include "event_type.h"
#include "linux_mode.h"
#include "hook_id.h"
#include "macros.h"
#include "resource_kind.h"
#include "wait_reason.h"

#define WHERE(type, member) \
	{ offsetof(type, member), sizeof(((type *)0)->member) }

#define SPINLOCK(_name, _format, _member, ...)				\
{									\
	.name = _name,							\
	.format = _format,						\
	.places = { WHERE(struct wmi_spinlock32, _member),		\
		   WHERE(struct wmi_spinlock64, _member) },		\
	__VA_ARGS__							\
}

static const struct event_symbol acquire_modes[] = {
	{ WMI_SPINLOCK_ORDINARY, "ordinary" },
	{ WMI_SPINLOCK_QUEUED, "queued" },
	{ WMI_SPINLOCK_EXECUTIVE_SHARED, "executive_shared" },
	{ WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE, "executive_exclusive" },
	{ WMI_SPINLOCK_EXECUTIVE_CONVERTED, "executive_converted" },
};

static const struct event_symbol rule_symbols[] = {
	{ 0, "nt" },
	{ WMI_SPINLOCK_RULE_SAMPLED, "sampled" },
	{ WMI_SPINLOCK_RULE_WAIT, "wait" },
	{ WMI_SPINLOCK_RULE_BLOCKER, "nt_blocker" },
	{ WMI_SPINLOCK_RULE_SAMPLED | WMI_SPINLOCK_RULE_BLOCKER, "sampled_blocker" },
	{ WMI_SPINLOCK_RULE_BLOCKER | WMI_SPINLOCK_RULE_BLOCKER_ONLY, "blocker" },
	{ WMI_SPINLOCK_RULE_BLOCKER | WMI_SPINLOCK_RULE_BLOCKER_ONLY |
	  WMI_SPINLOCK_RULE_HOLD_UNKNOWN, "release" },
};

static const struct event_field spinlock_fields[] = {
	SPINLOCK("SpinLockAddress", FIELD_HEX, spin_lock_address),
	SPINLOCK("CallerAddress", FIELD_HEX, caller_address, .is_code_address = true),
	SPINLOCK("AcquireTime", FIELD_DECIMAL, acquire_time),
	SPINLOCK("ReleaseTime", FIELD_DECIMAL, release_time),
	SPINLOCK("HoldTime", FIELD_DECIMAL, release_time, .is_cycles = true,
		 .subtracted_places = { WHERE(struct wmi_spinlock32, acquire_time),
					WHERE(struct wmi_spinlock64, acquire_time) }),
	SPINLOCK("WaitTimeInCycles", FIELD_DECIMAL, wait_time_in_cycles,
		 .is_cycles = true, .duration_name = "WaitTime"),
	SPINLOCK("SpinCount", FIELD_DECIMAL, spin_count),
	SPINLOCK("ThreadId", FIELD_DECIMAL, thread_id, .is_thread_id = true),
	SPINLOCK("InterruptCount", FIELD_DECIMAL, interrupt_count),
	SPINLOCK("Irql", FIELD_DECIMAL, irql),
	SPINLOCK("AcquireDepth", FIELD_DECIMAL, acquire_depth),
	SPINLOCK("AcquireMode", FIELD_SYMBOL, flags,
		 .mask = WMI_SPINLOCK_ACQUIRE_MODE, .symbols = acquire_modes,
		 .symbol_count = ARRAY_SIZE(acquire_modes)),
	SPINLOCK("ExecuteDpc", FIELD_DECIMAL, flags,
		 .mask = WMI_SPINLOCK_EXECUTE_DPC, .shift = 6),
	SPINLOCK("ExecuteIsr", FIELD_DECIMAL, flags,
		 .mask = WMI_SPINLOCK_EXECUTE_ISR, .shift = 7),
	SPINLOCK("Rule", FIELD_SYMBOL, rule, .symbols = rule_symbols,
		 .symbol_count = ARRAY_SIZE(rule_symbols)),
};

#define RESOURCE(_name, _format, _member, ...)				\
{									\
	.name = _name,							\
	.format = _format,						\
	.places = { WHERE(struct wmi_resource32, _member),		\
		   WHERE(struct wmi_resource64, _member) },		\
	__VA_ARGS__							\
}

/* Actions of ntklog, for a kind of Linux' sleeping locks. */
#define ACTION(_class, _action, _name)						\
{										\
	WMI_RESOURCE_CLASS_LINUX_##_class |					\
	(WMI_RESOURCE_ACTION_##_action & ~WMI_RESOURCE_ACTION_CLASS), _name	\
}

/* A release that is written only because it leaves a waiter. */
#define BLOCKER(_class, _action, _name)						\
{										\
	WMI_RESOURCE_CLASS_LINUX_##_class | WMI_RESOURCE_ACTION_LINUX_BLOCKER |	\
	(WMI_RESOURCE_ACTION_##_action & ~WMI_RESOURCE_ACTION_CLASS), _name	\
}

static const struct event_symbol action_symbols[] = {
	{ WMI_RESOURCE_ACTION_INITIALIZE, "initialize" },
	{ WMI_RESOURCE_ACTION_REINITIALIZE, "reinitialize" },
	{ WMI_RESOURCE_ACTION_ACQUIRE_EXCLUSIVE, "acquire_exclusive" },
	{ WMI_RESOURCE_ACTION_COMPLETE_RELEASE_EXCLUSIVE, "release_exclusive" },
	{ WMI_RESOURCE_ACTION_WAIT_FOR_EXCLUSIVE, "wait_for_exclusive" },
	{ WMI_RESOURCE_ACTION_REACQUIRE_EXCLUSIVE, "reacquire_exclusive" },
	{ WMI_RESOURCE_ACTION_RELEASE_EXCLUSIVE, "release_reacquired_exclusive" },
	{ WMI_RESOURCE_ACTION_ACQUIRE_SHARED, "acquire_shared" },
	{ WMI_RESOURCE_ACTION_COMPLETE_RELEASE_SHARED, "release_shared" },
	{ WMI_RESOURCE_ACTION_WAIT_FOR_SHARED, "wait_for_shared" },
	{ WMI_RESOURCE_ACTION_REACQUIRE_SHARED, "reacquire_shared" },
	{ WMI_RESOURCE_ACTION_RELEASE_SHARED, "release_reacquired_shared" },
	{ WMI_RESOURCE_ACTION_OWNER_POINTER_EXCLUSIVE, "owner_pointer_exclusive" },
	{ WMI_RESOURCE_ACTION_OWNER_POINTER_SHARED, "owner_pointer_shared" },
	{ WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_EXCLUSIVE,
	  "wait_excessive_for_exclusive" },
	{ WMI_RESOURCE_ACTION_WAIT_EXCESSIVE_FOR_SHARED,
	  "wait_excessive_for_shared" },
	ACTION(MUTEX, COMPLETE_RELEASE_EXCLUSIVE, "mutex_release_exclusive"),
	BLOCKER(MUTEX, COMPLETE_RELEASE_EXCLUSIVE, "mutex_release_exclusive_blocker"),
	ACTION(MUTEX, COMPLETE_RELEASE_SHARED, "mutex_release_shared"),
	BLOCKER(MUTEX, COMPLETE_RELEASE_SHARED, "mutex_release_shared_blocker"),
	ACTION(MUTEX, WAIT_EXCESSIVE_FOR_EXCLUSIVE, "mutex_wait_excessive_for_exclusive"),
	ACTION(MUTEX, WAIT_EXCESSIVE_FOR_SHARED, "mutex_wait_excessive_for_shared"),
	ACTION(RWSEM, COMPLETE_RELEASE_EXCLUSIVE, "rwsem_release_exclusive"),
	BLOCKER(RWSEM, COMPLETE_RELEASE_EXCLUSIVE, "rwsem_release_exclusive_blocker"),
	ACTION(RWSEM, COMPLETE_RELEASE_SHARED, "rwsem_release_shared"),
	BLOCKER(RWSEM, COMPLETE_RELEASE_SHARED, "rwsem_release_shared_blocker"),
	ACTION(RWSEM, WAIT_EXCESSIVE_FOR_EXCLUSIVE, "rwsem_wait_excessive_for_exclusive"),
	ACTION(RWSEM, WAIT_EXCESSIVE_FOR_SHARED, "rwsem_wait_excessive_for_shared"),
	ACTION(SEMAPHORE, COMPLETE_RELEASE_EXCLUSIVE, "semaphore_release_exclusive"),
	BLOCKER(SEMAPHORE, COMPLETE_RELEASE_EXCLUSIVE, "semaphore_release_exclusive_blocker"),
	ACTION(SEMAPHORE, COMPLETE_RELEASE_SHARED, "semaphore_release_shared"),
	BLOCKER(SEMAPHORE, COMPLETE_RELEASE_SHARED, "semaphore_release_shared_blocker"),
	ACTION(SEMAPHORE, WAIT_EXCESSIVE_FOR_EXCLUSIVE, "semaphore_wait_excessive_for_exclusive"),
	ACTION(SEMAPHORE, WAIT_EXCESSIVE_FOR_SHARED, "semaphore_wait_excessive_for_shared"),
	ACTION(RT_MUTEX, COMPLETE_RELEASE_EXCLUSIVE, "rt_mutex_release_exclusive"),
	BLOCKER(RT_MUTEX, COMPLETE_RELEASE_EXCLUSIVE, "rt_mutex_release_exclusive_blocker"),
	ACTION(RT_MUTEX, COMPLETE_RELEASE_SHARED, "rt_mutex_release_shared"),
	BLOCKER(RT_MUTEX, COMPLETE_RELEASE_SHARED, "rt_mutex_release_shared_blocker"),
	ACTION(RT_MUTEX, WAIT_EXCESSIVE_FOR_EXCLUSIVE, "rt_mutex_wait_excessive_for_exclusive"),
	ACTION(RT_MUTEX, WAIT_EXCESSIVE_FOR_SHARED, "rt_mutex_wait_excessive_for_shared"),
	ACTION(PERCPU_RWSEM, COMPLETE_RELEASE_EXCLUSIVE, "percpu_rwsem_release_exclusive"),
	BLOCKER(PERCPU_RWSEM, COMPLETE_RELEASE_EXCLUSIVE, "percpu_rwsem_release_exclusive_blocker"),
	ACTION(PERCPU_RWSEM, COMPLETE_RELEASE_SHARED, "percpu_rwsem_release_shared"),
	BLOCKER(PERCPU_RWSEM, COMPLETE_RELEASE_SHARED, "percpu_rwsem_release_shared_blocker"),
	ACTION(PERCPU_RWSEM, WAIT_EXCESSIVE_FOR_EXCLUSIVE,
	       "percpu_rwsem_wait_excessive_for_exclusive"),
	ACTION(PERCPU_RWSEM, WAIT_EXCESSIVE_FOR_SHARED, "percpu_rwsem_wait_excessive_for_shared"),
	ACTION(WW_MUTEX, COMPLETE_RELEASE_EXCLUSIVE, "ww_mutex_release_exclusive"),
	BLOCKER(WW_MUTEX, COMPLETE_RELEASE_EXCLUSIVE, "ww_mutex_release_exclusive_blocker"),
	ACTION(WW_MUTEX, COMPLETE_RELEASE_SHARED, "ww_mutex_release_shared"),
	BLOCKER(WW_MUTEX, COMPLETE_RELEASE_SHARED, "ww_mutex_release_shared_blocker"),
	ACTION(WW_MUTEX, WAIT_EXCESSIVE_FOR_EXCLUSIVE, "ww_mutex_wait_excessive_for_exclusive"),
	ACTION(WW_MUTEX, WAIT_EXCESSIVE_FOR_SHARED, "ww_mutex_wait_excessive_for_shared"),
};

static const struct event_field resource_fields[] = {
	RESOURCE("AcquireTime", FIELD_DECIMAL, acquire_time),
	RESOURCE("HoldTime", FIELD_DECIMAL, hold_time, .is_cycles = true),
	RESOURCE("WaitTime", FIELD_DECIMAL, wait_time, .is_cycles = true),
	RESOURCE("MaxRecursionDepth", FIELD_DECIMAL, max_recursion_depth),
	RESOURCE("ThreadId", FIELD_DECIMAL, thread_id, .is_thread_id = true),
	RESOURCE("Resource", FIELD_HEX, resource),
	RESOURCE("Action", FIELD_SYMBOL, action, .symbols = action_symbols,
		 .symbol_count = ARRAY_SIZE(action_symbols)),
	RESOURCE("ContentionDelta", FIELD_DECIMAL, contention_delta),
};

/* Part of Action, for filters. Text has it in the name of the action. */
static const struct event_field resource_kind_field =
	RESOURCE("Kind", FIELD_SYMBOL, action, .mask = WMI_RESOURCE_ACTION_CLASS,
		 .symbols = resource_kinds, .symbol_count = RESOURCE_KINDS);

/* A record without pointers has one layout for both pointer sizes. */
#define PLAIN(_type, _name, _member, ...)				\
{									\
	.name = _name,							\
	.places = { WHERE(_type, _member), WHERE(_type, _member) },	\
	__VA_ARGS__							\
}

static const struct event_field spinlock_dc_fields[] = {
	PLAIN(struct perfinfo_spinlock_dc, "SpinThreshold", spin_threshold),
	PLAIN(struct perfinfo_spinlock_dc, "ContentionSampleRate",
	      contention_sample_rate),
	PLAIN(struct perfinfo_spinlock_dc, "AcquireSampleRate",
	      acquire_sample_rate),
	PLAIN(struct perfinfo_spinlock_dc, "HoldThreshold", hold_threshold,
	      .is_cycles = true),
};

static const struct event_field ntklog_dc_fields[] = {
	PLAIN(struct ntklog_dc, "LinuxMode", linux_mode, .format = FIELD_SYMBOL,
	      .symbols = linux_modes, .symbol_count = LINUX_MODES),
	PLAIN(struct ntklog_dc, "Blockers", blockers),
};

/* All combinations of the flags. */
static const struct event_symbol stacked_events[] = {
	{ 0, "none" },
	{ NTKLOG_STACKS_CONTEXTSWAP, "contextswap" },
	{ NTKLOG_STACKS_SPINLOCK, "spinlock" },
	{ NTKLOG_STACKS_CONTEXTSWAP | NTKLOG_STACKS_SPINLOCK, "contextswap|spinlock" },
	{ NTKLOG_STACKS_RESOURCE, "resource" },
	{ NTKLOG_STACKS_CONTEXTSWAP | NTKLOG_STACKS_RESOURCE, "contextswap|resource" },
	{ NTKLOG_STACKS_SPINLOCK | NTKLOG_STACKS_RESOURCE, "spinlock|resource" },
	{ NTKLOG_STACKS_CONTEXTSWAP | NTKLOG_STACKS_SPINLOCK | NTKLOG_STACKS_RESOURCE,
	  "contextswap|spinlock|resource" },
};

static const struct event_field ntklog_stacks_dc_fields[] = {
	PLAIN(struct ntklog_stacks_dc, "Stacks", stacks, .format = FIELD_SYMBOL,
	      .symbols = stacked_events, .symbol_count = ARRAY_SIZE(stacked_events)),
};

static const struct event_field ntklog_observed_fields[] = {
	PLAIN(struct ntklog_observed, "Group", group, .format = FIELD_SYMBOL,
	      .symbols = event_groups, .symbol_count = EVENT_GROUPS),
	PLAIN(struct ntklog_observed, "Observed", observed),
};

/* Events of version 1 lack the last field. */
static const struct event_field ntklog_dropped_dc_fields[] = {
	PLAIN(struct ntklog_dropped_dc, "SpinLockBlockersDropped", spin_locks),
	PLAIN(struct ntklog_dropped_dc, "SleepingBlockersDropped", sleeping_locks),
	PLAIN(struct ntklog_dropped_dc, "StealTime", steal_time),
};

#define DROPPED_V1(_hook_id, _name)						\
{										\
	.hook_id = _hook_id,							\
	.version = 1,								\
	.name = _name,								\
	.data_sizes = { NTKLOG_DROPPED_DC_V1_SIZE, NTKLOG_DROPPED_DC_V1_SIZE },	\
	.fields = ntklog_dropped_dc_fields,					\
	.field_count = ARRAY_SIZE(ntklog_dropped_dc_fields) - 1,		\
}

static const struct event_field ntklog_caller_v1_fields[] = {
	PLAIN(struct ntklog_caller_v1, "Lock", lock, .format = FIELD_HEX),
	PLAIN(struct ntklog_caller_v1, "CallerAddress", caller, .format = FIELD_HEX,
	      .is_code_address = true),
};

#define CALLER_TIME(_name, _member)	\
	PLAIN(struct ntklog_caller, _name, _member, .is_cycles = true)

static const struct event_field ntklog_caller_fields[] = {
	PLAIN(struct ntklog_caller, "Lock", lock, .format = FIELD_HEX),
	PLAIN(struct ntklog_caller, "CallerAddress", caller, .format = FIELD_HEX,
	      .is_code_address = true),
	CALLER_TIME("HoldReadyTime", hold_ready),
	CALLER_TIME("HoldBlockedTime", hold_blocked),
	CALLER_TIME("WaitReadyTime", wait_ready),
	CALLER_TIME("WaitLastReadyTime", wait_last_ready),
	CALLER_TIME("WaitBlockedTime", wait_blocked),
};

static const struct event_symbol open_states[] = {
	{ NTKLOG_OPEN_LIST, "begin" },
	{ NTKLOG_OPEN_HELD_EXCLUSIVE, "held_exclusive" },
	{ NTKLOG_OPEN_WAITS_EXCLUSIVE, "waits_exclusive" },
	{ NTKLOG_OPEN_HELD_SHARED, "held_shared" },
	{ NTKLOG_OPEN_WAITS_SHARED, "waits_shared" },
};

/* Events of version 1 lack the last two fields. */
static const struct event_field ntklog_open_hold_fields[] = {
	PLAIN(struct ntklog_open_hold, "ListTime", list_time),
	PLAIN(struct ntklog_open_hold, "Lock", lock, .format = FIELD_HEX),
	PLAIN(struct ntklog_open_hold, "Since", since),
	PLAIN(struct ntklog_open_hold, "WaitTime", wait_time, .is_cycles = true),
	PLAIN(struct ntklog_open_hold, "CallerAddress", caller, .format = FIELD_HEX,
	      .is_code_address = true),
	PLAIN(struct ntklog_open_hold, "ThreadId", thread_id, .is_thread_id = true),
	PLAIN(struct ntklog_open_hold, "Kind", action, .format = FIELD_SYMBOL,
	      .mask = WMI_RESOURCE_ACTION_CLASS, .symbols = resource_kinds,
	      .symbol_count = RESOURCE_KINDS),
	PLAIN(struct ntklog_open_hold, "State", action, .format = FIELD_SYMBOL, .mask = 0xFFFF,
	      .symbols = open_states, .symbol_count = ARRAY_SIZE(open_states)),
	PLAIN(struct ntklog_open_hold, "ContentionDelta", contentions),
	PLAIN(struct ntklog_open_hold, "ReadyTime", ready, .is_cycles = true),
	PLAIN(struct ntklog_open_hold, "BlockedTime", blocked, .is_cycles = true),
};

#define BLOCK_FRAME(_number)							\
	PLAIN(struct ntklog_block_stack, "Frame" #_number, frames[_number],	\
	      .format = FIELD_HEX, .is_code_address = true)

static const struct event_field ntklog_block_stack_fields[] = {
	PLAIN(struct ntklog_block_stack, "Lock", lock, .format = FIELD_HEX),
	PLAIN(struct ntklog_block_stack, "Since", since),
	PLAIN(struct ntklog_block_stack, "BlockedTime", blocked, .is_cycles = true),
	BLOCK_FRAME(0), BLOCK_FRAME(1), BLOCK_FRAME(2), BLOCK_FRAME(3),
	BLOCK_FRAME(4), BLOCK_FRAME(5), BLOCK_FRAME(6), BLOCK_FRAME(7),
	BLOCK_FRAME(8), BLOCK_FRAME(9), BLOCK_FRAME(10), BLOCK_FRAME(11),
};

static_assert(NTKLOG_BLOCK_FRAMES == 12, "the event has as many fields");

static const struct event_field eresource_dc_fields[] = {
	PLAIN(struct perfinfo_eresource_dc, "ReleaseSamplingRate",
	      release_sampling_rate),
	PLAIN(struct perfinfo_eresource_dc, "ContentionSamplingRate",
	      contention_sampling_rate),
	PLAIN(struct perfinfo_eresource_dc, "NumberOfExcessiveTimeouts",
	      number_of_excessive_timeouts),
};

#define SWAP_V1(_name, _format, _member, ...) \
	PLAIN(struct wmi_contextswap_v1, _name, _member, .format = _format, ##__VA_ARGS__)
#define SWAP(_name, _format, _member, ...) \
	PLAIN(struct wmi_contextswap, _name, _member, .format = _format, ##__VA_ARGS__)

static const struct event_symbol thread_states[] = {
	{ KTHREAD_STATE_INITIALIZED, "initialized" },
	{ KTHREAD_STATE_READY, "ready" },
	{ KTHREAD_STATE_RUNNING, "running" },
	{ KTHREAD_STATE_STANDBY, "standby" },
	{ KTHREAD_STATE_TERMINATED, "terminated" },
	{ KTHREAD_STATE_WAITING, "waiting" },
	{ KTHREAD_STATE_TRANSITION, "transition" },
	{ KTHREAD_STATE_DEFERRED_READY, "deferred_ready" },
	{ KTHREAD_STATE_GATE_WAIT, "gate_wait" },
	{ 9, "waiting_for_process_in_swap" },
};

static const struct event_symbol wait_modes[] = {
	{ KPROCESSOR_MODE_KERNEL, "kernel" },
	{ KPROCESSOR_MODE_USER, "user" },
};

#define SYMBOLS(_symbols) \
	.symbols = (_symbols), .symbol_count = ARRAY_SIZE(_symbols)

static const struct event_field contextswap_v1_fields[] = {
	SWAP_V1("NewThreadId", FIELD_DECIMAL, new_thread_id, .is_thread_id = true),
	SWAP_V1("OldThreadId", FIELD_DECIMAL, old_thread_id, .is_thread_id = true),
	SWAP_V1("NewThreadPriority", FIELD_SIGNED, new_thread_priority),
	SWAP_V1("OldThreadPriority", FIELD_SIGNED, old_thread_priority),
	SWAP_V1("NewThreadQuantum", FIELD_SIGNED, new_thread_quantum),
	SWAP_V1("OldThreadQuantum", FIELD_SIGNED, old_thread_quantum),
	SWAP_V1("OldThreadWaitReason", FIELD_SYMBOL, old_thread_wait_reason,
		SYMBOLS(wait_reasons)),
	SWAP_V1("OldThreadWaitMode", FIELD_SYMBOL, old_thread_wait_mode,
		SYMBOLS(wait_modes)),
	SWAP_V1("OldThreadState", FIELD_SYMBOL, old_thread_state,
		SYMBOLS(thread_states)),
	SWAP_V1("OldThreadIdealProcessor", FIELD_DECIMAL, old_thread_ideal_processor),
};

static const struct event_field contextswap_fields[] = {
	SWAP("NewThreadId", FIELD_DECIMAL, new_thread_id, .is_thread_id = true),
	SWAP("OldThreadId", FIELD_DECIMAL, old_thread_id, .is_thread_id = true),
	SWAP("NewThreadPriority", FIELD_SIGNED, new_thread_priority),
	SWAP("OldThreadPriority", FIELD_SIGNED, old_thread_priority),
	SWAP("PreviousCState", FIELD_DECIMAL, previous_c_state),
	SWAP("SpareByte", FIELD_SIGNED, spare_byte),
	SWAP("OldThreadWaitReason", FIELD_SYMBOL, old_thread_wait_reason,
	     SYMBOLS(wait_reasons)),
	SWAP("OldThreadWaitMode", FIELD_SYMBOL, flags,
	     .mask = WMI_CONTEXTSWAP_OLD_THREAD_WAIT_MODE, SYMBOLS(wait_modes)),
	SWAP("OldThreadBamEppImportant", FIELD_DECIMAL, flags, .version = 3,
	     .mask = WMI_CONTEXTSWAP_OLD_THREAD_BAM_EPP_IMPORTANT, .shift = 1),
	SWAP("NewThreadBamEppImportant", FIELD_DECIMAL, flags, .version = 3,
	     .mask = WMI_CONTEXTSWAP_NEW_THREAD_BAM_EPP_IMPORTANT, .shift = 2),
	SWAP("OldThreadBamQosLevel", FIELD_DECIMAL, flags, .version = 4,
	     .mask = WMI_CONTEXTSWAP_OLD_THREAD_BAM_QOS_LEVEL, .shift = 1),
	SWAP("NewThreadBamQosLevel", FIELD_DECIMAL, flags, .version = 4,
	     .mask = WMI_CONTEXTSWAP_NEW_THREAD_BAM_QOS_LEVEL, .shift = 4),
	SWAP("OldThreadState", FIELD_SYMBOL, old_thread_state, SYMBOLS(thread_states)),
	SWAP("OldThreadIdealProcessor", FIELD_DECIMAL, old_thread_ideal_processor),
	SWAP("NewThreadWaitTime", FIELD_DECIMAL, new_thread_wait_time),
	SWAP("OldThreadRemainingQuantum", FIELD_SIGNED, old_thread_remaining_quantum),
};

static const struct event_symbol adjust_reasons[] = {
	{ ETW_READY_THREAD_ADJUST_NONE, "none" },
	{ ETW_READY_THREAD_ADJUST_UNWAIT, "unwait" },
	{ ETW_READY_THREAD_ADJUST_BOOST, "boost" },
};

#define READY(...)	PLAIN(struct etw_ready_thread_event, __VA_ARGS__)

static const struct event_field ready_thread_fields[] = {
	READY("ThreadId", thread_id, .is_thread_id = true),
	READY("AdjustReason", adjust_reason, .format = FIELD_SYMBOL, SYMBOLS(adjust_reasons)),
	READY("AdjustIncrement", adjust_increment, .format = FIELD_SIGNED),
	READY("ExecutingDpc", flags, .mask = ETW_READY_THREAD_EXECUTING_DPC),
	READY("KernelStackNotResident", flags,
	      .mask = ETW_READY_THREAD_KERNEL_STACK_NOT_RESIDENT, .shift = 1),
	READY("ProcessOutOfMemory", flags, .mask = ETW_READY_THREAD_PROCESS_OUT_OF_MEMORY,
	      .shift = 2),
	READY("DirectSwitchAttempt", flags, .mask = ETW_READY_THREAD_DIRECT_SWITCH_ATTEMPT,
	      .shift = 3),
};

#define FIELDS(_fields) .fields = (_fields), .field_count = ARRAY_SIZE(_fields)

#define DC(_hook_id, _version, _name, _type, _fields)			\
{									\
	.hook_id = _hook_id,						\
	.version = _version,						\
	.name = _name,							\
	.data_sizes = { sizeof(_type), sizeof(_type) },			\
	FIELDS(_fields)							\
}

const struct event_type event_types[] = {
	{
		.hook_id = PERFINFO_LOG_TYPE_SPINLOCK,
		.version = PERFINFO_SPINLOCK_VERSION,
		.name = "SpinLock",
		.data_sizes = { sizeof(struct wmi_spinlock32),
				sizeof(struct wmi_spinlock64) },
		FIELDS(spinlock_fields)
	},
	{
		.hook_id = PERFINFO_LOG_TYPE_RESOURCE,
		.version = PERFINFO_RESOURCE_VERSION,
		.name = "Resource",
		.data_sizes = { sizeof(struct wmi_resource32),
				sizeof(struct wmi_resource64) },
		FIELDS(resource_fields),
		.filter_field = &resource_kind_field,
	},
	{
		.hook_id = PERFINFO_LOG_TYPE_CONTEXTSWAP,
		.version = 1,
		.name = "ContextSwap",
		.data_sizes = { sizeof(struct wmi_contextswap_v1),
				sizeof(struct wmi_contextswap_v1) },
		FIELDS(contextswap_v1_fields)
	},
	{
		.hook_id = PERFINFO_LOG_TYPE_CONTEXTSWAP,
		.version = 2,
		.last_version = 4,
		.name = "ContextSwap",
		.data_sizes = { sizeof(struct wmi_contextswap),
				sizeof(struct wmi_contextswap) },
		FIELDS(contextswap_fields)
	},
	DC(PERFINFO_LOG_TYPE_READY_THREAD, ETW_READY_THREAD_VERSION, "ReadyThread",
	   struct etw_ready_thread_event, ready_thread_fields),
	DC(PERFINFO_LOG_TYPE_SPINLOCK_DC_START, PERFINFO_SPINLOCK_DC_VERSION,
	   "SpinLockDCStart", struct perfinfo_spinlock_dc, spinlock_dc_fields),
	DC(PERFINFO_LOG_TYPE_SPINLOCK_DC_END, PERFINFO_SPINLOCK_DC_VERSION,
	   "SpinLockDCEnd", struct perfinfo_spinlock_dc, spinlock_dc_fields),
	DC(PERFINFO_LOG_TYPE_ERESOURCE_DC_START, PERFINFO_ERESOURCE_DC_VERSION,
	   "ResourceDCStart", struct perfinfo_eresource_dc, eresource_dc_fields),
	DC(PERFINFO_LOG_TYPE_ERESOURCE_DC_END, PERFINFO_ERESOURCE_DC_VERSION,
	   "ResourceDCEnd", struct perfinfo_eresource_dc, eresource_dc_fields),
	DC(NTKLOG_LOG_TYPE_DC_START, NTKLOG_DC_VERSION, "NtklogDCStart", struct ntklog_dc,
	   ntklog_dc_fields),
	DC(NTKLOG_LOG_TYPE_DC_END, NTKLOG_DC_VERSION, "NtklogDCEnd", struct ntklog_dc,
	   ntklog_dc_fields),
	DC(NTKLOG_LOG_TYPE_STACKS_DC_START, NTKLOG_STACKS_DC_VERSION, "NtklogStacksDCStart",
	   struct ntklog_stacks_dc, ntklog_stacks_dc_fields),
	DC(NTKLOG_LOG_TYPE_STACKS_DC_END, NTKLOG_STACKS_DC_VERSION, "NtklogStacksDCEnd",
	   struct ntklog_stacks_dc, ntklog_stacks_dc_fields),
	DC(PERFINFO_LOG_TYPE_NTKLOG_OBSERVED, NTKLOG_OBSERVED_VERSION, "NtklogObserved",
	   struct ntklog_observed, ntklog_observed_fields),
	DROPPED_V1(NTKLOG_LOG_TYPE_DROPPED_DC_START, "NtklogDroppedDCStart"),
	DC(NTKLOG_LOG_TYPE_DROPPED_DC_START, NTKLOG_DROPPED_DC_VERSION, "NtklogDroppedDCStart",
	   struct ntklog_dropped_dc, ntklog_dropped_dc_fields),
	DROPPED_V1(NTKLOG_LOG_TYPE_DROPPED_DC_END, "NtklogDroppedDCEnd"),
	DC(NTKLOG_LOG_TYPE_DROPPED_DC_END, NTKLOG_DROPPED_DC_VERSION, "NtklogDroppedDCEnd",
	   struct ntklog_dropped_dc, ntklog_dropped_dc_fields),
	DC(PERFINFO_LOG_TYPE_NTKLOG_CALLER, 1, "NtklogCaller", struct ntklog_caller_v1,
	   ntklog_caller_v1_fields),
	DC(PERFINFO_LOG_TYPE_NTKLOG_CALLER, NTKLOG_CALLER_VERSION, "NtklogCaller",
	   struct ntklog_caller, ntklog_caller_fields),
	{
		.hook_id = NTKLOG_LOG_TYPE_OPEN_HOLD,
		.version = 1,
		.name = "NtklogOpenHold",
		.data_sizes = { NTKLOG_OPEN_HOLD_V1_SIZE, NTKLOG_OPEN_HOLD_V1_SIZE },
		.fields = ntklog_open_hold_fields,
		.field_count = ARRAY_SIZE(ntklog_open_hold_fields) - 2,
	},
	DC(NTKLOG_LOG_TYPE_OPEN_HOLD, NTKLOG_OPEN_HOLD_VERSION, "NtklogOpenHold",
	   struct ntklog_open_hold, ntklog_open_hold_fields),
	DC(PERFINFO_LOG_TYPE_NTKLOG_BLOCK_STACK, NTKLOG_BLOCK_STACK_VERSION, "NtklogBlockStack",
	   struct ntklog_block_stack, ntklog_block_stack_fields),
};

static_assert(ARRAY_SIZE(event_types) == EVENT_TYPES, "EVENT_TYPES is the number of types");

static const struct event_type *search_type(uint16_t hook_id, uint16_t version)
{
	const struct event_type *type;

	for (type = event_types; type < event_types + EVENT_TYPES; type++)
		if (type->hook_id == hook_id &&
		    (type->version == version ||
		     (type->version < version && type->last_version >= version)))
			return type;
	return NULL;
}

/**
 * event_type_find() - find the type of an event
 * @event: event of a file
 *
 * Return: the type, or NULL if the tool does not know the event or its version.
 */
const struct event_type *event_type_find(const struct etl_event *event)
{
	/* The last type of each low byte of a hook id. */
	static _Thread_local struct found_type {
		uint16_t hook_id;
		uint16_t version;
		const struct event_type *type;
	} found_types[0x100];
	struct found_type *found = &found_types[event->hook_id & 0xFF];

	/* With another header a hook id may stand for another event. */
	if (event->header_type != TRACE_HEADER_TYPE_PERFINFO32 &&
	    event->header_type != TRACE_HEADER_TYPE_PERFINFO64)
		return NULL;
	if (found->hook_id != event->hook_id || found->version != event->version)
		*found = (struct found_type) {
			event->hook_id, event->version,
			search_type(event->hook_id, event->version),
		};
	return found->type;
}

/**
 * event_leave_out_wrong_size() - count an event that has not the size of its type
 * @file: file of the event
 * @event: the event
 * @type: type of the event
 *
 * Return: -1; @file->error describes the first damage of the file.
 */
int event_leave_out_wrong_size(struct etl_file *file, const struct etl_event *event,
			       const struct event_type *type)
{
	return etl_leave_out_event(file, event,
				   "%s event with 0x%zx bytes of data, not 0x%zx", type->name,
				   event->data_size, type->data_sizes[event->pointer_size == 8]);
}

/**
 * event_name() - get the name of an event
 * @event: event of a file
 * @type: type of the event, or NULL if the tool does not know it
 *
 * Return: the name, or "Event" if it has none.
 */
const char *event_name(const struct etl_event *event, const struct event_type *type)
{
	const char *name = NULL;

	if (type)
		return type->name;
	if (event->has_hook_id)
		name = hook_id_name(event->hook_id);
	else if (event->header_type == TRACE_HEADER_TYPE_MESSAGE)
		name = "WppMessage";
	return name ? name : "Event";
}

/**
 * event_name_exists() - test whether any event has a name
 * @name: name, in any case
 *
 * Return: true if event_name() can return it.
 */
bool event_name_exists(const char *name)
{
	size_t i;

	for (i = 0; i < EVENT_TYPES; i++)
		if (!strcasecmp(name, event_types[i].name))
			return true;
	return hook_name_exists(name) || !strcasecmp(name, "WppMessage") ||
	       !strcasecmp(name, "Event");
}

/**
 * event_extension() - read a performance counter, or the PEBS index behind the counters
 * @event: event of any type
 * @number: number of the value; less than the number of values that the event has
 *
 * Return: the value.
 */
uint64_t event_extension(const struct etl_event *event, unsigned int number)
{
	uint64_t value;

	memcpy(&value, event->extension + 8 * (size_t)number, sizeof(value));
	return value;
}
