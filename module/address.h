/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ADDRESS_H
#define _NTKLOG_ADDRESS_H

/*
 * Addresses of the kernel in records, tracepoints and files: what is shown of them is
 * decided here, at the moment of writing, by the module parameter addresses=.
 */

#include <linux/types.h>

int ntklog_address_init(const char *mode);
u64 ntklog_address(unsigned long address);
const char *ntklog_symbol(unsigned long address, char *buffer);
int ntklog_may_read_addresses(void);
int ntklog_may_change_settings(void);

#endif /* _NTKLOG_ADDRESS_H */
