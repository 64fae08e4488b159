// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counting, tracking and sampling of spin locks. What is written is looked at as
 * bytes in the session's buffers. The rules of sampling are tried at their
 * limits: a test sets the processor's counters and the times of the tracked
 * acquisition, then releases.
 */

#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <ntklog/ex_spin_lock.h>
#include <ntklog/queued_spin_lock.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../module/etw/control.h"
#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "../module/perf/spin_lock.h"
#include "../module/trace.h"
#include "fixture.h"

#define LOCKS	9

static struct kspin_lock lock[LOCKS];
/* These are taken in hard interrupts too, so always at SYNCH_LEVEL. */
static struct kspin_lock interrupt_lock[2];

static int perf_test_init(struct kunit *test)
{
	static struct lock_class_key keys[LOCKS];
	int i;

	ke_initialize_spin_lock(&interrupt_lock[0]);
	ke_initialize_spin_lock(&interrupt_lock[1]);
	for (i = 0; i < LOCKS; i++)
		ke_initialize_spin_lock_class(&lock[i], "perf_test_lock", &keys[i]);
	return fixture_init(test);
}

/* The tests stay on TEST_CPU. */
static struct ntklog_spin_lock_cpu *this_cpu(void)
{
	return per_cpu_ptr(&ntklog_spin_lock_cpu, TEST_CPU);
}

static void start(struct kunit *test)
{
	session_start(test, PERF_SPINLOCK, 4096, 64);
}

static u32 slots_in_use(void)
{
	return (this_cpu()->state & PERF_SPIN_LOCK_USED_MASK) / PERF_SPIN_LOCK_SLOT_SIZE;
}

static u32 tracked_slots_in_use(void)
{
	return slots_in_use() - this_cpu()->untracked_slots;
}

/* What is to be compared of a processor's words. */
struct counts {
	u32 acquire_count;
	u32 contention_count;
	u32 spin_count;
	u64 untracked;
	u64 unmatched;
	u64 suppressed;
};

static struct counts counts(void)
{
	return (struct counts){
		.acquire_count = ntklog_spin_lock_acquire_count(TEST_CPU),
		.contention_count = this_cpu()->contention_count,
		.spin_count = this_cpu()->spin_count,
		.untracked = this_cpu()->untracked,
		.unmatched = this_cpu()->unmatched,
		.suppressed = this_cpu()->suppressed,
	};
}

static void set_counts(u32 acquire_count, u32 contention_count)
{
	unsigned long flags;

	local_irq_save(flags);
	this_cpu()->contention_count = contention_count;
	ntklog_set_uncontended_count(this_cpu(), acquire_count - contention_count);
	local_irq_restore(flags);
}

static unsigned int spinlock_events(void)
{
	return session_event_count(PERFINFO_LOG_TYPE_SPINLOCK);
}

static const u8 *spinlock_event(struct kunit *test, unsigned int index)
{
	const u8 *event = session_event(index, PERFINFO_LOG_TYPE_SPINLOCK);

	KUNIT_ASSERT_NOT_NULL(test, event);
	return event;
}

static void set_parameters(struct kunit *test, u32 spin_threshold,
			   u32 acquire_rate, u32 contention_rate, u32 hold)
{
	struct event_trace_spinlock_information information = {
		5, spin_threshold, acquire_rate, contention_rate, hold
	};

	KUNIT_ASSERT_EQ(test, ntklog_set_information(&ntklog_spin_lock_information,
						     &information, sizeof(information)),
			STATUS_SUCCESS);
}

/* The counters are to be looked at, not to be set. */
static bool counting_only;

/* Counters with which an uncontended release is written, or not. */
static void sample_next_uncontended(bool sample)
{
	if (counting_only)
		return;
	set_counts(5000 + !sample, 0);
}

/* What a lock's release does, whenever it lets go. */
static noinline void log_release(const void *lock, u8 acquire_mode, struct ntklog_time time)
{
	if (!ntklog_pop_spin_lock(lock, time.low))
		ntklog_track_spin_lock_release_slow(lock, acquire_mode, time.low, time.high,
						    _RET_IP_);
}

/*
 * Release an acquisition that has spun so often and lasted so long, with the
 * counters as given. Returns whether an event was written.
 */
static bool release_writes(u32 spin_count, u64 hold_time, u32 acquire_count,
			   u32 contention_count)
{
	unsigned int before = spinlock_events();
	struct ntklog_spin_lock_wait_start query = {};
	struct ntklog_time release_time;
	u8 old_irql = ke_raise_irql_to_dpc_level();

	if (spin_count)
		ntklog_log_contended_spin_lock(&lock[0], WMI_SPINLOCK_QUEUED, spin_count,
					       &query);
	else
		ntklog_log_spin_lock_acquire(&lock[0]);
	release_time = this_cpu()->slot[slots_in_use()].time;
	hold_time += ntklog_time_value(release_time);
	release_time = (struct ntklog_time){ .low = hold_time, .high = hold_time >> 32 };
	set_counts(acquire_count, contention_count);
	log_release(&lock[0], WMI_SPINLOCK_QUEUED, release_time);
	ke_lower_irql(old_irql);
	return spinlock_events() != before;
}

/* Rule 1 */

static void hold_time_over_the_threshold_is_written(struct kunit *test)
{
	start(test);
	set_parameters(test, 1, 1000, 1, 2000000);
	/* 5001: neither of the other rules */
	KUNIT_EXPECT_FALSE(test, release_writes(0, 1999999, 5001, 0));
	KUNIT_EXPECT_FALSE(test, release_writes(0, 2000000, 5001, 0));
	KUNIT_EXPECT_TRUE(test, release_writes(0, 2000001, 5001, 0));
	session_stop(test);
}

static void hold_threshold_0_writes_nothing(struct kunit *test)
{
	start(test);
	set_parameters(test, 1, 1000, 1, 0);
	KUNIT_EXPECT_FALSE(test, release_writes(0, 1, 5001, 0));
	KUNIT_EXPECT_FALSE(test, release_writes(0, U32_MAX, 5001, 0));
	session_stop(test);
}

static void hold_time_wraps_at_32_bits(struct kunit *test)
{
	u64 wrap = 1ULL << 32;

	start(test);
	KUNIT_EXPECT_FALSE(test, release_writes(0, wrap, 5001, 0));
	KUNIT_EXPECT_FALSE(test, release_writes(0, wrap + 1000000, 5001, 0));
	KUNIT_EXPECT_TRUE(test, release_writes(0, wrap + 1000001, 5001, 0));
	KUNIT_EXPECT_TRUE(test, release_writes(0, wrap - 1, 5001, 0));
	session_stop(test);
}

/* Rule 2 */

static void spin_count_from_the_threshold_on_is_written(struct kunit *test)
{
	start(test);
	set_parameters(test, 10, 1000, 1, 0);
	KUNIT_EXPECT_FALSE(test, release_writes(9, 0, 5000, 100));
	KUNIT_EXPECT_TRUE(test, release_writes(10, 0, 5000, 100));
	KUNIT_EXPECT_TRUE(test, release_writes(11, 0, 5000, 100));
	session_stop(test);
}

static void contended_is_sampled_by_the_contention_count(struct kunit *test)
{
	start(test);
	set_parameters(test, 1, 1000, 7, 0);
	KUNIT_EXPECT_FALSE(test, release_writes(1, 0, 5000, 13));
	KUNIT_EXPECT_TRUE(test, release_writes(1, 0, 5000, 14));
	KUNIT_EXPECT_FALSE(test, release_writes(1, 0, 5000, 15));
	session_stop(test);
}

/* Rule 3 */

