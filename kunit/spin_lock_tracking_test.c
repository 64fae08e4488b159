// SPDX-License-Identifier: GPL-2.0-only

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/preempt.h>
#include <ntklog/ex_spin_lock.h>

#include "spin_lock_fixture.h"

static void check_nested_locks(struct kunit *test, int depth)
{
	struct klock_queue_handle handle[LOCK_COUNT];
	struct spin_lock_counts before = read_counts();
	unsigned int first = count_spin_lock_events();
	int tracked_count = min(depth, 8);
	int i;

	for (i = 0; i < depth; i++)
		ke_acquire_in_stack_queued_spin_lock(&lock[i], &handle[i]);
	KUNIT_EXPECT_EQ(test, count_tracked_slots(), tracked_count);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->untracked_count,
			before.untracked_count + depth - tracked_count);
	sample_next_uncontended(true);
	for (i = depth - 1; i >= 0; i--)
		ke_release_in_stack_queued_spin_lock(&handle[i]);

	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count);
	KUNIT_EXPECT_EQ(test, count_spin_lock_events(), first + tracked_count);
	for (i = 0; i < tracked_count; i++) {
		const u8 *event = get_spin_lock_event(test, first + i);

		KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ADDRESS),
				(u64)(unsigned long)&lock[tracked_count - 1 - i]);
		KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_DEPTH), tracked_count - i);
		KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_IRQL), DISPATCH_LEVEL);
	}
}

static void nested_locks_8_tracked_ninth_counted(struct kunit *test)
{
	int depth;

	spin_lock_session_start(test);
	for (depth = 1; depth <= LOCK_COUNT; depth++)
		check_nested_locks(test, depth);
	stop_session_0(test);
}

static void release_out_of_order_other_slots_kept(struct kunit *test)
{
	static const int release_order[] = { 1, 0, 2 };
	struct klock_queue_handle handle[3];
	struct ntklog_spin_lock_slot slots[3];
	int i;

	spin_lock_session_start(test);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle[0]);
	for (i = 1; i < 3; i++)
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[i], &handle[i]);
	memcpy(slots, &get_spin_lock_cpu()->slots[1], sizeof(slots));
	sample_next_uncontended(true);

	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[1]);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 2);
	KUNIT_EXPECT_MEMEQ(test, &get_spin_lock_cpu()->slots[1], &slots[0], sizeof(slots[0]));
	KUNIT_EXPECT_MEMEQ(test, &get_spin_lock_cpu()->slots[2], &slots[2], sizeof(slots[0]));
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[0]);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 1);
	KUNIT_EXPECT_MEMEQ(test, &get_spin_lock_cpu()->slots[1], &slots[2], sizeof(slots[0]));
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[2]);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	ke_lower_irql(handle[0].old_irql);

	KUNIT_EXPECT_EQ(test, count_spin_lock_events(), 3);
	for (i = 0; i < 3; i++) {
		const u8 *event = get_spin_lock_event(test, i);

		KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ADDRESS),
				(u64)(unsigned long)&lock[release_order[i]]);
		KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ACQUIRE_TIME),
				ntklog_time_to_cycles(slots[release_order[i]].time));
		KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_DEPTH), 3 - i);
	}
	stop_session_0(test);
}

static bool hooks_are_enabled(void)
{
	return static_key_enabled(&ntklog_spin_lock_key) &&
		static_key_enabled(&ntklog_spin_lock_tracking_key);
}

/* Set by the test when the thread on the other CPU shall start or stop the session. */
static bool thread_may_continue;

static void acquire_and_let_thread_continue(struct klock_queue_handle *handle)
{
	disable_preemption_with_etw_mutex_free();
	ke_acquire_in_stack_queued_spin_lock(&lock[0], handle);
	preempt_enable();
	WRITE_ONCE(thread_may_continue, true);
}

static int start_session_thread(void *data)
{
	while (!READ_ONCE(thread_may_continue))
		cpu_relax();
	spin_lock_session_start(data);
	return 0;
}

static int stop_session_thread(void *data)
{
	while (!READ_ONCE(thread_may_continue))
		cpu_relax();
	stop_session_0(data);
	return 0;
}

/* Acquire and release @spin_lock. Returns true if the acquisition was tracked. */
static bool acquisition_is_tracked(struct kspin_lock *spin_lock)
{
	struct klock_queue_handle handle;
	u32 before = count_tracked_slots();
	bool tracked;

	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(spin_lock, &handle);
	tracked = count_tracked_slots() != before;
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle);
	return tracked;
}

