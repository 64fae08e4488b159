// SPDX-License-Identifier: GPL-2.0-only

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <uapi/ntklog/event.h>

#include "../module/trace.h"
#include "spin_lock_fixture.h"

static noinline unsigned long acquire_and_release(struct kspin_lock *spin_lock,
						  struct klock_queue_handle *handle)
{
	ke_acquire_in_stack_queued_spin_lock(spin_lock, handle);
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock(handle);
	return (unsigned long)acquire_and_release;
}

static void event_bytes_match_nt_layout(struct kunit *test)
{
	u8 zeros[5] = {};
	struct klock_queue_handle handle;
	u64 before, after, caller;
	unsigned long function;
	const u8 *event;

	spin_lock_session_start(test);
	before = get_cycles();
	function = acquire_and_release(&lock[3], &handle);
	after = get_cycles();
	event = get_spin_lock_event(test, 0);

	KUNIT_EXPECT_EQ(test, read_u32(event, EVENT_MARKER), 0xC0110002u);
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_SIZE), 0x48);
	KUNIT_EXPECT_EQ(test, read_u16(event, EVENT_HOOK_ID), 0x0529);
	KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ADDRESS),
			(u64)(unsigned long)&lock[3]);
	caller = read_u64(event, SPINLOCK_CALLER);
	KUNIT_EXPECT_GT(test, caller, (u64)function);
	KUNIT_EXPECT_LT(test, caller, (u64)function + 0x400);
	KUNIT_EXPECT_GT(test, read_u64(event, SPINLOCK_ACQUIRE_TIME), before);
	KUNIT_EXPECT_GE(test, read_u64(event, SPINLOCK_RELEASE_TIME),
			read_u64(event, SPINLOCK_ACQUIRE_TIME));
	KUNIT_EXPECT_GE(test, read_u64(event, EVENT_TIME),
			read_u64(event, SPINLOCK_RELEASE_TIME));
	KUNIT_EXPECT_LT(test, read_u64(event, EVENT_TIME), after);
	KUNIT_EXPECT_LE(test, (u64)read_u32(event, SPINLOCK_WAIT_TIME),
			read_u64(event, SPINLOCK_ACQUIRE_TIME) - before);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_SPIN_COUNT), 0);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_THREAD_ID), task_pid_nr(current));
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_IRQL), DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_DEPTH), 1);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_MODE), 1);
	KUNIT_EXPECT_MEMEQ(test, event + SPINLOCK_RESERVED, zeros, 5);
	stop_session_0(test);
}

static void interrupts_during_hold_counted(struct kunit *test)
{
	struct klock_queue_handle handle;
	const u8 *event;

	spin_lock_session_start(test);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	/* At least ten timer interrupts with any HZ. */
	mdelay(10 * jiffies_to_msecs(1) + 50);
	ke_release_in_stack_queued_spin_lock(&handle);
	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&lock[0], &handle);
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock(&handle);

	event = get_spin_lock_event(test, 0);
	KUNIT_EXPECT_GE(test, read_u32(event, SPINLOCK_INTERRUPTS), 10);
	/* SYNCH_LEVEL disables interrupts. */
	event = get_spin_lock_event(test, 1);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_IRQL), SYNCH_LEVEL);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_INTERRUPTS), 0);
	stop_session_0(test);
}

/* NT's locks use the kernel's interrupt counters. Counting in the slots is for Linux' locks. */
static void interrupts_in_slots_nt_lock_event_unchanged(struct kunit *test)
{
	struct klock_queue_handle handle;
	const u8 *event;
	int i;

	spin_lock_session_start(test);
	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&lock[0], &handle);
	for (i = 0; i < 3; i++)
		ntklog_count_interrupt_in_slots();
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock(&handle);
	event = get_spin_lock_event(test, 0);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_INTERRUPTS), 0);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_WAIT_TIME), 0);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_SPIN_COUNT), 0);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_DEPTH), 1);
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_MODE) & 0x3f, WMI_SPINLOCK_QUEUED);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	stop_session_0(test);
}

static void use_lock_in_interrupt(void *data)
{
	struct klock_queue_handle handle;

	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(data, &handle);
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock(&handle);
}

static void release_context_is_in_acquire_mode(struct kunit *test)
{
	spin_lock_session_start(test);
	test_run_in_softirq(use_lock_in_interrupt, &interrupt_locks[0]);
	test_run_in_hardirq(use_lock_in_interrupt, &interrupt_locks[0]);
	use_lock_in_interrupt(&interrupt_locks[0]);
	KUNIT_EXPECT_EQ(test, read_u8(get_spin_lock_event(test, 0), SPINLOCK_MODE), 0x41);
	/* 0x80: hard interrupt. It may have interrupted a softirq, and then 0x40 is set, too. */
	KUNIT_EXPECT_EQ(test, read_u8(get_spin_lock_event(test, 1), SPINLOCK_MODE) & ~0x40, 0x81);
	KUNIT_EXPECT_EQ(test, read_u8(get_spin_lock_event(test, 2), SPINLOCK_MODE), 0x01);
	stop_session_0(test);
}

