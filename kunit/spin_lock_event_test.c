// SPDX-License-Identifier: GPL-2.0-only

#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/limits.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/relay.h>
#include <ntklog/irql.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../module/etw/control.h"
#include "../module/etw/group_mask.h"
#include "../module/etw/run.h"
#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "../module/perf/spin_lock.h"
#include "fixture.h"

/* The hold threshold is off: on a busy host the virtual CPU may stop at any time. */
#define RATE		1000
#define HOLD_LIMIT	U32_MAX

#define LINUX		(WMI_SPINLOCK_QUEUED | PERF_SPIN_LOCK_LINUX_SPIN)

/* Stand for locks: the hooks use only their addresses. */
static u32 lock[2];

static struct ntklog_spin_lock_cpu *get_spin_lock_cpu(void)
{
	return per_cpu_ptr(&ntklog_spin_lock_cpu, TEST_CPU);
}

static void set_uncontended_count(u32 count)
{
	unsigned long flags;

	local_irq_save(flags);
	ntklog_set_uncontended_count(get_spin_lock_cpu(), count);
	local_irq_restore(flags);
}

static void acquire(const u32 *tested_lock)
{
	ntklog_log_spin_lock_acquire(tested_lock);
}

static void release_in_mode(const u32 *tested_lock, u8 mode)
{
	struct ntklog_time time = ntklog_read_time();

	if (!ntklog_pop_spin_lock(tested_lock, time.low))
		ntklog_track_spin_lock_release_slow(tested_lock, mode, time.low, time.high,
						    _THIS_IP_);
}

/* Returns true if an event was written. */
static bool release(const u32 *tested_lock)
{
	u64 events = get_spin_lock_cpu()->event_count;

	release_in_mode(tested_lock, WMI_SPINLOCK_QUEUED);
	return get_spin_lock_cpu()->event_count != events;
}

static void last_lock_released_hold_limit_restored(struct kunit *test)
{
	unsigned long flags;
	u32 hold_limit[2];
	bool written;

	start_session_0(test, PERF_SPINLOCK, 4096, 64);
	local_irq_save(flags);
	set_uncontended_count(5 * RATE - 1);
	acquire(&lock[0]);
	hold_limit[0] = get_spin_lock_cpu()->hold_limit;
	written = release(&lock[0]);
	hold_limit[1] = get_spin_lock_cpu()->hold_limit;
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, hold_limit[0], 0);
	KUNIT_EXPECT_TRUE(test, written);
	KUNIT_EXPECT_EQ(test, hold_limit[1], HOLD_LIMIT);
	stop_session_0(test);
}

static void sampled_count_nested_release_hold_limit_0(struct kunit *test)
{
	bool written[4];
	unsigned long flags;
	u32 hold_limit[3];

	start_session_0(test, PERF_SPINLOCK, 4096, 64);
	local_irq_save(flags);
	set_uncontended_count(5 * RATE - 2);
	acquire(&lock[0]);
	acquire(&lock[1]);
	written[0] = release(&lock[1]);
	/* The count is that of a sampled release, so the hold limit is 0 for the next release. */
	hold_limit[0] = get_spin_lock_cpu()->hold_limit;
	acquire(&lock[1]);
	hold_limit[1] = get_spin_lock_cpu()->hold_limit;
	written[1] = release(&lock[1]);
	hold_limit[2] = get_spin_lock_cpu()->hold_limit;
	written[2] = release(&lock[0]);
	set_uncontended_count(5 * RATE - 2);
	acquire(&lock[0]);
	acquire(&lock[1]);
	release(&lock[1]);
	written[3] = release(&lock[0]);
	local_irq_restore(flags);
	KUNIT_EXPECT_TRUE(test, written[0]);
	KUNIT_EXPECT_EQ(test, hold_limit[0], 0);
	KUNIT_EXPECT_EQ(test, hold_limit[1], 0);
	KUNIT_EXPECT_FALSE(test, written[1]);
	KUNIT_EXPECT_EQ(test, hold_limit[2], HOLD_LIMIT);
	KUNIT_EXPECT_FALSE(test, written[2]);
	KUNIT_EXPECT_TRUE(test, written[3]);
	stop_session_0(test);
}

/* The NMI may have interrupted an update of the hold limit, so it must not change the limit. */
static void nmi_releases_lock_hold_limit_kept(struct kunit *test)
{
	unsigned long flags;
	u32 hold_limit;

	start_session_0(test, PERF_SPINLOCK, 4096, 64);
	local_irq_save(flags);
	set_uncontended_count(5 * RATE - 1);
	acquire(&lock[0]);
	__preempt_count_add(HARDIRQ_OFFSET + NMI_OFFSET);
	acquire(&lock[1]);
	release(&lock[1]);
	__preempt_count_sub(HARDIRQ_OFFSET + NMI_OFFSET);
	hold_limit = get_spin_lock_cpu()->hold_limit;
	release(&lock[0]);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, hold_limit, 0);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->hold_limit, HOLD_LIMIT);
	stop_session_0(test);
}

static void start_another(struct kunit *test, u32 group)
{
	struct etw_group_mask_change change = { .replaces_mask = true };

	etw_group_mask_set(&change.groups_to_set, group);
	etw_change_group_mask(&etw_sessions[1], &change);
	KUNIT_ASSERT_EQ(test, etw_set_flush_timer(&etw_sessions[1], 0), 0);
	KUNIT_ASSERT_EQ(test, etw_start_session(&etw_sessions[1]), 0);
}

