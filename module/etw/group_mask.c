// SPDX-License-Identifier: GPL-2.0-only
/* Group masks: sets of groups of events, their names and numbers. */

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "../compat.h"
#include "group_mask.h"
#include "provider.h"

/* What a session can be started for: what the module makes events or counts of. */
static const struct {
	const char *name;
	u32 group;
} etw_groups[] = {
	{ "PERF_SPINLOCK", PERF_SPINLOCK },
	{ "PERF_SYNC_OBJECTS", PERF_SYNC_OBJECTS },
	{ "PERF_SPINLOCK_CNTRS", PERF_SPINLOCK_CNTRS },
	{ "PERF_SPININSTR", PERF_SPININSTR },
};

/**
 * etw_group_mask_set() - turn a group on
 * @mask: all groups
 * @group: PERF_*
 */
void etw_group_mask_set(struct perfinfo_groupmask *mask, u32 group)
{
	mask->masks[PERF_MASK_INDEX(group)] |= PERF_MASK_BITS(group);
}

/**
 * etw_group_mask_or() - unite two masks
 * @mask: one, and the result
 * @other: the other
 */
void etw_group_mask_or(struct perfinfo_groupmask *mask,
		       const struct perfinfo_groupmask *other)
{
	int i;

	for (i = 0; i < PERF_NUM_MASKS; i++)
		mask->masks[i] |= other->masks[i];
}

static int etw_group_parse(const char *word, u32 *group)
{
	u32 number;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(etw_groups); i++) {
		if (!strcmp(word, etw_groups[i].name)) {
			*group = etw_groups[i].group;
			return 0;
		}
	}
	if (strncmp(word, "0x", 2) || kstrtou32(word, 16, &number))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(etw_groups); i++) {
		if (number == etw_groups[i].group) {
			*group = number;
			return 0;
		}
	}
	return -EINVAL;
}

/**
 * etw_group_mask_parse() - read a mask from names and numbers
 * @text: names or 0x numbers between spaces; is cut up
 * @mask: the result; unchanged on error
 *
 * Return: 0, or -EINVAL for an unknown name or number, or none.
 */
int etw_group_mask_parse(char *text, struct perfinfo_groupmask *mask)
{
	struct perfinfo_groupmask parsed = {};
	bool any = false;
	char *word;
	u32 group;

	while ((word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		if (etw_group_parse(word, &group))
			return -EINVAL;
		etw_group_mask_set(&parsed, group);
		any = true;
	}
	if (!any)
		return -EINVAL;
	*mask = parsed;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(etw_group_mask_parse);

/**
 * etw_group_mask_show() - write a mask as its numbers and names
 * @file: where to
 * @mask: the mask
 *
 * One line for each group, as etw_group_mask_parse() takes them; "0x0" if none.
 */
void etw_group_mask_show(struct seq_file *file,
			 const struct perfinfo_groupmask *mask)
{
	bool any = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(etw_groups); i++) {
		u32 group = etw_groups[i].group;
		u32 bits = PERF_MASK_BITS(group);

		/* Only single groups: a combination is shown as its parts. */
		if (bits & (bits - 1) || !etw_group_mask_test(mask, group))
			continue;
		seq_printf(file, "0x%08x %s\n", group, etw_groups[i].name);
		any = true;
	}
	if (!any)
		seq_puts(file, "0x0\n");
}