static unsigned int interrupt_count;

static enum hrtimer_restart interrupt_with_locks(struct hrtimer *timer)
{
	struct klock_queue_handle handle[2];

	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&interrupt_locks[0], &handle[0]);
	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&interrupt_locks[1], &handle[1]);
	ke_release_in_stack_queued_spin_lock(&handle[1]);
	ke_release_in_stack_queued_spin_lock(&handle[0]);
	WRITE_ONCE(interrupt_count, interrupt_count + 1);
	hrtimer_forward_now(timer, ns_to_ktime(20 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

/* A timer interrupts so often that some interrupts hit the fast paths of the hooks. */
static void frequent_interrupts_no_slot_or_count_lost(struct kunit *test)
{
	unsigned long end = jiffies + msecs_to_jiffies(300);
	struct klock_queue_handle handle[3];
	struct spin_lock_counts before;
	struct hrtimer timer;
	u32 round_count = 0;

	interrupt_count = 0;
	spin_lock_session_start(test);
	before = read_counts();
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = interrupt_with_locks;
	hrtimer_start(&timer, ns_to_ktime(0), HRTIMER_MODE_REL_PINNED_HARD);
	/* A busy host may delay this thread or the timer, so wait for enough of both. */
	while (time_before(jiffies, end) || round_count < 100 || READ_ONCE(interrupt_count) < 100) {
		ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle[0]);
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[1], &handle[1]);
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[2], &handle[2]);
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[0]);
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[2]);
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[1]);
		ke_lower_irql(handle[0].old_irql);
		round_count++;
	}
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->untracked_count, before.untracked_count);
	KUNIT_EXPECT_GT(test, read_counts().acquire_count - before.acquire_count, 3 * round_count);
	KUNIT_EXPECT_EQ(test, (read_counts().acquire_count - before.acquire_count -
			       3 * round_count) % 2, 0);
	stop_session_0(test);
}

static unsigned int probe_calls;
static struct wmi_spinlock64 probed_record;

static void probe(void *unused, const struct wmi_spinlock64 *record)
{
	struct klock_queue_handle handle;

	/* The writer of an event uses a lock itself. */
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[8], &handle);
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle);
	probed_record = *record;
	probe_calls++;
}

static void lock_used_by_event_writer_not_written(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct spin_lock_counts before;

	spin_lock_session_start(test);
	KUNIT_ASSERT_EQ(test, register_trace_spinlock(probe, NULL), 0);
	before = read_counts();
	probe_calls = 0;
	acquire_and_release(&lock[0], &handle);
	unregister_trace_spinlock(probe, NULL);
	tracepoint_synchronize_unregister();

	KUNIT_EXPECT_EQ(test, probe_calls, 1);
	KUNIT_EXPECT_EQ(test, count_spin_lock_events(), 1);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->suppressed_count, before.suppressed_count + 1);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	acquire_and_release(&lock[0], &handle);
	KUNIT_EXPECT_EQ(test, count_spin_lock_events(), 2);
	stop_session_0(test);
}

static void tracepoint_probe_only_tracking_enabled(struct kunit *test)
{
	struct klock_queue_handle handle;

	KUNIT_ASSERT_FALSE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	KUNIT_ASSERT_EQ(test, register_trace_spinlock(probe, NULL), 0);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	probe_calls = 0;
	acquire_and_release(&lock[2], &handle);
	unregister_trace_spinlock(probe, NULL);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_EQ(test, probe_calls, 1);
	KUNIT_EXPECT_EQ(test, probed_record.spin_lock_address,
			(u64)(unsigned long)&lock[2]);
	KUNIT_EXPECT_EQ(test, probed_record.thread_id, task_pid_nr(current));
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_spin_lock_key));
}

/* Acquire @lock_word uncontended and release it with a waiter; NT's rules sample it if @sample. */
static void release_with_waiter(u32 *lock_word, bool sample)
{
	struct ntklog_time time;
	unsigned long flags;

	local_irq_save(flags);
	ntklog_log_spin_lock_acquire(lock_word);
	sample_next_uncontended(sample);
	time = ntklog_read_time();
	ntklog_track_spin_lock_release_slow(lock_word, WMI_SPINLOCK_QUEUED |
					    PERF_SPIN_LOCK_LEAVES_WAITER, time.low, time.high,
					    _THIS_IP_);
	local_irq_restore(flags);
}

