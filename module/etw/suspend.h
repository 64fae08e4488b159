/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_SUSPEND_H
#define _NTKLOG_ETW_SUSPEND_H

void etw_init_suspend(void);
void etw_exit_suspend(void);

#endif /* _NTKLOG_ETW_SUSPEND_H */
