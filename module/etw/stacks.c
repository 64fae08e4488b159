// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "event.h"
#include "provider.h"
#include "session.h"
#include "stacks.h"

DEFINE_STATIC_KEY_FALSE(etw_stacks_key);
u64 etw_stack_sessions_by_event[ETW_STACKED_EVENTS];

static const struct {
	const char *name;
	u16 hook_id;
} etw_stacked_events[ETW_STACKED_EVENTS] = {
	[ETW_STACKED_CONTEXTSWAP] = { "contextswap", PERFINFO_LOG_TYPE_CONTEXTSWAP },
	[ETW_STACKED_SPINLOCK] = { "spinlock", PERFINFO_LOG_TYPE_SPINLOCK },
	[ETW_STACKED_RESOURCE] = { "resource", PERFINFO_LOG_TYPE_RESOURCE },
};

/* The bits of enum etw_stacked_event_type are also those of the rundown event. */
static_assert(NTKLOG_STACKS_CONTEXTSWAP == BIT(ETW_STACKED_CONTEXTSWAP));
static_assert(NTKLOG_STACKS_SPINLOCK == BIT(ETW_STACKED_SPINLOCK));
static_assert(NTKLOG_STACKS_RESOURCE == BIT(ETW_STACKED_RESOURCE));

static int etw_find_stacked_event(u32 hook_id)
{
	int i;

	for (i = 0; i < ETW_STACKED_EVENTS; i++)
		if (etw_stacked_events[i].hook_id == hook_id)
			return i;
	return -EINVAL;
}

static int etw_parse_stacked_event(const char *word)
{
	u32 number;
	int i;

	for (i = 0; i < ETW_STACKED_EVENTS; i++)
		if (!strcmp(word, etw_stacked_events[i].name))
			return i;
	if (strncmp(word, "0x", 2) || kstrtou32(word, 16, &number))
		return -EINVAL;
	return etw_find_stacked_event(number);
}

/**
 * etw_stacks_parse() - parse a list of events that carry a stack
 * @text: names or 0x hook ids with spaces between them, or "none"; it is modified
 * @stacks: the result, bits by enum etw_stacked_event_type; unchanged on error
 *
 * Return: 0, or -EINVAL for an invalid text.
 */
int etw_stacks_parse(char *text, u32 *stacks)
{
	unsigned int word_count = 0;
	bool has_none = false;
	u32 parsed_stacks = 0;
	char *word;
	int event;

	while ((word = strsep(&text, " \t\n"))) {
		if (!*word)
			continue;
		word_count++;
		if (!strcmp(word, "none")) {
			has_none = true;
			continue;
		}
		event = etw_parse_stacked_event(word);
		if (event < 0)
			return event;
		parsed_stacks |= BIT(event);
	}
	if (!word_count || (has_none && word_count > 1))
		return -EINVAL;
	*stacks = parsed_stacks;
	return 0;
}

/**
 * etw_stacks_from_hook_ids() - convert hook ids to the events that carry a stack
 * @hook_ids: the hook ids
 * @count: their number; 0: no event carries a stack
 * @stacks: the result, bits by enum etw_stacked_event_type; unchanged on error
 *
 * Return: 0, or -EINVAL for an event that cannot carry a stack.
 */
int etw_stacks_from_hook_ids(const u32 *hook_ids, size_t count, u32 *stacks)
{
	u32 bits = 0;
	int event;
	size_t i;

	for (i = 0; i < count; i++) {
		event = etw_find_stacked_event(hook_ids[i]);
		if (event < 0)
			return event;
		bits |= BIT(event);
	}
	*stacks = bits;
	return 0;
}

/**
 * etw_stacks_to_hook_ids() - convert the events that carry a stack to hook ids
 * @stacks: bits by enum etw_stacked_event_type
 * @hook_ids: the result
 *
 * Return: the number of hook ids.
 */
size_t etw_stacks_to_hook_ids(u32 stacks, u32 hook_ids[ETW_STACKED_EVENTS])
{
	size_t count = 0;
	int i;

	for (i = 0; i < ETW_STACKED_EVENTS; i++)
		if (stacks & BIT(i))
			hook_ids[count++] = etw_stacked_events[i].hook_id;
	return count;
}

/**
 * etw_stacks_show() - write the events that carry a stack
 * @file: output file
 * @stacks: bits by enum etw_stacked_event_type
 */
void etw_stacks_show(struct seq_file *file, u32 stacks)
{
	int i;

	for (i = 0; i < ETW_STACKED_EVENTS; i++)
		if (stacks & BIT(i))
			seq_printf(file, "0x%04x %s\n", etw_stacked_events[i].hook_id,
				   etw_stacked_events[i].name);
	if (!stacks)
		seq_puts(file, "none\n");
}

/**
 * etw_make_stacks_rundown() - fill in the rundown event of stacks
 * @event: the event
 * @stacks: the events of the session that carry a stack, bits by enum etw_stacked_event_type
 * @is_end: the event ends the validity of @stacks, at the session's stop
 *
 * Context: any.
 * Return: true if an event of the session carries a stack.
 */
bool etw_make_stacks_rundown(struct etw_rundown_event *event, u32 stacks, bool is_end)
{
	const struct ntklog_stacks_dc record = { .stacks = stacks };

	etw_fill_rundown_event(event, is_end ? NTKLOG_LOG_TYPE_STACKS_DC_END :
					    NTKLOG_LOG_TYPE_STACKS_DC_START,
			       NTKLOG_STACKS_DC_VERSION, &record, sizeof(record));
	return stacks;
}

/**
 * etw_publish_stack_sessions() - publish the sessions that log the stack of each event
 *
 * Context: task, with etw_mutex held; may sleep.
 */
void etw_publish_stack_sessions(void)
{
	bool is_any_logging = false;
	int event, i;

	for (event = 0; event < ETW_STACKED_EVENTS; event++) {
		u64 sessions = 0;

		for (i = 0; i < ETW_SESSIONS; i++) {
			if (!(etw_sessions[i].settings.stacks & BIT(event)))
				continue;
			sessions |= 1ULL << i * ETW_SESSION_BITS;
			is_any_logging |= etw_sessions[i].is_logging;
		}
		WRITE_ONCE(etw_stack_sessions_by_event[event], sessions);
	}
	if (is_any_logging)
		static_branch_enable(&etw_stacks_key);
	else
		static_branch_disable(&etw_stacks_key);
}
