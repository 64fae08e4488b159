/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CHARGE_HOLD_H
#define _NTKLOG_CHARGE_HOLD_H

/* Holds, times without a CPU, and pieces of waits, for charge.h. */

#include <stdbool.h>
#include <stdint.h>

/* Functions of a stack that are kept, from the innermost on. */
#define CHARGE_FRAMES_MAX	8

/* Holds, and times without a CPU, that are kept: the newest of them. */
#define CHARGE_KEPT_MAX		0x10000

/**
 * enum charge_part_kind - kinds of time that a wait is made of
 * @CHARGE_HOLDER_RAN: held; the holder ran, or its switches and sums are not recorded
 * @CHARGE_HOLDER_PREEMPTED: held; the holder was ready, without a CPU
 * @CHARGE_HOLDER_BLOCKED: held; the holder was blocked
 * @CHARGE_FREE_ASLEEP: handed over; the next owner had not been woken yet
 * @CHARGE_FREE_READY: handed over; the next owner was ready, without a CPU
 * @CHARGE_FREE_SPINNING: handed over; the next owner ran and did not take the lock, or its switches
 *	and sums are not recorded
 * @CHARGE_OVERTAKEN: free; then a task came that had not been waiting, and took the lock
 * @CHARGE_UNKNOWN: no hold is recorded
 * @CHARGE_PARTS: number of parts
 */
enum charge_part_kind {
	CHARGE_HOLDER_RAN,
	CHARGE_HOLDER_PREEMPTED,
	CHARGE_HOLDER_BLOCKED,
	CHARGE_FREE_ASLEEP,
	CHARGE_FREE_READY,
	CHARGE_FREE_SPINNING,
	CHARGE_OVERTAKEN,
	CHARGE_UNKNOWN,
	CHARGE_PARTS,
};

/**
 * struct charged_class_key - a class of locks
 * @class: address or class key of the locks
 * @is_sleeping_lock: tasks sleep for these locks; a spin lock may be the first member of such a
 *	lock
 * @kind: of locks that tasks sleep for: enum resource_kind; of spin locks 0. Locks of two kinds may
 *	use the same memory in turn
 */
struct charged_class_key {
	uint64_t class;
	uint32_t is_sleeping_lock;
	uint32_t kind;
};

/**
 * struct charge_hold - a hold, and the wait before it
 * @lock: address of the lock
 * @class: key of the lock's class, or the address of a lock that has none
 * @wait_start: when the wait began, session clock; @acquire_time, if there was no wait
 * @acquire_time: when the hold began; equal to @release_time, if only the wait is recorded, or if
 *	@start_is_unknown
 * @release_time: when the hold ended
 * @log_time: time stamp of the record, which is not before @release_time
 * @caller: address in the function that released a spin lock, or that acquired a lock that tasks
 *	sleep for; 0: not recorded
 * @frames: CHARGE_FRAMES_MAX return addresses of the stack of the release, the innermost first; 0
 *	ends them; NULL: not recorded
 * @block_frames: as @frames, of the stack with which the task was blocked for longest in the hold;
 *	NULL: not recorded
 * @longest_block_ticks: if @block_frames, how long it was blocked then, session clock
 * @thread_id: the task
 * @weight: waits that this one stands for; 0: the wait is not counted
 * @ready_ticks: if @has_off_cpu_times, time of the hold in which the task was ready and had no CPU,
 *	session clock
 * @blocked_ticks: if @has_off_cpu_times, time of the hold in which the task was blocked
 * @ready_ticks_at_end: if @has_off_cpu_times, time at the end of the wait in which the task was
 *	ready and had no CPU
 * @blocked_ticks_in_wait: if @has_off_cpu_times, time of the wait in which the task was blocked
 * @cpu: CPU that wrote the record
 * @irql: IRQL of the release; of a lock that tasks sleep for 0
 * @kind: of a lock that tasks sleep for: enum resource_kind; of a spin lock 0
 * @is_sleeping_lock: the lock is one that tasks sleep for
 * @is_shared: held by a reader
 * @start_is_unknown: the hold ended at @release_time; its start is not recorded
 * @release_left_waiter: the release of a queued spin lock found a waiter in the lock's word
 * @in_softirq: a spin lock released in a softirq
 * @in_interrupt: a spin lock released in a hard interrupt
 * @was_interrupted: interrupts came during the wait or the hold
 * @has_off_cpu_times: the record has the times without a CPU
 * @hold_uses_sums: @ready_ticks and @blocked_ticks divide the hold, and not context switches
 * @wait_uses_sums: @ready_ticks_at_end and @blocked_ticks_in_wait divide the end of the wait
 * @has_inner_wait: of a spin lock: its CPU waited for another spin lock during the hold
 * @older_hold_distance: the number of this hold, less that of the hold of the same bucket of locks
 *	that was released before it; 0: none
 * @older_wait_distance: the same for the bucket of find_charge_owner() and its holds that followed
 *	a wait; of a lock that sleeps only if there was a wait
 *
 * Of a wait without a hold (mode waits), what is said of the release is of the acquisition. A hold
 * that was open at the stop ends when it was listed.
 */
