// SPDX-License-Identifier: GPL-2.0-only
/* Names of event groups. */

#include <ntklog/group_mask.h>

#include "event_group.h"

const struct event_symbol event_groups[EVENT_GROUPS] = {
	{ 0x00000001, "process" },
	{ 0x00000002, "thread" },
	{ 0x00000004, "image_load" },
	{ 0x00000008, "process_counters" },
	{ EVENT_TRACE_FLAG_CSWITCH, "cswitch" },
	{ 0x00000020, "dpc" },
	{ 0x00000040, "interrupt" },
	{ 0x00000080, "systemcall" },
	{ 0x00000100, "disk_io" },
	{ 0x00000200, "disk_file_io" },
	{ 0x00000400, "disk_io_init" },
	{ 0x00000800, "dispatcher" },
	{ 0x00001000, "memory_page_faults" },
	{ 0x00002000, "memory_hard_faults" },
	{ 0x00004000, "virtual_alloc" },
	{ 0x00008000, "vamap" },
	{ 0x00010000, "network_tcpip" },
	{ 0x00020000, "registry" },
	{ 0x00040000, "dbgprint" },
	{ 0x00080000, "job" },
	{ 0x00100000, "alpc" },
	{ 0x00200000, "split_io" },
	{ 0x00400000, "debug_events" },
	{ 0x00800000, "driver" },
	{ 0x01000000, "profile" },
	{ 0x02000000, "file_io" },
	{ 0x04000000, "file_io_init" },
	{ PERF_CONTEXT_SWITCH, "contextswap" },
	{ PERF_COMPACT_CSWITCH, "compact_contextswap" },
	{ PERF_SPINLOCK, "spinlock" },
	{ PERF_SYNC_OBJECTS, "resource" },
	{ PERF_SPINLOCK_CNTRS, "spinlock_counters" },
	{ PERF_LINUX_SPINLOCK, "linux_spinlock" },
	{ PERF_LINUX_RWLOCK, "linux_rwlock" },
	{ PERF_LINUX_MUTEX, "linux_mutex" },
	{ PERF_LINUX_RWSEM, "linux_rwsem" },
	{ PERF_LINUX_SEMAPHORE, "linux_semaphore" },
	{ PERF_LINUX_RT_MUTEX, "linux_rt_mutex" },
	{ PERF_LINUX_PERCPU_RWSEM, "linux_percpu_rwsem" },
	{ PERF_LINUX_WW_MUTEX, "linux_ww_mutex" },
};
