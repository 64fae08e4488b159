/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NATIVE_SHIM_KERNEL_H
#define _NATIVE_SHIM_KERNEL_H

/*
 * The part of Linux on x86-64 that ntklog's spin locks, their tracking and their events need, in
 * user space. The Makefile includes this file first.
 *
 * The measured code is the kernel's: atomics in inline assembly, per-CPU data at %gs, static keys
 * as a no-op or a jump patched into the text. Code that is not measured has no effect: interrupts
 * stay enabled, lockdep is absent.
 */

#include <asm/errno.h>
#include <asm/types.h>
#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

/* Debian's configuration, for the options that these sources test. */
#define CONFIG_64BIT			1
#define CONFIG_SMP			1
#define CONFIG_X86			1
#define CONFIG_X86_64			1
#define CONFIG_X86_LOCAL_APIC		1
#define CONFIG_X86_THERMAL_VECTOR	1
#define CONFIG_X86_MCE_THRESHOLD	1
#define CONFIG_X86_MCE_AMD		1
#define CONFIG_X86_HV_CALLBACK_VECTOR	1
#define CONFIG_HYPERV			1
#define CONFIG_QUEUED_SPINLOCKS		1
#define CONFIG_UNINLINE_SPIN_UNLOCK	1
#define CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS	1
#define CONFIG_KPROBES			1
#define KERNEL_VERSION(a, b, c)		(((a) << 16) + ((b) << 8) + (c))
#define LINUX_VERSION_CODE		KERNEL_VERSION(6, 12, 0)

/* IS_ENABLED(x) is 1 if x is defined as 1: SHIM_ARGUMENT_1 then makes "1" the second argument. */
#define SHIM_ARGUMENT_1			0,
#define SHIM_SECOND(a, b, ...)		b
#define SHIM_HAS_ARGUMENT(x)		SHIM_SECOND(x 1, 0)
#define SHIM_IS_1(x)			SHIM_HAS_ARGUMENT(SHIM_ARGUMENT_##x)
#define IS_ENABLED(x)			SHIM_IS_1(x)

#define USEC_PER_SEC			1000000L
#define div_u64(a, b)			((a) / (b))
#define mul_u64_u32_div(a, m, d)		((u64)((__uint128_t)(a) * (m) / (d)))
#define div_s64(a, b)			((a) / (b))
extern unsigned int tsc_khz;

#define HZ				250
#define L1_CACHE_BYTES			64
extern unsigned long jiffies;
int check_tsc_unstable(void);

#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#define __aligned(x)		__attribute__((aligned(x)))
#define __section(x)		__attribute__((section(x)))
#define __init
#define __used			__attribute__((used))
#define __noendbr
#define __percpu
#define __read_mostly
#define __ro_after_init
#define noinline		__attribute__((noinline))
#define notrace
#define __stringify_1(x...)	#x
#define __stringify(x...)	__stringify_1(x)
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		asm volatile("" ::: "memory")
#define READ_ONCE(x)		(*(const volatile typeof(x) *)&(x))
#define WRITE_ONCE(x, v)	(*(volatile typeof(x) *)&(x) = (v))
#define data_race(x)		(x)
#define BIT(n)			(1UL << (n))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define sizeof_field(t, m)	sizeof(((t *)0)->m)
#define offsetofend(t, m)	(offsetof(t, m) + sizeof_field(t, m))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define __PASTE_NOW(a, b)	a##b
#define __PASTE(a, b)		__PASTE_NOW(a, b)
#define __acquire(x)		((void)0)
#define __release(x)		((void)0)
#define min_t(t, a, b)		min((t)(a), (t)(b))
#define U8_MAX			((u8)~0U)
#define U32_MAX			((u32)~0U)
#define S32_MAX			((s32)(U32_MAX >> 1))
#define _THIS_IP_		0UL
#define _RET_IP_		((unsigned long)__builtin_return_address(0))
#define EXPORT_SYMBOL_GPL(x)
#define EXPORT_PER_CPU_SYMBOL_GPL(x)
#define WARN_ONCE(condition, ...)						\
({										\
	if (condition) {							\
		fprintf(stderr, __VA_ARGS__);					\
		abort();							\
	}									\
	false;									\
})

