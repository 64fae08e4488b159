/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ntklog

/*
 * The name of a tracepoint becomes the name of its event, and of global symbols that are exported.
 * The events keep NT's short names. The symbols get the prefix ntklog, because the kernel or
 * another module may have a tracepoint "resource".
 */
#define __tracepoint_spinlock		__tracepoint_ntklog_spinlock
#define __traceiter_spinlock		__traceiter_ntklog_spinlock
#define __probestub_spinlock		__probestub_ntklog_spinlock
#define tp_func_spinlock		tp_func_ntklog_spinlock
#define __tracepoint_linux_spinlock	__tracepoint_ntklog_linux_spinlock
#define __traceiter_linux_spinlock	__traceiter_ntklog_linux_spinlock
#define __probestub_linux_spinlock	__probestub_ntklog_linux_spinlock
#define tp_func_linux_spinlock		tp_func_ntklog_linux_spinlock
#define __tracepoint_resource		__tracepoint_ntklog_resource
#define __traceiter_resource		__traceiter_ntklog_resource
#define __probestub_resource		__probestub_ntklog_resource
#define tp_func_resource		tp_func_ntklog_resource
#define __tracepoint_linux_resource	__tracepoint_ntklog_linux_resource
#define __traceiter_linux_resource	__traceiter_ntklog_linux_resource
#define __probestub_linux_resource	__probestub_ntklog_linux_resource
#define tp_func_linux_resource		tp_func_ntklog_linux_resource
#define __tracepoint_contextswap	__tracepoint_ntklog_contextswap
#define __traceiter_contextswap		__traceiter_ntklog_contextswap
#define __probestub_contextswap		__probestub_ntklog_contextswap
#define tp_func_contextswap		tp_func_ntklog_contextswap

#if !defined(_NTKLOG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _NTKLOG_TRACE_H

/* The fields of NT's records, decoded. A probe enables the event group, also without a session. */

#include <linux/tracepoint.h>
#include <uapi/ntklog/wmi_contextswap.h>
#include <uapi/ntklog/wmi_resource.h>
#include <uapi/ntklog/wmi_spinlock.h>

/* Called when a tracepoint gets its first probe (reg) and when it loses its last one (unreg). */
int ntklog_context_swap_tracepoint_reg(void);
void ntklog_context_swap_tracepoint_unreg(void);
int ntklog_linux_tracepoint_reg(void);
void ntklog_linux_tracepoint_unreg(void);
int ntklog_sleeping_tracepoint_reg(void);
void ntklog_sleeping_tracepoint_unreg(void);
int ntklog_resource_tracepoint_reg(void);
void ntklog_resource_tracepoint_unreg(void);
int ntklog_spin_lock_tracepoint_reg(void);
void ntklog_spin_lock_tracepoint_unreg(void);

DECLARE_EVENT_CLASS(ntklog_spinlock_class,

	TP_PROTO(const struct wmi_spinlock64 *record),

	TP_ARGS(record),

	TP_STRUCT__entry(
		__field(u64, spin_lock_address)
		__field(u64, caller_address)
		__field(u64, acquire_time)
		__field(u64, release_time)
		__field(u32, wait_time_in_cycles)
		__field(u32, spin_count)
		__field(u32, thread_id)
		__field(u32, interrupt_count)
		__field(u8, irql)
		__field(u8, acquire_depth)
		__field(u8, acquire_mode)
		__field(u8, context)
		__field(u8, rule)
	),

	TP_fast_assign(
		__entry->spin_lock_address = record->spin_lock_address;
		__entry->caller_address = record->caller_address;
		__entry->acquire_time = record->acquire_time;
		__entry->release_time = record->release_time;
		__entry->wait_time_in_cycles = record->wait_time_in_cycles;
		__entry->spin_count = record->spin_count;
		__entry->thread_id = record->thread_id;
		__entry->interrupt_count = record->interrupt_count;
		__entry->irql = record->irql;
		__entry->acquire_depth = record->acquire_depth;
		__entry->acquire_mode = record->acquire_mode;
		__entry->context = record->flags & ~WMI_SPINLOCK_ACQUIRE_MODE;
		__entry->rule = record->rule;
	),

	TP_printk("spin_lock_address=0x%llx caller_address=0x%llx caller=%pS acquire_time=%llu release_time=%llu wait_time_in_cycles=%u spin_count=%u thread_id=%u interrupt_count=%u irql=%u acquire_depth=%u acquire_mode=%s context=%s rule=%s",
		  __entry->spin_lock_address, __entry->caller_address,
		  (void *)(unsigned long)__entry->caller_address,
		  __entry->acquire_time, __entry->release_time,
		  __entry->wait_time_in_cycles, __entry->spin_count,
		  __entry->thread_id, __entry->interrupt_count,
		  __entry->irql, __entry->acquire_depth,
		  __print_symbolic(__entry->acquire_mode,
				   { 0, "ordinary" },
				   { 1, "queued" },
				   { 2, "executive_shared" },
				   { 3, "executive_exclusive" },
				   { 4, "executive_converted" }),
		  __print_symbolic(__entry->context,
				   { 0x00, "thread" },
				   { 0x40, "dpc" },
				   { 0x80, "isr" },
				   { 0xc0, "dpc|isr" }),
		  __print_symbolic(__entry->rule,
				   { 0, "nt" },
				   { WMI_SPINLOCK_RULE_SAMPLED, "sampled" },
				   { WMI_SPINLOCK_RULE_WAIT, "wait" },
				   { WMI_SPINLOCK_RULE_BLOCKER, "nt|blocker" },
				   { WMI_SPINLOCK_RULE_BLOCKER | WMI_SPINLOCK_RULE_BLOCKER_ONLY,
				     "blocker" }))
);