static void uncontended_is_sampled_by_the_uncontended_count(struct kunit *test)
{
	start(test);
	set_parameters(test, 1, 1500, 1, 0);
	KUNIT_EXPECT_FALSE(test, release_writes(0, 0, 100 + 1499, 100));
	KUNIT_EXPECT_TRUE(test, release_writes(0, 0, 100 + 1500, 100));
	KUNIT_EXPECT_FALSE(test, release_writes(0, 0, 100 + 1501, 100));
	/* Not by the count of all acquisitions. */
	KUNIT_EXPECT_FALSE(test, release_writes(0, 0, 1500, 100));
	session_stop(test);
}

/* All three */

static void rules_are_alternatives_each_on_its_own_counter(struct kunit *test)
{
	start(test);
	set_parameters(test, 5, 1000, 10, 1000000);

	/* Contended, but not enough for rule 2: rule 3 is not for it. */
	KUNIT_EXPECT_FALSE(test, release_writes(4, 0, 1010, 10));
	/* Uncontended: rule 2 is not for it. */
	KUNIT_EXPECT_FALSE(test, release_writes(0, 0, 1011, 10));
	/* Contended where only rule 3 would hold. */
	KUNIT_EXPECT_FALSE(test, release_writes(5, 0, 1011, 11));
	/* Rule 1 alone, whatever the contention. */
	KUNIT_EXPECT_TRUE(test, release_writes(0, 1000001, 1011, 10));
	KUNIT_EXPECT_TRUE(test, release_writes(4, 1000001, 1011, 11));
	KUNIT_EXPECT_TRUE(test, release_writes(5, 1000001, 1011, 11));
	session_stop(test);
}

static void two_rules_write_one_event(struct kunit *test)
{
	unsigned int before;

	start(test);
	before = spinlock_events();
	KUNIT_EXPECT_TRUE(test, release_writes(1, 1000001, 1000, 10));
	KUNIT_EXPECT_TRUE(test, release_writes(0, 1000001, 1000, 0));
	KUNIT_EXPECT_EQ(test, spinlock_events(), before + 2);
	session_stop(test);
}

/* A plain model of all that is above, next to the real thing. */

#define MODEL_STEPS	((IS_ENABLED(CONFIG_KASAN) || IS_ENABLED(CONFIG_KCSAN)) ? 100000 : 1000000)

struct model {
	struct rnd_state random;
	struct event_trace_spinlock_information parameters;
	u32 acquire_count;
	u32 contention_count;
	/* What is owned, in the order of acquisition. */
	struct {
		struct kspin_lock *lock;
		u64 acquire_time;
		u32 spin_count;
		bool tracked;
	} owned[LOCKS + 3];
	unsigned int count;
	unsigned int written;
};

static u32 model_random(struct model *model, u32 below)
{
	return prandom_u32_state(&model->random) % below;
}

static void model_change(struct kunit *test, struct model *model)
{
	model->parameters = (struct event_trace_spinlock_information){
		.spin_lock_spin_threshold = 1 + model_random(model, 4),
		.spin_lock_acquire_sample_rate = 1000 + model_random(model, 300),
		.spin_lock_contention_sample_rate = 1 + model_random(model, 9),
		.spin_lock_hold_threshold =
			model_random(model, 3) ? 1000000 + model_random(model, 1000) : 0,
	};
	set_parameters(test, model->parameters.spin_lock_spin_threshold,
		       model->parameters.spin_lock_acquire_sample_rate,
		       model->parameters.spin_lock_contention_sample_rate,
		       model->parameters.spin_lock_hold_threshold);
	/* Now and then to where the counters wrap. */
	if (!model_random(model, 4)) {
		model->contention_count = 0U - model_random(model, 2000);
		model->acquire_count = model->contention_count - model_random(model, 2000);
		set_counts(model->acquire_count, model->contention_count);
	}
}

static void model_acquire(struct model *model)
{
	/* Some are waited for; the last three own what others share. */
	u32 spin_count = model_random(model, 3) ? 0 : 1 + model_random(model, 5);
	struct kspin_lock *spin_lock = &lock[model->count % LOCKS];
	struct ntklog_spin_lock_wait_start query = {};
	unsigned int i, tracked = 0;

	for (i = 0; i < model->count; i++)
		tracked += model->owned[i].tracked;
	if (spin_count)
		ntklog_log_contended_spin_lock(spin_lock, WMI_SPINLOCK_QUEUED, spin_count, &query);
	else
		ntklog_log_spin_lock_acquire(spin_lock);
	model->acquire_count++;
	model->contention_count += !!spin_count;
	model->owned[model->count].lock = spin_lock;
	model->owned[model->count].acquire_time =
		ntklog_time_value(this_cpu()->slot[slots_in_use()].time);
	model->owned[model->count].spin_count = spin_count;
	model->owned[model->count].tracked = tracked < PERF_SPIN_LOCK_DEPTH;
	model->count++;
}

/* Whether the release wrote what it should. */
static bool model_release(struct model *model)
{
	const struct event_trace_spinlock_information *parameters = &model->parameters;
	u32 hold_time = model_random(model, 50) ? model_random(model, 5000) :
			1000000 + model_random(model, 1000);
	/* Mostly the last, else another. */
	unsigned int which = model->count - 1 -
			     (model_random(model, 4) ? 0 : model_random(model, model->count));
	u64 release_time, before = this_cpu()->events;
	unsigned int i;
	bool expected;

	/* Of a lock that is owned twice the last acquisition goes first. */
	for (i = which + 1; i < model->count; i++)
		if (model->owned[i].lock == model->owned[which].lock)
			which = i;
	release_time = model->owned[which].acquire_time + hold_time;
	if (parameters->spin_lock_hold_threshold &&
	    hold_time > parameters->spin_lock_hold_threshold)
		expected = true;
	else if (model->owned[which].spin_count)
		expected = model->owned[which].spin_count >=
			   parameters->spin_lock_spin_threshold &&
			   model->contention_count %
			   parameters->spin_lock_contention_sample_rate == 0;
	else
		expected = (model->acquire_count - model->contention_count) %
			   parameters->spin_lock_acquire_sample_rate == 0;
	expected &= model->owned[which].tracked;
	model->written += expected;
	log_release(model->owned[which].lock, WMI_SPINLOCK_QUEUED,
		    (struct ntklog_time){ .low = release_time, .high = release_time >> 32 });
	model->count--;
	memmove(&model->owned[which], &model->owned[which + 1],
		(model->count - which) * sizeof(model->owned[0]));
	return this_cpu()->events - before == expected;
}

static void what_is_sampled_is_what_nts_rules_say(struct kunit *test)
{
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	unsigned int step, wrong = 0;
	u64 seed = get_cycles();

	KUNIT_ASSERT_NOT_NULL(test, model);
	kunit_info(test, "seed %llu\n", seed);
	prandom_seed_state(&model->random, seed);
	start(test);
	set_counts(0, 0);
	for (step = 0; step < MODEL_STEPS && !wrong; step++) {
		u8 old_irql;

		if (step % 2048 == 0)
			model_change(test, model);
		old_irql = ke_raise_irql_to_dpc_level();
		if (!model->count ||
		    (model->count < ARRAY_SIZE(model->owned) && model_random(model, 2)))
			model_acquire(model);
		else
			wrong += !model_release(model);
		wrong += counts().acquire_count != model->acquire_count;
		ke_lower_irql(old_irql);
		cond_resched();
	}
	KUNIT_EXPECT_EQ_MSG(test, wrong, 0, "step %u of seed %llu", step, seed);
	while (model->count)
		model_release(model);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, tracked_slots_in_use(), 0);
	KUNIT_EXPECT_GT(test, model->written, MODEL_STEPS / 100);
	session_stop(test);
}

/* Counters */

