/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_READER_H
#define _NTKLOG_ETW_READER_H

#include <linux/poll.h>
#include <linux/types.h>

struct etw_reader;
struct etw_run;

struct etw_reader *etw_open_reader(struct etw_run *run, unsigned int cpu);
void etw_close_reader(struct etw_reader *reader);
ssize_t etw_read_buffers(struct etw_reader *reader, char __user *buffer, size_t count);
__poll_t etw_poll_buffers(struct etw_reader *reader, struct file *file,
			  poll_table *wait);

#endif /* _NTKLOG_ETW_READER_H */