static void lock_held_at_enable_not_tracked(struct kunit *test)
{
	struct klock_queue_handle handle[2];
	struct spin_lock_counts before;
	struct test_thread thread;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");
	before = read_counts();
	thread_may_continue = false;
	test_thread_start(test, &thread, 1, start_session_thread, test);
	acquire_and_let_thread_continue(&handle[0]);
	while (!hooks_are_enabled())
		cpu_relax();
	/* lock[0] will be released through a hook without a slot. Until then tracking stays off. */
	KUNIT_EXPECT_FALSE(test, acquisition_is_tracked(&lock[1]));
	mdelay(50);
	KUNIT_EXPECT_FALSE(test, acquisition_is_tracked(&lock[1]));
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[2], &handle[1]);
	KUNIT_EXPECT_EQ(test, count_tracked_slots(), 0);
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[1]);
	ke_release_in_stack_queued_spin_lock(&handle[0]);
	test_thread_join(&thread);

	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->untracked_count, before.untracked_count);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, count_spin_lock_events(), 0);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle[0]);
	KUNIT_EXPECT_TRUE(test, acquisition_is_tracked(&lock[1]));
	ke_release_in_stack_queued_spin_lock(&handle[0]);
	stop_session_0(test);
}

static void tracked_lock_released_after_disable_written(struct kunit *test)
{
	struct klock_queue_handle handle[2];
	struct spin_lock_counts before;
	struct test_thread thread;
	unsigned long end;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 CPUs");
	spin_lock_session_start(test);
	/* Hold times are unpredictable on a busy host, so disable rule 1. */
	set_spin_lock_parameters(test, 1, 1000, 1, 0);
	before = read_counts();
	thread_may_continue = false;
	test_thread_start(test, &thread, 1, stop_session_thread, test);
	acquire_and_let_thread_continue(&handle[0]);
	/*
	 * Disabling stops new tracking at once, but the tracked lock keeps its slot. After 20 s the
	 * kernel may report a soft lockup.
	 */
	end = jiffies + 18 * HZ;
	while (acquisition_is_tracked(&lock[1]) && time_before(jiffies, end))
		sample_next_uncontended(false);
	KUNIT_EXPECT_FALSE(test, acquisition_is_tracked(&lock[1]));
	KUNIT_EXPECT_EQ(test, count_tracked_slots(), 1);
	KUNIT_EXPECT_TRUE(test, hooks_are_enabled());
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[2], &handle[1]);
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[0]);
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[1]);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	ke_lower_irql(handle[0].old_irql);
	test_thread_join(&thread);

	KUNIT_EXPECT_FALSE(test, hooks_are_enabled());
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->untracked_count, before.untracked_count);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count);
	KUNIT_ASSERT_EQ(test, count_spin_lock_events(), 1);
	KUNIT_EXPECT_EQ(test, read_u64(get_spin_lock_event(test, 0), SPINLOCK_ADDRESS),
			(u64)(unsigned long)&lock[0]);
}

static void unreleased_slots_freed_at_next_enable(struct kunit *test)
{
	u8 old_irql;
	int i;

	spin_lock_session_start(test);
	old_irql = ke_raise_irql_to_dpc_level();
	for (i = 0; i < LOCK_COUNT; i++)
		ntklog_log_spin_lock_acquire(&lock[i]);
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), LOCK_COUNT);
	KUNIT_EXPECT_EQ(test, count_tracked_slots(), PERF_SPIN_LOCK_DEPTH);
	stop_session_0(test);
	spin_lock_session_start(test);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, count_tracked_slots(), 0);
	stop_session_0(test);
}

static void release_without_acquisition_counted_unmatched(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct spin_lock_counts before;

	spin_lock_session_start(test);
	before = read_counts();
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	log_release(&lock[1], WMI_SPINLOCK_QUEUED, ntklog_read_time());
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count + 1);
	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count + 1);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	stop_session_0(test);
}

static struct ex_spin_lock shared_lock;
static bool interrupted;

/* The value by which each kind of interrupt changes preempt_count(). */
static const struct interrupt_context {
	const char *name;
	int count;
} interrupt_contexts[] = {
	{ "softirq", SOFTIRQ_OFFSET },
	{ "hard interrupt", HARDIRQ_OFFSET },
	{ "hard interrupt in a softirq", SOFTIRQ_OFFSET + HARDIRQ_OFFSET },
	{ "NMI", HARDIRQ_OFFSET + NMI_OFFSET },
};