static void an_uncontended_acquisition_counts_one(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct counts before;

	start(test);
	before = counts();
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, counts().acquire_count, before.acquire_count + 1);
	KUNIT_EXPECT_EQ(test, this_cpu()->contention_count, before.contention_count);
	KUNIT_EXPECT_EQ(test, this_cpu()->spin_count, before.spin_count);
	session_stop(test);
}

static int hold_until_somebody_waits(void *data)
{
	struct klock_queue_handle handle;

	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	WRITE_ONCE(*(bool *)data, true);
	while (READ_ONCE(lock[0].word) == (unsigned long)&handle.lock_queue)
		cpu_relax();
	mdelay(1);
	ke_release_in_stack_queued_spin_lock(&handle);
	return 0;
}

static void a_contended_acquisition_counts_and_is_written(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct counts before;
	struct test_thread holder;
	bool held = false;
	const u8 *event;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 processors");
	start(test);
	before = counts();
	test_thread_start(test, &holder, 1, hold_until_somebody_waits, &held);
	while (!READ_ONCE(held))
		cpu_relax();
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	test_thread_join(&holder);

	KUNIT_EXPECT_EQ(test, counts().acquire_count, before.acquire_count + 1);
	KUNIT_EXPECT_EQ(test, this_cpu()->contention_count,
			before.contention_count + 1);
	KUNIT_EXPECT_GT(test, this_cpu()->spin_count, before.spin_count);
	event = spinlock_event(test, 0);
	KUNIT_EXPECT_EQ(test, get_u64(event, SPINLOCK_ADDRESS),
			(u64)(unsigned long)&lock[0]);
	KUNIT_EXPECT_EQ(test, get_u32(event, SPINLOCK_SPIN_COUNT),
			this_cpu()->spin_count - before.spin_count);
	KUNIT_EXPECT_GT(test, get_u32(event, SPINLOCK_WAIT_TIME), 0);
	session_stop(test);
}

static void counters_wrap_at_32_bits(struct kunit *test)
{
	struct klock_queue_handle handle;

	start(test);
	set_counts(U32_MAX, 0);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, counts().acquire_count, 0);

	/* The difference is right when only one of them has wrapped. */
	KUNIT_EXPECT_FALSE(test, release_writes(0, 0, 4, U32_MAX - 994));
	KUNIT_EXPECT_TRUE(test, release_writes(0, 0, 5, U32_MAX - 994));
	/* A contention count of 0 after the wrap is a multiple of any rate. */
	KUNIT_EXPECT_TRUE(test, release_writes(1, 0, 5, 0));
	session_stop(test);
}

static void only_counters_wanted_tracks_nothing(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct counts before;

	session_start(test, PERF_SPINLOCK_CNTRS, 4096, 8);
	before = counts();
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	set_counts(1000, 0);
	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, counts().acquire_count, 1000);
	KUNIT_EXPECT_EQ(test, this_cpu()->unmatched, before.unmatched);
	KUNIT_EXPECT_EQ(test, spinlock_events(), 0);
	session_stop(test);
}

static void nothing_wanted_counts_nothing(struct kunit *test)
{
	struct klock_queue_handle handle;
	u32 before = counts().acquire_count;

	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, counts().acquire_count, before);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_spin_lock_key));
}

/* Tracking */

static void nested_to_depth(struct kunit *test, int depth)
{
	struct klock_queue_handle handle[LOCKS];
	struct counts before = counts();
	unsigned int first = spinlock_events();
	int tracked = min(depth, 8);
	int i;

	for (i = 0; i < depth; i++)
		ke_acquire_in_stack_queued_spin_lock(&lock[i], &handle[i]);
	KUNIT_EXPECT_EQ(test, tracked_slots_in_use(), tracked);
	KUNIT_EXPECT_EQ(test, this_cpu()->untracked,
			before.untracked + depth - tracked);
	sample_next_uncontended(true);
	for (i = depth - 1; i >= 0; i--)
		ke_release_in_stack_queued_spin_lock(&handle[i]);

	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, this_cpu()->unmatched, before.unmatched);
	KUNIT_EXPECT_EQ(test, spinlock_events(), first + tracked);
	for (i = 0; i < tracked; i++) {
		const u8 *event = spinlock_event(test, first + i);

		KUNIT_EXPECT_EQ(test, get_u64(event, SPINLOCK_ADDRESS),
				(u64)(unsigned long)&lock[tracked - 1 - i]);
		KUNIT_EXPECT_EQ(test, get_u8(event, SPINLOCK_DEPTH), tracked - i);
		KUNIT_EXPECT_EQ(test, get_u8(event, SPINLOCK_IRQL), DISPATCH_LEVEL);
	}
}

static void depth_1_to_8_is_tracked_and_9_is_counted(struct kunit *test)
{
	int depth;

	start(test);
	for (depth = 1; depth <= LOCKS; depth++)
		nested_to_depth(test, depth);
	session_stop(test);
}

static void release_out_of_order_keeps_the_rest(struct kunit *test)
{
	static const int order[] = { 1, 0, 2 };
	struct klock_queue_handle handle[3];
	struct ntklog_spin_lock_slot entries[3];
	int i;

	start(test);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle[0]);
	for (i = 1; i < 3; i++)
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[i], &handle[i]);
	memcpy(entries, &this_cpu()->slot[1], sizeof(entries));
	sample_next_uncontended(true);

	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[1]);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 2);
	KUNIT_EXPECT_MEMEQ(test, &this_cpu()->slot[1], &entries[0], sizeof(entries[0]));
	KUNIT_EXPECT_MEMEQ(test, &this_cpu()->slot[2], &entries[2], sizeof(entries[0]));
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[0]);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 1);
	KUNIT_EXPECT_MEMEQ(test, &this_cpu()->slot[1], &entries[2], sizeof(entries[0]));
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[2]);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	ke_lower_irql(handle[0].old_irql);

	KUNIT_EXPECT_EQ(test, spinlock_events(), 3);
	for (i = 0; i < 3; i++) {
		const u8 *event = spinlock_event(test, i);

		KUNIT_EXPECT_EQ(test, get_u64(event, SPINLOCK_ADDRESS),
				(u64)(unsigned long)&lock[order[i]]);
		KUNIT_EXPECT_EQ(test, get_u64(event, SPINLOCK_ACQUIRE_TIME),
				ntklog_time_value(entries[order[i]].time));
		KUNIT_EXPECT_EQ(test, get_u8(event, SPINLOCK_DEPTH), 3 - i);
	}
	session_stop(test);
}

/* On and off */

static bool hooks_are_on(void)
{
	return static_key_enabled(&ntklog_spin_lock_key) &&
		static_key_enabled(&ntklog_spin_lock_tracking_key);
}

/* From then on the thread of another processor does what it is for. */
static bool may_go;

static int start_session_in_a_thread(void *data)
{
	while (!READ_ONCE(may_go))
		cpu_relax();
	start(data);
	return 0;
}

static int stop_session_in_a_thread(void *data)
{
	while (!READ_ONCE(may_go))
		cpu_relax();
	session_stop(data);
	return 0;
}

/* Whether an acquisition is tracked now. */
static bool is_tracked(struct kspin_lock *spin_lock)
{
	struct klock_queue_handle handle;
	u32 before = tracked_slots_in_use();
	bool tracked;

	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(spin_lock, &handle);
	tracked = tracked_slots_in_use() != before;
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle);
	return tracked;
}