/* Lockdep, locks and RCU are empty, because no two threads run the code that they protect. */
#define spin_acquire(...)			do { } while (0)
#define spin_release(...)			do { } while (0)
#define lock_acquire_shared(...)		do { } while (0)
#define lock_acquire_exclusive(...)		do { } while (0)
#define lock_release(...)			do { } while (0)
#define lockdep_assert_preemption_disabled()	do { } while (0)
#define lock_contended(map, ip)			do { } while (0)
#define lock_acquired(map, ip)			do { } while (0)
#define DEFINE_RAW_SPINLOCK(x)			int x
#define raw_spin_lock_irqsave(l, f)		((void)(l), (f) = 0)
#define raw_spin_unlock_irqrestore(l, f)	((void)(l), (void)(f))
#define local_irq_save(f)			do { (f) = 0; barrier(); } while (0)
#define local_irq_restore(f)			do { (void)(f); barrier(); } while (0)
#define synchronize_rcu()			do { } while (0)
#define cond_synchronize_rcu(state)		((void)(state))
#define get_state_synchronize_rcu()		0UL
#define in_nmi()				false
#define get_random_u32()			1U
struct lock_class_key { int none; };
struct mutex { int none; };
struct list_head { struct list_head *next, *prev; };
typedef struct { unsigned int sequence; } seqcount_t;
#define raw_write_seqcount_begin(s)		do { (s)->sequence++; barrier(); } while (0)
#define raw_write_seqcount_end(s)		do { barrier(); (s)->sequence++; } while (0)
#define raw_read_seqcount_begin(s)		READ_ONCE((s)->sequence)
#define read_seqcount_retry(s, start)		(READ_ONCE((s)->sequence) != (start))

typedef struct { int counter; } atomic_t;
#define atomic_read(v)			READ_ONCE((v)->counter)
#define atomic_set(v, i)		WRITE_ONCE((v)->counter, i)
#define cpu_relax()			asm volatile("rep; nop" ::: "memory")
#define prefetchw(p)			asm volatile("prefetchw %0" :: "m" (*(const char *)(p)))
#define smp_store_release(p, v)		do { barrier(); WRITE_ONCE(*(p), v); } while (0)
#define smp_acquire__after_ctrl_dep()	barrier()
#define smp_cond_load_acquire(p, condition)					\
({										\
	typeof(*(p)) VAL;							\
										\
	while (VAL = READ_ONCE(*(p)), !(condition))				\
		cpu_relax();							\
	barrier();								\
	VAL;									\
})

#define xchg(p, new)								\
({										\
	typeof(*(p)) __xchg = (new);						\
										\
	asm volatile("xchg %0, %1" : "+r" (__xchg), "+m" (*(p)) :: "memory");	\
	__xchg;									\
})

#define try_cmpxchg(p, old, new)						\
({										\
	typeof(*(p)) __found = *(old);						\
	bool __done;								\
										\
	asm volatile("lock; cmpxchg %3, %1"					\
		     : "=@ccz" (__done), "+m" (*(p)), "+a" (__found)		\
		     : "r" ((typeof(*(p)))(new)) : "memory");			\
	if (unlikely(!__done))							\
		*(old) = __found;						\
	likely(__done);								\
})
#define try_cmpxchg_release(p, old, new)	try_cmpxchg(p, old, new)
#define atomic_try_cmpxchg_acquire(v, old, new)	try_cmpxchg(&(v)->counter, old, new)
#define atomic_cmpxchg_relaxed(v, old, new)					\
({										\
	int __old = (old);							\
										\
	(void)try_cmpxchg(&(v)->counter, &__old, new);				\
	__old;									\
})

static __always_inline int atomic_sub_return_release(int i, atomic_t *v)
{
	int found = -i;

	asm volatile("lock; xaddl %0, %1" : "+r" (found), "+m" (v->counter) :: "memory");
	return found - i;
}
#define atomic_dec_return_release(v)	atomic_sub_return_release(1, v)

static __always_inline bool test_and_set_bit_lock(long number, unsigned long *word)
{
	bool was_set;

	asm volatile("lock; btsq %2, %1"
		     : "=@ccc" (was_set), "+m" (*word) : "Ir" (number) : "memory");
	return was_set;
}

/*
 * Per-CPU data. %gs holds the distance from a variable to the CPU's copy, so the variable's own
 * address with the prefix %gs is the copy.
 */
#define __percpu_arg(x)			"%%gs:%" #x
#define __my_cpu_var(variable)		(variable)
#define DECLARE_PER_CPU(type, name)	extern type name
#define DECLARE_PER_CPU_ALIGNED(type, name)	extern type name
#define DEFINE_PER_CPU(type, name)	__section("shim_percpu") type name
#define DEFINE_PER_CPU_ALIGNED(type, name)					\
	__section("shim_percpu") __aligned(64) type name

