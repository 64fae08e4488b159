// SPDX-License-Identifier: GPL-2.0-only

#include <stdlib.h>

#include "grow.h"
#include "step_watch.h"

/* Number of repetitions that hardly occurs by chance, unless nearly all records have one key. */
#define STEP_REPEATS	32

/* Longest loop that is considered. */
#define STEP_LOOP_MAX	32

/**
 * step_rate_fits_loops() - test whether a sample rate can be in step with a short loop
 * @rate: one acquisition in @rate is written
 *
 * Return: true if @rate is divisible by a number from 2 to STEP_LOOP_MAX.
 */
bool step_rate_fits_loops(uint32_t rate)
{
	uint32_t divisor;

	for (divisor = 2; rate > 1 && divisor <= STEP_LOOP_MAX; divisor++)
		if (rate % divisor == 0)
			return true;
	return false;
}

/**
 * step_watch_add() - add a record that was chosen by its number
 * @watch: the last records
 * @cpu: number of the record's CPU
 * @key: hash of the record's lock and caller
 * @in_step: set to true if the CPU's last records repeat a short sequence
 *
 * Return: false without memory.
 */
bool step_watch_add(struct step_watch *watch, unsigned int cpu, uint64_t key, bool *in_step)
{
	struct step_watch_cpu *cpu_keys;
	unsigned int period;

	*in_step = false;
	if (cpu >= watch->cpu_count) {
		cpu_keys = grow_to(watch->cpus, watch->cpu_count, cpu + 1, sizeof(*cpu_keys));
		if (!cpu_keys)
			return false;
		watch->cpus = cpu_keys;
		watch->cpu_count = cpu + 1;
	}
	cpu_keys = &watch->cpus[cpu];
	for (period = 1; period <= STEP_PERIODS_MAX; period++) {
		uint8_t *repeat_count = &cpu_keys->repeat_counts[period - 1];

		if (period > cpu_keys->record_count ||
		    cpu_keys->last_keys[(cpu_keys->record_count -
					 period) % STEP_PERIODS_MAX] != key)
			*repeat_count = 0;
		else if (*repeat_count < STEP_REPEATS)
			++*repeat_count;
		if (*repeat_count == STEP_REPEATS)
			*in_step = true;
	}
	cpu_keys->last_keys[cpu_keys->record_count++ % STEP_PERIODS_MAX] = key;
	return true;
}

/**
 * step_watch_free() - free the records
 * @watch: empty afterwards
 */
void step_watch_free(struct step_watch *watch)
{
	free(watch->cpus);
	*watch = (struct step_watch) { 0 };
}
