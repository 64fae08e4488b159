// SPDX-License-Identifier: GPL-2.0-only
/*
 * native: compare NT's locks with other locks on this machine's CPUs. Prints lines for
 * bench/native.py:
 *
 *	pair APART RUN CYCLES NAME
 *	cycles CYCLES MICROSECONDS
 *	contended THREADS SECTION OUTSIDE RUN HANDOVERS EVENTS COUNT-1 ... COUNT-THREADS NAME
 *	repeated KIND TIMES DISTURBED RUNS
 *
 * `pair`: CYCLES is the time of one uncontended acquisition and its release, with the loop, in
 * TSC cycles. APART is 1 if a hundred cycles pass between two pairs.
 * `cycles`: duration of each contended run, in TSC cycles.
 * `contended`: THREADS threads contend, each on its CPU. THREADS is 2, 4, 8 and 16, if the machine
 * has as many CPUs. SECTION is the time that the lock is held, OUTSIDE the maximum time between two
 * holds, in cycles. COUNT is the number of acquisitions of each thread, HANDOVERS the number of
 * acquisitions that followed one of another thread, EVENTS the number of written events.
 * `repeated`: a measurement with a context switch in it is repeated, up to ATTEMPTS times. TIMES
 * is the number of repetitions, DISTURBED the number of results with a context switch.
 *
 * In each run the program measures one lock after the other, in an order that rotates from run to
 * run. Lock and stack lie at random addresses, which are the same for all locks of a run.
 */

#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "contestant.h"

#define MAX_CONTESTANTS	64
#define LINE		64
#define LINES		256
#define STACK_LINES	32
#define ATTEMPTS	20
#define PAIRS		10000
#define WARM_UP		500

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

struct native_protected_data native_protected_data;

static char arena[LINE * LINES] __attribute__((aligned(4096)));
static const struct native_contestant *contestants[MAX_CONTESTANTS];
static int contestant_count;
static cpu_set_t allowed_cpus;

/* Addresses in this run: the lock, and the bytes by which the stacks are moved. */
static void *lock;
static size_t stack_shift[NATIVE_THREADS_MAX];

/*
 * The current contended run. The pthread barriers order the writes of the main thread and the reads
 * of the threads.
 */
static struct {
	int thread_count;
	const struct native_contestant *contestant;
	struct native_contender contender[NATIVE_THREADS_MAX];
	long switches[NATIVE_THREADS_MAX];
	bool ready[NATIVE_THREADS_MAX];
	unsigned long events;
	bool is_over;
	pthread_barrier_t begin, end;
} run;

static unsigned long deadline __attribute__((aligned(LINE)));

/*
 * Take time by multiplications of which each depends on the previous one. All callers share one
 * copy of the loop, because the alignment of the loop changes its speed.
 */
