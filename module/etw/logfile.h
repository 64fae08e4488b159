/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_LOGFILE_H
#define _NTKLOG_ETW_LOGFILE_H

#include <linux/types.h>

struct etw_run;

void etw_fill_header_buffer(u8 *buffer, struct etw_run *run);
void *etw_make_header_buffer(struct etw_run *run, size_t *size);

#endif /* _NTKLOG_ETW_LOGFILE_H */
