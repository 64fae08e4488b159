/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_INTERRUPTS_H
#define _NTKLOG_LINUX_INTERRUPTS_H

#include <linux/types.h>

#include "kind.h"

const char *ntklog_resolve_interrupt_hooks(void);
int ntklog_register_interrupt_hooks(const char **failed_name);
void ntklog_unregister_interrupt_hooks(void);
#ifdef NTKLOG_CAN_REDIRECT_SPINNING
bool ntklog_interrupt_hooks_are_stuck(void);
#else
static inline bool ntklog_interrupt_hooks_are_stuck(void)
{
	return false;
}
#endif

#endif /* _NTKLOG_LINUX_INTERRUPTS_H */
