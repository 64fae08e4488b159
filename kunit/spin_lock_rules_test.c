// SPDX-License-Identifier: GPL-2.0-only
/* NT's three rules that select which releases of spin locks are written_count. */

#include <linux/prandom.h>
#include <linux/sched.h>
#include <linux/timex.h>

#include "spin_lock_fixture.h"

/* Rule 1: the hold time is over the threshold. */

static void hold_time_over_threshold_written(struct kunit *test)
{
	spin_lock_session_start(test);
	set_spin_lock_parameters(test, 1, 1000, 1, 2000000);
	/* An uncontended count of 5001 meets none of the other rules. */
	KUNIT_EXPECT_FALSE(test, release_is_written(0, 1999999, 5001, 0));
	KUNIT_EXPECT_FALSE(test, release_is_written(0, 2000000, 5001, 0));
	KUNIT_EXPECT_TRUE(test, release_is_written(0, 2000001, 5001, 0));
	stop_session_0(test);
}

static void hold_threshold_0_nothing_written(struct kunit *test)
{
	spin_lock_session_start(test);
	set_spin_lock_parameters(test, 1, 1000, 1, 0);
	KUNIT_EXPECT_FALSE(test, release_is_written(0, 1, 5001, 0));
	KUNIT_EXPECT_FALSE(test, release_is_written(0, U32_MAX, 5001, 0));
	stop_session_0(test);
}

static void hold_time_over_32_bits_wraps(struct kunit *test)
{
	u64 wrap_cycles = 1ULL << 32;

	spin_lock_session_start(test);
	KUNIT_EXPECT_FALSE(test, release_is_written(0, wrap_cycles, 5001, 0));
	KUNIT_EXPECT_FALSE(test, release_is_written(0, wrap_cycles + 1000000, 5001, 0));
	KUNIT_EXPECT_TRUE(test, release_is_written(0, wrap_cycles + 1000001, 5001, 0));
	KUNIT_EXPECT_TRUE(test, release_is_written(0, wrap_cycles - 1, 5001, 0));
	stop_session_0(test);
}

/* Rule 2: contended, SpinCount reaches the threshold, and the contention count is sampled. */

static void spin_count_at_threshold_written(struct kunit *test)
{
	spin_lock_session_start(test);
	set_spin_lock_parameters(test, 10, 1000, 1, 0);
	KUNIT_EXPECT_FALSE(test, release_is_written(9, 0, 5000, 100));
	KUNIT_EXPECT_TRUE(test, release_is_written(10, 0, 5000, 100));
	KUNIT_EXPECT_TRUE(test, release_is_written(11, 0, 5000, 100));
	stop_session_0(test);
}

static void contended_release_sampled_by_contention_count(struct kunit *test)
{
	spin_lock_session_start(test);
	set_spin_lock_parameters(test, 1, 1000, 7, 0);
	KUNIT_EXPECT_FALSE(test, release_is_written(1, 0, 5000, 13));
	KUNIT_EXPECT_TRUE(test, release_is_written(1, 0, 5000, 14));
	KUNIT_EXPECT_FALSE(test, release_is_written(1, 0, 5000, 15));
	stop_session_0(test);
}

/* Rule 3: uncontended, and the uncontended count is sampled. */

static void uncontended_release_sampled_by_uncontended_count(struct kunit *test)
{
	spin_lock_session_start(test);
	set_spin_lock_parameters(test, 1, 1500, 1, 0);
	KUNIT_EXPECT_FALSE(test, release_is_written(0, 0, 100 + 1499, 100));
	KUNIT_EXPECT_TRUE(test, release_is_written(0, 0, 100 + 1500, 100));
	KUNIT_EXPECT_FALSE(test, release_is_written(0, 0, 100 + 1501, 100));
	/* The uncontended count is 1400; the acquire count would be sampled. */
	KUNIT_EXPECT_FALSE(test, release_is_written(0, 0, 1500, 100));
	stop_session_0(test);
}

