/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_TASK_CACHE_H
#define _NTKLOG_GROUND_TASK_CACHE_H

struct ntklog_task;

void ntklog_init_task_cache(void);
void ntklog_cache_task_record(struct ntklog_task *record);
void ntklog_uncache_task_record(struct ntklog_task *record, int except_cpu);

#endif /* _NTKLOG_GROUND_TASK_CACHE_H */
