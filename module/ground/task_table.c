// SPDX-License-Identifier: GPL-2.0-only

#include <linux/cache.h>
#include <linux/export.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/processor.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "run_queue.h"
#include "task_cache.h"
#include "task_table.h"

/* Numbers of spare records of all shards together. */
#define NTKLOG_SPARES_FOR_MODULES	128
#define NTKLOG_SPARES_FOR_HOOKS		1024

/* While there are fewer records in the table, those of blocked tasks are not freed. */
#define NTKLOG_RECORDS_KEPT	4096U

/* Attempts to take a shard's lock, for callers that must not wait for its holder without limit. */
#define NTKLOG_LOCK_ATTEMPTS		10000

#define NTKLOG_TASK_SHARDS		16
#define NTKLOG_TASK_BUCKETS_MIN		1024UL
#define NTKLOG_TASK_BUCKETS_MAX		65536UL
#define NTKLOG_TASK_PAGES_PER_BUCKET	512

/**
 * struct ntklog_task_shard - a part of the table, and of the spare records
 * @lock: protects the other members and the buckets of the shard against other writers; not taken
 *	to find a record
 * @record_count: number of records in the buckets of the shard
 * @spare_count: number of records in @spares; read without @lock as a hint
 * @spares: records that belong to no task
 */
struct ntklog_task_shard {
	raw_spinlock_t lock;
	u32 record_count;
	u32 spare_count;
	struct hlist_head spares;
} ____cacheline_aligned_in_smp;

static struct ntklog_task_shard ntklog_task_shards[NTKLOG_TASK_SHARDS];

/* The hash table. Bucket i belongs to shard i % NTKLOG_TASK_SHARDS. */
static struct hlist_head *ntklog_task_buckets __read_mostly;
static unsigned int ntklog_task_bucket_bits __read_mostly;

static struct kmem_cache *ntklog_task_cache;

/* NTKLOG_NEEDED_BY_*. Written with ntklog_task_needs_mutex held, except at unload. */
unsigned int ntklog_task_needs;

static unsigned int ntklog_get_task_bucket_index(const struct task_struct *task)
{
	return hash_ptr(task, ntklog_task_bucket_bits);
}

static struct ntklog_task_shard *ntklog_get_task_shard(const struct task_struct *task)
{
	return &ntklog_task_shards[ntklog_get_task_bucket_index(task) % NTKLOG_TASK_SHARDS];
}

/* Number of spare records that each shard should have. */
static u32 ntklog_choose_spare_target(void)
{
	unsigned int needs = READ_ONCE(ntklog_task_needs);

	if (needs & NTKLOG_NEEDED_BY_HOOKS)
		return NTKLOG_SPARES_FOR_HOOKS / NTKLOG_TASK_SHARDS;
	return needs ? NTKLOG_SPARES_FOR_MODULES / NTKLOG_TASK_SHARDS : 0;
}

/* Called with shard->lock held. */
static void ntklog_push_spare(struct ntklog_task_shard *shard, struct ntklog_task *record)
{
	hlist_add_head(&record->node, &shard->spares);
	WRITE_ONCE(shard->spare_count, shard->spare_count + 1);
}

/* Called with shard->lock held. Returns NULL if the shard has no spare record. */
static struct ntklog_task *ntklog_pop_spare(struct ntklog_task_shard *shard)
{
	struct ntklog_task *record;

	record = hlist_entry_safe(shard->spares.first, struct ntklog_task, node);
	if (record) {
		hlist_del(&record->node);
		WRITE_ONCE(shard->spare_count, shard->spare_count - 1);
	}
	return record;
}

/*
 * Make @record a spare record. Returns false if the shard has enough spare records; the caller must
 * then free @record. While hooks need records, all are kept, because a hook that is preempted may
 * still read the memory of a record: see ntklog_record_is_current().
 */
static bool ntklog_try_to_keep_as_spare(struct ntklog_task_shard *shard, struct ntklog_task *record)
{
	unsigned long flags;
	bool is_kept;

	raw_spin_lock_irqsave(&shard->lock, flags);
	is_kept = shard->spare_count < ntklog_choose_spare_target() ||
	      READ_ONCE(ntklog_task_needs) & NTKLOG_NEEDED_BY_HOOKS;
	if (is_kept)
		ntklog_push_spare(shard, record);
	raw_spin_unlock_irqrestore(&shard->lock, flags);
	return is_kept;
}