static void what_is_owned_when_tracking_goes_on_is_not_tracked(struct kunit *test)
{
	struct klock_queue_handle handle[2];
	struct counts before;
	struct test_thread thread;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 processors");
	before = counts();
	may_go = false;
	test_thread_start(test, &thread, 1, start_session_in_a_thread, test);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle[0]);
	WRITE_ONCE(may_go, true);
	while (!hooks_are_on())
		cpu_relax();
	/* As long as there is one from before, there is no telling which is which. */
	KUNIT_EXPECT_FALSE(test, is_tracked(&lock[1]));
	mdelay(50);
	KUNIT_EXPECT_FALSE(test, is_tracked(&lock[1]));
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[2], &handle[1]);
	KUNIT_EXPECT_EQ(test, tracked_slots_in_use(), 0);
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[1]);
	ke_release_in_stack_queued_spin_lock(&handle[0]);
	test_thread_join(&thread);

	KUNIT_EXPECT_EQ(test, this_cpu()->untracked, before.untracked);
	KUNIT_EXPECT_EQ(test, this_cpu()->unmatched, before.unmatched);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, spinlock_events(), 0);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle[0]);
	KUNIT_EXPECT_TRUE(test, is_tracked(&lock[1]));
	ke_release_in_stack_queued_spin_lock(&handle[0]);
	session_stop(test);
}

static void what_is_tracked_when_tracking_goes_off_is_written(struct kunit *test)
{
	struct klock_queue_handle handle[2];
	struct counts before;
	struct test_thread thread;
	unsigned long end;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 processors");
	start(test);
	/* On a busy host any hold may be a long one. */
	set_parameters(test, 1, 1000, 1, 0);
	before = counts();
	may_go = false;
	test_thread_start(test, &thread, 1, stop_session_in_a_thread, test);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle[0]);
	WRITE_ONCE(may_go, true);
	/* Nothing more from now on, but what is, stays until its release. */
	end = jiffies + 10 * HZ;
	while (is_tracked(&lock[1]) && time_before(jiffies, end))
		sample_next_uncontended(false);
	KUNIT_EXPECT_FALSE(test, is_tracked(&lock[1]));
	KUNIT_EXPECT_EQ(test, tracked_slots_in_use(), 1);
	KUNIT_EXPECT_TRUE(test, hooks_are_on());
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[2], &handle[1]);
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[0]);
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[1]);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	ke_lower_irql(handle[0].old_irql);
	test_thread_join(&thread);

	KUNIT_EXPECT_FALSE(test, hooks_are_on());
	KUNIT_EXPECT_EQ(test, this_cpu()->untracked, before.untracked);
	KUNIT_EXPECT_EQ(test, this_cpu()->unmatched, before.unmatched);
	KUNIT_ASSERT_EQ(test, spinlock_events(), 1);
	KUNIT_EXPECT_EQ(test, get_u64(spinlock_event(test, 0), SPINLOCK_ADDRESS),
			(u64)(unsigned long)&lock[0]);
}

static void what_is_never_released_is_forgotten_by_the_next_tracking(struct kunit *test)
{
	u8 old_irql;
	int i;

	start(test);
	old_irql = ke_raise_irql_to_dpc_level();
	for (i = 0; i < LOCKS; i++)
		ntklog_log_spin_lock_acquire(&lock[i]);
	ke_lower_irql(old_irql);
	KUNIT_EXPECT_EQ(test, slots_in_use(), LOCKS);
	KUNIT_EXPECT_EQ(test, tracked_slots_in_use(), PERF_SPIN_LOCK_DEPTH);
	session_stop(test);
	start(test);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, tracked_slots_in_use(), 0);
	session_stop(test);
}

static void a_release_of_what_was_not_acquired_is_counted(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct counts before;

	start(test);
	before = counts();
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	log_release(&lock[1], WMI_SPINLOCK_QUEUED, ntklog_read_time());
	KUNIT_EXPECT_EQ(test, this_cpu()->unmatched, before.unmatched + 1);
	ke_release_in_stack_queued_spin_lock(&handle);
	KUNIT_EXPECT_EQ(test, this_cpu()->unmatched, before.unmatched + 1);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	session_stop(test);
}

/* The record */

static noinline unsigned long acquire_and_release(struct kspin_lock *spin_lock,
						  struct klock_queue_handle *handle)
{
	ke_acquire_in_stack_queued_spin_lock(spin_lock, handle);
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock(handle);
	return (unsigned long)acquire_and_release;
}

static void every_byte_of_an_event_is_nts(struct kunit *test)
{
	u8 zeros[5] = {};
	struct klock_queue_handle handle;
	u64 before, after, caller;
	unsigned long function;
	const u8 *event;

	start(test);
	before = get_cycles();
	function = acquire_and_release(&lock[3], &handle);
	after = get_cycles();
	event = spinlock_event(test, 0);

	KUNIT_EXPECT_EQ(test, get_u32(event, EVENT_MARKER), 0xC0110002u);
	KUNIT_EXPECT_EQ(test, get_u16(event, EVENT_SIZE), 0x48);
	KUNIT_EXPECT_EQ(test, get_u16(event, EVENT_HOOK_ID), 0x0529);
	KUNIT_EXPECT_EQ(test, get_u64(event, SPINLOCK_ADDRESS),
			(u64)(unsigned long)&lock[3]);
	caller = get_u64(event, SPINLOCK_CALLER);
	KUNIT_EXPECT_GT(test, caller, (u64)function);
	KUNIT_EXPECT_LT(test, caller, (u64)function + 0x400);
	KUNIT_EXPECT_GT(test, get_u64(event, SPINLOCK_ACQUIRE_TIME), before);
	KUNIT_EXPECT_GE(test, get_u64(event, SPINLOCK_RELEASE_TIME),
			get_u64(event, SPINLOCK_ACQUIRE_TIME));
	KUNIT_EXPECT_GE(test, get_u64(event, EVENT_TIME),
			get_u64(event, SPINLOCK_RELEASE_TIME));
	KUNIT_EXPECT_LT(test, get_u64(event, EVENT_TIME), after);
	KUNIT_EXPECT_LE(test, (u64)get_u32(event, SPINLOCK_WAIT_TIME),
			get_u64(event, SPINLOCK_ACQUIRE_TIME) - before);
	KUNIT_EXPECT_EQ(test, get_u32(event, SPINLOCK_SPIN_COUNT), 0);
	KUNIT_EXPECT_EQ(test, get_u32(event, SPINLOCK_THREAD_ID), task_pid_nr(current));
	KUNIT_EXPECT_EQ(test, get_u8(event, SPINLOCK_IRQL), DISPATCH_LEVEL);
	KUNIT_EXPECT_EQ(test, get_u8(event, SPINLOCK_DEPTH), 1);
	KUNIT_EXPECT_EQ(test, get_u8(event, SPINLOCK_MODE), 1);
	KUNIT_EXPECT_MEMEQ(test, event + SPINLOCK_RESERVED, zeros, 5);
	session_stop(test);
}

static void interrupts_while_owned_are_counted(struct kunit *test)
{
	struct klock_queue_handle handle;
	const u8 *event;

	start(test);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	/* Ten ticks of the timer at the least, whatever HZ is. */
	mdelay(10 * jiffies_to_msecs(1) + 50);
	ke_release_in_stack_queued_spin_lock(&handle);
	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&lock[0], &handle);
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock(&handle);

	event = spinlock_event(test, 0);
	KUNIT_EXPECT_GE(test, get_u32(event, SPINLOCK_INTERRUPTS), 10);
	/* None can come with interrupts off. */
	event = spinlock_event(test, 1);
	KUNIT_EXPECT_EQ(test, get_u8(event, SPINLOCK_IRQL), SYNCH_LEVEL);
	KUNIT_EXPECT_EQ(test, get_u32(event, SPINLOCK_INTERRUPTS), 0);
	session_stop(test);
}

