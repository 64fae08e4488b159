// SPDX-License-Identifier: GPL-2.0-only
/*
 * See block_stack.h. The stacks are in a table of buckets with a few entries each. A task without
 * an entry takes the one with the oldest block that has ended, because a block that still goes on
 * may become the longest one of its hold. The probe of sched_switch must not wait for a bucket that
 * another CPU uses: the block then has no stack.
 */

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/irqflags.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/workqueue.h>
#include <uapi/ntklog/group_mask.h>

#include "../etw/event.h"
#include "../etw/stacks.h"
#include "../ground/address.h"
#include "../ground/clock.h"
#include "../ground/word.h"
#include "block_stack.h"
#include "sleeping_slots.h"
#include "stack.h"

#define NTKLOG_BLOCK_HASH_BITS	8
#define NTKLOG_BLOCK_BUCKET_SIZE	4

/* A block that began longer ago counts as ended, because its end has probably been missed. */
#define NTKLOG_BLOCK_MAX_MS	(10 * 60 * MSEC_PER_SEC)

/*
 * A time in which a task was blocked, in cycles. since is 0 if there is none; blocked_cycles is 0
 * while the task is blocked. A frame of 0 ends the frames, if there are fewer.
 */
struct ntklog_blocked_period {
	u64 since;
	u64 blocked_cycles;
	unsigned long frames[NTKLOG_BLOCK_FRAMES];
};

/*
 * Blocks of one task, which is only compared. When a block begins, a longest one that is older than
 * the task's oldest hold is dropped.
 */
struct ntklog_block_entry {
	const struct task_struct *task;
	struct ntklog_blocked_period last_period;
	struct ntklog_blocked_period longest_period;
};

/* is_locked: a CPU reads or writes the entries, with interrupts off. */
struct ntklog_block_bucket {
	atomic_t is_locked;
	struct ntklog_block_entry entries[NTKLOG_BLOCK_BUCKET_SIZE];
};

/* Published with smp_store_release(); set to NULL when no probe and no hook runs. */
static struct ntklog_block_bucket *ntklog_block_buckets;

/**
 * ntklog_block_stacks_are_needed() - test whether a session logs the stacks of sleeping locks
 *
 * Context: any. The result may be stale when it is returned.
 * Return: true if a started session that logs sleeping locks wants the stacks of resources.
 */
bool ntklog_block_stacks_are_needed(void)
{
	const u64 stack_sessions = etw_find_stack_sessions_for_event(ETW_STACKED_RESOURCE, U64_MAX);

	/* Sessions that are not started may want stacks, too. */
	return stack_sessions &&
	       stack_sessions & (etw_find_sessions_for_event(PERF_LINUX_MUTEX) |
				 etw_find_sessions_for_event(PERF_LINUX_RWSEM) |
				 etw_find_sessions_for_event(PERF_LINUX_SEMAPHORE) |
				 etw_find_sessions_for_event(PERF_LINUX_RT_MUTEX) |
				 etw_find_sessions_for_event(PERF_LINUX_PERCPU_RWSEM) |
				 etw_find_sessions_for_event(PERF_LINUX_WW_MUTEX));
}

/**
 * ntklog_alloc_block_stacks() - allocate the table if a session logs stacks
 *
 * Context: task; may sleep. Callers are serialized, also with ntklog_free_block_stacks().
 */
void ntklog_alloc_block_stacks(void)
{
	struct ntklog_block_bucket *buckets;

	if (ntklog_block_buckets || !ntklog_block_stacks_are_needed())
		return;
	buckets = kvcalloc(1 << NTKLOG_BLOCK_HASH_BITS, sizeof(*buckets),
			   GFP_KERNEL | __GFP_NOWARN);
	/* Pairs with smp_load_acquire() in ntklog_trylock_bucket(). */
	smp_store_release(&ntklog_block_buckets, buckets);
}

static void ntklog_run_block_stacks_work(struct work_struct *work)
{
	ntklog_alloc_block_stacks();
}

static DECLARE_WORK(ntklog_block_stacks_work, ntklog_run_block_stacks_work);

/**
 * ntklog_queue_block_stacks_work() - have the table allocated if a session logs stacks
 *
 * A work item allocates, because the caller must not wait until memory is reclaimed.
 *
 * Context: work item that is cancelled before ntklog_free_block_stacks().
 */
void ntklog_queue_block_stacks_work(void)
{
	if (!READ_ONCE(ntklog_block_buckets) && ntklog_block_stacks_are_needed())
		schedule_work(&ntklog_block_stacks_work);
}

/**
 * ntklog_free_block_stacks() - free the table
 *
 * Context: task; may sleep. No probe of sched_switch and no hook of a sleeping lock runs.
 */
void ntklog_free_block_stacks(void)
{
	cancel_work_sync(&ntklog_block_stacks_work);
	kvfree(ntklog_block_buckets);
	ntklog_block_buckets = NULL;
}

/* Returns NULL if there is no table, or if another CPU uses the bucket. */
static struct ntklog_block_bucket *ntklog_trylock_bucket(const struct task_struct *task)
{
	struct ntklog_block_bucket *bucket;

	/* Pairs with smp_store_release() in ntklog_alloc_block_stacks(). */
	bucket = smp_load_acquire(&ntklog_block_buckets);
	if (!bucket)
		return NULL;
	bucket += hash_ptr(task, NTKLOG_BLOCK_HASH_BITS);
	return atomic_cmpxchg_acquire(&bucket->is_locked, 0, 1) ? NULL : bucket;
}

static void ntklog_unlock_bucket(struct ntklog_block_bucket *bucket)
{
	atomic_set_release(&bucket->is_locked, 0);
}