/**
 * ntklog_make_spare_task_records() - allocate spare records
 *
 * Context: task; may sleep.
 */
void ntklog_make_spare_task_records(void)
{
	struct ntklog_task_shard *shard;
	struct ntklog_task *record;
	int i;

	for (i = 0; i < NTKLOG_TASK_SHARDS; i++) {
		shard = &ntklog_task_shards[i];
		while (READ_ONCE(shard->spare_count) < ntklog_choose_spare_target()) {
			record = kmem_cache_zalloc(ntklog_task_cache, GFP_KERNEL);
			if (!record)
				return;
			if (!ntklog_try_to_keep_as_spare(shard, record))
				kmem_cache_free(ntklog_task_cache, record);
		}
	}
}

/*
 * With more records than this in the table, the work frees those of blocked tasks. Twice the number
 * that was left the last time, so that it visits at most two records for each inserted one.
 */
static u32 ntklog_records_max = NTKLOG_RECORDS_KEPT;

static void ntklog_run_spare_work(struct work_struct *work)
{
	if (ntklog_count_task_records() > ntklog_records_max) {
		ntklog_free_blocked_task_records();
		ntklog_records_max = max(NTKLOG_RECORDS_KEPT, 2 * ntklog_count_task_records());
	}
	ntklog_make_spare_task_records();
}

static DECLARE_WORK(ntklog_spare_work, ntklog_run_spare_work);

/* A task that takes a spare record may hold locks that a wake-up needs, so an interrupt does it. */
static void ntklog_run_spare_irq_work(struct irq_work *work)
{
	schedule_work(&ntklog_spare_work);
}

static DEFINE_IRQ_WORK(ntklog_spare_irq_work, ntklog_run_spare_irq_work);

static void ntklog_request_spares(const struct ntklog_task_shard *shard)
{
	if (READ_ONCE(shard->spare_count) < ntklog_choose_spare_target() / 2)
		irq_work_queue(&ntklog_spare_irq_work);
}

static void ntklog_take_excess_spares(u32 spare_target, struct hlist_head *excess)
{
	struct ntklog_task_shard *shard;
	struct ntklog_task *record;
	unsigned long flags;
	int i;

	for (i = 0; i < NTKLOG_TASK_SHARDS; i++) {
		shard = &ntklog_task_shards[i];
		do {
			raw_spin_lock_irqsave(&shard->lock, flags);
			record = shard->spare_count > spare_target ? ntklog_pop_spare(shard) : NULL;
			raw_spin_unlock_irqrestore(&shard->lock, flags);
			if (record)
				hlist_add_head(&record->node, excess);
		} while (record);
	}
}

static void ntklog_free_records(struct hlist_head *records)
{
	struct ntklog_task *record;
	struct hlist_node *next;

	hlist_for_each_entry_safe(record, next, records, node)
		kmem_cache_free(ntklog_task_cache, record);
}

/**
 * ntklog_free_excess_task_records() - free the spare records that are not needed
 *
 * Context: task. No hook runs.
 */
void ntklog_free_excess_task_records(void)
{
	HLIST_HEAD(excess);

	ntklog_take_excess_spares(ntklog_choose_spare_target(), &excess);
	ntklog_free_records(&excess);
}

static void ntklog_trim_spares(struct work_struct *work)
{
	HLIST_HEAD(excess);

	ntklog_take_excess_spares(ntklog_choose_spare_target(), &excess);
	/* Wait for hooks that are preempted, and then for hooks that run in idle tasks. */
	synchronize_rcu_tasks();
	synchronize_rcu();
	ntklog_free_records(&excess);
}

static DECLARE_WORK(ntklog_trim_work, ntklog_trim_spares);

/**
 * ntklog_find_task_record() - find the record of any task
 * @task: the task; only compared
 *
 * Context: preemption off or an RCU read-side section, to the end of which the record stays valid.
 * Return: the record, or NULL if there is no such task or it has no record.
 */
struct ntklog_task *ntklog_find_task_record(const struct task_struct *task)
{
	struct ntklog_task *record;

	hlist_for_each_entry_rcu(record, &ntklog_task_buckets[ntklog_get_task_bucket_index(task)],
				 node, !preemptible())
		if (record->task == task)
			return record;
	return NULL;
}

