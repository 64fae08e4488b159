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

/* What TRACE_LOGFILE_HEADER calls the build number of the system. */
#define NTKLOG_SYSTEM_BUILD	LINUX_VERSION_CODE

#endif /* _NTKLOG_COMPAT_H */
