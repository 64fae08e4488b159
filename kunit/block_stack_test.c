// SPDX-License-Identifier: GPL-2.0-only
/* The test stands for the probe of sched_switch, with records of tasks that do not exist. */

#include <linux/bits.h>
#include <linux/irqflags.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/types.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>

#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "../module/etw/stacks.h"
#include "../module/ground/clock.h"
#include "../module/ground/task_record.h"
#include "../module/perf/block_stack.h"
#include "../module/perf/sleeping_lock.h"
#include "fixture.h"

#define TEST_CLASS	NTKLOG_SLEEPING_CLASS(SEMAPHORE)

/* Stands for a lock: only its address is used. */
static u32 lock;

/* Begin to track locks of TEST_CLASS. @stacks: BIT(ETW_STACKED_*) */
static void begin_tracking(struct kunit *test, u32 stacks)
{
	etw_set_stacks(&etw_sessions[0], stacks);
	start_session_0(test, PERF_LINUX_SEMAPHORE, 65536, 4);
	KUNIT_ASSERT_EQ(test, ntklog_enable_sleeping_class(TEST_CLASS), 0);
}

static void end_tracking(struct kunit *test)
{
	stop_session_0(test);
	ntklog_disable_sleeping_class(TEST_CLASS);
	etw_set_stacks(&etw_sessions[0], 0);
}

static struct ntklog_task *make_holder(struct kunit *test)
{
	struct ntklog_task *record = kunit_kzalloc(test, sizeof(*record), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, record);
	record->task = (struct task_struct *)record;
	record->sleeping_slots[1].lock = &lock;
	record->sleeping_slots[1].acquire_time = ntklog_read_cycles();
	return record;
}

static void begin_block(const struct ntklog_task *record, u64 now)
{
	unsigned long flags;

	local_irq_save(flags);
	ntklog_begin_blocked_period(record, now);
	local_irq_restore(flags);
}

static void end_block(const struct ntklog_task *record, u64 since, u64 blocked_cycles)
{
	unsigned long flags;

	local_irq_save(flags);
	ntklog_end_blocked_period(record->task, since, blocked_cycles);
	local_irq_restore(flags);
}

static bool get_block(const struct ntklog_task *record, struct ntklog_block_stack *block)
{
	return ntklog_get_longest_block_stack(record->task, record->sleeping_slots[1].acquire_time,
					      block);
}

static void block_that_goes_on_keeps_its_stack(struct kunit *test)
{
	struct ntklog_block_stack block;
	struct ntklog_task *holder, *other;
	u64 since;
	int i;

	begin_tracking(test, BIT(ETW_STACKED_RESOURCE));
	holder = make_holder(test);
	other = make_holder(test);
	since = ntklog_read_cycles();
	begin_block(holder, since);
	for (i = 1; i <= 4096; i++) {
		/* This address is never dereferenced. */
		other->task = (struct task_struct *)((unsigned long)holder + i);
		begin_block(other, since + i);
		end_block(other, since + i, 1);
	}
	end_block(holder, since, 9999);
	KUNIT_EXPECT_TRUE(test, get_block(holder, &block));
	KUNIT_EXPECT_EQ(test, block.since, since);
	KUNIT_EXPECT_EQ(test, block.blocked, 9999);
	end_tracking(test);
}

static void end_of_another_block_ignored(struct kunit *test)
{
	struct ntklog_block_stack block;
	struct ntklog_task *holder;
	u64 since;

	begin_tracking(test, BIT(ETW_STACKED_RESOURCE));
	holder = make_holder(test);
	since = ntklog_read_cycles();
	begin_block(holder, since);
	end_block(holder, since + 1, 9999);
	KUNIT_EXPECT_FALSE(test, get_block(holder, &block));
	end_block(holder, since, 3);
	KUNIT_EXPECT_TRUE(test, get_block(holder, &block));
	KUNIT_EXPECT_EQ(test, block.blocked, 3);
	end_tracking(test);
}

static void session_that_is_not_started_gets_no_stack(struct kunit *test)
{
	struct ntklog_block_stack block;
	struct ntklog_task *holder;
	u64 since;

	etw_set_stacks(&etw_sessions[1], BIT(ETW_STACKED_RESOURCE));
	begin_tracking(test, BIT(ETW_STACKED_SPINLOCK));
	KUNIT_EXPECT_FALSE(test, ntklog_block_stacks_are_needed());
	holder = make_holder(test);
	since = ntklog_read_cycles();
	begin_block(holder, since);
	end_block(holder, since, 3);
	KUNIT_EXPECT_FALSE(test, get_block(holder, &block));
	end_tracking(test);
	etw_set_stacks(&etw_sessions[1], 0);
}

static struct kunit_case block_stack_cases[] = {
	KUNIT_CASE(block_that_goes_on_keeps_its_stack),
	KUNIT_CASE(end_of_another_block_ignored),
	KUNIT_CASE(session_that_is_not_started_gets_no_stack),
	{}
};

static struct kunit_suite block_stack_suite = {
	.name = "ntklog_block_stack",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = block_stack_cases,
};

kunit_test_suite(block_stack_suite);
