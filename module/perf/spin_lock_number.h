/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_SPIN_LOCK_NUMBER_H
#define _NTKLOG_PERF_SPIN_LOCK_NUMBER_H

/*
 * Numbers of slots, for the slow paths. The slots in use of a CPU have the numbers from 1 to
 * ntklog_count_slots_in_use(). The first PERF_SPIN_LOCK_DEPTH slots are in cpu->slots, where the
 * fast paths access them, the others in cpu->overflow_slots.
 *
 * An acquisition takes a slot of cpu->slots in any case, by one change of cpu->state. If all
 * slots of cpu->slots that may be filled are in use, the acquisition fills an overflow slot and
 * leaves the slot of cpu->slots empty. The empty slot of the first overflow slot stays in use until
 * the last overflow slot is freed. Each further overflow slot frees its empty slot at once.
 * cpu->state thus names an empty slot while overflow slots are in use, and the fast paths fail.
 *
 * An NMI may arrive between two steps of these functions. The slot that its handler takes is empty
 * in each case. The handler frees its slots before it returns.
 *
 * Context of all: on that CPU, with interrupts off.
 */

#include <linux/compiler.h>
#include <linux/percpu.h>
#include <linux/types.h>

#include "spin_lock_cpu.h"

/* One instruction, because an NMI handler changes the same word. */
static inline void ntklog_add_slots_in_use(int slots)
{
	this_cpu_add(ntklog_spin_lock_cpu.state, slots * PERF_SPIN_LOCK_SLOT_SIZE);
}

/* Return the slot with this number. Slot 0 is a dummy whose lock stays 0. */
static inline struct ntklog_spin_lock_slot *ntklog_get_slot(struct ntklog_spin_lock_cpu *cpu,
							    u32 number)
{
	if (likely(number <= PERF_SPIN_LOCK_DEPTH))
		return &cpu->slots[number];
	return &cpu->overflow_slots->slots[number - PERF_SPIN_LOCK_DEPTH - 1];
}

/*
 * If all slots are in use, gives the slot of cpu->slots back and returns 0. overflow_slots_in_use
 * is incremented before the overflow slot is filled, so that an NMI handler fills a higher slot.
 */
static inline u32 ntklog_choose_slot_number(struct ntklog_spin_lock_cpu *cpu)
{
	u32 overflow_count = READ_ONCE(cpu->overflow_slots_in_use);
	u32 number = ntklog_count_slots_in_use(cpu);

	if (!overflow_count && number <= PERF_SPIN_LOCK_DEPTH)
		return number;
	if (overflow_count == PERF_OVERFLOW_SLOT_COUNT) {
		ntklog_add_slots_in_use(-1);
		return 0;
	}
	this_cpu_inc(ntklog_spin_lock_cpu.overflow_slots_in_use);
	if (overflow_count)
		ntklog_add_slots_in_use(-1);
	return PERF_SPIN_LOCK_DEPTH + overflow_count + 1;
}

/* Find the topmost slot of @lock. Returns its number, or 0 if the lock has no slot. */
static inline u32 ntklog_find_slot_number(struct ntklog_spin_lock_cpu *cpu, const void *lock)
{
	u32 number = ntklog_count_slots_in_use(cpu);

	while (number &&
	       ntklog_get_slot_lock_address(ntklog_get_slot(cpu, number)) != (unsigned long)lock)
		number--;
	return number;
}

static inline void ntklog_remove_slot(struct ntklog_spin_lock_cpu *cpu, u32 number)
{
	u32 last = ntklog_count_slots_in_use(cpu);
	u32 *spin_counts = cpu->overflow_slots->spin_counts;

	if (ntklog_get_slot(cpu, number)->lock & PERF_SPIN_LOCK_UNTRACKED)
		this_cpu_dec(ntklog_spin_lock_cpu.untracked_slots_in_use);
	for (; number < last; number++) {
		*ntklog_get_slot(cpu, number) = *ntklog_get_slot(cpu, number + 1);
		spin_counts[number] = spin_counts[number + 1];
	}
	ntklog_get_slot(cpu, last)->lock = 0;
	if (READ_ONCE(cpu->overflow_slots_in_use)) {
		this_cpu_dec(ntklog_spin_lock_cpu.overflow_slots_in_use);
		if (READ_ONCE(cpu->overflow_slots_in_use))
			return;
	}
	ntklog_add_slots_in_use(-1);
}

#endif /* _NTKLOG_PERF_SPIN_LOCK_NUMBER_H */
