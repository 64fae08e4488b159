/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_GROUP_MASK_H
#define _NTKLOG_ETW_GROUP_MASK_H

#include <linux/types.h>
#include <uapi/ntklog/group_mask.h>

struct seq_file;

void etw_group_mask_or(struct perfinfo_groupmask *mask,
		       const struct perfinfo_groupmask *other);
void etw_group_mask_set(struct perfinfo_groupmask *mask, u32 group);
int etw_group_mask_parse(char *text, struct perfinfo_groupmask *mask);
void etw_group_mask_show(struct seq_file *file,
			 const struct perfinfo_groupmask *mask);

#endif /* _NTKLOG_ETW_GROUP_MASK_H */