static void sampling_rules_mixed_each_uses_own_counter(struct kunit *test)
{
	spin_lock_session_start(test);
	set_spin_lock_parameters(test, 5, 1000, 10, 1000000);

	/* Contended with too few spins. Rule 3 does not apply, although 1000 is sampled. */
	KUNIT_EXPECT_FALSE(test, release_is_written(4, 0, 1010, 10));
	/* Uncontended. Rule 2 does not apply, although the contention count 10 is sampled. */
	KUNIT_EXPECT_FALSE(test, release_is_written(0, 0, 1011, 10));
	/* Contended. Rule 3 would be met, but not rule 2. */
	KUNIT_EXPECT_FALSE(test, release_is_written(5, 0, 1011, 11));
	/* Rule 1 applies to contended and uncontended acquisitions. */
	KUNIT_EXPECT_TRUE(test, release_is_written(0, 1000001, 1011, 10));
	KUNIT_EXPECT_TRUE(test, release_is_written(4, 1000001, 1011, 11));
	KUNIT_EXPECT_TRUE(test, release_is_written(5, 1000001, 1011, 11));
	stop_session_0(test);
}

static void release_two_rules_met_one_event_written(struct kunit *test)
{
	unsigned int before;

	spin_lock_session_start(test);
	before = count_spin_lock_events();
	KUNIT_EXPECT_TRUE(test, release_is_written(1, 1000001, 1000, 10));
	KUNIT_EXPECT_TRUE(test, release_is_written(0, 1000001, 1000, 0));
	KUNIT_EXPECT_EQ(test, count_spin_lock_events(), before + 2);
	stop_session_0(test);
}

#define MODEL_STEPS	((IS_ENABLED(CONFIG_KASAN) || IS_ENABLED(CONFIG_KCSAN)) ? 100000 : 1000000)

struct model {
	struct rnd_state random;
	struct event_trace_spinlock_information parameters;
	u32 acquire_count;
	u32 contention_count;
	struct {
		struct kspin_lock *lock;
		u64 acquire_time;
		u32 spin_count;
		bool is_tracked;
	} owned[LOCK_COUNT + 3];
	unsigned int count;
	unsigned int written_count;
};

static u32 model_random(struct model *model, u32 bound)
{
	return prandom_u32_state(&model->random) % bound;
}

static void model_change_parameters(struct kunit *test, struct model *model)
{
	model->parameters = (struct event_trace_spinlock_information){
		.spin_lock_spin_threshold = 1 + model_random(model, 4),
		.spin_lock_acquire_sample_rate = 1000 + model_random(model, 300),
		.spin_lock_contention_sample_rate = 1 + model_random(model, 9),
		.spin_lock_hold_threshold =
			model_random(model, 3) ? 1000000 + model_random(model, 1000) : 0,
	};
	set_spin_lock_parameters(test, model->parameters.spin_lock_spin_threshold,
				 model->parameters.spin_lock_acquire_sample_rate,
				 model->parameters.spin_lock_contention_sample_rate,
				 model->parameters.spin_lock_hold_threshold);
	/* Sometimes set the counters shortly before they wrap. */
	if (!model_random(model, 4)) {
		model->contention_count = 0U - model_random(model, 2000);
		model->acquire_count = model->contention_count - model_random(model, 2000);
		set_counters(model->acquire_count, model->contention_count);
	}
}

static void model_acquire(struct model *model)
{
	/* If the model holds all locks already, it holds some of them a second time. */
	u32 spin_count = model_random(model, 3) ? 0 : 1 + model_random(model, 5);
	struct kspin_lock *spin_lock = &lock[model->count % LOCK_COUNT];
	struct ntklog_spin_lock_wait_start wait_start = {};
	unsigned int i, tracked = 0;

	for (i = 0; i < model->count; i++)
		tracked += model->owned[i].is_tracked;
	if (spin_count)
		ntklog_log_contended_spin_lock(spin_lock, WMI_SPINLOCK_QUEUED, spin_count,
					       &wait_start);
	else
		ntklog_log_spin_lock_acquire(spin_lock);
	model->acquire_count++;
	model->contention_count += !!spin_count;
	model->owned[model->count].lock = spin_lock;
	model->owned[model->count].acquire_time =
		ntklog_time_to_cycles(get_topmost_slot()->time);
	model->owned[model->count].spin_count = spin_count;
	model->owned[model->count].is_tracked = tracked < PERF_SPIN_LOCK_DEPTH;
	model->count++;
}

