/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NATIVE_CONTESTANT_H
#define _NATIVE_CONTESTANT_H

/*
 * A lock that takes part, whoever has made it: two loops around its inlined functions, made by
 * one macro, so that nothing but the lock differs.
 */

#include <stdbool.h>

/*
 * What has tracing set up, for a lock that is NT's, or for Linux' own: both of its functions
 * call a trampoline that only returns, or one that goes on in a copy of them, or those of ntklog's
 * modes. The others do not know of it.
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

/**
 * struct native_contender - one of the threads that want the lock
 * @lock: where it is; its line is its own
 * @section: iterations of native_work() while it is owned; 0: not even a word is written
 * @outside: iterations at most after it has been released, at random
 * @deadline: when to stop; 0: not yet begun
 * @count: ownerships, the result
 * @handovers: those of them that came after another thread's; 0 if there is no section
 * @me: number of the thread
 */
struct native_contender {
	void *lock;
	unsigned int section;
	unsigned int outside;
	const unsigned long *deadline;
	unsigned long count;
	unsigned long handovers;
	int me;
};

/**
 * struct native_contestant - a lock that takes part
 * @name: what the tables call it; NULL: no more
 * @initialize: make it, free
 * @pairs: so many acquisitions, each with its release; next to each other, or apart, which
 *	lets the release's store reach the cache first
 * @contend: until the deadline
 * @tracing: with NT's tracing set so
 * @shared: it does not exclude
 * @alone: it is not for contended runs
 */
struct native_contestant {
	const char *name;
	void (*initialize)(void *lock);
	void (*pairs)(void *lock, unsigned long count, bool apart);
	void (*contend)(struct native_contender *me);
	enum native_tracing tracing;
	bool shared;
	bool alone;
};

extern const struct native_contestant native_nt[], native_others[], native_qspinlock[];
extern const struct native_contestant native_linux[];
void native_redirect_linux(enum native_tracing tracing);
void native_set_tracing(enum native_tracing tracing);
void native_start(void);
void native_be_cpu(int cpu);
void native_work(unsigned int iterations);

/* What the locks guard, in a line of its own. */
struct native_guarded {
	unsigned long count;
	int last;
} __attribute__((aligned(64)));

extern struct native_guarded native_guarded;

static inline unsigned long native_tsc(void)
{
	unsigned int low, high;

	__asm__ volatile("rdtsc" : "=a" (low), "=d" (high));
	return low | (unsigned long)high << 32;
}

/*
 * What comes before has been executed, then a hundred cycles pass, in which its stores reach the
 * cache; what comes after has not begun.
 */
static inline void native_stand_apart(void)
{
	unsigned long x = 1;

	__asm__ volatile("lfence; .rept 33; imul %0, %0; .endr; lfence" : "+r" (x) :: "memory");
}

/* Time is read after so many ownerships, so that it is little of them. */
#define NATIVE_BATCH	8

/* @_declare: what a thread needs; @_acquire and @_release: with it, `lock` and `me`. */
#define NATIVE_CONTESTANT(_id, _initialize, _declare, _acquire, _release)		\
static void _id##_make(void *lock)						\
{											\
	_initialize;									\
}											\
											\
__attribute__((__noinline__, aligned(64)))							\
static void _id##_pairs(void *lock, unsigned long count, bool apart)			\
{											\
	__attribute__((unused)) const int me = 0;					\
	_declare;									\
											\
	while (count--) {								\
		_acquire;								\
		__asm__ volatile("" ::: "memory");					\
		_release;								\
		__asm__ volatile("" ::: "memory");					\
		if (apart)								\
			native_stand_apart();						\
	}										\
}											\
											\
__attribute__((__noinline__, aligned(64)))							\
static void _id##_contend(struct native_contender *contender)				\
{											\
	__attribute__((unused)) void *lock = contender->lock;				\
	const int me = contender->me;							\
	const unsigned int section = contender->section, outside = contender->outside;	\
	unsigned int random = 77 + 1000 * me;						\
	unsigned long end, count = 0, handovers = 0;					\
	_declare;									\
											\
	while (!(end = __atomic_load_n(contender->deadline, __ATOMIC_ACQUIRE)))		\
		__asm__ volatile("pause");						\
	do {										\
		for (int i = 0; i < NATIVE_BATCH; i++) {				\
			_acquire;							\
			__asm__ volatile("" ::: "memory");				\
			if (section) {							\
				native_guarded.count++;					\
				handovers += native_guarded.last != me;			\
				native_guarded.last = me;				\
				native_work(section);					\
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
