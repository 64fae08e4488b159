/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_BUFFER_H
#define _NTKLOG_ETW_BUFFER_H

#include <linux/types.h>

struct etw_run;
struct perfinfo_trace_header;
struct rchan_buf;

#define ETW_BUFFER_SIZE_MIN	SZ_4K
#define ETW_BUFFER_SIZE_MAX	SZ_1M
#define ETW_BUFFER_SIZE_DEFAULT	SZ_64K
/* Of each processor. As in ETW, one to write and one to flush at the least. */
#define ETW_BUFFERS_MIN		2
#define ETW_BUFFERS_MAX		1024
#define ETW_BUFFERS_DEFAULT	16

void etw_buffer_write(struct etw_run *run,
		      const struct perfinfo_trace_header *header,
		      const void *data);
bool etw_buffer_has_events(const struct rchan_buf *buf);
void etw_number_buffer(struct etw_run *run, struct rchan_buf *buf);
size_t etw_unread_buffers(const struct rchan_buf *buf);
void etw_finish_buffer(struct etw_run *run, struct rchan_buf *buf, u16 flags);

#endif /* _NTKLOG_ETW_BUFFER_H */
