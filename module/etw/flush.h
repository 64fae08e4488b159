/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_FLUSH_H
#define _NTKLOG_ETW_FLUSH_H

#include <linux/smp.h>

struct etw_run;

/**
 * enum etw_flush - for whom buffers that are not full are finished
 * @ETW_FLUSH_TIMER: a reader that waits, on processors where one has read all that there
 *	was
 * @ETW_FLUSH_REQUEST: who has asked for it, on all processors
 * @ETW_FLUSH_SNAPSHOT: a snapshot of a session in buffering mode
 * @ETW_FLUSH_LAST: all, at the stop
 *
 * The first two leave a processor its last free buffer.
 */
enum etw_flush {
	ETW_FLUSH_TIMER,
	ETW_FLUSH_REQUEST,
	ETW_FLUSH_SNAPSHOT,
	ETW_FLUSH_LAST,
};

void etw_flush_buffers(struct etw_run *run, enum etw_flush flush);
int etw_flush_run(struct etw_run *run);
void etw_call_on_last_cpu(const struct etw_run *run, smp_call_func_t function, void *data);
unsigned int etw_last_file_cpu(const struct etw_run *run);

#endif /* _NTKLOG_ETW_FLUSH_H */