/* Release a random lock. Returns true if an event was written_count as the model expects. */
static bool model_release(struct model *model)
{
	const struct event_trace_spinlock_information *parameters = &model->parameters;
	u32 hold_time = model_random(model, 50) ? model_random(model, 5000) :
			1000000 + model_random(model, 1000);
	/* Mostly choose the lock that was acquired last. */
	unsigned int released_index = model->count - 1 -
			     (model_random(model, 4) ? 0 : model_random(model, model->count));
	u64 release_time, before = get_spin_lock_cpu()->event_count;
	unsigned int i;
	bool expected;

	/* A lock held twice is released in reverse order. */
	for (i = released_index + 1; i < model->count; i++)
		if (model->owned[i].lock == model->owned[released_index].lock)
			released_index = i;
	release_time = model->owned[released_index].acquire_time + hold_time;
	if (parameters->spin_lock_hold_threshold &&
	    hold_time > parameters->spin_lock_hold_threshold)
		expected = true;
	else if (model->owned[released_index].spin_count)
		expected = model->owned[released_index].spin_count >=
			   parameters->spin_lock_spin_threshold &&
			   model->contention_count %
			   parameters->spin_lock_contention_sample_rate == 0;
	else
		expected = (model->acquire_count - model->contention_count) %
			   parameters->spin_lock_acquire_sample_rate == 0;
	expected &= model->owned[released_index].is_tracked;
	model->written_count += expected;
	log_release(model->owned[released_index].lock, WMI_SPINLOCK_QUEUED,
		    (struct ntklog_time){ .low = release_time, .high = release_time >> 32 });
	model->count--;
	memmove(&model->owned[released_index], &model->owned[released_index + 1],
		(model->count - released_index) * sizeof(model->owned[0]));
	return get_spin_lock_cpu()->event_count - before == expected;
}

static void random_releases_sampled_as_model(struct kunit *test)
{
	struct model *model = kunit_kzalloc(test, sizeof(*model), GFP_KERNEL);
	unsigned int step, wrong_count = 0;
	u64 seed = get_cycles();

	KUNIT_ASSERT_NOT_NULL(test, model);
	kunit_info(test, "seed %llu\n", seed);
	prandom_seed_state(&model->random, seed);
	spin_lock_session_start(test);
	set_counters(0, 0);
	for (step = 0; step < MODEL_STEPS && !wrong_count; step++) {
		u8 old_irql;

		if (step % 2048 == 0)
			model_change_parameters(test, model);
		old_irql = ke_raise_irql_to_dpc_level();
		if (!model->count ||
		    (model->count < ARRAY_SIZE(model->owned) && model_random(model, 2)))
			model_acquire(model);
		else
			wrong_count += !model_release(model);
		wrong_count += read_counts().acquire_count != model->acquire_count;
		ke_lower_irql(old_irql);
		cond_resched();
	}
	KUNIT_EXPECT_EQ_MSG(test, wrong_count, 0, "step %u of seed %llu", step, seed);
	while (model->count)
		model_release(model);
	KUNIT_EXPECT_EQ(test, count_slots_in_use(), 0);
	KUNIT_EXPECT_EQ(test, count_tracked_slots(), 0);
	KUNIT_EXPECT_GT(test, model->written_count, MODEL_STEPS / 100);
	stop_session_0(test);
}

static struct kunit_case spin_lock_rules_test_cases[] = {
	KUNIT_CASE(hold_time_over_threshold_written),
	KUNIT_CASE(hold_threshold_0_nothing_written),
	KUNIT_CASE(hold_time_over_32_bits_wraps),
	KUNIT_CASE(spin_count_at_threshold_written),
	KUNIT_CASE(contended_release_sampled_by_contention_count),
	KUNIT_CASE(uncontended_release_sampled_by_uncontended_count),
	KUNIT_CASE(sampling_rules_mixed_each_uses_own_counter),
	KUNIT_CASE(release_two_rules_met_one_event_written),
	KUNIT_CASE_SLOW(random_releases_sampled_as_model),
	{}
};

static struct kunit_suite spin_lock_rules_test_suite = {
	.name = "ntklog_spin_lock_rules",
	.init = spin_lock_fixture_init,
	.exit = fixture_exit,
	.test_cases = spin_lock_rules_test_cases,
};

kunit_test_suite(spin_lock_rules_test_suite);
