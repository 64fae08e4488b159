/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_FLUSH_H
#define _NTKLOG_ETW_FLUSH_H

#include <linux/smp.h>

struct etw_run;

enum etw_flush_reason {
	ETW_FLUSH_TIMER,
	ETW_FLUSH_REQUEST,
	ETW_FLUSH_SNAPSHOT,
	ETW_FLUSH_LAST,
};

void etw_flush_buffers(struct etw_run *run, enum etw_flush_reason reason);
int etw_flush_run(struct etw_run *run);
void etw_call_on_last_cpu(const struct etw_run *run, smp_call_func_t function, void *data);
unsigned int etw_find_last_file_cpu(const struct etw_run *run);

#endif /* _NTKLOG_ETW_FLUSH_H */