static void release_leaving_waiter_sampled_by_blocker_rate(struct kunit *test)
{
	u32 before = get_spin_lock_cpu()->blocker_count, lock_word, i;

	spin_lock_session_start(test);
	set_spin_lock_parameters(test, 1, 1000, 1, 0);
	/* The blocker rate is 0 by default: none is written or counted. */
	release_with_waiter(&lock_word, false);
	KUNIT_EXPECT_EQ(test, count_spin_lock_events(), 0);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->blocker_count, before);

	get_spin_lock_cpu()->blocker_count = 0;
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 3);
	for (i = 0; i < 9; i++)
		release_with_waiter(&lock_word, false);
	/* Blockers 10 to 12 are sampled by rule 3; the twelfth by the blocker rate too. */
	for (i = 0; i < 3; i++)
		release_with_waiter(&lock_word, true);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 0);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->blocker_count, 12);
	get_spin_lock_cpu()->blocker_count += before;
	KUNIT_EXPECT_EQ(test, count_spin_lock_events(), 3 + 3);
	for (i = 0; i < 6; i++) {
		const u8 *event = get_spin_lock_event(test, i);
		u8 rule = i < 3 ? WMI_SPINLOCK_RULE_BLOCKER | WMI_SPINLOCK_RULE_BLOCKER_ONLY :
			  i < 5 ? 0 : WMI_SPINLOCK_RULE_BLOCKER;

		KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_RESERVED), rule);
		KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_MODE) & 0x3F, WMI_SPINLOCK_QUEUED);
	}
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	stop_session_0(test);
}

/* The limit permits one more record. NT's rules also sample the fifth release. */
static void release_leaving_waiter_beyond_limit_dropped_and_counted(struct kunit *test)
{
	struct ntklog_record_limit *limit = &get_spin_lock_cpu()->blocker_limit;
	unsigned long end, flags;
	u64 dropped_count, event_count;
	u32 lock_word, i;

	spin_lock_session_start(test);
	set_spin_lock_parameters(test, 1, 1000, 1, 0);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 1);
	do {
		event_count = count_spin_lock_events();
		local_irq_save(flags);
		dropped_count = limit->dropped_records;
		end = jiffies + PERF_RECORD_WINDOW_JIFFIES;
		limit->window_end_jiffies = end;
		limit->records_left = 1;
		for (i = 0; i < 5; i++)
			release_with_waiter(&lock_word, i == 4);
		dropped_count = limit->dropped_records - dropped_count;
		/* The next test may begin in the same window. */
		limit->records_left = PERF_RECORDS_PER_WINDOW;
		local_irq_restore(flags);
	} while (limit->window_end_jiffies != end);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 0);
	KUNIT_EXPECT_EQ(test, dropped_count, 3);
	KUNIT_ASSERT_EQ(test, count_spin_lock_events(), event_count + 2);
	KUNIT_EXPECT_EQ(test, read_u8(get_spin_lock_event(test, event_count), SPINLOCK_RESERVED),
			WMI_SPINLOCK_RULE_BLOCKER | WMI_SPINLOCK_RULE_BLOCKER_ONLY);
	KUNIT_EXPECT_EQ(test,
			read_u8(get_spin_lock_event(test, event_count + 1), SPINLOCK_RESERVED),
			WMI_SPINLOCK_RULE_BLOCKER);
	stop_session_0(test);
}

static void expired_record_window_restarted(struct kunit *test)
{
	struct ntklog_record_limit limit = { .window_end_jiffies = jiffies };
	u32 i;

	for (i = 0; i < PERF_RECORDS_PER_WINDOW; i++)
		KUNIT_ASSERT_TRUE(test, ntklog_admit_record(&limit));
	limit.records_left = 0;
	limit.window_end_jiffies = jiffies;
	KUNIT_EXPECT_TRUE(test, ntklog_admit_record(&limit));
	KUNIT_EXPECT_EQ(test, limit.records_left, PERF_RECORDS_PER_WINDOW - 1);
	KUNIT_EXPECT_EQ(test, limit.dropped_records, 0);
}

static int acquire_lock_0(void *data)
{
	struct klock_queue_handle handle;

	while (!READ_ONCE(*(bool *)data))
		cpu_relax();
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	return 0;
}