static struct ntklog_block_entry *ntklog_find_block_entry(struct ntklog_block_bucket *bucket,
							  const struct task_struct *task)
{
	int i;

	for (i = 0; i < NTKLOG_BLOCK_BUCKET_SIZE; i++)
		if (bucket->entries[i].task == task)
			return &bucket->entries[i];
	return NULL;
}

static bool ntklog_entry_is_replaceable(const struct ntklog_block_entry *entry, u64 now)
{
	/* Signed, because the clocks of two CPUs may differ. */
	return !entry->task || entry->last_period.blocked_cycles ||
	       (s64)(now - entry->last_period.since) >
		       (s64)ntklog_ms_to_cycles(NTKLOG_BLOCK_MAX_MS);
}

/* Returns NULL if the task has no entry and each entry of the bucket has a block that goes on. */
static struct ntklog_block_entry *ntklog_find_or_take_entry(struct ntklog_block_bucket *bucket,
							    const struct task_struct *task,
							    u64 now)
{
	struct ntklog_block_entry *entry = ntklog_find_block_entry(bucket, task);
	struct ntklog_block_entry *candidate;

	if (entry)
		return entry;
	for (candidate = bucket->entries; candidate < &bucket->entries[NTKLOG_BLOCK_BUCKET_SIZE];
	     candidate++)
		if (ntklog_entry_is_replaceable(candidate, now) &&
		    (!entry || candidate->last_period.since < entry->last_period.since))
			entry = candidate;
	if (entry) {
		entry->task = task;
		entry->longest_period.since = 0;
	}
	return entry;
}

/* Return when the oldest hold of the current task began, or U64_MAX if it has no hold. */
static u64 ntklog_find_oldest_hold_start(const struct ntklog_task *record)
{
	u64 oldest_start = U64_MAX;
	int i;

	for (i = 1; i <= NTKLOG_TASK_SLOT_COUNT; i++) {
		const struct ntklog_sleeping_slot *slot = &record->sleeping_slots[i];

		if (READ_ONCE(slot->lock) && !(READ_ONCE(slot->action) & NTKLOG_SLEEPING_WAITING))
			oldest_start = min(oldest_start, ntklog_read_u64(slot->acquire_time));
	}
	return oldest_start;
}

/**
 * ntklog_begin_blocked_period() - save the stack of the current task, which is about to be blocked
 * @record: its record
 * @now: current time, in cycles
 *
 * Context: probe of sched_switch; a session logs stacks.
 */
void ntklog_begin_blocked_period(const struct ntklog_task *record, u64 now)
{
	u64 oldest_start = ntklog_find_oldest_hold_start(record);
	struct ntklog_block_bucket *bucket;
	struct ntklog_block_entry *entry;

	/* A task that only waits for a lock has no hold to explain. */
	if (oldest_start == U64_MAX)
		return;
	bucket = ntklog_trylock_bucket(record->task);
	if (!bucket)
		return;
	entry = ntklog_find_or_take_entry(bucket, record->task, now);
	if (entry) {
		if (entry->longest_period.since < oldest_start)
			entry->longest_period.since = 0;
		entry->last_period.since = now;
		entry->last_period.blocked_cycles = 0;
		if (!ntklog_save_stack(entry->last_period.frames, NTKLOG_BLOCK_FRAMES)) {
			entry->task = NULL;
			entry->last_period.since = 0;
		}
	}
	ntklog_unlock_bucket(bucket);
}

/**
 * ntklog_end_blocked_period() - keep the stack of a block if it is the longest one
 * @task: the task, which gets a CPU
 * @since: when the block began; may not be the last block in the table
 * @blocked_cycles: how long it was blocked, in cycles
 *
 * Context: probe of sched_switch.
 */
void ntklog_end_blocked_period(const struct task_struct *task, u64 since, u64 blocked_cycles)
{
	struct ntklog_block_bucket *bucket = ntklog_trylock_bucket(task);
	struct ntklog_block_entry *entry;

	if (!bucket)
		return;
	entry = ntklog_find_block_entry(bucket, task);
	if (entry && entry->last_period.since == since) {
		entry->last_period.blocked_cycles = max(blocked_cycles, 1ULL);
		if (!entry->longest_period.since ||
		    entry->longest_period.blocked_cycles < blocked_cycles)
			entry->longest_period = entry->last_period;
	}
	ntklog_unlock_bucket(bucket);
}

/**
 * ntklog_get_longest_block_stack() - get the longest block of a hold
 * @task: the task that holds the lock
 * @acquire_time: when the hold began, in cycles
 * @block_stack: the result; its lock is not set
 *
 * Context: task, preemption off.
 * Return: true if the longest block that is known of the task began in the hold.
 */
bool ntklog_get_longest_block_stack(const struct task_struct *task, u64 acquire_time,
				    struct ntklog_block_stack *block_stack)
{
	const struct ntklog_block_entry *entry;
	struct ntklog_block_bucket *bucket;
	bool is_found = false;
	unsigned long flags;
	int i;

	local_irq_save(flags);
	bucket = ntklog_trylock_bucket(task);
	if (bucket) {
		entry = ntklog_find_block_entry(bucket, task);
		is_found = entry && entry->longest_period.since >= acquire_time;
		if (is_found) {
			block_stack->since = entry->longest_period.since;
			block_stack->blocked = entry->longest_period.blocked_cycles;
			for (i = 0; i < NTKLOG_BLOCK_FRAMES; i++)
				block_stack->frames[i] =
					ntklog_get_displayed_address(entry->longest_period
									     .frames[i]);
		}
		ntklog_unlock_bucket(bucket);
	}
	local_irq_restore(flags);
	return is_found;
}
