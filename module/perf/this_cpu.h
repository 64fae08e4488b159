/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_THIS_CPU_H
#define _NTKLOG_PERF_THIS_CPU_H

/*
 * What this_cpu_*() has no single instruction for, and the tracking of a lock cannot do
 * without. Context of all: preemption off; an interrupt may come before or after, not within.
 */

#include <linux/percpu.h>
#include <linux/timex.h>
#include <linux/types.h>

#include "../compat.h"

/**
 * struct ntklog_time - a reading of the clock that locks are timed by
 * @low: its low half
 * @high: its high half
 *
 * In halves, as the processor gives it: most are never put together.
 */
struct ntklog_time {
	u32 low;
	u32 high;
};

static __always_inline u64 ntklog_time_value(struct ntklog_time time)
{
	return (u64)time.high << 32 | time.low;
}

#if defined(CONFIG_X86_64) && defined(CONFIG_SMP)

/**
 * ntklog_this_cpu_sub_is_negative() - subtract from a word of this processor's
 * @_variable: the word, a long
 * @_amount: a constant
 *
 * Return: whether it is negative then.
 */
#define ntklog_this_cpu_sub_is_negative(_variable, _amount)			\
({										\
	bool __is_negative;							\
										\
	asm volatile("subq %[amount], " __percpu_arg([variable])				\
		     : "=@ccs" (__is_negative),					\
		       [variable] "+m" (__my_cpu_var(_variable))		\
		     : [amount] "i" (_amount) : "memory");			\
	__is_negative;								\
})

/**
 * ntklog_this_cpu_dec_is_negative() - subtract 1 from a word of this processor's
 * @_variable: the word, an s32
 *
 * Return: whether it is negative then.
 */
#define ntklog_this_cpu_dec_is_negative(_variable)				\
({										\
	bool __is_negative;							\
										\
	asm volatile("decl " __percpu_arg([variable])					\
		     : "=@ccs" (__is_negative),					\
		       [variable] "+m" (__my_cpu_var(_variable))		\
		     : : "memory");						\
	__is_negative;								\
})

/**
 * ntklog_this_cpu_low_half() - the low 16 bits of a word of this processor's
 * @_variable: the word
 *
 * Return: those.
 */
#define ntklog_this_cpu_low_half(_variable)					\
({										\
	unsigned long __half;							\
										\
	asm volatile("movzwl " __percpu_arg([variable]) ", %k[half]"			\
		     : [half] "=r" (__half)					\
		     : [variable] "m" (__my_cpu_var(_variable)));		\
	__half;									\
})

/**
 * ntklog_this_cpu_equals() - compare a word of this processor's
 * @_variable: the word, a long
 * @_value: with what
 *
 * Return: whether they are the same.
 */
#define ntklog_this_cpu_equals(_variable, _value)				\
({										\
	bool __equal;								\
										\
	asm volatile("cmpq %[value], " __percpu_arg([variable])				\
		     : "=@cce" (__equal)					\
		     : [variable] "m" (__my_cpu_var(_variable)),		\
		       [value] "r" (_value));					\
	__equal;								\
})

/**
 * ntklog_this_cpu_exceeds() - is a word of this processor's greater?
 * @_variable: the word, a u32
 * @_value: than this, a u32
 *
 * Return: whether it is.
 */
#define ntklog_this_cpu_exceeds(_variable, _value)				\
({										\
	bool __exceeds;								\
										\
	asm volatile("cmpl " __percpu_arg([variable]) ", %[value]"				\
		     : "=@ccb" (__exceeds)					\
		     : [variable] "m" (__my_cpu_var(_variable)),		\
		       [value] "r" (_value));					\
	__exceeds;								\
})

/**
 * ntklog_this_cpu_sub_from() - subtract a word of this processor's from a value
 * @_value: a u32
 * @_variable: the word, a u32
 */
#define ntklog_this_cpu_sub_from(_value, _variable)				\
({										\
	asm volatile("subl " __percpu_arg([variable]) ", %[value]"				\
		     : [value] "+r" (_value)					\
		     : [variable] "m" (__my_cpu_var(_variable)) : "cc");	\
})

/**
 * ntklog_this_cpu_add_to() - add a word of this processor's to a sum
 * @_sum: a u64
 * @_variable: the word, a u64
 */
#define ntklog_this_cpu_add_to(_sum, _variable)					\
({										\
	asm volatile("addq " __percpu_arg([variable]) ", %[sum]"				\
		     : [sum] "+r" (_sum)					\
		     : [variable] "m" (__my_cpu_var(_variable)) : "cc");	\
})

/**
 * ntklog_this_cpu_add_word_to() - add half a word of this processor's to a sum
 * @_sum: a u64 that is less than 2^32, and so afterwards
 * @_variable: the word, a u32
 */
#define ntklog_this_cpu_add_word_to(_sum, _variable)				\
({										\
	asm volatile("addl " __percpu_arg([variable]) ", %k[sum]"				\
		     : [sum] "+r" (_sum)					\
		     : [variable] "m" (__my_cpu_var(_variable)) : "cc");	\
})

static __always_inline struct ntklog_time ntklog_read_time(void)
{
	struct ntklog_time time;

	asm volatile("rdtsc" : "=a" (time.low), "=d" (time.high));
	return time;
}

#else

#define ntklog_this_cpu_sub_is_negative(_variable, _amount)			\
	(this_cpu_sub_return(_variable, _amount) < 0)
#define ntklog_this_cpu_dec_is_negative(_variable)				\
	(this_cpu_dec_return(_variable) < 0)
#define ntklog_this_cpu_low_half(_variable)					\
	((unsigned long)(u16)this_cpu_read(_variable))
#define ntklog_this_cpu_equals(_variable, _value)				\
	(this_cpu_read(_variable) == (_value))
#define ntklog_this_cpu_exceeds(_variable, _value)				\
	(this_cpu_read(_variable) > (_value))
#define ntklog_this_cpu_sub_from(_value, _variable)				\
	((_value) -= this_cpu_read(_variable))
#define ntklog_this_cpu_add_to(_sum, _variable)					\
	((_sum) += this_cpu_read(_variable))
#define ntklog_this_cpu_add_word_to(_sum, _variable)				\
	((_sum) = (u32)((_sum) + this_cpu_read(_variable)))

static __always_inline struct ntklog_time ntklog_read_time(void)
{
	u64 cycles = get_cycles();

	return (struct ntklog_time){ .low = cycles, .high = cycles >> 32 };
}

#endif

#endif /* _NTKLOG_PERF_THIS_CPU_H */
