/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_CAN_REDIRECT_H
#define _NTKLOG_LINUX_CAN_REDIRECT_H

#if (defined(CONFIG_X86_64) || defined(CONFIG_ARM64)) && \
	defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS) && defined(CONFIG_KPROBES)
#define NTKLOG_CAN_REDIRECT
#endif

#endif /* _NTKLOG_LINUX_CAN_REDIRECT_H */