/* Called with interrupts off and shard->lock held. The current task has no record yet. */
static void ntklog_insert_record_locked(struct ntklog_task_shard *shard,
					struct ntklog_task *record, bool exit_is_missed)
{
	ntklog_init_task_record(record, exit_is_missed);
	hlist_add_head_rcu(&record->node,
			   &ntklog_task_buckets[ntklog_get_task_bucket_index(current)]);
	WRITE_ONCE(shard->record_count, shard->record_count + 1);
}

/**
 * ntklog_insert_task_record() - give the current task a record
 * @record: from ntklog_alloc_detached_task_record()
 *
 * Sets exit_is_missed if the task is exiting, so that the probe of sched_process_exit may have run
 * already, or if records are not needed, so that the probe is not registered.
 *
 * Context: interrupts off. The task has no record.
 */
void ntklog_insert_task_record(struct ntklog_task *record)
{
	struct ntklog_task_shard *shard = ntklog_get_task_shard(current);

	raw_spin_lock(&shard->lock);
	ntklog_insert_record_locked(shard, record, current->flags & PF_EXITING ||
				    !READ_ONCE(ntklog_task_needs));
	raw_spin_unlock(&shard->lock);
}

static struct ntklog_task *ntklog_try_to_pop_spare(struct ntklog_task_shard *shard)
{
	struct ntklog_task *record;

	if (!READ_ONCE(shard->spare_count) || !raw_spin_trylock(&shard->lock))
		return NULL;
	record = ntklog_pop_spare(shard);
	raw_spin_unlock(&shard->lock);
	return record;
}

/* Called with shard->lock held. */
static struct ntklog_task *ntklog_steal_spare(const struct ntklog_task_shard *shard)
{
	struct ntklog_task *record = NULL;
	int i;

	for (i = 0; i < NTKLOG_TASK_SHARDS && !record; i++)
		if (&ntklog_task_shards[i] != shard)
			record = ntklog_try_to_pop_spare(&ntklog_task_shards[i]);
	return record;
}

/**
 * ntklog_insert_spare_task_record() - give the current task a spare record
 *
 * Context: interrupts off, whatever locks are held. The task has no record and does not exit.
 * Return: the record; NULL if there is no spare one, or none can be given now.
 */
struct ntklog_task *ntklog_insert_spare_task_record(void)
{
	struct ntklog_task_shard *shard = ntklog_get_task_shard(current);
	struct ntklog_task *record = NULL;
	int attempts_left;

	/*
	 * Do not wait for the lock without limit: a hook may be called by a function that the
	 * holder calls, such as the probe of a tracepoint or a function that prints a report.
	 */
	for (attempts_left = NTKLOG_LOCK_ATTEMPTS; attempts_left; attempts_left--) {
		if (!raw_spin_trylock(&shard->lock)) {
			cpu_relax();
			continue;
		}
		if (READ_ONCE(ntklog_task_needs))
			record = ntklog_pop_spare(shard) ?: ntklog_steal_spare(shard);
		if (record)
			ntklog_insert_record_locked(shard, record, false);
		raw_spin_unlock(&shard->lock);
		break;
	}
	ntklog_request_spares(shard);
	return record;
}

/**
 * ntklog_alloc_detached_task_record() - get a record that is not in the table
 *
 * Context: task, whatever locks are held; does not reclaim memory.
 * Return: a record, or NULL if there is no memory.
 */
struct ntklog_task *ntklog_alloc_detached_task_record(void)
{
	struct ntklog_task_shard *shard = ntklog_get_task_shard(current);
	struct ntklog_task *record;
	unsigned long flags;

	raw_spin_lock_irqsave(&shard->lock, flags);
	record = ntklog_pop_spare(shard);
	raw_spin_unlock_irqrestore(&shard->lock, flags);
	ntklog_request_spares(shard);
	return record ?: kmem_cache_zalloc(ntklog_task_cache, GFP_ATOMIC | __GFP_NOWARN);
}

/**
 * ntklog_free_detached_task_record() - undo ntklog_alloc_detached_task_record()
 * @record: a record that has not been inserted
 *
 * Context: task.
 */
void ntklog_free_detached_task_record(struct ntklog_task *record)
{
	if (!ntklog_try_to_keep_as_spare(ntklog_get_task_shard(current), record))
		kmem_cache_free(ntklog_task_cache, record);
}

