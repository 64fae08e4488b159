// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "group_mask.h"

static const struct {
	const char *name;
	u32 group;
} etw_group_names[] = {
	{ "EVENT_TRACE_FLAG_CSWITCH", EVENT_TRACE_FLAG_CSWITCH },
	{ "EVENT_TRACE_FLAG_DISPATCHER", EVENT_TRACE_FLAG_DISPATCHER },
	{ "PERF_CONTEXT_SWITCH", PERF_CONTEXT_SWITCH },
	{ "PERF_DISPATCHER", PERF_DISPATCHER },
	{ "PERF_SPINLOCK", PERF_SPINLOCK },
	{ "PERF_SYNC_OBJECTS", PERF_SYNC_OBJECTS },
	{ "PERF_SPINLOCK_CNTRS", PERF_SPINLOCK_CNTRS },
	{ "PERF_SPININSTR", PERF_SPININSTR },
	{ "PERF_LINUX_SPINLOCK", PERF_LINUX_SPINLOCK },
	{ "PERF_LINUX_RWLOCK", PERF_LINUX_RWLOCK },
	{ "PERF_LINUX_MUTEX", PERF_LINUX_MUTEX },
	{ "PERF_LINUX_RWSEM", PERF_LINUX_RWSEM },
	{ "PERF_LINUX_SEMAPHORE", PERF_LINUX_SEMAPHORE },
	{ "PERF_LINUX_RT_MUTEX", PERF_LINUX_RT_MUTEX },
	{ "PERF_LINUX_PERCPU_RWSEM", PERF_LINUX_PERCPU_RWSEM },
	{ "PERF_LINUX_WW_MUTEX", PERF_LINUX_WW_MUTEX },
};

/* NT has two bits for each of these groups: a flag EVENT_TRACE_FLAG_* and a group PERF_*. */
static const struct {
	u32 flag;
	u32 group;
} etw_flag_groups[] = {
	{ EVENT_TRACE_FLAG_CSWITCH, PERF_CONTEXT_SWITCH },
	{ EVENT_TRACE_FLAG_DISPATCHER, PERF_DISPATCHER },
};

/**
 * etw_group_mask_set() - add a group to a mask
 * @mask: the mask
 * @group: PERF_*
 */
void etw_group_mask_set(struct perfinfo_groupmask *mask, u32 group)
{
	mask->masks[PERF_MASK_INDEX(group)] |= PERF_MASK_BITS(group);
}

/**
 * etw_group_mask_clear() - remove a group from a mask
 * @mask: the mask
 * @group: PERF_*
 */
void etw_group_mask_clear(struct perfinfo_groupmask *mask, u32 group)
{
	mask->masks[PERF_MASK_INDEX(group)] &= ~PERF_MASK_BITS(group);
}

/**
 * etw_group_mask_or() - add the groups of another mask to a mask
 * @mask: the mask
 * @other: the other mask
 */
void etw_group_mask_or(struct perfinfo_groupmask *mask,
		       const struct perfinfo_groupmask *other)
{
	int i;

	for (i = 0; i < PERF_NUM_MASKS; i++)
		mask->masks[i] |= other->masks[i];
}

/**
 * etw_get_group_name() - get the name of an event group
 * @group: PERF_* or EVENT_TRACE_FLAG_*
 *
 * Return: the name, or "-" if there is no such group.
 */
const char *etw_get_group_name(u32 group)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(etw_group_names); i++)
		if (etw_group_names[i].group == group)
			return etw_group_names[i].name;
	return "-";
}

static int etw_group_parse(const char *word, u32 *group)
{
	u32 number;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(etw_group_names); i++) {
		if (!strcmp(word, etw_group_names[i].name)) {
			*group = etw_group_names[i].group;
			return 0;
		}
	}
	if (strncmp(word, "0x", 2) || kstrtou32(word, 16, &number))
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(etw_group_names); i++) {
		if (number == etw_group_names[i].group) {
			*group = number;
			return 0;
		}
	}
	return -EINVAL;
}

