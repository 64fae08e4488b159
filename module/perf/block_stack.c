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
#include "../ground/compat.h"
#include "../ground/word.h"
#include "block_stack.h"
#include "sleeping_slots.h"
#include "stack.h"

#define NTKLOG_BLOCK_BITS	8
#define NTKLOG_BLOCK_WAYS	4

/* A block that began longer ago counts as ended, because its end has probably been missed. */
#define NTKLOG_BLOCK_MAX_MS	(10 * 60 * MSEC_PER_SEC)

/*
 * A time in which a task was blocked, in cycles. since is 0 if there is none; cycles is 0 while the
 * task is blocked. A frame of 0 ends the frames, if there are fewer.
 */
struct ntklog_block {
	u64 since;
	u64 cycles;
	unsigned long frames[NTKLOG_BLOCK_FRAMES];
};

/*
 * Blocks of one task, which is only compared. When a block begins, a longest one that is older than
 * the task's oldest hold is dropped.
 */
struct ntklog_task_blocks {
	const struct task_struct *task;
	struct ntklog_block last;
	struct ntklog_block longest;
};

/* is_used: a CPU reads or writes the entries, with interrupts off. */
struct ntklog_block_bucket {
	atomic_t is_used;
	struct ntklog_task_blocks entries[NTKLOG_BLOCK_WAYS];
};

/* Published with smp_store_release(); set to NULL when no probe and no hook runs. */
static struct ntklog_block_bucket *ntklog_block_buckets;

/**
 * ntklog_blocks_have_stacks() - test whether a session logs the stacks of sleeping locks
 *
 * Context: any. The result may be stale when it is returned.
 * Return: true if a started session that logs sleeping locks wants the stacks of resources.
 */
bool ntklog_blocks_have_stacks(void)
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
EXPORT_SYMBOL_IF_KUNIT(ntklog_blocks_have_stacks);

/**
 * ntklog_alloc_block_stacks() - allocate the table if a session logs stacks
 *
 * Context: task; may sleep. Callers are serialized, also with ntklog_free_block_stacks().
 */
void ntklog_alloc_block_stacks(void)
{
	struct ntklog_block_bucket *buckets;

	if (ntklog_block_buckets || !ntklog_blocks_have_stacks())
		return;
	buckets = kvcalloc(1 << NTKLOG_BLOCK_BITS, sizeof(*buckets), GFP_KERNEL | __GFP_NOWARN);
	/* Pairs with smp_load_acquire() in ntklog_use_bucket(). */
	smp_store_release(&ntklog_block_buckets, buckets);
}

static void ntklog_run_block_stacks_work(struct work_struct *work)
{
	ntklog_alloc_block_stacks();
}

static DECLARE_WORK(ntklog_block_stacks_work, ntklog_run_block_stacks_work);

/**
 * ntklog_request_block_stacks() - have the table allocated if a session logs stacks
 *
 * A work item allocates, because the caller must not wait until memory is reclaimed.
 *
 * Context: work item that is cancelled before ntklog_free_block_stacks().
 */