/* The first event in a buffer also starts the buffer, so the second one takes the fast path. */
static const u8 *get_second_event_of_session_1(struct kunit *test)
{
	const u8 *bytes = etw_get_buffer_of_cpu(etw_sessions[1].run, TEST_CPU)->start;
	const u8 *event = NULL;
	unsigned int events = 0;
	size_t position;

	for (position = BUFFER_EVENTS; position < read_u32(bytes, BUFFER_SAVED_OFFSET);
	     position += ALIGN(read_u16(bytes + position, EVENT_SIZE), 8)) {
		if (read_u16(bytes + position, EVENT_HOOK_ID) != PERFINFO_LOG_TYPE_SPINLOCK)
			continue;
		events++;
		event = bytes + position;
	}
	KUNIT_ASSERT_EQ(test, events, 2);
	return event;
}

static void two_sessions_same_event_bytes(struct kunit *test)
{
	const u8 *event, *other;
	unsigned long flags;
	u8 old_irql;
	int i;

	start_session_0(test, PERF_SPINLOCK, 4096, 64);
	start_another(test, PERF_SPINLOCK);
	/* At DISPATCH_LEVEL the IRQL is found without reading the task. */
	old_irql = ke_raise_irql_to_dpc_level();
	local_irq_save(flags);
	for (i = 0; i < 2; i++) {
		set_uncontended_count(5 * RATE - 1);
		acquire(&lock[0]);
		release(&lock[0]);
	}
	local_irq_restore(flags);
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_EQ(test, etw_stop_session(&etw_sessions[1]), 0);
	stop_session_0(test);
	KUNIT_EXPECT_EQ(test, count_session_events(PERFINFO_LOG_TYPE_SPINLOCK), 2);
	event = get_session_event(1, PERFINFO_LOG_TYPE_SPINLOCK);
	other = get_second_event_of_session_1(test);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_MEMEQ(test, event, other, read_u16(event, EVENT_SIZE));
}

/* An interrupt during the hold is counted in the slot, without a snapshot of the counters. */
static void linux_lock_interrupted_count_in_event(struct kunit *test)
{
	unsigned long flags;
	const u8 *event;
	int i, j;

	start_session_0(test, PERF_SPINLOCK, 4096, 64);
	start_another(test, PERF_LINUX_SPINLOCK);
	local_irq_save(flags);
	for (i = 0; i < 2; i++) {
		set_uncontended_count(5 * RATE - 1);
		acquire(&lock[0]);
		for (j = 0; j < 3; j++)
			ntklog_count_interrupt_in_slots();
		release_in_mode(&lock[0], LINUX);
	}
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, etw_stop_session(&etw_sessions[1]), 0);
	stop_session_0(test);
	KUNIT_EXPECT_EQ(test, count_session_events(PERFINFO_LOG_TYPE_SPINLOCK), 0);
	event = get_second_event_of_session_1(test);
	KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ADDRESS), (u64)(unsigned long)&lock[0]);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_INTERRUPTS), 3);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_WAIT_TIME), 0);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_SPIN_COUNT), 0);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_IRQL), 2);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_DEPTH), 1);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_MODE), WMI_SPINLOCK_QUEUED);
}

static void linux_lock_contended_wait_in_event(struct kunit *test)
{
	struct ntklog_spin_lock_wait_start wait_start;
	unsigned long flags;
	const u8 *event;
	int i;

	start_session_0(test, PERF_SPINLOCK, 4096, 64);
	start_another(test, PERF_LINUX_RWLOCK);
	local_irq_save(flags);
	for (i = 0; i < 2; i++) {
		ntklog_start_spin_lock_wait(&wait_start);
		wait_start.time.low -= 100000;
		ntklog_log_contended_spin_lock(&lock[0], WMI_SPINLOCK_EXECUTIVE_SHARED |
					       PERF_SPIN_LOCK_LINUX_RW, 77, &wait_start);
		/*
		 * The event's InterruptCount comes from a snapshot, so this count must not be
		 * added.
		 */
		ntklog_count_interrupt_in_slots();
		release_in_mode(&lock[0],
				WMI_SPINLOCK_EXECUTIVE_EXCLUSIVE | PERF_SPIN_LOCK_LINUX_RW);
	}
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, etw_stop_session(&etw_sessions[1]), 0);
	stop_session_0(test);
	event = get_second_event_of_session_1(test);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_SPIN_COUNT), 77);
	KUNIT_EXPECT_GE(test, read_u32(event, SPINLOCK_WAIT_TIME), 100000);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_INTERRUPTS), 0);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_MODE), WMI_SPINLOCK_EXECUTIVE_SHARED);
}

static int spin_lock_event_test_init(struct kunit *test)
{
	static const u32 parameters[] = { 5, 1, RATE, 1, 0 };
	int err = fixture_init(test);

	if (err)
		return err;
	return ntklog_change_parameter_set(&ntklog_spin_lock_parameter_set, parameters,
					   sizeof(parameters)) ? -EINVAL : 0;
}

static struct kunit_case spin_lock_event_test_cases[] = {
	KUNIT_CASE(last_lock_released_hold_limit_restored),
	KUNIT_CASE(sampled_count_nested_release_hold_limit_0),
	KUNIT_CASE(nmi_releases_lock_hold_limit_kept),
	KUNIT_CASE(two_sessions_same_event_bytes),
	KUNIT_CASE(linux_lock_interrupted_count_in_event),
	KUNIT_CASE(linux_lock_contended_wait_in_event),
	{}
};

static struct kunit_suite spin_lock_event_test_suite = {
	.name = "ntklog_spin_lock_event",
	.init = spin_lock_event_test_init,
	.exit = fixture_exit,
	.test_cases = spin_lock_event_test_cases,
};

kunit_test_suite(spin_lock_event_test_suite);