/* Setting a flag also sets its group. Clearing a flag or its group clears both. */
static void etw_group_change_add(struct etw_group_mask_change *change, u32 group, bool sets_group)
{
	struct perfinfo_groupmask *mask = sets_group ? &change->groups_to_set :
						       &change->groups_to_clear;
	size_t i;

	etw_group_mask_set(mask, group);
	for (i = 0; i < ARRAY_SIZE(etw_flag_groups); i++) {
		if (group == etw_flag_groups[i].flag)
			etw_group_mask_set(mask, etw_flag_groups[i].group);
		else if (!sets_group && group == etw_flag_groups[i].group)
			etw_group_mask_set(mask, etw_flag_groups[i].flag);
	}
}

/**
 * etw_group_change_parse() - parse a change of a mask
 * @text: names or 0x numbers of groups, separated by spaces. Without signs they are the new mask;
 *	with + or - before each of them they are groups to set or clear. The text is modified
 * @change: the result; unchanged on error
 *
 * Return: 0, or -EINVAL for an invalid text.
 */
int etw_group_change_parse(char *text, struct etw_group_mask_change *change)
{
	struct etw_group_mask_change parsed_change = {};
	unsigned int signed_words = 0, word_count = 0;
	char *word;
	u32 group;
	int i;

	while ((word = strsep(&text, " \t\n"))) {
		bool clears_group = *word == '-';

		if (!*word)
			continue;
		word_count++;
		if (clears_group || *word == '+') {
			signed_words++;
			word++;
		}
		if (etw_group_parse(word, &group))
			return -EINVAL;
		etw_group_change_add(&parsed_change, group, !clears_group);
	}
	if (!word_count || (signed_words && signed_words != word_count))
		return -EINVAL;
	for (i = 0; i < PERF_NUM_MASKS; i++)
		if (parsed_change.groups_to_set.masks[i] & parsed_change.groups_to_clear.masks[i])
			return -EINVAL;
	parsed_change.replaces_mask = !signed_words;
	*change = parsed_change;
	return 0;
}

/**
 * etw_group_change_from_mask() - make a change that sets a whole mask
 * @mask: the new mask
 * @change: the result; unchanged on error
 *
 * Return: 0, or -EINVAL if a bit belongs to no known group.
 */
int etw_group_change_from_mask(const struct perfinfo_groupmask *mask,
			       struct etw_group_mask_change *change)
{
	struct etw_group_mask_change whole_mask_change = { .replaces_mask = true };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(etw_group_names); i++) {
		u32 group = etw_group_names[i].group;
		u32 bits = PERF_MASK_BITS(group);

		if ((mask->masks[PERF_MASK_INDEX(group)] & bits) == bits)
			etw_group_change_add(&whole_mask_change, group, true);
	}
	for (i = 0; i < PERF_NUM_MASKS; i++)
		if (mask->masks[i] & ~whole_mask_change.groups_to_set.masks[i])
			return -EINVAL;
	*change = whole_mask_change;
	return 0;
}

/**
 * etw_group_change_apply() - apply a change to a mask
 * @change: the change
 * @mask: the mask
 */
void etw_group_change_apply(const struct etw_group_mask_change *change,
			    struct perfinfo_groupmask *mask)
{
	int i;

	for (i = 0; i < PERF_NUM_MASKS; i++) {
		u32 word = change->replaces_mask ? 0 : mask->masks[i];

		mask->masks[i] = (word | change->groups_to_set.masks[i]) &
				 ~change->groups_to_clear.masks[i];
	}
}

/**
 * etw_group_mask_show() - write the groups of a mask
 * @file: output file
 * @mask: the mask
 */
void etw_group_mask_show(struct seq_file *file,
			 const struct perfinfo_groupmask *mask)
{
	bool is_any_shown = false;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(etw_group_names); i++) {
		u32 group = etw_group_names[i].group;
		u32 bits = PERF_MASK_BITS(group);

		/* A name for several groups is not shown, because each of these groups is. */
		if (bits & (bits - 1) || !etw_group_mask_test(mask, group))
			continue;
		seq_printf(file, "0x%08x %s\n", group, etw_group_names[i].name);
		is_any_shown = true;
	}
	if (!is_any_shown)
		seq_puts(file, "0x0\n");
}