struct charge_hold {
	uint64_t lock;
	uint64_t class;
	uint64_t wait_start;
	uint64_t acquire_time;
	uint64_t release_time;
	uint64_t log_time;
	uint64_t caller;
	const uint64_t *frames;
	const uint64_t *block_frames;
	uint64_t longest_block_ticks;
	uint64_t weight;
	uint64_t ready_ticks;
	uint64_t blocked_ticks;
	uint64_t ready_ticks_at_end;
	uint64_t blocked_ticks_in_wait;
	uint32_t thread_id;
	int32_t older_hold_distance;
	int32_t older_wait_distance;
	uint16_t cpu;
	uint8_t irql;
	uint8_t kind;
	bool is_sleeping_lock;
	bool is_shared;
	bool start_is_unknown;
	bool release_left_waiter;
	bool in_softirq;
	bool in_interrupt;
	bool was_interrupted;
	bool has_off_cpu_times;
	bool hold_uses_sums;
	bool wait_uses_sums;
	bool has_inner_wait;
};

/**
 * find_charge_owner() - tell waiters and holders apart
 * @hold: a hold
 *
 * Return: the task; of a spin lock the CPU, because the holder is not switched out, and a handler
 * has the id of the task that it interrupts.
 */
static inline uint64_t find_charge_owner(const struct charge_hold *hold)
{
	return hold->is_sleeping_lock ? hold->thread_id : UINT64_C(1) << 32 | hold->cpu;
}

/**
 * struct charge_absence - a time in which a task had no CPU
 * @from: when the task was switched out, session clock
 * @ready_from: from when on the task was ready to run
 * @until: when the task was switched in; UINT64_MAX: not yet
 * @frames: CHARGE_FRAMES_MAX return addresses of the stack at the switch, the innermost first; 0
 *	ends them; NULL: not recorded
 * @thread_id: the task
 * @preempter_id: the task that got the CPU, if this one was ready; 0: the idle task, or none
 * @older_link: number of the task's last absence before this one, plus 1; 0: none
 * @far_link: the same, of an absence of the task that may be much earlier
 * @next_task_link: of the newest absence of a task: the same, of the newest absence of the next
 *	task of the bucket, which is older
 * @position: number of older absences of the task; 0: there is none, or the ring has lost it
 */
struct charge_absence {
	uint64_t from;
	uint64_t ready_from;
	uint64_t until;
	const uint64_t *frames;
	uint32_t thread_id;
	uint32_t preempter_id;
	uint64_t older_link;
	uint64_t far_link;
	uint64_t next_task_link;
	uint64_t position;
};

/**
 * struct wait_piece - a piece of a wait
 * @part_kind: kind of this time
 * @from: when it began, session clock. Without @emits_runs of struct charger, the time in which a
 *	task ran may be the sum of several times, of which the first begins then or later
 * @ticks: how long it was, session clock
 * @until: end of the time in which the piece was: @from + @ticks, or later if it is not known when
 *	in that time it was
 * @state_is_known: context switches, or the sums of the hold, tell that this was the part
 * @holder: the hold; of free time the next owner's hold; NULL: not known
 * @absence: of the holder or the next owner, if switches tell that it had no CPU; else NULL
 */
struct wait_piece {
	enum charge_part_kind part_kind;
	uint64_t from;
	uint64_t ticks;
	uint64_t until;
	bool state_is_known;
	const struct charge_hold *holder;
	const struct charge_absence *absence;
};

/**
 * struct chain_link - a lock that a holder waited for
 * @class: class of the lock
 * @from: begin of the wait, or of the time that charger_find_chain() searches if that is later
 * @ticks: length of the wait within that time, session clock
 * @owner: if @has_holder, find_charge_owner() of the hold
 * @thread_id: the task that held the lock, if @has_holder
 * @has_holder: a holder is recorded
 * @in_softirq: a softirq held the lock
 * @in_interrupt: a hard interrupt held the lock
 */
struct chain_link {
	uint64_t class;
	uint64_t from;
	uint64_t ticks;
	uint64_t owner;
	uint32_t thread_id;
	bool has_holder;
	bool in_softirq;
	bool in_interrupt;
};

typedef void (*charge_callback)(void *argument, const struct charge_hold *waiter,
				const struct wait_piece *piece);

#endif /* _NTKLOG_CHARGE_HOLD_H */