/* Of NT's locks the kernel's counters tell: that Linux' are tracked too changes nothing. */
static void interrupts_that_are_heard_of_are_no_matter(struct kunit *test)
{
	struct klock_queue_handle handle;
	const u8 *event;
	int i;

	start(test);
	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&lock[0], &handle);
	for (i = 0; i < 3; i++)
		ntklog_count_interrupt_in_slots();
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock(&handle);
	event = spinlock_event(test, 0);
	KUNIT_EXPECT_EQ(test, get_u32(event, SPINLOCK_INTERRUPTS), 0);
	KUNIT_EXPECT_EQ(test, get_u32(event, SPINLOCK_WAIT_TIME), 0);
	KUNIT_EXPECT_EQ(test, get_u32(event, SPINLOCK_SPIN_COUNT), 0);
	KUNIT_EXPECT_EQ(test, get_u8(event, SPINLOCK_DEPTH), 1);
	KUNIT_EXPECT_EQ(test, get_u8(event, SPINLOCK_MODE) & 0x3f, WMI_SPINLOCK_QUEUED);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	session_stop(test);
}

static void use_lock_in_interrupt(void *data)
{
	struct klock_queue_handle handle;

	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(data, &handle);
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock(&handle);
}

static void context_of_the_release_is_told(struct kunit *test)
{
	start(test);
	test_run_in_softirq(use_lock_in_interrupt, &interrupt_lock[0]);
	test_run_in_hardirq(use_lock_in_interrupt, &interrupt_lock[0]);
	use_lock_in_interrupt(&interrupt_lock[0]);
	KUNIT_EXPECT_EQ(test, get_u8(spinlock_event(test, 0), SPINLOCK_MODE), 0x41);
	/* The interrupt may have come in a softirq, which is still one then. */
	KUNIT_EXPECT_EQ(test, get_u8(spinlock_event(test, 1), SPINLOCK_MODE) & ~0x40, 0x81);
	KUNIT_EXPECT_EQ(test, get_u8(spinlock_event(test, 2), SPINLOCK_MODE), 0x01);
	session_stop(test);
}

static unsigned int interrupts;

static enum hrtimer_restart interrupt_with_locks(struct hrtimer *timer)
{
	struct klock_queue_handle handle[2];

	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&interrupt_lock[0], &handle[0]);
	ke_acquire_in_stack_queued_spin_lock_raise_to_synch(&interrupt_lock[1], &handle[1]);
	ke_release_in_stack_queued_spin_lock(&handle[1]);
	ke_release_in_stack_queued_spin_lock(&handle[0]);
	WRITE_ONCE(interrupts, interrupts + 1);
	hrtimer_forward_now(timer, ns_to_ktime(20 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

/* Some 10,000 interrupts hit the tracking's own instructions too. */
static void interrupts_between_any_two_instructions_lose_nothing(struct kunit *test)
{
	unsigned long end = jiffies + msecs_to_jiffies(300);
	struct klock_queue_handle handle[3];
	struct counts before;
	struct hrtimer timer;
	u32 rounds = 0;

	interrupts = 0;
	start(test);
	before = counts();
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = interrupt_with_locks;
	hrtimer_start(&timer, ns_to_ktime(0), HRTIMER_MODE_REL_PINNED_HARD);
	/* A busy host may leave us little of the time, or the timer. */
	while (time_before(jiffies, end) || rounds < 100 || READ_ONCE(interrupts) < 100) {
		ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle[0]);
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[1], &handle[1]);
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[2], &handle[2]);
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[0]);
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[2]);
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[1]);
		ke_lower_irql(handle[0].old_irql);
		rounds++;
	}
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, this_cpu()->unmatched, before.unmatched);
	KUNIT_EXPECT_EQ(test, this_cpu()->untracked, before.untracked);
	KUNIT_EXPECT_GT(test, counts().acquire_count - before.acquire_count, 3 * rounds);
	KUNIT_EXPECT_EQ(test, (counts().acquire_count - before.acquire_count -
			       3 * rounds) % 2, 0);
	session_stop(test);
}

/* Whose entries */

static struct ex_spin_lock shared_lock;
static bool interrupted;

/* What preempt_count() has more in an interrupt of each kind. */
static const struct {
	const char *name;
	int count;
} contexts[] = {
	{ "softirq", SOFTIRQ_OFFSET },
	{ "hard interrupt", HARDIRQ_OFFSET },
	{ "hard interrupt in a softirq", SOFTIRQ_OFFSET + HARDIRQ_OFFSET },
	{ "NMI", HARDIRQ_OFFSET + NMI_OFFSET },
};

static void acquire_entry(const void *spin_lock)
{
	ntklog_log_spin_lock_acquire(spin_lock);
}

static void release_entry(const void *spin_lock)
{
	log_release(spin_lock, WMI_SPINLOCK_EXECUTIVE_SHARED, ntklog_read_time());
}

/*
 * Each context in turn interrupts a thread with seven entries, of the locks 0 to 6. It
 * acquires one of its own, which is the eighth, and then some of the thread's, which find
 * no room.
 */
static void an_interrupt_leaves_the_entries_of_who_it_interrupts(struct kunit *test)
{
	struct ntklog_spin_lock_slot entries[7];
	struct counts before;
	unsigned long flags;
	u64 untracked = 0;
	size_t c;
	int i;

	start(test);
	before = counts();
	for (c = 0; c < ARRAY_SIZE(contexts); c++) {
		/* Of what it acquires beyond eight nothing is tracked. */
		bool is_nmi = contexts[c].count & NMI_MASK;
		const char *name = contexts[c].name;
		bool same, room;
		u32 in_use[2];

		local_irq_save(flags);
		sample_next_uncontended(false);
		for (i = 0; i < 7; i++)
			acquire_entry(&lock[i]);
		memcpy(entries, &this_cpu()->slot[1], sizeof(entries));
		__preempt_count_add(contexts[c].count);
		acquire_entry(&lock[7]);
		acquire_entry(&lock[0]);
		acquire_entry(&lock[6]);
		/* With room again, while two are still owed. */
		release_entry(&lock[7]);
		release_entry(&lock[6]);
		acquire_entry(&lock[8]);
		room = tracked_slots_in_use() == 8;
		ntklog_log_spin_lock_convert(&lock[0], WMI_SPINLOCK_EXECUTIVE_CONVERTED);
		release_entry(&lock[0]);
		in_use[0] = slots_in_use();
		release_entry(&lock[8]);
		in_use[1] = slots_in_use();
		__preempt_count_sub(contexts[c].count);
		same = !memcmp(entries, &this_cpu()->slot[1], sizeof(entries));
		for (i = 6; i >= 0; i--)
			release_entry(&lock[i]);
		local_irq_restore(flags);

		KUNIT_EXPECT_EQ_MSG(test, room, !is_nmi, "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, in_use[0], 8, "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, in_use[1], 7, "%s", name);
		KUNIT_EXPECT_TRUE_MSG(test, same, "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, slots_in_use(), 0, "%s", name);
		KUNIT_EXPECT_EQ_MSG(test, this_cpu()->unmatched, before.unmatched, "%s", name);
		untracked += is_nmi ? 3 : 2;
		KUNIT_EXPECT_EQ_MSG(test, this_cpu()->untracked, before.untracked + untracked,
				    "%s", name);
	}
	session_stop(test);
}

/*
 * An interrupt comes when the thread has taken its slot and not yet filled it; what it
 * releases has none, for it acquired it before there were hooks.
 */
static void a_slot_that_is_only_taken_is_nobodys(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct counts before;
	unsigned long flags;
	u32 in_use[2];

	start(test);
	/* What was in the slot before is this lock. */
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	before = counts();
	local_irq_save(flags);
	this_cpu()->state += PERF_SPIN_LOCK_SLOT_SIZE;
	in_use[0] = slots_in_use();
	release_entry(&lock[0]);
	in_use[1] = slots_in_use();
	this_cpu()->state -= PERF_SPIN_LOCK_SLOT_SIZE;
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, in_use[0], 1);
	KUNIT_EXPECT_EQ(test, in_use[1], 1);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, this_cpu()->unmatched, before.unmatched + 1);
	session_stop(test);
}