static void queued_lock_handed_over_blocker_written(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct test_thread thread;
	const u8 *event;
	bool held = false;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");
	spin_lock_session_start(test);
	set_spin_lock_parameters(test, U32_MAX, U32_MAX, 1, 0);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 1);
	ke_acquire_in_stack_queued_spin_lock(&lock[1], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	test_thread_start(test, &thread, 1, acquire_lock_0, &held);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	WRITE_ONCE(held, true);
	/* Wait until the waiter is linked, because a release leaves behind linked waiters only. */
	while (!READ_ONCE(handle.lock_queue.next))
		cpu_relax();
	ke_release_in_stack_queued_spin_lock(&handle);
	test_thread_join(&thread);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 0);
	KUNIT_ASSERT_EQ(test, count_spin_lock_events(), 1);
	event = get_spin_lock_event(test, 0);
	KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ADDRESS), (u64)(unsigned long)&lock[0]);
	KUNIT_EXPECT_EQ(test, read_u32(event, SPINLOCK_THREAD_ID), task_pid_nr(current));
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_RESERVED),
			WMI_SPINLOCK_RULE_BLOCKER | WMI_SPINLOCK_RULE_BLOCKER_ONLY);
	stop_session_0(test);
}

/* A waiter that is in the lock's word, but not yet linked to the owner's entry. */
struct unlinked_waiter {
	struct klock_queue_handle handle;
	struct kspin_lock_queue entry;
	bool is_in_lock_word;
};

/* Link the waiter after the release has found no linked waiter. */
static int link_waiter(void *data)
{
	struct unlinked_waiter *seen = data;
	struct kspin_lock_queue *owner = &seen->handle.lock_queue;

	while (!READ_ONCE(seen->is_in_lock_word) || READ_ONCE(owner->lock) & LOCK_QUEUE_OWNER)
		cpu_relax();
	/* Pairs with smp_cond_load_acquire() in ke_hand_over_queued_spin_lock(). */
	smp_store_release(&owner->next, &seen->entry);
	return 0;
}

static void queued_waiter_not_linked_no_blocker_counted(struct kunit *test)
{
	/* The fast and the slow path of the release: not sampled, and sampled. */
	static const u32 rates[] = { U32_MAX, 1000 };
	struct test_thread thread;
	struct unlinked_waiter seen;
	u32 before, i;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");
	spin_lock_session_start(test);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 1);
	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		seen = (struct unlinked_waiter) {
			.entry.lock = (unsigned long)&lock[0] | LOCK_QUEUE_WAIT };
		set_spin_lock_parameters(test, U32_MAX, rates[i], 1, 0);
		test_thread_start(test, &thread, 1, link_waiter, &seen);
		set_counters(999, 0);
		ke_acquire_in_stack_queued_spin_lock(&lock[0], &seen.handle);
		before = get_spin_lock_cpu()->blocker_count;
		xchg(&lock[0].word, (unsigned long)&seen.entry);
		WRITE_ONCE(seen.is_in_lock_word, true);
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&seen.handle);
		KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->blocker_count, before);
		ke_lower_irql(seen.handle.old_irql);
		test_thread_join(&thread);
		KUNIT_EXPECT_EQ(test, seen.entry.lock,
				(unsigned long)&lock[0] | LOCK_QUEUE_OWNER);
		KUNIT_EXPECT_EQ(test, count_spin_lock_events(), i);
		ke_initialize_spin_lock(&lock[0]);
	}
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 0);
	KUNIT_EXPECT_EQ(test, read_u8(get_spin_lock_event(test, 0), SPINLOCK_RESERVED), 0);
	stop_session_0(test);
}

static struct kunit_case spin_lock_record_test_cases[] = {
	KUNIT_CASE(event_bytes_match_nt_layout),
	KUNIT_CASE(interrupts_during_hold_counted),
	KUNIT_CASE(interrupts_in_slots_nt_lock_event_unchanged),
	KUNIT_CASE(release_context_is_in_acquire_mode),
	KUNIT_CASE(frequent_interrupts_no_slot_or_count_lost),
	KUNIT_CASE(lock_used_by_event_writer_not_written),
	KUNIT_CASE(tracepoint_probe_only_tracking_enabled),
	KUNIT_CASE(release_leaving_waiter_sampled_by_blocker_rate),
	KUNIT_CASE(release_leaving_waiter_beyond_limit_dropped_and_counted),
	KUNIT_CASE(expired_record_window_restarted),
	KUNIT_CASE(queued_lock_handed_over_blocker_written),
	KUNIT_CASE(queued_waiter_not_linked_no_blocker_counted),
	{}
};

static struct kunit_suite spin_lock_record_test_suite = {
	.name = "ntklog_spin_lock_record",
	.init = spin_lock_fixture_init,
	.exit = fixture_exit,
	.test_cases = spin_lock_record_test_cases,
};

kunit_test_suite(spin_lock_record_test_suite);
