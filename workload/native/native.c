// SPDX-License-Identifier: GPL-2.0-only
/*
 * native: compare NT's locks with other locks on this machine's CPUs. Prints lines for
 * bench/native.py:
 *
 *	pair APART RUN CYCLES NAME
 *	cycles CYCLES
 *	contended SECTION OUTSIDE RUN COUNT-1 COUNT-2 HANDOVERS NAME
 *	repeated KIND TIMES DISTURBED RUNS
 *
 * `pair`: CYCLES is the time of one uncontended acquisition and its release, with the loop, in
 * TSC cycles. APART is 1 if a hundred cycles pass between two pairs.
 * `cycles`: duration of each contended run, in TSC cycles.
 * `contended`: two threads, each on its CPU, contend. SECTION is the time that the lock is held,
 * OUTSIDE the maximum time between two holds, in cycles. COUNT is the number of acquisitions of
 * each thread, HANDOVERS the number of acquisitions that followed one of the other thread. A
 * machine with one CPU has no contended runs.
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
#define THREADS		2
#define LINE		64
#define LINES		256
#define STACK_LINES	32
#define ATTEMPTS	20
#define PAIRS		10000
#define WARM_UP		500

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

struct native_guarded native_guarded;

static char arena[LINE * LINES] __attribute__((aligned(4096)));
static const struct native_contestant *contestants[MAX_CONTESTANTS];
static int contestant_count;
static cpu_set_t processors;

/* Addresses in this run: the lock, and the bytes by which the stacks are moved. */
static void *lock;
static size_t stack_shift[THREADS];

/*
 * The current contended run. The pthread barriers order the writes of the main thread and the reads
 * of the threads.
 */
static struct {
	const struct native_contestant *contestant;
	struct native_contender contender[THREADS];
	long switches[THREADS];
	bool ready[THREADS];
	bool over;
	pthread_barrier_t begin, end;
} run;

static unsigned long deadline __attribute__((aligned(LINE)));

/*
 * Take time by multiplications of which each depends on the previous one. All callers share one
 * copy of the loop, because the alignment of the loop changes its speed by a fifth.
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

static void add(const struct native_contestant *some)
{
	for (; some->name; some++)
		contestants[contestant_count++] = some;
}

/* Bind the calling thread to the allowed CPU with this index. */
static void run_on_cpu(int number)
{
	cpu_set_t one;
	int cpu;

	for (cpu = 0; ; cpu++)
		if (CPU_ISSET(cpu, &processors) && !number--)
			break;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		die("sched_setaffinity");
}

static long switches(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		die("getrusage");
	return usage.ru_nivcsw + usage.ru_nvcsw;
}

static void lay_out(int number)
{
	int i;

	srandom(number + 1);
	lock = arena + LINE * (random() % LINES);
	for (i = 0; i < THREADS; i++)
		stack_shift[i] = LINE * (1 + random() % STACK_LINES);
}

static void prepare(const struct native_contestant *contestant)
{
	native_set_tracing(contestant->tracing);
	memset(lock, 0, LINE);
	contestant->initialize(lock);
}

/* Keep the compiler from removing an allocation on the stack. */
static inline void keep_allocation(void *memory)
{
	__asm__ volatile("" :: "r" (memory) : "memory");
}

/* Run with the stack moved by stack_shift[0] bytes. */
static __attribute__((noinline)) void pairs(const struct native_contestant *contestant,
					    unsigned long count, bool apart)
{
	keep_allocation(__builtin_alloca(stack_shift[0]));
	contestant->pairs(lock, count, apart);
}

static __attribute__((noinline)) void contend(int thread)
{
	long before = switches();

	keep_allocation(__builtin_alloca(stack_shift[thread]));
	__atomic_store_n(&run.ready[thread], true, __ATOMIC_RELEASE);
	run.contestant->contend(&run.contender[thread]);
	run.switches[thread] = switches() - before;
}

static void measure_pairs(int runs, bool apart)
{
	long repeated = 0, disturbed = 0;
	int number, turn, attempt;

	for (number = 0; number < runs; number++) {
		lay_out(number);
		for (turn = 0; turn < contestant_count; turn++) {
			const struct native_contestant *contestant =
				contestants[(turn + number) % contestant_count];
			unsigned long start, cycles = 0;
			long before, switched = 1;

			prepare(contestant);
			pairs(contestant, WARM_UP, apart);
			for (attempt = 0; switched && attempt < ATTEMPTS; attempt++) {
				before = switches();
				start = native_tsc();
				pairs(contestant, PAIRS, apart);
				cycles = native_tsc() - start;
				switched = switches() - before;
				repeated += attempt > 0;
			}
			disturbed += switched != 0;
			printf("pair %d %d %.3f %s\n", apart, number, (double)cycles / PAIRS,
			       contestant->name);
		}
	}
	printf("repeated pair-%d %ld %ld %d\n", apart, repeated, disturbed,
	       runs * contestant_count);
}