DEFINE_EVENT_FN(ntklog_spinlock_class, spinlock,

	TP_PROTO(const struct wmi_spinlock64 *record),

	TP_ARGS(record),

	ntklog_spin_lock_tracepoint_reg, ntklog_spin_lock_tracepoint_unreg
);

/* Linux' spin locks and rwlocks; acquire_mode tells which. */
DEFINE_EVENT_FN(ntklog_spinlock_class, linux_spinlock,

	TP_PROTO(const struct wmi_spinlock64 *record),

	TP_ARGS(record),

	ntklog_linux_tracepoint_reg, ntklog_linux_tracepoint_unreg
);

TRACE_EVENT_FN(resource,

	TP_PROTO(const struct wmi_resource64 *record),

	TP_ARGS(record),

	TP_STRUCT__entry(
		__field(u64, acquire_time)
		__field(u64, hold_time)
		__field(u64, wait_time)
		__field(u32, max_recursion_depth)
		__field(u32, thread_id)
		__field(u64, resource)
		__field(u32, action)
		__field(u32, contention_delta)
	),

	TP_fast_assign(
		__entry->acquire_time = record->acquire_time;
		__entry->hold_time = record->hold_time;
		__entry->wait_time = record->wait_time;
		__entry->max_recursion_depth = record->max_recursion_depth;
		__entry->thread_id = record->thread_id;
		__entry->resource = record->resource;
		__entry->action = record->action;
		__entry->contention_delta = record->contention_delta;
	),

	TP_printk("resource=0x%llx symbol=%pS action=%s acquire_time=%llu hold_time=%llu wait_time=%llu max_recursion_depth=%u thread_id=%u contention_delta=%u",
		  __entry->resource, (void *)(unsigned long)__entry->resource,
		  __print_symbolic(__entry->action,
				   { 0x00010008, "initialize" },
				   { 0x00010018, "reinitialize" },
				   { 0x00010022, "release_exclusive" },
				   { 0x00010042, "release_shared" },
				   { 0x00010120, "owner_pointer_exclusive" },
				   { 0x00010140, "owner_pointer_shared" },
				   { 0x00010224, "wait_excessive_for_exclusive" },
				   { 0x00010244, "wait_excessive_for_shared" }),
		  __entry->acquire_time, __entry->hold_time,
		  __entry->wait_time, __entry->max_recursion_depth,
		  __entry->thread_id, __entry->contention_delta),

	ntklog_resource_tracepoint_reg, ntklog_resource_tracepoint_unreg
);