static void more_than_there_are_slots_are_counted(struct kunit *test)
{
	static int many[PERF_SPIN_LOCK_SLOTS + 3];
	struct counts before;
	unsigned long flags;
	u32 without_slot;
	int i;

	start(test);
	before = counts();
	local_irq_save(flags);
	sample_next_uncontended(false);
	before.acquire_count = counts().acquire_count;
	for (i = 0; i < ARRAY_SIZE(many); i++)
		acquire_entry(&many[i]);
	without_slot = this_cpu()->without_slot;
	for (i = ARRAY_SIZE(many) - 1; i >= 0; i--)
		release_entry(&many[i]);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, without_slot, 3);
	KUNIT_EXPECT_EQ(test, this_cpu()->without_slot, 0);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, tracked_slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, this_cpu()->unmatched, before.unmatched);
	KUNIT_EXPECT_EQ(test, counts().acquire_count,
			before.acquire_count + (u32)ARRAY_SIZE(many));
	session_stop(test);
}

/* Also at a count that somebody has to look at, which an NMI leaves to the next. */
static void an_nmi_counts(struct kunit *test)
{
	u32 acquire_count[2];
	unsigned long flags;
	u64 events[2];
	int i;

	start(test);
	local_irq_save(flags);
	set_counts(4999, 0);
	events[0] = this_cpu()->events;
	for (i = 0; i < 2; i++) {
		__preempt_count_add(HARDIRQ_OFFSET + NMI_OFFSET);
		acquire_entry(&lock[0]);
		acquire_count[i] = counts().acquire_count;
		release_entry(&lock[0]);
		__preempt_count_sub(HARDIRQ_OFFSET + NMI_OFFSET);
	}
	events[1] = this_cpu()->events;
	acquire_entry(&lock[0]);
	release_entry(&lock[0]);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, acquire_count[0], 5000);
	KUNIT_EXPECT_EQ(test, acquire_count[1], 5001);
	KUNIT_EXPECT_LE(test, events[1] - events[0], 1ull);
	KUNIT_EXPECT_EQ(test, counts().acquire_count, 5002);
	session_stop(test);
}

static enum hrtimer_restart share_the_first(struct hrtimer *timer)
{
	if (ex_try_acquire_spin_lock_shared_at_dpc_level(&shared_lock))
		ex_release_spin_lock_shared_from_dpc_level(&shared_lock);
	WRITE_ONCE(interrupted, true);
	return HRTIMER_NORESTART;
}

/* The same with a real interrupt, a real lock and no room at all. */
static void a_shared_lock_of_an_interrupt_is_not_the_threads(struct kunit *test)
{
	struct klock_queue_handle handle[7];
	struct ntklog_spin_lock_slot entries[8];
	struct counts before;
	struct hrtimer timer;
	const u8 *event;
	u8 old_irql;
	int i;

	ex_initialize_spin_lock(&shared_lock);
	interrupted = false;
	start(test);
	set_parameters(test, 1, 1000, 1, 0);
	before = counts();
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = share_the_first;
	old_irql = ex_acquire_spin_lock_shared(&shared_lock);
	for (i = 0; i < 7; i++)
		ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[i], &handle[i]);
	memcpy(entries, &this_cpu()->slot[1], sizeof(entries));
	hrtimer_start(&timer, ns_to_ktime(200000), HRTIMER_MODE_REL_PINNED_HARD);
	while (!READ_ONCE(interrupted))
		cpu_relax();
	KUNIT_EXPECT_MEMEQ(test, &this_cpu()->slot[1], entries, sizeof(entries));
	KUNIT_EXPECT_EQ(test, slots_in_use(), 8);
	for (i = 6; i >= 0; i--)
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle[i]);
	sample_next_uncontended(true);
	ex_release_spin_lock_shared(&shared_lock, old_irql);
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);

	KUNIT_EXPECT_EQ(test, this_cpu()->unmatched, before.unmatched);
	KUNIT_EXPECT_EQ(test, this_cpu()->untracked, before.untracked + 1);
	event = spinlock_event(test, 0);
	KUNIT_EXPECT_EQ(test, get_u64(event, SPINLOCK_ADDRESS),
			(u64)(unsigned long)&shared_lock);
	KUNIT_EXPECT_EQ(test, get_u64(event, SPINLOCK_ACQUIRE_TIME),
			ntklog_time_value(entries[0].time));
	KUNIT_EXPECT_EQ(test, get_u8(event, SPINLOCK_MODE), 2);
	session_stop(test);
}

/* The tracepoint */

static unsigned int probe_calls;
static struct wmi_spinlock64 probe_record;

static void probe(void *unused, const struct wmi_spinlock64 *record)
{
	struct klock_queue_handle handle;

	/* A writer that uses a lock itself. */
	ke_acquire_in_stack_queued_spin_lock_at_dpc_level(&lock[8], &handle);
	sample_next_uncontended(true);
	ke_release_in_stack_queued_spin_lock_from_dpc_level(&handle);
	probe_record = *record;
	probe_calls++;
}

static void a_lock_used_by_the_writer_writes_nothing(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct counts before;

	start(test);
	KUNIT_ASSERT_EQ(test, register_trace_spinlock(probe, NULL), 0);
	before = counts();
	probe_calls = 0;
	acquire_and_release(&lock[0], &handle);
	unregister_trace_spinlock(probe, NULL);
	tracepoint_synchronize_unregister();

	KUNIT_EXPECT_EQ(test, probe_calls, 1);
	KUNIT_EXPECT_EQ(test, spinlock_events(), 1);
	KUNIT_EXPECT_EQ(test, this_cpu()->suppressed, before.suppressed + 1);
	/* But it was tracked as any other. */
	KUNIT_EXPECT_EQ(test, this_cpu()->unmatched, before.unmatched);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	/* And the next event is written again. */
	acquire_and_release(&lock[0], &handle);
	KUNIT_EXPECT_EQ(test, spinlock_events(), 2);
	session_stop(test);
}

static void the_tracepoint_alone_turns_tracking_on(struct kunit *test)
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
	KUNIT_EXPECT_EQ(test, probe_record.spin_lock_address,
			(u64)(unsigned long)&lock[2]);
	KUNIT_EXPECT_EQ(test, probe_record.thread_id, task_pid_nr(current));
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_spin_lock_tracking_key));
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&ntklog_spin_lock_key));
}

/* Every kind of lock goes the same way. */

static struct ex_spin_lock ex_lock;

static void use_ordinary(void)
{
	u8 old_irql = ke_acquire_spin_lock_raise_to_dpc(&lock[0]);

	sample_next_uncontended(true);
	ke_release_spin_lock(&lock[0], old_irql);
}

static void use_ordinary_try(void)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	if (ke_try_to_acquire_spin_lock_at_dpc_level(&lock[0])) {
		sample_next_uncontended(true);
		ke_release_spin_lock_from_dpc_level(&lock[0]);
	}
	ke_lower_irql(old_irql);
}

static void use_numbered(void)
{
	u8 old_irql = ke_acquire_queued_spin_lock(7);

	sample_next_uncontended(true);
	ke_release_queued_spin_lock(7, old_irql);
}

static void use_numbered_try(void)
{
	u8 old_irql;

	if (ke_try_to_acquire_queued_spin_lock(8, &old_irql)) {
		sample_next_uncontended(true);
		ke_release_queued_spin_lock(8, old_irql);
	}
}

static void use_shared(void)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&ex_lock);

	sample_next_uncontended(true);
	ex_release_spin_lock_shared(&ex_lock, old_irql);
}