__attribute__((noinline, aligned(LINE))) void native_work(unsigned int iterations)
{
	unsigned long x = iterations;

	while (iterations--)
		__asm__ volatile("imul %0, %0" : "+r" (x));
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void add_contestants(const struct native_contestant *added)
{
	for (; added->name; added++)
		contestants[contestant_count++] = added;
}

static void run_on_cpu(int number)
{
	cpu_set_t one_cpu;
	int cpu;

	for (cpu = 0; ; cpu++)
		if (CPU_ISSET(cpu, &allowed_cpus) && !number--)
			break;
	CPU_ZERO(&one_cpu);
	CPU_SET(cpu, &one_cpu);
	if (sched_setaffinity(0, sizeof(one_cpu), &one_cpu))
		die("sched_setaffinity");
}

static long count_switches(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		die("getrusage");
	return usage.ru_nivcsw + usage.ru_nvcsw;
}

static void lay_out_arena(int number)
{
	int i;

	srandom(number + 1);
	lock = arena + LINE * (random() % LINES);
	for (i = 0; i < NATIVE_THREADS_MAX; i++)
		stack_shift[i] = LINE * (1 + random() % STACK_LINES);
}

static void prepare_contestant(const struct native_contestant *contestant)
{
	native_set_tracing(contestant->tracing);
	native_set_sampling(contestant->contention_sample_rate);
	memset(lock, 0, LINE);
	contestant->initialize(lock);
}

/* Keep the compiler from removing an allocation on the stack. */
static inline void keep_allocation(void *memory)
{
	__asm__ volatile("" :: "r" (memory) : "memory");
}

static __attribute__((noinline)) void run_pairs(const struct native_contestant *contestant,
						unsigned long count, bool waits_after_release)
{
	keep_allocation(__builtin_alloca(stack_shift[0]));
	contestant->run_pairs(lock, count, waits_after_release);
}

static __attribute__((noinline)) void contend(int thread)
{
	long before = count_switches();

	keep_allocation(__builtin_alloca(stack_shift[thread]));
	__atomic_store_n(&run.ready[thread], true, __ATOMIC_RELEASE);
	run.contestant->contend(&run.contender[thread]);
	run.switches[thread] = count_switches() - before;
}

static void measure_pairs(int run_count, bool waits_after_release)
{
	long repeated_runs = 0, disturbed_runs = 0;
	int number, turn, attempt;

	for (number = 0; number < run_count; number++) {
		lay_out_arena(number);
		for (turn = 0; turn < contestant_count; turn++) {
			const struct native_contestant *contestant =
				contestants[(turn + number) % contestant_count];
			unsigned long start, cycles = 0;
			long before, switch_count = 1;

			prepare_contestant(contestant);
			run_pairs(contestant, WARM_UP, waits_after_release);
			for (attempt = 0; switch_count && attempt < ATTEMPTS; attempt++) {
				before = count_switches();
				start = native_tsc();
				run_pairs(contestant, PAIRS, waits_after_release);
				cycles = native_tsc() - start;
				switch_count = count_switches() - before;
				repeated_runs += attempt > 0;
			}
			disturbed_runs += switch_count != 0;
			printf("pair %d %d %.3f %s\n", waits_after_release, number,
			       (double)cycles / PAIRS, contestant->name);
		}
	}
	printf("repeated pair-%d %ld %ld %d\n", waits_after_release, repeated_runs, disturbed_runs,
	       run_count * contestant_count);
}

static void *run_contender(void *number)
{
	int thread = (long)number;

	run_on_cpu(thread);
	native_become_cpu(thread);
	for (;;) {
		pthread_barrier_wait(&run.begin);
		if (run.is_over)
			return NULL;
		contend(thread);
		pthread_barrier_wait(&run.end);
	}
}

static unsigned int iterations_for_cycles(unsigned int cycles)
{
	unsigned long least_cycles = -1UL;
	int i;

	for (i = 0; i < 50; i++) {
		unsigned long start = native_tsc(), passed;

		native_work(10000);
		passed = native_tsc() - start;
		if (passed < least_cycles)
			least_cycles = passed;
	}
	return 10000UL * cycles / least_cycles;
}

static unsigned long count_events(void)
{
	unsigned long events;

	if (!native_count_events(&events)) {
		fprintf(stderr, "a held lock or an event is lost\n");
		exit(1);
	}
	return events;
}

static void do_contended_run(const struct native_contestant *contestant,
			     unsigned int inside_iterations, unsigned int outside_iterations,
			     unsigned long cycles)
{
	unsigned long total = 0, before;
	int i;

	prepare_contestant(contestant);
	before = count_events();
	native_protected_data = (struct native_protected_data){};
	deadline = 0;
	run.contestant = contestant;
	for (i = 0; i < run.thread_count; i++) {
		run.contender[i] = (struct native_contender) {
			.lock = lock,
			.inside_iterations = inside_iterations,
			.outside_iterations = outside_iterations,
			.deadline = &deadline,
			.thread = i,
		};
		run.ready[i] = false;
	}
	pthread_barrier_wait(&run.begin);
	for (i = 1; i < run.thread_count; i++)
		while (!__atomic_load_n(&run.ready[i], __ATOMIC_ACQUIRE))
			__asm__ volatile("pause");
	__atomic_store_n(&deadline, native_tsc() + cycles, __ATOMIC_RELEASE);
	contend(0);
	pthread_barrier_wait(&run.end);
	run.events = count_events() - before;
	for (i = 0; i < run.thread_count; i++)
		total += run.contender[i].count;
	if (inside_iterations && !contestant->shared && native_protected_data.count != total) {
		fprintf(stderr, "%s does not exclude\n", contestant->name);
		exit(1);
	}
}

static bool thread_was_switched(void)
{
	int i;

	for (i = 0; i < run.thread_count; i++)
		if (run.switches[i])
			return true;
	return false;
}

static void print_contended(unsigned int inside_cycles, unsigned int outside_cycles, int number)
{
	unsigned long handovers = 0;
	int i;

	for (i = 0; i < run.thread_count; i++)
		handovers += run.contender[i].handovers;
	printf("contended %d %u %u %d %lu %lu", run.thread_count, inside_cycles, outside_cycles,
	       number, handovers, run.events);
	for (i = 0; i < run.thread_count; i++)
		printf(" %lu", run.contender[i].count);
	printf(" %s\n", run.contestant->name);
}

static void measure_contended(int run_count, unsigned int inside_cycles,
			      unsigned int outside_cycles, unsigned long cycles)
{
	unsigned int inside_iterations = inside_cycles ? iterations_for_cycles(inside_cycles) : 0;
	unsigned int outside_iterations = outside_cycles ?
					  iterations_for_cycles(outside_cycles) : 0;
	long repeated_runs = 0, disturbed_runs = 0, measured_runs = 0;
	int number, turn, attempt;

	for (number = 0; number < run_count; number++) {
		lay_out_arena(number);
		for (turn = 0; turn < contestant_count; turn++) {
			const struct native_contestant *contestant =
				contestants[(turn + number) % contestant_count];
			bool was_switched = true;

			if (contestant->uncontended_only)
				continue;
			for (attempt = 0; was_switched && attempt < ATTEMPTS; attempt++) {
				do_contended_run(contestant, inside_iterations, outside_iterations,
						 cycles);
				was_switched = thread_was_switched();
				repeated_runs += attempt > 0;
			}
			disturbed_runs += was_switched;
			measured_runs++;
			print_contended(inside_cycles, outside_cycles, number);
		}
	}
	printf("repeated contended-%d-%u-%u %ld %ld %ld\n", run.thread_count, inside_cycles,
	       outside_cycles, repeated_runs, disturbed_runs, measured_runs);
}

static unsigned long microseconds_to_cycles(unsigned long microseconds)
{
	unsigned long start = native_tsc();

	usleep(100000);
	return (native_tsc() - start) * microseconds / 100000;
}

/* Two threads have all loads, more threads those with work inside and outside. */
static void measure_loads(int thread_count, int run_count, unsigned long cycles)
{
	static const struct { unsigned int inside_cycles, outside_cycles; } loads[] = {
		{ 0, 0 }, { 100, 0 }, { 1000, 0 }, { 0, 300 },
		{ 100, 300 }, { 1000, 1000 }, { 100, 3000 },
	};
	pthread_t thread[NATIVE_THREADS_MAX];
	size_t i;
	long n;

	run.thread_count = thread_count;
	run.is_over = false;
	pthread_barrier_init(&run.begin, NULL, thread_count);
	pthread_barrier_init(&run.end, NULL, thread_count);
	for (n = 1; n < thread_count; n++)
		if (pthread_create(&thread[n], NULL, run_contender, (void *)n))
			die("pthread_create");
	for (i = 0; i < ARRAY_SIZE(loads); i++)
		if (thread_count == 2 || (loads[i].inside_cycles && loads[i].outside_cycles))
			measure_contended(run_count, loads[i].inside_cycles,
					  loads[i].outside_cycles, cycles);
	run.is_over = true;
	pthread_barrier_wait(&run.begin);
	for (n = 1; n < thread_count; n++)
		pthread_join(thread[n], NULL);
	pthread_barrier_destroy(&run.begin);
	pthread_barrier_destroy(&run.end);
}

static void measure_all_contended(int run_count, unsigned long microseconds)
{
	unsigned long cycles = microseconds_to_cycles(microseconds);
	int thread_count;

	printf("cycles %lu %lu\n", cycles, microseconds);
	for (thread_count = 2;
	     thread_count <= NATIVE_THREADS_MAX && thread_count <= CPU_COUNT(&allowed_cpus);
	     thread_count *= 2)
		measure_loads(thread_count, run_count, cycles);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: native RUNS MICROSECONDS\n");
		return 2;
	}
	if (sched_getaffinity(0, sizeof(allowed_cpus), &allowed_cpus))
		die("sched_getaffinity");
	add_contestants(native_others);
	add_contestants(native_qspinlock);
	add_contestants(native_linux);
	add_contestants(native_nt);
	run_on_cpu(0);
	native_start();
	measure_pairs(atoi(argv[1]), false);
	measure_pairs(atoi(argv[1]), true);
	if (CPU_COUNT(&allowed_cpus) > 1)
		measure_all_contended(atoi(argv[1]), strtoul(argv[2], NULL, 10));
	return 0;
}