extern unsigned long shim_this_cpu_off, shim_cpu_off[];
/* As many as NATIVE_THREADS_MAX. */
#define SHIM_CPUS			16
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < SHIM_CPUS; (cpu)++)
#define cpu_online(cpu)			((cpu) < SHIM_CPUS)
#define per_cpu_ptr(p, cpu)		((typeof(p))((unsigned long)(p) + shim_cpu_off[cpu]))
#define SMP_CACHE_BYTES		64
/* Allocations are never freed. */
void *shim_alloc_percpu(size_t size);
#define __alloc_percpu(size, align)	shim_alloc_percpu(size)
#define alloc_percpu(type)		((type *)shim_alloc_percpu(sizeof(type)))
#define free_percpu(p)			((void)(p))
#define per_cpu(variable, cpu)		(*per_cpu_ptr(&(variable), cpu))
#define this_cpu_ptr(p)								\
({										\
	unsigned long __here = (unsigned long)(p);				\
										\
	asm("addq %%gs:%1, %0" : "+r" (__here) : "m" (shim_this_cpu_off));	\
	(typeof(p))__here;							\
})
#define raw_cpu_read(variable)							\
({										\
	typeof(variable) __value;						\
										\
	asm volatile("mov %%gs:%1, %0" : "=r" (__value) : "m" (variable));	\
	__value;								\
})
#define this_cpu_read(variable)		raw_cpu_read(variable)

/* One instruction with the suffix for the variable's size: 8, 32 or 64 bits. */
#define SHIM_THIS_CPU(operation, variable, value)				\
do {										\
	static_assert(sizeof(variable) == 1 || sizeof(variable) == 4 || sizeof(variable) == 8); \
	if (sizeof(variable) == 1)						\
		asm volatile(operation "b %1, %%gs:%0"				\
			     : "+m" (variable) : "qi" ((u8)(unsigned long)(value)) : "memory");	\
	else if (sizeof(variable) == 8)						\
		asm volatile(operation "q %1, %%gs:%0"				\
			     : "+m" (variable) : "re" ((u64)(value)) : "memory");	\
	else									\
		asm volatile(operation "l %1, %%gs:%0"				\
			     : "+m" (variable)						\
			     : "ri" ((u32)(unsigned long)(value)) : "memory");		\
} while (0)
#define this_cpu_write(variable, value)	SHIM_THIS_CPU("mov", variable, value)
#define this_cpu_add(variable, value)	SHIM_THIS_CPU("add", variable, value)
#define this_cpu_sub(variable, value)	SHIM_THIS_CPU("sub", variable, value)
#define this_cpu_inc(variable)		this_cpu_add(variable, 1)
#define this_cpu_dec(variable)		this_cpu_sub(variable, 1)
#define this_cpu_inc_return(variable)						\
({										\
	u32 __before = 1;							\
										\
	static_assert(sizeof(variable) == sizeof(__before));			\
	asm volatile("xaddl %0, %%gs:%1" : "+r" (__before), "+m" (variable) :: "memory");	\
	__before + 1;								\
})

/* x86's counters of interrupts, in the order of Debian's 6.12. */
typedef struct {
	u8 kvm_cpu_l1tf_flush_l1d;
	u32 __nmi_count, apic_timer_irqs, irq_spurious_count, icr_read_retry_count;
	u32 kvm_posted_intr_ipis, kvm_posted_intr_wakeup_ipis, kvm_posted_intr_nested_ipis;
	u32 x86_platform_ipis, apic_perf_irqs, apic_irq_work_irqs;
	u32 irq_resched_count, irq_call_count, irq_tlb_count, irq_thermal_count;
	u32 irq_threshold_count, irq_deferred_error_count, irq_hv_callback_count;
	u32 irq_hv_reenlightenment_count, hyperv_stimer0_count;
} __aligned(64) irq_cpustat_t;
DECLARE_PER_CPU(irq_cpustat_t, irq_stat);
struct kernel_stat { unsigned long irqs_sum; };
DECLARE_PER_CPU(struct kernel_stat, kstat);

