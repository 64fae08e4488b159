/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETW_GROUP_MASK_H
#define _NTKLOG_ETW_GROUP_MASK_H

#include <linux/types.h>
#include <uapi/ntklog/group_mask.h>

struct seq_file;

/* A change of a group mask: @groups_to_set is applied before @groups_to_clear. */
struct etw_group_mask_change {
	bool replaces_mask;
	struct perfinfo_groupmask groups_to_set;
	struct perfinfo_groupmask groups_to_clear;
};

/**
 * etw_group_mask_test() - test whether a mask has any bit of a group
 * @mask: the mask
 * @group: PERF_*
 *
 * Return: true if @mask has one of the bits of @group.
 */
static inline bool etw_group_mask_test(const struct perfinfo_groupmask *mask, u32 group)
{
	return mask->masks[PERF_MASK_INDEX(group)] & PERF_MASK_BITS(group);
}

void etw_group_mask_or(struct perfinfo_groupmask *mask,
		       const struct perfinfo_groupmask *other);
void etw_group_mask_set(struct perfinfo_groupmask *mask, u32 group);
void etw_group_mask_clear(struct perfinfo_groupmask *mask, u32 group);
const char *etw_get_group_name(u32 group);
int etw_group_change_parse(char *text, struct etw_group_mask_change *change);
int etw_group_change_from_mask(const struct perfinfo_groupmask *mask,
			       struct etw_group_mask_change *change);
void etw_group_change_apply(const struct etw_group_mask_change *change,
			    struct perfinfo_groupmask *mask);
void etw_group_mask_show(struct seq_file *file,
			 const struct perfinfo_groupmask *mask);

#endif /* _NTKLOG_ETW_GROUP_MASK_H */
