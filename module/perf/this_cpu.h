/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_THIS_CPU_H
#define _NTKLOG_PERF_THIS_CPU_H

/*
 * What this_cpu_*() has no single instruction for, and the tracking of a lock cannot do
 * without. Context of all: preemption off; an interrupt may come before or after, not within.
 */

#include <linux/percpu.h>
#include <linux/types.h>

#include "../compat.h"

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

/*
 * A member of the first of some things in a row is what these are given, and how many bytes on the
 * one that is meant is: the compiler would add the two in an instruction of its own.
 */

/**
 * ntklog_this_cpu_write_at() - write a word of this processor's
 * @_variable: the first such word
 * @_bytes: so many bytes on
 * @_value: what
 */
#define ntklog_this_cpu_write_at(_variable, _bytes, _value)			\
({										\
	asm volatile("mov %[value], %%gs:%c[variable](%[bytes])"			\
		     : : [variable] "i" (&(_variable)),				\
			 [bytes] "r" ((unsigned long)(_bytes)),			\
			 [value] "r" ((typeof(_variable))(_value)) : "memory");	\
})

/**
 * ntklog_this_cpu_clear_at() - clear a word of this processor's
 * @_variable: the first such word, a long
 * @_bytes: so many bytes on
 */
#define ntklog_this_cpu_clear_at(_variable, _bytes)				\
({										\
	asm volatile("movq $0, %%gs:%c[variable](%[bytes])"			\
		     : : [variable] "i" (&(_variable)),				\
			 [bytes] "r" ((unsigned long)(_bytes)) : "memory");	\
})

/**
 * ntklog_this_cpu_equals_at() - compare a word of this processor's
 * @_variable: the first such word, a long
 * @_bytes: so many bytes on
 * @_value: with what
 *
 * Return: whether they are the same.
 */
#define ntklog_this_cpu_equals_at(_variable, _bytes, _value)			\
({										\
	bool __equal;								\
										\
	asm volatile("cmpq %[value], %%gs:%c[variable](%[bytes])"		\
		     : "=@cce" (__equal)					\
		     : [variable] "i" (&(_variable)),				\
		       [bytes] "r" ((unsigned long)(_bytes)),			\
		       [value] "r" (_value) : "memory");			\
	__equal;								\
})

/**
 * ntklog_this_cpu_sub_from_at() - subtract a word of this processor's from a value
 * @_value: a u32
 * @_variable: the first such word, a u32
 * @_bytes: so many bytes on
 */
#define ntklog_this_cpu_sub_from_at(_value, _variable, _bytes)			\
({										\
	asm volatile("subl %%gs:%c[variable](%[bytes]), %[value]"		\
		     : [value] "+r" (_value)					\
		     : [variable] "i" (&(_variable)),				\
		       [bytes] "r" ((unsigned long)(_bytes)) : "cc");	\
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

#else

#define ntklog_this_cpu_sub_is_negative(_variable, _amount)			\
	(this_cpu_sub_return(_variable, _amount) < 0)
#define ntklog_this_cpu_dec_is_negative(_variable)				\
	(this_cpu_dec_return(_variable) < 0)
#define ntklog_this_cpu_low_half(_variable)					\
	((unsigned long)(u16)this_cpu_read(_variable))
#define ntklog_this_cpu_at(_variable, _bytes)					\
	(*(typeof(_variable) __percpu *)((char __percpu *)&(_variable) + (_bytes)))
#define ntklog_this_cpu_write_at(_variable, _bytes, _value)			\
	this_cpu_write(ntklog_this_cpu_at(_variable, _bytes), _value)
#define ntklog_this_cpu_clear_at(_variable, _bytes)				\
	this_cpu_write(ntklog_this_cpu_at(_variable, _bytes), 0)
#define ntklog_this_cpu_equals_at(_variable, _bytes, _value)			\
	(this_cpu_read(ntklog_this_cpu_at(_variable, _bytes)) ==		\
	 (typeof(_variable))(_value))
#define ntklog_this_cpu_sub_from_at(_value, _variable, _bytes)			\
	((_value) -= this_cpu_read(ntklog_this_cpu_at(_variable, _bytes)))
#define ntklog_this_cpu_exceeds(_variable, _value)				\
	(this_cpu_read(_variable) > (_value))
#define ntklog_this_cpu_add_to(_sum, _variable)					\
	((_sum) += this_cpu_read(_variable))
#define ntklog_this_cpu_add_word_to(_sum, _variable)				\
	((_sum) = (u32)((_sum) + this_cpu_read(_variable)))

#endif

#endif /* _NTKLOG_PERF_THIS_CPU_H */