DECLARE_PER_CPU(u32, shim_preempt_count);
DECLARE_PER_CPU(u32, shim_softirq_pending);
DECLARE_PER_CPU(struct task_struct *, shim_current);
DECLARE_PER_CPU(int, shim_cpu_number);
#define SOFTIRQ_OFFSET			0x100U
#define SOFTIRQ_DISABLE_OFFSET		0x200U
#define PREEMPT_NO_RESCHED		0x80000000U
#define HARDIRQ_MASK			0xF0000U
#define in_hardirq()			(raw_cpu_read(shim_preempt_count) & HARDIRQ_MASK)
#define current				raw_cpu_read(shim_current)
#define smp_processor_id()		raw_cpu_read(shim_cpu_number)
#define irq_count()			(raw_cpu_read(shim_preempt_count) & 0xffff00)
#define should_resched(count)		(raw_cpu_read(shim_preempt_count) == (count))
#define local_softirq_pending()		raw_cpu_read(shim_softirq_pending)
#define in_serving_softirq()		(raw_cpu_read(shim_preempt_count) & SOFTIRQ_OFFSET)
#define __preempt_count_add(n)		this_cpu_add(shim_preempt_count, n)
#define __preempt_count_sub(n)		this_cpu_sub(shim_preempt_count, n)
#define local_bh_disable()		__preempt_count_add(SOFTIRQ_DISABLE_OFFSET)
#define local_bh_enable()		__preempt_count_sub(SOFTIRQ_DISABLE_OFFSET)
#define SOFTIRQ_LOCK_OFFSET		(SOFTIRQ_DISABLE_OFFSET + 1)
#define __local_bh_disable_ip(ip, n)	do { (void)(ip); __preempt_count_add(n); } while (0)
#define __local_bh_enable_ip(ip, n)	do { (void)(ip); __preempt_count_sub(n); } while (0)
#define preempt_disable()		do { __preempt_count_add(1); barrier(); } while (0)
#define preempt_enable()							\
do {										\
	bool __reschedule;							\
										\
	asm volatile("decl %%gs:%1"						\
		     : "=@cce" (__reschedule), "+m" (shim_preempt_count) :: "memory");	\
	if (unlikely(__reschedule))						\
		abort();							\
} while (0)
#define local_irq_disable()		barrier()
#define local_irq_enable()		barrier()

/* The context is a thread with interrupts enabled. */
#define preemptible()			(!raw_cpu_read(shim_preempt_count))

/* The trampolines' code names this type. */
struct ftrace_ops { int none; };

/*
 * The kernel's exported lock functions, to which ntklog_spin_hooks[] points. The program has none
 * of them.
 */
#define SHIM_EXPORTED(_name)		void _name(void) __attribute__((weak))
SHIM_EXPORTED(_raw_spin_lock);
SHIM_EXPORTED(_raw_spin_lock_irq);
SHIM_EXPORTED(_raw_spin_lock_irqsave);
SHIM_EXPORTED(_raw_spin_lock_bh);
SHIM_EXPORTED(_raw_spin_trylock);
SHIM_EXPORTED(_raw_spin_trylock_bh);
SHIM_EXPORTED(_raw_spin_unlock);
SHIM_EXPORTED(_raw_spin_unlock_irq);
SHIM_EXPORTED(_raw_spin_unlock_irqrestore);
SHIM_EXPORTED(_raw_spin_unlock_bh);

#define ANNOTATE_NOENDBR
#define ASM_RET				"ret\n"
#define FRAME_BEGIN
#define FRAME_END
#define NATIVE_TRACED			__attribute__((noipa, patchable_function_entry(5)))

/*
 * Static keys, initially disabled. A site is a five-byte no-op or a jump, with an entry in a
 * table. @nop_if_enabled: the compiler has laid out the code for an enabled key.
 */
struct static_key_false { bool on; };

struct shim_site {
	unsigned char *code;
	const unsigned char *target;
	struct static_key_false *key;
	unsigned long nop_if_enabled;
};

#define STATIC_KEY_FALSE_INIT		{ false }
#define DECLARE_STATIC_KEY_FALSE(name)	extern struct static_key_false name

static __always_inline bool shim_branch(struct static_key_false *key, const bool nop_if_enabled)
{
	asm goto("1:	.byte 0x0f, 0x1f, 0x44, 0, 0\n"
		 "	.pushsection shim_sites, \"aw\"\n"
		 "	.quad 1b, %l[jumped], %c0, %c1\n"
		 "	.popsection"
		 :: "i" (key), "i" (nop_if_enabled) :: jumped);
	return false;
jumped:
	return true;
}

#define static_branch_unlikely(key)	unlikely(shim_branch(key, false))
#define static_branch_likely(key)	likely(!shim_branch(key, true))
#define static_key_enabled(key)		((key)->on)
void shim_set_key(struct static_key_false *key, bool on);
#define static_branch_enable(key)	shim_set_key(key, true)
#define static_branch_disable(key)	shim_set_key(key, false)

/*
 * Make the first instruction of a NATIVE_TRACED function a call of @target, as ftrace does; NULL
 * makes it a no-op again. No other thread may run the function.
 */
void shim_patch_call(void *function, const void *target);

/* shim_start() comes first. shim_become_cpu() gives the calling thread the CPU's per-CPU data. */
void shim_start(void);
void shim_become_cpu(int cpu);

#include "qspinlock.h"
#include "session.h"

#endif /* _NATIVE_SHIM_KERNEL_H */