static void ntklog_free_record_rcu(struct rcu_head *rcu)
{
	struct ntklog_task *record = container_of(rcu, struct ntklog_task, rcu);
	/* Any shard will do; this one spreads the records evenly. */
	struct ntklog_task_shard *shard =
		&ntklog_task_shards[hash_ptr(record, ilog2(NTKLOG_TASK_SHARDS))];

	if (!ntklog_try_to_keep_as_spare(shard, record))
		kmem_cache_free(ntklog_task_cache, record);
	else if (READ_ONCE(shard->spare_count) > 2 * ntklog_choose_spare_target())
		schedule_work(&ntklog_trim_work);
}

/**
 * ntklog_unlink_task_record() - remove a record from the table
 * @record: the record
 *
 * Several tasks may unlink the same record concurrently. One of the calls succeeds.
 *
 * Context: an RCU read-side section in which @record was found in the table, or the task of a
 * record with exit_is_missed.
 * Return: true if this call has removed it. The caller must then free it.
 */
bool ntklog_unlink_task_record(struct ntklog_task *record)
{
	struct ntklog_task_shard *shard = ntklog_get_task_shard(READ_ONCE(record->task));
	unsigned long flags;
	bool was_linked;

	raw_spin_lock_irqsave(&shard->lock, flags);
	was_linked = !hlist_unhashed(&record->node);
	if (was_linked) {
		hlist_del_init_rcu(&record->node);
		WRITE_ONCE(shard->record_count, shard->record_count - 1);
	}
	raw_spin_unlock_irqrestore(&shard->lock, flags);
	return was_linked;
}

static void ntklog_disown_record(struct ntklog_task *record)
{
	ntklog_uncache_task_record(record, -1);
	ntklog_drop_sleeping_slots(record);
	if (record->exit_is_missed)
		put_task_struct(record->task);
	WRITE_ONCE(record->task, NULL);
}

/**
 * ntklog_free_unlinked_record() - free a record after a grace period
 * @record: the record, after ntklog_unlink_task_record()
 *
 * Context: the task of the record; or any task, if that task does not look up its record any more.
 */
void ntklog_free_unlinked_record(struct ntklog_task *record)
{
	ntklog_disown_record(record);
	call_rcu(&record->rcu, ntklog_free_record_rcu);
}

/**
 * ntklog_free_current_record() - free the record of the current task, if no exit probe does
 * @record: the record, with exit_is_missed
 *
 * Context: task. Until the function returns, the task does not look up its record.
 */
void ntklog_free_current_record(struct ntklog_task *record)
{
	rcu_read_lock();
	if (ntklog_unlink_task_record(record))
		ntklog_free_unlinked_record(record);
	rcu_read_unlock();
}

static void ntklog_free_record_if_blocked(struct ntklog_task *record, void *unused)
{
	/* NULL if the record has been unlinked. A task that it still names is kept valid by RCU. */
	struct task_struct *task = READ_ONCE(record->task);
	unsigned long flags;
	bool is_freed;

	if (!task || !ntklog_record_is_unused(record))
		return;
	/* Hooks do not block, so a blocked task is in none, and has no pointer to @record. */
	raw_spin_lock_irqsave(&task->pi_lock, flags);
	is_freed = ntklog_task_is_blocked(task) && ntklog_record_is_unused(record) &&
		   ntklog_unlink_task_record(record);
	if (is_freed)
		ntklog_disown_record(record);
	raw_spin_unlock_irqrestore(&task->pi_lock, flags);
	/* Without pi_lock, because call_rcu() may wake up a task. */
	if (is_freed)
		call_rcu(&record->rcu, ntklog_free_record_rcu);
}

/**
 * ntklog_free_blocked_task_records() - free the records of blocked tasks that do not need theirs
 *
 * A task gets a record again when it next needs one.
 *
 * Context: task.
 */
void ntklog_free_blocked_task_records(void)
{
	ntklog_visit_task_records(ntklog_free_record_if_blocked, NULL);
}

/**
 * ntklog_wait_for_insertions() - wait for the insertions of tasks that found records needed
 *
 * A task reads ntklog_task_needs and inserts its record with the lock of a shard held. After this
 * function each task either has its record in the table, or finds the present ntklog_task_needs.
 *
 * Context: task.
 */