static void use_shared_try(void)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	if (ex_try_acquire_spin_lock_shared_at_dpc_level(&ex_lock)) {
		sample_next_uncontended(true);
		ex_release_spin_lock_shared_from_dpc_level(&ex_lock);
	}
	ke_lower_irql(old_irql);
}

static void use_exclusive(void)
{
	u8 old_irql = ex_acquire_spin_lock_exclusive(&ex_lock);

	sample_next_uncontended(true);
	ex_release_spin_lock_exclusive(&ex_lock, old_irql);
}

static void use_exclusive_try(void)
{
	u8 old_irql = ke_raise_irql_to_dpc_level();

	if (ex_try_acquire_spin_lock_exclusive_at_dpc_level(&ex_lock)) {
		sample_next_uncontended(true);
		ex_release_spin_lock_exclusive_from_dpc_level(&ex_lock);
	}
	ke_lower_irql(old_irql);
}

static void use_converted(void)
{
	u8 old_irql = ex_acquire_spin_lock_shared(&ex_lock);

	if (ex_try_convert_shared_spin_lock_exclusive(&ex_lock)) {
		sample_next_uncontended(true);
		ex_release_spin_lock_exclusive(&ex_lock, old_irql);
	}
}

static const struct {
	const char *name;
	void (*use)(void);
	u8 mode;
} kinds[] = {
	{ "ordinary", use_ordinary, 0 },
	{ "ordinary, tried", use_ordinary_try, 0 },
	{ "numbered", use_numbered, 1 },
	{ "numbered, tried", use_numbered_try, 1 },
	{ "shared", use_shared, 2 },
	{ "shared, tried", use_shared_try, 2 },
	{ "exclusive", use_exclusive, 3 },
	{ "exclusive, tried", use_exclusive_try, 3 },
	{ "converted", use_converted, 4 },
};

static void every_kind_writes_its_mode(struct kunit *test)
{
	size_t i;

	ex_initialize_spin_lock(&ex_lock);
	start(test);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		unsigned long caller;
		const u8 *event;

		kinds[i].use();
		event = spinlock_event(test, i);
		KUNIT_EXPECT_EQ_MSG(test, get_u8(event, SPINLOCK_MODE), kinds[i].mode,
				    "%s", kinds[i].name);
		/* The caller is the user of the lock, not the lock. */
		caller = get_u64(event, SPINLOCK_CALLER);
		KUNIT_EXPECT_TRUE_MSG(test, caller > (unsigned long)kinds[i].use &&
				      caller < (unsigned long)kinds[i].use + 0x400,
				      "%s", kinds[i].name);
		KUNIT_EXPECT_EQ_MSG(test, slots_in_use(), 0, "%s", kinds[i].name);
	}
	session_stop(test);
}

static void check_every_kind_counts(struct kunit *test, u32 group)
{
	size_t i;

	ex_initialize_spin_lock(&ex_lock);
	session_start(test, group, 4096, 8);
	counting_only = true;
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		u32 before = counts().acquire_count;

		kinds[i].use();
		KUNIT_EXPECT_EQ_MSG(test, counts().acquire_count, before + 1, "%s",
				    kinds[i].name);
	}
	counting_only = false;
	session_stop(test);
}

static void every_kind_counts_when_tracked(struct kunit *test)
{
	check_every_kind_counts(test, PERF_SPINLOCK);
}

static void every_kind_counts_with_only_counters_on(struct kunit *test)
{
	check_every_kind_counts(test, PERF_SPINLOCK_CNTRS);
}

static void a_conversion_counts_from_its_own_time(struct kunit *test)
{
	u64 acquired, converted;
	u8 old_irql;

	ex_initialize_spin_lock(&ex_lock);
	start(test);
	old_irql = ex_acquire_spin_lock_shared(&ex_lock);
	acquired = ntklog_time_value(this_cpu()->slot[1].time);
	udelay(9);
	converted = get_cycles();
	KUNIT_EXPECT_TRUE(test, ex_try_convert_shared_spin_lock_exclusive(&ex_lock));
	sample_next_uncontended(true);
	ex_release_spin_lock_exclusive(&ex_lock, old_irql);
	KUNIT_EXPECT_LT(test, acquired, converted);
	KUNIT_EXPECT_GE(test, get_u64(spinlock_event(test, 0), SPINLOCK_ACQUIRE_TIME),
			converted);
	session_stop(test);
}

static void failed_tries_count_nothing(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct counts before;
	u8 old_irql;

	ex_initialize_spin_lock(&ex_lock);
	start(test);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	atomic_set(&ex_lock.value, EX_SPIN_LOCK_EXCLUSIVE);
	before = counts();
	KUNIT_EXPECT_FALSE(test, ke_try_to_acquire_spin_lock_at_dpc_level(&lock[0]));
	KUNIT_EXPECT_FALSE(test, ex_try_acquire_spin_lock_shared_at_dpc_level(&ex_lock));
	KUNIT_EXPECT_FALSE(test, ex_try_acquire_spin_lock_exclusive_at_dpc_level(&ex_lock));
	old_irql = ke_acquire_queued_spin_lock(9);
	KUNIT_EXPECT_FALSE(test, ke_try_to_acquire_queued_spin_lock(9, &old_irql));
	ke_release_queued_spin_lock(9, old_irql);
	/* One for the ninth number, which was acquired. */
	KUNIT_EXPECT_EQ(test, counts().acquire_count, before.acquire_count + 1);
	KUNIT_EXPECT_EQ(test, this_cpu()->contention_count, before.contention_count);
	KUNIT_EXPECT_EQ(test, slots_in_use(), 1);
	ke_release_in_stack_queued_spin_lock(&handle);
	session_stop(test);
}

/* An uncontended acquisition that is released with somebody waiting; sampled or not. */
static void leave_a_waiter(u32 *one, bool sample)
{
	struct ntklog_time time;
	unsigned long flags;

	local_irq_save(flags);
	ntklog_log_spin_lock_acquire(one);
	sample_next_uncontended(sample);
	time = ntklog_read_time();
	ntklog_track_spin_lock_release_slow(one, WMI_SPINLOCK_QUEUED |
					    PERF_SPIN_LOCK_LEAVES_WAITER, time.low, time.high,
					    _THIS_IP_);
	local_irq_restore(flags);
}

static void one_in_so_many_that_leave_a_waiter_is_written(struct kunit *test)
{
	u32 before = this_cpu()->blocker_count, one, i;

	start(test);
	set_parameters(test, 1, 1000, 1, 0);
	/* By default none is, nor counted. */
	leave_a_waiter(&one, false);
	KUNIT_EXPECT_EQ(test, spinlock_events(), 0);
	KUNIT_EXPECT_EQ(test, this_cpu()->blocker_count, before);

	this_cpu()->blocker_count = 0;
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 3);
	for (i = 0; i < 9; i++)
		leave_a_waiter(&one, false);
	/* The tenth to the twelfth: by NT's rule as well. */
	for (i = 0; i < 3; i++)
		leave_a_waiter(&one, true);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 0);
	KUNIT_EXPECT_EQ(test, this_cpu()->blocker_count, 12);
	this_cpu()->blocker_count += before;
	KUNIT_EXPECT_EQ(test, spinlock_events(), 3 + 3);
	for (i = 0; i < 6; i++) {
		const u8 *event = spinlock_event(test, i);
		u8 rule = i < 3 ? WMI_SPINLOCK_RULE_BLOCKER | WMI_SPINLOCK_RULE_BLOCKER_ONLY :
			  i < 5 ? 0 : WMI_SPINLOCK_RULE_BLOCKER;

		KUNIT_EXPECT_EQ(test, get_u8(event, SPINLOCK_RESERVED), rule);
		KUNIT_EXPECT_EQ(test, get_u8(event, SPINLOCK_MODE) & 0x3F, WMI_SPINLOCK_QUEUED);
	}
	KUNIT_EXPECT_EQ(test, slots_in_use(), 0);
	session_stop(test);
}