static void describe_interrupt_context(const struct interrupt_context *context, char *text)
{
	strscpy(text, context->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(interrupt_context, interrupt_contexts, describe_interrupt_context);

static void push_slot(const void *spin_lock)
{
	ntklog_log_spin_lock_acquire(spin_lock);
}

static void pop_slot(const void *spin_lock)
{
	log_release(spin_lock, WMI_SPINLOCK_EXECUTIVE_SHARED, ntklog_read_time());
}

/*
 * Lock 7 is the eighth lock, so it is tracked. The handler's acquisitions of locks 0 and 6 are not.
 */
static void interrupt_acquires_locks_slots_unchanged(struct kunit *test)
{
	const struct interrupt_context *context = test->param_value;
	bool is_nmi = context->count & NMI_MASK;
	struct ntklog_spin_lock_slot slots[7];
	u32 tracked_count, slots_in_use_after[2];
	struct spin_lock_counts before;
	unsigned long flags;
	bool unchanged;
	int i;

	spin_lock_session_start(test);
	before = read_counts();
	local_irq_save(flags);
	sample_next_uncontended(false);
	for (i = 0; i < 7; i++)
		push_slot(&lock[i]);
	memcpy(slots, &get_spin_lock_cpu()->slots[1], sizeof(slots));
	__preempt_count_add(context->count);
	push_slot(&lock[7]);
	push_slot(&lock[0]);
	push_slot(&lock[6]);
	/* Another lock can be tracked again, while an untracked one is still held. */
	pop_slot(&lock[7]);
	pop_slot(&lock[6]);
	push_slot(&lock[8]);
	tracked_count = count_tracked_slots();
	ntklog_log_spin_lock_convert(&lock[0], WMI_SPINLOCK_EXECUTIVE_CONVERTED);
	pop_slot(&lock[0]);
	slots_in_use_after[0] = count_slots_in_use();
	pop_slot(&lock[8]);
	slots_in_use_after[1] = count_slots_in_use();
	__preempt_count_sub(context->count);
	unchanged = !memcmp(slots, &get_spin_lock_cpu()->slots[1], sizeof(slots));
	for (i = 6; i >= 0; i--)
		pop_slot(&lock[i]);
	local_irq_restore(flags);

	/* In an NMI an acquisition after an untracked one is not tracked. */
	KUNIT_EXPECT_EQ(test, tracked_count == 8, !is_nmi);
	KUNIT_EXPECT_EQ(test, slots_in_use_after[0], 8);
	KUNIT_EXPECT_EQ(test, slots_in_use_after[1], 7);
	KUNIT_EXPECT_TRUE(test, unchanged);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->untracked_count,
			before.untracked_count + (is_nmi ? 3 : 2));
	stop_session_0(test);
}

/*
 * An interrupt hits after the slot is allocated and before it is filled. Its handler releases a
 * lock that was acquired before the hooks were enabled. The slot's old content is that lock.
 */
static void unfilled_slot_release_unmatched(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct spin_lock_counts before;
	unsigned long flags;
	u32 slots_in_use_after[2];

	spin_lock_session_start(test);
	/* Leave &lock[0] as the old content of the slot. */
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	before = read_counts();
	local_irq_save(flags);
	get_spin_lock_cpu()->state += PERF_SPIN_LOCK_SLOT_SIZE;
	slots_in_use_after[0] = count_slots_in_use();
	pop_slot(&lock[0]);
	slots_in_use_after[1] = count_slots_in_use();
	get_spin_lock_cpu()->state -= PERF_SPIN_LOCK_SLOT_SIZE;
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, slots_in_use_after[0], 1);
	KUNIT_EXPECT_EQ(test, slots_in_use_after[1], 1);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count + 1);
	stop_session_0(test);
}

static void acquisitions_beyond_slots_counted(struct kunit *test)
{
	static int many_locks[PERF_SPIN_LOCK_SLOT_COUNT + 3];
	struct spin_lock_counts before;
	unsigned long flags;
	u32 locks_without_slot;
	int i;

	spin_lock_session_start(test);
	before = read_counts();
	local_irq_save(flags);
	sample_next_uncontended(false);
	before.acquire_count = read_counts().acquire_count;
	for (i = 0; i < ARRAY_SIZE(many_locks); i++)
		push_slot(&many_locks[i]);
	locks_without_slot = get_spin_lock_cpu()->locks_without_slot;
	for (i = ARRAY_SIZE(many_locks) - 1; i >= 0; i--)
		pop_slot(&many_locks[i]);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, locks_without_slot, 3);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->locks_without_slot, 0);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, count_tracked_slots(), 0);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count);
	KUNIT_EXPECT_EQ(test, read_counts().acquire_count,
			before.acquire_count + (u32)ARRAY_SIZE(many_locks));
	stop_session_0(test);
}

