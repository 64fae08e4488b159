/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NATIVE_SHIM_SESSION_H
#define _NATIVE_SHIM_SESSION_H

/* The part of Linux that the writing of an event needs. */

/* The condition may be the parameter of an inline function. The compiler removes the test. */
#define BUILD_BUG_ON(condition)							\
do {										\
	if (condition)								\
		abort();							\
} while (0)
#define ALIGN(x, to)			(((x) + (to) - 1) & ~((to) - 1))
#define SZ_4K				0x1000
#define SZ_64K				0x10000
#define SZ_1M				0x100000
#define __ffs64(word)			((unsigned long)__builtin_ctzll(word))
#define smp_mb()			asm volatile("lock; addl $0, -4(%%rsp)" ::: "memory", "cc")
#define smp_wmb()			barrier()
#define smp_load_acquire(p)							\
({										\
	typeof(*(p)) __loaded = READ_ONCE(*(p));				\
										\
	barrier();								\
	__loaded;								\
})
#define DECLARE_BITMAP(name, bits)	unsigned long name[(bits) / 64]
#define clear_bit_unlock(bit, word)						\
	asm volatile("lock; btrq %1, %0" : "+m" (*(word)) : "r" ((long)(bit)) : "memory")

typedef struct { s64 counter; } atomic64_t;

static __always_inline s64 atomic64_inc_return(atomic64_t *v)
{
	s64 found = 1;

	asm volatile("lock; xaddq %0, %1" : "+r" (found), "+m" (v->counter) :: "memory");
	return found + 1;
}

#define atomic_inc(v)								\
	asm volatile("lock; incl %0" : "+m" ((v)->counter) :: "memory")

#define lockdep_assert_irqs_disabled()	do { } while (0)
#define mutex_lock(mutex)		((void)(mutex))
#define mutex_unlock(mutex)		((void)(mutex))
#define DEFINE_MUTEX(name)		struct mutex name
#define raw_read_seqcount(s)		READ_ONCE((s)->sequence)
bool rcu_is_watching(void);

/* The task of a CPU. It is not the idle task. */
struct task_struct {
	int pid;
	unsigned long stack;
};

#define task_pid_nr(task)		((task)->pid)
#define is_idle_task(task)		false

/* Tracepoints: perf/spin_lock_event.c gets these instead of module/trace.h. */
#define _NTKLOG_TRACE_H
DECLARE_STATIC_KEY_FALSE(shim_trace_key);
#define trace_spinlock_enabled()	static_branch_unlikely(&shim_trace_key)
#define trace_linux_spinlock_enabled()	static_branch_unlikely(&shim_trace_key)
#define trace_spinlock(record)		((void)(record))
#define trace_linux_spinlock(record)	((void)(record))

/* Members of runs and sessions that no measured path uses. */
struct kref { int none; };
struct irq_work { int none; };
struct delayed_work { int none; };
typedef struct { int none; } wait_queue_head_t;
/* No task sleeps on a wait queue. */
#define waitqueue_active(wait)		((void)(wait), false)
#define irq_work_queue(work)		((void)(work))

struct rchan {
	size_t subbuf_size;
	size_t n_subbufs;
	struct rchan_buf **buf;
};

struct rchan_buf {
	void *start;
	void *data;
	size_t offset;
	size_t subbufs_produced;
	size_t subbufs_consumed;
	struct rchan *chan;
	unsigned int cpu;
};

size_t relay_switch_subbuf(struct rchan_buf *buf, size_t length);
void relay_subbufs_consumed(struct rchan *chan, unsigned int cpu, size_t count);

/*
 * The memory that a lock lies in. All addresses of the program are outside of the kernel's direct
 * map.
 */
struct page { unsigned long flags; };
struct folio { struct page head; };
#define PAGE_SHIFT			12
#define PAGE_OFFSET			0xFFFF888000000000UL
#define high_memory			((void *)0xFFFF889000000000UL)
#define GOLDEN_RATIO_64			0x61C8864680B583EBULL
#define THREAD_SIZE			0x4000
#define pfn_to_page(number)		((struct page *)((number) * sizeof(struct page)))
#define compound_head(page)		(page)
#define PageTail(page)			((void)(page), false)
#define folio_test_slab(folio)		((folio)->head.flags & 1)
#define page_address(page)		((void *)(page))
#define is_kfence_address(address)	((void)(address), false)
#define object_is_on_stack(address)						\
	((unsigned long)(address) - current->stack < THREAD_SIZE)
#define __get_kernel_nofault(to, from, type, label)				\
do {										\
	if (!(from))								\
		goto label;							\
	*(type *)(to) = *(const type *)(from);					\
} while (0)
#define vzalloc(size)			calloc(1, size)
#define vfree(memory)			free(memory)

void shim_start_session(void);

#endif /* _NATIVE_SHIM_SESSION_H */