static int wait_for_lock_0(void *data)
{
	struct klock_queue_handle handle;

	while (!READ_ONCE(*(bool *)data))
		cpu_relax();
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	return 0;
}

/* Not of those that nobody waits for, whatever their holds. */
static void who_hands_over_a_queued_lock_is_a_blocker(struct kunit *test)
{
	struct klock_queue_handle handle;
	struct test_thread thread;
	const u8 *event;
	bool held = false;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 processors");
	start(test);
	set_parameters(test, U32_MAX, U32_MAX, 1, 0);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 1);
	ke_acquire_in_stack_queued_spin_lock(&lock[1], &handle);
	ke_release_in_stack_queued_spin_lock(&handle);
	test_thread_start(test, &thread, 1, wait_for_lock_0, &held);
	ke_acquire_in_stack_queued_spin_lock(&lock[0], &handle);
	WRITE_ONCE(held, true);
	/* Not only in the word: who is half-way in is not one that was left waiting. */
	while (!READ_ONCE(handle.lock_queue.next))
		cpu_relax();
	ke_release_in_stack_queued_spin_lock(&handle);
	test_thread_join(&thread);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 0);
	KUNIT_ASSERT_EQ(test, spinlock_events(), 1);
	event = spinlock_event(test, 0);
	KUNIT_EXPECT_EQ(test, get_u64(event, SPINLOCK_ADDRESS), (u64)(unsigned long)&lock[0]);
	KUNIT_EXPECT_EQ(test, get_u32(event, SPINLOCK_THREAD_ID), task_pid_nr(current));
	KUNIT_EXPECT_EQ(test, get_u8(event, SPINLOCK_RESERVED),
			WMI_SPINLOCK_RULE_BLOCKER | WMI_SPINLOCK_RULE_BLOCKER_ONLY);
	session_stop(test);
}

struct half_way {
	struct klock_queue_handle handle;
	struct kspin_lock_queue half;
	bool is_in_the_word;
};

/* Its second step, when the release has looked whether somebody waits. */
static int come_in_wholly(void *data)
{
	struct half_way *seen = data;
	struct kspin_lock_queue *owner = &seen->handle.lock_queue;

	while (!READ_ONCE(seen->is_in_the_word) || READ_ONCE(owner->lock) & LOCK_QUEUE_OWNER)
		cpu_relax();
	/* As ke_spin_for_lock_ownership() does, and for the same reader. */
	smp_store_release(&owner->next, &seen->half);
	return 0;
}

static void who_is_half_way_in_was_not_left_waiting(struct kunit *test)
{
	/* A release that is not sampled, and one that is: they go different ways. */
	static const u32 rates[] = { U32_MAX, 1000 };
	struct test_thread thread;
	struct half_way seen;
	u32 before, i;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs 2 processors");
	start(test);
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 1);
	for (i = 0; i < ARRAY_SIZE(rates); i++) {
		seen = (struct half_way) {
			.half.lock = (unsigned long)&lock[0] | LOCK_QUEUE_WAIT };
		set_parameters(test, U32_MAX, rates[i], 1, 0);
		test_thread_start(test, &thread, 1, come_in_wholly, &seen);
		set_counts(999, 0);
		ke_acquire_in_stack_queued_spin_lock(&lock[0], &seen.handle);
		before = this_cpu()->blocker_count;
		xchg(&lock[0].word, (unsigned long)&seen.half);
		WRITE_ONCE(seen.is_in_the_word, true);
		ke_release_in_stack_queued_spin_lock_from_dpc_level(&seen.handle);
		KUNIT_EXPECT_EQ(test, this_cpu()->blocker_count, before);
		ke_lower_irql(seen.handle.old_irql);
		test_thread_join(&thread);
		KUNIT_EXPECT_EQ(test, seen.half.lock,
				(unsigned long)&lock[0] | LOCK_QUEUE_OWNER);
		KUNIT_EXPECT_EQ(test, spinlock_events(), i);
		ke_initialize_spin_lock(&lock[0]);
	}
	WRITE_ONCE(ntklog_spin_lock_blocker_rate, 0);
	KUNIT_EXPECT_EQ(test, get_u8(spinlock_event(test, 0), SPINLOCK_RESERVED), 0);
	session_stop(test);
}

static struct kunit_case perf_test_cases[] = {
	KUNIT_CASE(hold_time_over_the_threshold_is_written),
	KUNIT_CASE(hold_threshold_0_writes_nothing),
	KUNIT_CASE(hold_time_wraps_at_32_bits),
	KUNIT_CASE(spin_count_from_the_threshold_on_is_written),
	KUNIT_CASE(contended_is_sampled_by_the_contention_count),
	KUNIT_CASE(uncontended_is_sampled_by_the_uncontended_count),
	KUNIT_CASE(rules_are_alternatives_each_on_its_own_counter),
	KUNIT_CASE(two_rules_write_one_event),
	KUNIT_CASE_SLOW(what_is_sampled_is_what_nts_rules_say),
	KUNIT_CASE(an_uncontended_acquisition_counts_one),
	KUNIT_CASE(a_contended_acquisition_counts_and_is_written),
	KUNIT_CASE(counters_wrap_at_32_bits),
	KUNIT_CASE(only_counters_wanted_tracks_nothing),
	KUNIT_CASE(nothing_wanted_counts_nothing),
	KUNIT_CASE(depth_1_to_8_is_tracked_and_9_is_counted),
	KUNIT_CASE(release_out_of_order_keeps_the_rest),
	KUNIT_CASE(what_is_owned_when_tracking_goes_on_is_not_tracked),
	KUNIT_CASE(what_is_tracked_when_tracking_goes_off_is_written),
	KUNIT_CASE(what_is_never_released_is_forgotten_by_the_next_tracking),
	KUNIT_CASE(a_release_of_what_was_not_acquired_is_counted),
	KUNIT_CASE(every_byte_of_an_event_is_nts),
	KUNIT_CASE(interrupts_while_owned_are_counted),
	KUNIT_CASE(interrupts_that_are_heard_of_are_no_matter),
	KUNIT_CASE(context_of_the_release_is_told),
	KUNIT_CASE(interrupts_between_any_two_instructions_lose_nothing),
	KUNIT_CASE(an_interrupt_leaves_the_entries_of_who_it_interrupts),
	KUNIT_CASE(a_slot_that_is_only_taken_is_nobodys),
	KUNIT_CASE(more_than_there_are_slots_are_counted),
	KUNIT_CASE(an_nmi_counts),
	KUNIT_CASE(a_shared_lock_of_an_interrupt_is_not_the_threads),
	KUNIT_CASE(a_lock_used_by_the_writer_writes_nothing),
	KUNIT_CASE(the_tracepoint_alone_turns_tracking_on),
	KUNIT_CASE(every_kind_writes_its_mode),
	KUNIT_CASE(every_kind_counts_when_tracked),
	KUNIT_CASE(every_kind_counts_with_only_counters_on),
	KUNIT_CASE(a_conversion_counts_from_its_own_time),
	KUNIT_CASE(failed_tries_count_nothing),
	KUNIT_CASE(one_in_so_many_that_leave_a_waiter_is_written),
	KUNIT_CASE(who_hands_over_a_queued_lock_is_a_blocker),
	KUNIT_CASE(who_is_half_way_in_was_not_left_waiting),
	{}
};

static struct kunit_suite perf_test_suite = {
	.name = "ntklog_perf",
	.init = perf_test_init,
	.exit = fixture_exit,
	.test_cases = perf_test_cases,
};

kunit_test_suite(perf_test_suite);