/* The lock that was acquired first is released first, so each release moves the other slots. */
static void release_in_order_further_slots_moved_down(struct kunit *test)
{
	static int many_locks[PERF_SPIN_LOCK_SLOT_COUNT];
	static const void *topmost_locks[ARRAY_SIZE(many_locks)];
	static u32 slots_in_use_after[ARRAY_SIZE(many_locks)];
	struct spin_lock_counts before;
	unsigned long flags;
	long state;
	int i;

	spin_lock_session_start(test);
	before = read_counts();
	local_irq_save(flags);
	sample_next_uncontended(false);
	for (i = 0; i < ARRAY_SIZE(many_locks); i++)
		push_slot(&many_locks[i]);
	for (i = 0; i < ARRAY_SIZE(many_locks); i++) {
		slots_in_use_after[i] = count_slots_in_use();
		topmost_locks[i] = ntklog_find_topmost_spin_lock();
		pop_slot(&many_locks[i]);
	}
	state = get_spin_lock_cpu()->state & PERF_SPIN_LOCK_USED_MASK;
	local_irq_restore(flags);
	for (i = 0; i < ARRAY_SIZE(many_locks); i++) {
		KUNIT_EXPECT_EQ(test, slots_in_use_after[i], ARRAY_SIZE(many_locks) - i);
		KUNIT_EXPECT_PTR_EQ(test, topmost_locks[i],
				    (const void *)&many_locks[ARRAY_SIZE(many_locks) - 1]);
	}
	KUNIT_EXPECT_EQ(test, state, 0);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, count_tracked_slots(), 0);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->untracked_count,
			before.untracked_count + ARRAY_SIZE(many_locks) - PERF_SPIN_LOCK_DEPTH);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count);
	stop_session_0(test);
}

/* @held: number of other locks that are held */
static void check_interrupted_acquisition(struct kunit *test, int held)
{
	const struct interrupt_context *context = test->param_value;
	long state[2];
	u32 slots_in_use_after;
	int i;

	for (i = 0; i < held; i++)
		push_slot(&lock[i]);
	get_spin_lock_cpu()->state += PERF_SPIN_LOCK_SLOT_SIZE;
	state[0] = get_spin_lock_cpu()->state & PERF_SPIN_LOCK_USED_MASK;
	__preempt_count_add(context->count);
	push_slot(&interrupt_locks[0]);
	push_slot(&interrupt_locks[1]);
	pop_slot(&interrupt_locks[0]);
	pop_slot(&interrupt_locks[1]);
	__preempt_count_sub(context->count);
	state[1] = get_spin_lock_cpu()->state & PERF_SPIN_LOCK_USED_MASK;
	ntklog_track_spin_lock_acquire_slow(&lock[held]);
	slots_in_use_after = count_slots_in_use();
	for (i = 0; i <= held; i++)
		pop_slot(&lock[i]);
	KUNIT_EXPECT_EQ(test, state[0], state[1]);
	KUNIT_EXPECT_EQ(test, slots_in_use_after, held + 1);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->state & PERF_SPIN_LOCK_USED_MASK, 0);
}

static void interrupt_before_slot_filled_state_kept(struct kunit *test)
{
	struct spin_lock_counts before;
	unsigned long flags;
	int held;

	spin_lock_session_start(test);
	before = read_counts();
	for (held = 0; held < LOCK_COUNT; held++) {
		local_irq_save(flags);
		sample_next_uncontended(false);
		check_interrupted_acquisition(test, held);
		local_irq_restore(flags);
	}
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count);
	KUNIT_EXPECT_EQ(test, count_tracked_slots(), 0);
	stop_session_0(test);
}

