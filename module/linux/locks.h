/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_LOCKS_H
#define _NTKLOG_LINUX_LOCKS_H

#include <linux/types.h>
#include <uapi/ntklog/group_mask.h>

struct seq_file;

int ntklog_linux_init(bool is_allowed, const char *mode);
void ntklog_linux_exit(void);
void ntklog_linux_describe(struct seq_file *seq);
void ntklog_test_kinds(struct seq_file *seq);
void ntklog_linux_show_mode(struct seq_file *seq);
int ntklog_linux_set_mode(const char *name);
int ntklog_linux_set_blocker_rate(u32 rate);
void ntklog_linux_add_groups(struct perfinfo_groupmask *mask);

#endif /* _NTKLOG_LINUX_LOCKS_H */