void ntklog_wait_for_insertions(void)
{
	unsigned long flags;
	int i;

	for (i = 0; i < NTKLOG_TASK_SHARDS; i++) {
		raw_spin_lock_irqsave(&ntklog_task_shards[i].lock, flags);
		raw_spin_unlock_irqrestore(&ntklog_task_shards[i].lock, flags);
	}
}

/**
 * ntklog_count_task_records() - count the tasks that have a record
 *
 * Context: any. The value may be stale when it is returned.
 * Return: number of records in the table.
 */
u32 ntklog_count_task_records(void)
{
	u32 count = 0;
	int i;

	for (i = 0; i < NTKLOG_TASK_SHARDS; i++)
		count += READ_ONCE(ntklog_task_shards[i].record_count);
	return count;
}

/**
 * ntklog_count_spare_task_records() - count the spare records
 *
 * Context: any. The value may be stale when it is returned.
 * Return: number of spare records of all shards.
 */
u32 ntklog_count_spare_task_records(void)
{
	u32 count = 0;
	int i;

	for (i = 0; i < NTKLOG_TASK_SHARDS; i++)
		count += READ_ONCE(ntklog_task_shards[i].spare_count);
	return count;
}

/**
 * ntklog_visit_task_records() - call a function for each record in the table
 * @visit: the function; must not sleep
 * @data: its second argument
 *
 * @visit may remove the record from the table.
 *
 * Context: task. Records that are inserted or removed concurrently may be missed.
 */
void ntklog_visit_task_records(ntklog_visit_record_t visit, void *data)
{
	struct ntklog_task *record;
	unsigned int bucket_index;

	for (bucket_index = 0; bucket_index < 1U << ntklog_task_bucket_bits; bucket_index++) {
		rcu_read_lock();
		hlist_for_each_entry_rcu(record, &ntklog_task_buckets[bucket_index], node)
			visit(record, data);
		rcu_read_unlock();
	}
}

/**
 * ntklog_alloc_task_table() - allocate the table and its slab cache
 *
 * Context: module load.
 * Return: 0 or -ENOMEM. In either case ntklog_free_task_table() frees the memory.
 */
int __init ntklog_alloc_task_table(void)
{
	unsigned long bucket_count = clamp(totalram_pages() / NTKLOG_TASK_PAGES_PER_BUCKET,
					   NTKLOG_TASK_BUCKETS_MIN, NTKLOG_TASK_BUCKETS_MAX);
	struct ntklog_task *record;
	int i;

	for (i = 0; i < NTKLOG_TASK_SHARDS; i++)
		raw_spin_lock_init(&ntklog_task_shards[i].lock);
	ntklog_task_bucket_bits = order_base_2(bucket_count);
	ntklog_task_buckets = kvcalloc(1UL << ntklog_task_bucket_bits,
				       sizeof(*ntklog_task_buckets), GFP_KERNEL);
	ntklog_task_cache = kmem_cache_create("ntklog_task",
					      struct_size(record, cpus, BITS_TO_LONGS(nr_cpu_ids)),
					      0, SLAB_HWCACHE_ALIGN, NULL);
	return ntklog_task_buckets && ntklog_task_cache ? 0 : -ENOMEM;
}

/**
 * ntklog_free_task_table() - free all records, the table and its slab cache
 *
 * Context: module unload, or a failed load. No function of this file runs or will run.
 */
void ntklog_free_task_table(void)
{
	struct ntklog_task *record;
	struct hlist_node *next;
	unsigned int bucket_index;

	irq_work_sync(&ntklog_spare_irq_work);
	cancel_work_sync(&ntklog_spare_work);
	/* Wait for all calls of ntklog_free_record_rcu(), which schedules the work. */
	rcu_barrier();
	cancel_work_sync(&ntklog_trim_work);
	for (bucket_index = 0;
	     ntklog_task_buckets && bucket_index < 1U << ntklog_task_bucket_bits; bucket_index++)
		hlist_for_each_entry_safe(record, next, &ntklog_task_buckets[bucket_index], node) {
			if (record->exit_is_missed)
				put_task_struct(record->task);
			kmem_cache_free(ntklog_task_cache, record);
		}
	WRITE_ONCE(ntklog_task_needs, 0);
	ntklog_free_excess_task_records();
	kmem_cache_destroy(ntklog_task_cache);
	kvfree(ntklog_task_buckets);
}
