/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KE_IRQL_PRIVATE_H
#define _NTKLOG_KE_IRQL_PRIVATE_H

void ke_irql_exit(void);

#endif /* _NTKLOG_KE_IRQL_PRIVATE_H */
