/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM ntklog

#if !defined(_NTKLOG_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _NTKLOG_TRACE_H

/*
 * The tracepoints: the fields of NT's records, decoded, for trace-cmd, perf and
 * bpftrace. In use they turn the instrumentation on by themselves.
 */

#include <linux/tracepoint.h>
#include <uapi/ntklog/wmi_resource.h>
#include <uapi/ntklog/wmi_spinlock.h>

int perf_resource_tracepoint_reg(void);
void perf_resource_tracepoint_unreg(void);
int perf_spin_lock_tracepoint_reg(void);
void perf_spin_lock_tracepoint_unreg(void);

TRACE_EVENT_FN(spinlock,

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
	),

	TP_printk("spin_lock_address=0x%llx caller_address=0x%llx caller=%pS acquire_time=%llu release_time=%llu wait_time_in_cycles=%u spin_count=%u thread_id=%u interrupt_count=%u irql=%u acquire_depth=%u acquire_mode=%s context=%s",
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
				   { 0xc0, "dpc|isr" })),

	perf_spin_lock_tracepoint_reg, perf_spin_lock_tracepoint_unreg
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

	perf_resource_tracepoint_reg, perf_resource_tracepoint_unreg
);

#endif /* _NTKLOG_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
