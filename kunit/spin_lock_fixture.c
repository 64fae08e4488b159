// SPDX-License-Identifier: GPL-2.0-only

#include <linux/irqflags.h>
#include <uapi/ntklog/event.h>

#include "spin_lock_fixture.h"

struct kspin_lock lock[LOCK_COUNT];
struct kspin_lock interrupt_locks[2];
bool keep_counters;

int spin_lock_fixture_init(struct kunit *test)
{
	static struct lock_class_key keys[LOCK_COUNT];
	int i;

	ke_initialize_spin_lock(&interrupt_locks[0]);
	ke_initialize_spin_lock(&interrupt_locks[1]);
	for (i = 0; i < LOCK_COUNT; i++)
		ke_initialize_spin_lock_class(&lock[i], "perf_test_lock", &keys[i]);
	return fixture_init(test);
}

void spin_lock_session_start(struct kunit *test)
{
	start_session_0(test, PERF_SPINLOCK, 4096, 64);
}

struct spin_lock_counts read_counts(void)
{
	return (struct spin_lock_counts){
		.acquire_count = ntklog_get_spin_lock_acquire_count(TEST_CPU),
		.contention_count = get_spin_lock_cpu()->contention_count,
		.spin_count = get_spin_lock_cpu()->spin_count,
		.untracked_count = get_spin_lock_cpu()->untracked_count,
		.unmatched_count = get_spin_lock_cpu()->unmatched_count,
		.suppressed_count = get_spin_lock_cpu()->suppressed_count,
	};
}

void set_counters(u32 acquire_count, u32 contention_count)
{
	unsigned long flags;

	local_irq_save(flags);
	get_spin_lock_cpu()->contention_count = contention_count;
	ntklog_set_uncontended_count(get_spin_lock_cpu(), acquire_count - contention_count);
	local_irq_restore(flags);
}

unsigned int count_spin_lock_events(void)
{
	return count_session_events(PERFINFO_LOG_TYPE_SPINLOCK);
}

const u8 *get_spin_lock_event(struct kunit *test, unsigned int index)
{
	const u8 *event = get_session_event(index, PERFINFO_LOG_TYPE_SPINLOCK);

	KUNIT_ASSERT_NOT_NULL(test, event);
	return event;
}

void set_spin_lock_parameters(struct kunit *test, u32 spin_threshold, u32 acquire_rate,
			      u32 contention_rate, u32 hold_threshold)
{
	struct event_trace_spinlock_information information = {
		5, spin_threshold, acquire_rate, contention_rate, hold_threshold
	};

	KUNIT_ASSERT_EQ(test, ntklog_change_parameter_set(&ntklog_spin_lock_parameter_set,
							  &information, sizeof(information)),
			STATUS_SUCCESS);
}

/*
 * Set the counters so that the next release of an uncontended hold is sampled, or is not. Does
 * nothing while keep_counters is true.
 */
void sample_next_uncontended(bool sample)
{
	if (!keep_counters)
		set_counters(5000 + !sample, 0);
}

noinline void log_release(const void *lock, u8 acquire_mode, struct ntklog_time time)
{
	if (!ntklog_pop_spin_lock(lock, time.low))
		ntklog_track_spin_lock_release_slow(lock, acquire_mode, time.low, time.high,
						    _RET_IP_);
}

/*
 * Acquire and release a lock as if @spin_count and @hold_time had been measured, with the CPU's
 * counters at @acquire_count and @contention_count. Returns true if an event was written.
 */
bool release_is_written(u32 spin_count, u64 hold_time, u32 acquire_count, u32 contention_count)
{
	struct ntklog_spin_lock_wait_start wait_start = {};
	unsigned int before = count_spin_lock_events();
	struct ntklog_time release_time;
	u8 old_irql = ke_raise_irql_to_dpc_level();

	if (spin_count)
		ntklog_log_contended_spin_lock(&lock[0], WMI_SPINLOCK_QUEUED, spin_count,
					       &wait_start);
	else
		ntklog_log_spin_lock_acquire(&lock[0]);
	release_time = get_topmost_slot()->time;
	hold_time += ntklog_time_to_cycles(release_time);
	release_time = (struct ntklog_time){ .low = hold_time, .high = hold_time >> 32 };
	set_counters(acquire_count, contention_count);
	log_release(&lock[0], WMI_SPINLOCK_QUEUED, release_time);
	ke_lower_irql(old_irql);
	return count_spin_lock_events() != before;
}
