/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KUNIT_SPIN_LOCK_FIXTURE_H
#define _NTKLOG_KUNIT_SPIN_LOCK_FIXTURE_H

/*
 * To test a limit of the sampling rules, a test sets the CPU's counters and the time of an
 * acquisition, and then releases the lock.
 */

#include <kunit/test.h>
#include <linux/percpu.h>
#include <ntklog/queued_spin_lock.h>
#include <uapi/ntklog/group_mask.h>
#include <uapi/ntklog/wmi_spinlock.h>

#include "../module/perf/spin_lock.h"
#include "../module/perf/spin_lock_number.h"
#include "fixture.h"

#define LOCK_COUNT	9

extern struct kspin_lock lock[LOCK_COUNT];
/* Locks that interrupt handlers acquire too, so that threads acquire them at SYNCH_LEVEL. */
extern struct kspin_lock interrupt_locks[2];

extern bool keep_counters;

struct spin_lock_counts {
	u32 acquire_count;
	u32 contention_count;
	u32 spin_count;
	u64 untracked_count;
	u64 unmatched_count;
	u64 suppressed_count;
};

static inline struct ntklog_spin_lock_cpu *get_spin_lock_cpu(void)
{
	return per_cpu_ptr(&ntklog_spin_lock_cpu, TEST_CPU);
}

static inline u32 count_slots_in_use(void)
{
	return ntklog_count_slots_in_use(get_spin_lock_cpu());
}

static inline const struct ntklog_spin_lock_slot *get_topmost_slot(void)
{
	return ntklog_get_slot(get_spin_lock_cpu(), count_slots_in_use());
}

static inline u32 count_tracked_slots(void)
{
	return count_slots_in_use() - get_spin_lock_cpu()->untracked_slots_in_use;
}

int spin_lock_fixture_init(struct kunit *test);
void spin_lock_session_start(struct kunit *test);
struct spin_lock_counts read_counts(void);
void set_counters(u32 acquire_count, u32 contention_count);
unsigned int count_spin_lock_events(void);
const u8 *get_spin_lock_event(struct kunit *test, unsigned int index);
void set_spin_lock_parameters(struct kunit *test, u32 spin_threshold, u32 acquire_rate,
			      u32 contention_rate, u32 hold_threshold);
void sample_next_uncontended(bool sample);
bool release_is_written(u32 spin_count, u64 hold_time, u32 acquire_count, u32 contention_count);
void log_release(const void *lock, u8 acquire_mode, struct ntklog_time time);

#endif /* _NTKLOG_KUNIT_SPIN_LOCK_FIXTURE_H */