/* Linux' sleeping locks; kind tells which. */
TRACE_EVENT_FN(linux_resource,

	TP_PROTO(const struct wmi_resource64 *record, u64 caller_address),

	TP_ARGS(record, caller_address),

	TP_STRUCT__entry(
		__field(u64, acquire_time)
		__field(u64, hold_time)
		__field(u64, wait_time)
		__field(u64, lock_address)
		__field(u64, caller_address)
		__field(u32, max_recursion_depth)
		__field(u32, thread_id)
		__field(u32, contention_delta)
		__field(u16, kind)
		__field(u16, action)
	),

	TP_fast_assign(
		__entry->acquire_time = record->acquire_time;
		__entry->hold_time = record->hold_time;
		__entry->wait_time = record->wait_time;
		__entry->lock_address = record->resource;
		__entry->caller_address = caller_address;
		__entry->max_recursion_depth = record->max_recursion_depth;
		__entry->thread_id = record->thread_id;
		__entry->contention_delta = record->contention_delta;
		__entry->kind = record->action >> 16;
		__entry->action = record->action & 0xFFFF;
	),

	TP_printk("kind=%s action=%s lock_address=0x%llx lock=%pS caller_address=0x%llx caller=%pS acquire_time=%llu hold_time=%llu wait_time=%llu max_recursion_depth=%u thread_id=%u contention_delta=%u",
		  __print_symbolic(__entry->kind,
				   { 0x8001, "mutex" },
				   { 0x8002, "rwsem" },
				   { 0x8003, "semaphore" },
				   { 0x8004, "rt_mutex" },
				   { 0x8005, "percpu_rwsem" },
				   { 0x8006, "ww_mutex" }),
		  __print_symbolic(__entry->action,
				   { 0x0022, "release_exclusive" },
				   { 0x0042, "release_shared" },
				   { 0x0422, "release_exclusive_blocker" },
				   { 0x0442, "release_shared_blocker" },
				   { 0x0224, "wait_excessive_for_exclusive" },
				   { 0x0244, "wait_excessive_for_shared" }),
		  __entry->lock_address, (void *)(unsigned long)__entry->lock_address,
		  __entry->caller_address, (void *)(unsigned long)__entry->caller_address,
		  __entry->acquire_time, __entry->hold_time,
		  __entry->wait_time, __entry->max_recursion_depth,
		  __entry->thread_id, __entry->contention_delta),

	ntklog_sleeping_tracepoint_reg, ntklog_sleeping_tracepoint_unreg
);

TRACE_EVENT_FN(contextswap,

	TP_PROTO(const struct wmi_contextswap *record),

	TP_ARGS(record),

	TP_STRUCT__entry(
		__field(u32, new_thread_id)
		__field(u32, old_thread_id)
		__field(u8, new_thread_priority)
		__field(u8, old_thread_priority)
		__field(u8, previous_c_state)
		__field(u8, old_thread_wait_reason)
		__field(u8, old_thread_wait_mode)
		__field(u8, old_thread_state)
		__field(u8, old_thread_ideal_processor)
		__field(u32, new_thread_wait_time)
		__field(s32, old_thread_remaining_quantum)
	),

	TP_fast_assign(
		__entry->new_thread_id = record->new_thread_id;
		__entry->old_thread_id = record->old_thread_id;
		__entry->new_thread_priority = record->new_thread_priority;
		__entry->old_thread_priority = record->old_thread_priority;
		__entry->previous_c_state = record->previous_c_state;
		__entry->old_thread_wait_reason = record->old_thread_wait_reason;
		__entry->old_thread_wait_mode = record->flags &
						WMI_CONTEXTSWAP_OLD_THREAD_WAIT_MODE;
		__entry->old_thread_state = record->old_thread_state;
		__entry->old_thread_ideal_processor = record->old_thread_ideal_processor;
		__entry->new_thread_wait_time = record->new_thread_wait_time;
		__entry->old_thread_remaining_quantum =
			record->old_thread_remaining_quantum;
	),

	TP_printk("new_thread_id=%u old_thread_id=%u new_thread_priority=%u old_thread_priority=%u previous_c_state=%u old_thread_wait_reason=%s old_thread_wait_mode=%s old_thread_state=%s old_thread_ideal_processor=%u new_thread_wait_time=%u old_thread_remaining_quantum=%d",
		  __entry->new_thread_id, __entry->old_thread_id,
		  __entry->new_thread_priority, __entry->old_thread_priority,
		  __entry->previous_c_state,
		  __print_symbolic(__entry->old_thread_wait_reason,
				   { 0, "executive" },
				   { 4, "delay_execution" },
				   { 5, "suspended" },
				   { 6, "user_request" },
				   { 7, "wr_executive" },
				   { 15, "wr_queue" },
				   { 29, "wr_mutex" },
				   { 30, "wr_quantum_end" },
				   { 31, "wr_dispatch_int" },
				   { 32, "wr_preempted" },
				   { 33, "wr_yield_execution" }),
		  __print_symbolic(__entry->old_thread_wait_mode,
				   { 0, "kernel" },
				   { 1, "user" }),
		  __print_symbolic(__entry->old_thread_state,
				   { 1, "ready" },
				   { 2, "running" },
				   { 4, "terminated" },
				   { 5, "waiting" }),
		  __entry->old_thread_ideal_processor,
		  __entry->new_thread_wait_time,
		  __entry->old_thread_remaining_quantum),

	ntklog_context_swap_tracepoint_reg, ntklog_context_swap_tracepoint_unreg
);

#endif /* _NTKLOG_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
