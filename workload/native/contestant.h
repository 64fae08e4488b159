/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NATIVE_CONTESTANT_H
#define _NATIVE_CONTESTANT_H

/*
 * One macro makes the loops around the functions of each lock, so that the loops differ by the lock
 * only.
 */

#include <stdbool.h>

/*
 * Setting of the instrumentation. NT's locks are counted or tracked. Linux' functions that acquire
 * and release call a trampoline: one that only returns (ENTERED), one that continues in a copy of
 * the function (REDIRECTED), or that of ntklog's mode sampled or full (SAMPLED, FULL). Other locks
 * have no hooks.
 */
enum native_tracing {
	NATIVE_OFF,
	NATIVE_COUNTED,
	NATIVE_TRACKED,
	NATIVE_LINUX_ENTERED,
	NATIVE_LINUX_REDIRECTED,
	NATIVE_LINUX_SAMPLED,
	NATIVE_LINUX_FULL,
};

#define NATIVE_THREADS_MAX	16

/*
 * @inside_iterations: iterations of native_work() with the lock held; 0: the thread writes no data
 * @outside_iterations: maximum iterations of native_work() after a release; the number is random
 * @deadline: TSC at which to stop; 0: the run has not begun
 * @handovers: number of acquisitions that followed one of another thread; 0 if @inside_iterations
 *	is 0
 */
struct native_contender {
	void *lock;
	unsigned int inside_iterations;
	unsigned int outside_iterations;
	const unsigned long *deadline;
	unsigned long count;
	unsigned long handovers;
	int thread;
};

/*
 * @name: NULL ends an array
 * @run_pairs: acquire and release @count times; if @waits_after_release, wait after each release
 * @contend: acquire and release until the deadline
 * @contention_sample_rate: rate of the events of contended acquisitions; 0: no event is written
 * @shared: the lock does not exclude other holders
 * @uncontended_only: the lock takes no part in contended runs
 */
struct native_contestant {
	const char *name;
	void (*initialize)(void *lock);
	void (*run_pairs)(void *lock, unsigned long count, bool waits_after_release);
	void (*contend)(struct native_contender *contender);
	enum native_tracing tracing;
	unsigned int contention_sample_rate;
	bool shared;
	bool uncontended_only;
};

extern const struct native_contestant native_nt[], native_others[], native_qspinlock[];
extern const struct native_contestant native_linux[];
void native_redirect_linux(enum native_tracing tracing);
void native_set_tracing(enum native_tracing tracing);
void native_set_sampling(unsigned int contention_sample_rate);
bool native_count_events(unsigned long *events);
void native_start(void);
void native_become_cpu(int cpu);
void native_work(unsigned int iterations);

/* The data that the lock protects, in a cache line of its own. */
struct native_protected_data {
	unsigned long count;
	int last;
} __attribute__((aligned(64)));

extern struct native_protected_data native_protected_data;

static inline unsigned long native_tsc(void)
{
	unsigned int low, high;

	__asm__ volatile("rdtsc" : "=a" (low), "=d" (high));
	return low | (unsigned long)high << 32;
}

/*
 * Wait about a hundred cycles, so that earlier stores can reach the cache. The first lfence waits
 * for earlier instructions, the second keeps later ones from starting.
 */
static inline void native_wait_100_cycles(void)
{
	unsigned long x = 1;

	__asm__ volatile("lfence; .rept 33; imul %0, %0; .endr; lfence" : "+r" (x) :: "memory");
}

/* Number of acquisitions between two readings of the clock, whose time is thus a small part. */
#define NATIVE_BATCH	8

/*
 * @_declare declares variables of a thread. @_acquire and @_release may use these, lock and thread.
 */
#define NATIVE_CONTESTANT(_id, _initialize, _declare, _acquire, _release)		\
static void _id##_make(void *lock)						\
{											\
	_initialize;									\
}											\
											\
__attribute__((__noinline__, aligned(64)))							\
static void _id##_pairs(void *lock, unsigned long count, bool waits_after_release)	\
{											\
	__attribute__((unused)) const int thread = 0;					\
	_declare;									\
											\
	while (count--) {								\
		_acquire;								\
		__asm__ volatile("" ::: "memory");					\
		_release;								\
		__asm__ volatile("" ::: "memory");					\
		if (waits_after_release)						\
			native_wait_100_cycles();						\
	}										\
}											\
											\
__attribute__((__noinline__, aligned(64)))							\
static void _id##_contend(struct native_contender *contender)				\
{											\
	__attribute__((unused)) void *lock = contender->lock;				\
	const int thread = contender->thread;						\
	const unsigned int inside = contender->inside_iterations;			\
	const unsigned int outside = contender->outside_iterations;			\
	unsigned int random = 77 + 1000 * thread;					\
	unsigned long end, count = 0, handovers = 0;					\
	_declare;									\
											\
	while (!(end = __atomic_load_n(contender->deadline, __ATOMIC_ACQUIRE)))		\
		__asm__ volatile("pause");						\
	do {										\
		for (int i = 0; i < NATIVE_BATCH; i++) {				\
			_acquire;							\
			__asm__ volatile("" ::: "memory");				\
			if (inside) {							\
				native_protected_data.count++;					\
				handovers += native_protected_data.last != thread;		\
				native_protected_data.last = thread;				\
				native_work(inside);					\
			}								\
			__asm__ volatile("" ::: "memory");				\
			_release;							\
			__asm__ volatile("" ::: "memory");				\
			random = random * 1103515245U + 12345U;				\
			if (outside)							\
				native_work((unsigned long)outside * (random >> 16) >> 16); \
		}									\
		count += NATIVE_BATCH;							\
	} while (native_tsc() < end);							\
	contender->count = count;							\
	contender->handovers = handovers;						\
}

#define NATIVE_ENTRY(_id, _name, ...)							\
{ _name, _id##_make, _id##_pairs, _id##_contend, __VA_ARGS__ }

#endif /* _NATIVE_CONTESTANT_H */