void ntklog_request_block_stacks(void)
{
	if (!READ_ONCE(ntklog_block_buckets) && ntklog_blocks_have_stacks())
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
static struct ntklog_block_bucket *ntklog_use_bucket(const struct task_struct *task)
{
	struct ntklog_block_bucket *bucket;

	/* Pairs with smp_store_release() in ntklog_alloc_block_stacks(). */
	bucket = smp_load_acquire(&ntklog_block_buckets);
	if (!bucket)
		return NULL;
	bucket += hash_ptr(task, NTKLOG_BLOCK_BITS);
	return atomic_cmpxchg_acquire(&bucket->is_used, 0, 1) ? NULL : bucket;
}

static void ntklog_put_bucket(struct ntklog_block_bucket *bucket)
{
	atomic_set_release(&bucket->is_used, 0);
}

static struct ntklog_task_blocks *ntklog_find_blocks(struct ntklog_block_bucket *bucket,
						     const struct task_struct *task)
{
	int i;

	for (i = 0; i < NTKLOG_BLOCK_WAYS; i++)
		if (bucket->entries[i].task == task)
			return &bucket->entries[i];
	return NULL;
}

static bool ntklog_blocks_are_replaceable(const struct ntklog_task_blocks *blocks, u64 now)
{
	/* Signed, because the clocks of two CPUs may differ. */
	return !blocks->task || blocks->last.cycles ||
	       (s64)(now - blocks->last.since) > (s64)ntklog_ms_to_cycles(NTKLOG_BLOCK_MAX_MS);
}

/* Returns NULL if the task has no entry and each entry of the bucket has a block that goes on. */
static struct ntklog_task_blocks *ntklog_find_or_take_blocks(struct ntklog_block_bucket *bucket,
							     const struct task_struct *task,
							     u64 now)
{
	struct ntklog_task_blocks *blocks = ntklog_find_blocks(bucket, task);
	struct ntklog_task_blocks *entry;

	if (blocks)
		return blocks;
	for (entry = bucket->entries; entry < &bucket->entries[NTKLOG_BLOCK_WAYS]; entry++)
		if (ntklog_blocks_are_replaceable(entry, now) &&
		    (!blocks || entry->last.since < blocks->last.since))
			blocks = entry;
	if (blocks) {
		blocks->task = task;
		blocks->longest.since = 0;
	}
	return blocks;
}

/* Return when the oldest hold of the current task began, or U64_MAX if it has no hold. */
static u64 ntklog_find_oldest_hold_start(const struct ntklog_task *record)
{
	u64 oldest_start = U64_MAX;
	int i;

	for (i = 1; i <= NTKLOG_TASK_SLOTS; i++) {
		const struct ntklog_sleeping_slot *slot = &record->sleeping_slots[i];

		if (READ_ONCE(slot->lock) && !(READ_ONCE(slot->action) & NTKLOG_SLEEPING_WAITING))
			oldest_start = min(oldest_start, ntklog_read_u64(slot->acquire_time));
	}
	return oldest_start;
}

/**
 * ntklog_begin_block() - save the stack of the current task, which is about to be blocked
 * @record: its record
 * @now: current time, in cycles
 *
 * Context: probe of sched_switch; a session logs stacks.
 */
void ntklog_begin_block(const struct ntklog_task *record, u64 now)
{
	u64 oldest_start = ntklog_find_oldest_hold_start(record);
	struct ntklog_block_bucket *bucket;
	struct ntklog_task_blocks *blocks;

	/* A task that only waits for a lock has no hold to explain. */
	if (oldest_start == U64_MAX)
		return;
	bucket = ntklog_use_bucket(record->task);
	if (!bucket)
		return;
	blocks = ntklog_find_or_take_blocks(bucket, record->task, now);
	if (blocks) {
		if (blocks->longest.since < oldest_start)
			blocks->longest.since = 0;
		blocks->last.since = now;
		blocks->last.cycles = 0;
		if (!ntklog_save_stack(blocks->last.frames, NTKLOG_BLOCK_FRAMES)) {
			blocks->task = NULL;
			blocks->last.since = 0;
		}
	}
	ntklog_put_bucket(bucket);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_begin_block);

/**
 * ntklog_end_block() - keep the stack of a block if it is the longest one
 * @task: the task, which gets a CPU
 * @since: when the block began; may not be the last block in the table
 * @blocked_cycles: how long it was blocked, in cycles
 *
 * Context: probe of sched_switch.
 */
void ntklog_end_block(const struct task_struct *task, u64 since, u64 blocked_cycles)
{
	struct ntklog_block_bucket *bucket = ntklog_use_bucket(task);
	struct ntklog_task_blocks *blocks;

	if (!bucket)
		return;
	blocks = ntklog_find_blocks(bucket, task);
	if (blocks && blocks->last.since == since) {
		blocks->last.cycles = max(blocked_cycles, 1ULL);
		if (!blocks->longest.since || blocks->longest.cycles < blocked_cycles)
			blocks->longest = blocks->last;
	}
	ntklog_put_bucket(bucket);
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_end_block);

/**
 * ntklog_get_longest_block() - get the longest block of a hold
 * @task: the task that holds the lock
 * @acquire_time: when the hold began, in cycles
 * @block: the result; its lock is not set
 *
 * Context: task, preemption off.
 * Return: true if the longest block that is known of the task began in the hold.
 */
bool ntklog_get_longest_block(const struct task_struct *task, u64 acquire_time,
			      struct ntklog_block_stack *block)
{
	const struct ntklog_task_blocks *blocks;
	struct ntklog_block_bucket *bucket;
	bool is_found = false;
	unsigned long flags;
	int i;

	local_irq_save(flags);
	bucket = ntklog_use_bucket(task);
	if (bucket) {
		blocks = ntklog_find_blocks(bucket, task);
		is_found = blocks && blocks->longest.since >= acquire_time;
		if (is_found) {
			block->since = blocks->longest.since;
			block->blocked = blocks->longest.cycles;
			for (i = 0; i < NTKLOG_BLOCK_FRAMES; i++)
				block->frames[i] =
					ntklog_get_displayed_address(blocks->longest.frames[i]);
		}
		ntklog_put_bucket(bucket);
	}
	local_irq_restore(flags);
	return is_found;
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_get_longest_block);
