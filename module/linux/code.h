/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_CODE_H
#define _NTKLOG_LINUX_CODE_H

/* The instructions of the kernel's functions, as they are in memory. x86. */

#include <linux/types.h>

const u8 *ntklog_first_instruction(unsigned long function);
const u8 *ntklog_called_by(const u8 *code);
bool ntklog_code_calls(unsigned long function, unsigned long other);

#endif /* _NTKLOG_LINUX_CODE_H */