/* An NMI samples nothing, so the next acquisition is sampled instead. */
static void nmi_acquisition_counted(struct kunit *test)
{
	u32 acquire_count[2];
	unsigned long flags;
	u64 events[2];
	int i;

	spin_lock_session_start(test);
	local_irq_save(flags);
	set_counters(4999, 0);
	events[0] = get_spin_lock_cpu()->event_count;
	for (i = 0; i < 2; i++) {
		__preempt_count_add(HARDIRQ_OFFSET + NMI_OFFSET);
		push_slot(&lock[0]);
		acquire_count[i] = read_counts().acquire_count;
		pop_slot(&lock[0]);
		__preempt_count_sub(HARDIRQ_OFFSET + NMI_OFFSET);
	}
	events[1] = get_spin_lock_cpu()->event_count;
	push_slot(&lock[0]);
	pop_slot(&lock[0]);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, acquire_count[0], 5000);
	KUNIT_EXPECT_EQ(test, acquire_count[1], 5001);
	KUNIT_EXPECT_LE(test, events[1] - events[0], 1ull);
	KUNIT_EXPECT_EQ(test, read_counts().acquire_count, 5002);
	stop_session_0(test);
}

static enum hrtimer_restart acquire_shared_in_interrupt(struct hrtimer *timer)
{
	if (ex_try_acquire_spin_lock_shared_at_dpc_level(&shared_lock))
		ex_release_spin_lock_shared_from_dpc_level(&shared_lock);
	WRITE_ONCE(interrupted, true);
	return HRTIMER_NORESTART;
}

/* A real interrupt acquires a lock shared that the thread holds, while all slots are in use. */
static void hard_interrupt_shares_lock_thread_slot_kept(struct kunit *test)
{
	struct klock_queue_handle handle[7];
	struct ntklog_spin_lock_slot slots[8];
	struct spin_lock_counts before;
	struct hrtimer timer;
	const u8 *event;
	u8 old_irql;
	int i;

	ex_initialize_spin_lock(&shared_lock);
	interrupted = false;
	spin_lock_session_start(test);
	set_spin_lock_parameters(test, 1, 1000, 1, 0);
	before = read_counts();
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = acquire_shared_in_interrupt;
	old_irql = ex_acquire_spin_lock_shared(&shared_lock);
	for (i = 0; i < 7; i++)
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[i], &handle[i]);
	memcpy(slots, &get_spin_lock_cpu()->slots[1], sizeof(slots));
	hrtimer_start(&timer, ns_to_ktime(200000), HRTIMER_MODE_REL_PINNED_HARD);
	while (!READ_ONCE(interrupted))
		cpu_relax();
	KUNIT_EXPECT_MEMEQ(test, &get_spin_lock_cpu()->slots[1], slots, sizeof(slots));
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 8);
	for (i = 6; i >= 0; i--)
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[i]);
	sample_next_uncontended(true);
	ex_release_spin_lock_shared(&shared_lock, old_irql);
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);

	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->unmatched_count, before.unmatched_count);
	KUNIT_EXPECT_EQ(test, get_spin_lock_cpu()->untracked_count, before.untracked_count + 1);
	event = get_spin_lock_event(test, 0);
	KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ADDRESS),
			(u64)(unsigned long)&shared_lock);
	KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_ACQUIRE_TIME),
			ntklog_time_to_cycles(slots[0].time));
	KUNIT_EXPECT_EQ(test, read_u8(event, SPINLOCK_MODE), 2);
	stop_session_0(test);
}

static struct kunit_case spin_lock_tracking_test_cases[] = {
	KUNIT_CASE(nested_locks_8_tracked_ninth_counted),
	KUNIT_CASE(release_out_of_order_other_slots_kept),
	KUNIT_CASE(lock_held_at_enable_not_tracked),
	KUNIT_CASE(tracked_lock_released_after_disable_written),
	KUNIT_CASE(unreleased_slots_freed_at_next_enable),
	KUNIT_CASE(release_without_acquisition_counted_unmatched),
	KUNIT_CASE_PARAM(interrupt_acquires_locks_slots_unchanged, interrupt_context_gen_params),
	KUNIT_CASE(unfilled_slot_release_unmatched),
	KUNIT_CASE(acquisitions_beyond_slots_counted),
	KUNIT_CASE(release_in_order_further_slots_moved_down),
	KUNIT_CASE_PARAM(interrupt_before_slot_filled_state_kept, interrupt_context_gen_params),
	KUNIT_CASE(nmi_acquisition_counted),
	KUNIT_CASE(hard_interrupt_shares_lock_thread_slot_kept),
	{}
};

static struct kunit_suite spin_lock_tracking_test_suite = {
	.name = "ntklog_spin_lock_tracking",
	.init = spin_lock_fixture_init,
	.exit = fixture_exit,
	.test_cases = spin_lock_tracking_test_cases,
};

kunit_test_suite(spin_lock_tracking_test_suite);
