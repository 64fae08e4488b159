/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_CODE_H
#define _NTKLOG_LINUX_CODE_H

/* Inspection of the machine code of kernel functions. */

#include <linux/types.h>

const u8 *ntklog_get_address_after_call(unsigned long function);
bool ntklog_function_has_call_to(unsigned long function, unsigned long other);

#endif /* _NTKLOG_LINUX_CODE_H */