static void *second(void *unused)
{
	run_on_cpu(1);
	native_be_cpu(1);
	for (;;) {
		pthread_barrier_wait(&run.begin);
		if (run.over)
			return NULL;
		contend(1);
		pthread_barrier_wait(&run.end);
	}
}

/* Number of iterations of native_work() that take @cycles. */
static unsigned int iterations_for_cycles(unsigned int cycles)
{
	unsigned long least = -1UL;
	int i;

	for (i = 0; i < 50; i++) {
		unsigned long start = native_tsc(), passed;

		native_work(10000);
		passed = native_tsc() - start;
		if (passed < least)
			least = passed;
	}
	return 10000UL * cycles / least;
}

static void contend_once(const struct native_contestant *contestant, unsigned int section,
			 unsigned int outside, unsigned long cycles)
{
	const struct native_contender *contender = run.contender;
	int i;

	prepare(contestant);
	native_guarded = (struct native_guarded){};
	deadline = 0;
	run.contestant = contestant;
	for (i = 0; i < THREADS; i++) {
		run.contender[i] = (struct native_contender) {
			.lock = lock,
			.section = section,
			.outside = outside,
			.deadline = &deadline,
			.thread = i,
		};
		run.ready[i] = false;
	}
	pthread_barrier_wait(&run.begin);
	while (!__atomic_load_n(&run.ready[1], __ATOMIC_ACQUIRE))
		__asm__ volatile("pause");
	__atomic_store_n(&deadline, native_tsc() + cycles, __ATOMIC_RELEASE);
	contend(0);
	pthread_barrier_wait(&run.end);
	if (section && !contestant->shared &&
	    native_guarded.count != contender[0].count + contender[1].count) {
		fprintf(stderr, "%s does not exclude\n", contestant->name);
		exit(1);
	}
}

static void measure_contended(int runs, unsigned int section, unsigned int outside,
			      unsigned long cycles)
{
	unsigned int inside = section ? iterations_for_cycles(section) : 0;
	unsigned int between = outside ? iterations_for_cycles(outside) : 0;
	const struct native_contender *contender = run.contender;
	long repeated = 0, disturbed = 0, measured = 0;
	int number, turn, attempt;

	for (number = 0; number < runs; number++) {
		lay_out(number);
		for (turn = 0; turn < contestant_count; turn++) {
			const struct native_contestant *contestant =
				contestants[(turn + number) % contestant_count];
			bool switched = true;

			if (contestant->alone)
				continue;
			for (attempt = 0; switched && attempt < ATTEMPTS; attempt++) {
				contend_once(contestant, inside, between, cycles);
				switched = run.switches[0] || run.switches[1];
				repeated += attempt > 0;
			}
			disturbed += switched;
			measured++;
			printf("contended %u %u %d %lu %lu %lu %s\n", section, outside, number,
			       contender[0].count, contender[1].count,
			       contender[0].handovers + contender[1].handovers,
			       contestant->name);
		}
	}
	printf("repeated contended-%u-%u %ld %ld %ld\n", section, outside, repeated, disturbed,
	       measured);
}

static unsigned long cycles_in(unsigned long microseconds)
{
	unsigned long start = native_tsc();

	usleep(100000);
	return (native_tsc() - start) * microseconds / 100000;
}

static void measure_all_contended(int runs, unsigned long microseconds)
{
	static const struct { unsigned int section, outside; } loads[] = {
		{ 0, 0 }, { 100, 0 }, { 1000, 0 }, { 0, 300 }, { 100, 300 }, { 1000, 1000 },
	};
	unsigned long cycles = cycles_in(microseconds);
	pthread_t thread;
	size_t i;

	printf("cycles %lu\n", cycles);
	pthread_barrier_init(&run.begin, NULL, THREADS);
	pthread_barrier_init(&run.end, NULL, THREADS);
	if (pthread_create(&thread, NULL, second, NULL))
		die("pthread_create");
	for (i = 0; i < ARRAY_SIZE(loads); i++)
		measure_contended(runs, loads[i].section, loads[i].outside, cycles);
	run.over = true;
	pthread_barrier_wait(&run.begin);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: native RUNS MICROSECONDS\n");
		return 2;
	}
	if (sched_getaffinity(0, sizeof(processors), &processors))
		die("sched_getaffinity");
	add(native_others);
	add(native_qspinlock);
	add(native_linux);
	add(native_nt);
	run_on_cpu(0);
	native_start();
	measure_pairs(atoi(argv[1]), false);
	measure_pairs(atoi(argv[1]), true);
	if (CPU_COUNT(&processors) >= THREADS)
		measure_all_contended(atoi(argv[1]), strtoul(argv[2], NULL, 10));
	return 0;
}
