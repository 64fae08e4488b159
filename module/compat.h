/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_COMPAT_H
#define _NTKLOG_COMPAT_H

/* Every difference between the kernels that ntklog builds for. */

#include <linux/export.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#include <kunit/visibility.h>
#else
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#endif

#if IS_ENABLED(CONFIG_KUNIT)
#define EXPORT_PER_CPU_SYMBOL_IF_KUNIT(symbol) EXPORT_PER_CPU_SYMBOL_GPL(symbol)
#else
#define EXPORT_PER_CPU_SYMBOL_IF_KUNIT(symbol)
#endif

/*
 * Nanoseconds that are left of a thread's time slice, where the scheduler keeps a
 * slice with the thread, which it does since EEVDF; before, 0.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define ntklog_fair_slice(thread)					\
	((s64)(thread)->se.slice - (s64)((thread)->se.sum_exec_runtime -	\
					 (thread)->se.prev_sum_exec_runtime))
#else
#define ntklog_fair_slice(thread)	0
#endif

#define ntklog_remaining_slice(thread)					\
	((thread)->policy == SCHED_RR ? (s64)(thread)->rt.time_slice * TICK_NSEC : \
	 (thread)->prio >= MAX_RT_PRIO ? (s64)ntklog_fair_slice(thread) : 0)

/* Of relay's subbuf_start(): what it tells of the sub-buffer before. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define NTKLOG_RELAY_PREVIOUS	void *prev_subbuf
#else
#define NTKLOG_RELAY_PREVIOUS	void *prev_subbuf, size_t prev_padding
#endif

/* What TRACE_LOGFILE_HEADER calls the build number of the system. */
#define NTKLOG_SYSTEM_BUILD	LINUX_VERSION_CODE

#endif /* _NTKLOG_COMPAT_H */
