/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_THIS_CPU_H
#define _NTKLOG_PERF_THIS_CPU_H

/*
 * Per-CPU operations for the fast paths that this_cpu_*() does not have as one instruction. An
 * interrupt may arrive before or after the access to the per-CPU variable, not within.
 */

#include <linux/percpu.h>
#include <linux/types.h>

#include "../ground/compat.h"

#if defined(CONFIG_X86_64) && defined(CONFIG_SMP)

/**
 * ntklog_this_cpu_sub_is_negative() - subtract a constant from a per-CPU variable
 * @_variable: the variable, a long
 * @_amount: a compile-time constant
 *
 * Return: true if the result is negative.
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
 * ntklog_this_cpu_dec_is_negative() - decrement a per-CPU variable
 * @_variable: the variable, an s32
 *
 * Return: true if the result is negative.
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
 * ntklog_this_cpu_read_low_u16() - read the low 16 bits of a per-CPU variable
 * @_variable: the variable
 *
 * Return: the low 16 bits, zero-extended.
 */
#define ntklog_this_cpu_read_low_u16(_variable)					\
({										\
	unsigned long __half;							\
										\
	asm volatile("movzwl " __percpu_arg([variable]) ", %k[half]"			\
		     : [half] "=r" (__half)					\
		     : [variable] "m" (__my_cpu_var(_variable)));		\
	__half;									\
})

/*
 * The following macros access a member of an array element, which is given as the member of element
 * 0 and the offset of the element in bytes. The addressing mode of the instruction adds the two.
 */

/**
 * ntklog_this_cpu_write_at() - write to a member of a per-CPU array element
 * @_variable: the member in element 0
 * @_offset: offset of the element, in bytes
 * @_value: the value
 */
#define ntklog_this_cpu_write_at(_variable, _offset, _value)			\
({										\
	asm volatile("mov %[value], %%gs:%c[variable](%[bytes])"			\
		     : : [variable] "i" (&(_variable)),				\
			 [bytes] "r" ((unsigned long)(_offset)),		\
			 [value] "r" ((typeof(_variable))(_value)) : "memory");	\
})

/**
 * ntklog_this_cpu_clear_at() - set a member of a per-CPU array element to 0
 * @_variable: the member in element 0, a long
 * @_offset: offset of the element, in bytes
 */
#define ntklog_this_cpu_clear_at(_variable, _offset)				\
({										\
	asm volatile("movq $0, %%gs:%c[variable](%[bytes])"			\
		     : : [variable] "i" (&(_variable)),				\
			 [bytes] "r" ((unsigned long)(_offset)) : "memory");	\
})

/**
 * ntklog_this_cpu_equals_at() - compare a member of a per-CPU array element with a value
 * @_variable: the member in element 0, a long
 * @_offset: offset of the element, in bytes
 * @_value: the value
 *
 * Return: true if they are equal.
 */
#define ntklog_this_cpu_equals_at(_variable, _offset, _value)			\
({										\
	bool __equal;								\
										\
	asm volatile("cmpq %[value], %%gs:%c[variable](%[bytes])"		\
		     : "=@cce" (__equal)					\
		     : [variable] "i" (&(_variable)),				\
		       [bytes] "r" ((unsigned long)(_offset)),			\
		       [value] "r" (_value) : "memory");			\
	__equal;								\
})

/**
 * ntklog_this_cpu_sub_from_at() - subtract a member of a per-CPU array element from a variable
 * @_value: the variable, a u32
 * @_variable: the member in element 0, a u32
 * @_offset: offset of the element, in bytes
 */
#define ntklog_this_cpu_sub_from_at(_value, _variable, _offset)			\
({										\
	asm volatile("subl %%gs:%c[variable](%[bytes]), %[value]"		\
		     : [value] "+r" (_value)					\
		     : [variable] "i" (&(_variable)),				\
		       [bytes] "r" ((unsigned long)(_offset)) : "cc");	\
})

/**
 * ntklog_this_cpu_exceeds() - compare a per-CPU variable with a value
 * @_variable: the per-CPU variable, a u32
 * @_value: the value, a u32
 *
 * Return: true if the variable is greater than the value.
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
 * ntklog_this_cpu_add_to_sum() - add a per-CPU variable to a sum
 * @_sum: a u64
 * @_variable: the per-CPU variable, a u64
 */
#define ntklog_this_cpu_add_to_sum(_sum, _variable)				\
({										\
	asm volatile("addq " __percpu_arg([variable]) ", %[sum]"				\
		     : [sum] "+r" (_sum)					\
		     : [variable] "m" (__my_cpu_var(_variable)) : "cc");	\
})

/**
 * ntklog_this_cpu_add_u32_to_sum() - add a per-CPU variable of 32 bits to a sum
 * @_sum: a u64 less than 2^32. The result is, too: it is computed modulo 2^32
 * @_variable: the per-CPU variable, a u32
 */
#define ntklog_this_cpu_add_u32_to_sum(_sum, _variable)				\
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
#define ntklog_this_cpu_read_low_u16(_variable)					\
	((unsigned long)(u16)this_cpu_read(_variable))
#define ntklog_this_cpu_at(_variable, _offset)					\
	(*(typeof(_variable) __percpu *)((char __percpu *)&(_variable) + (_offset)))
#define ntklog_this_cpu_write_at(_variable, _offset, _value)			\
	this_cpu_write(ntklog_this_cpu_at(_variable, _offset), _value)
#define ntklog_this_cpu_clear_at(_variable, _offset)				\
	this_cpu_write(ntklog_this_cpu_at(_variable, _offset), 0)
#define ntklog_this_cpu_equals_at(_variable, _offset, _value)			\
	(this_cpu_read(ntklog_this_cpu_at(_variable, _offset)) ==		\
	 (typeof(_variable))(_value))
#define ntklog_this_cpu_sub_from_at(_value, _variable, _offset)			\
	((_value) -= this_cpu_read(ntklog_this_cpu_at(_variable, _offset)))
#define ntklog_this_cpu_exceeds(_variable, _value)				\
	(this_cpu_read(_variable) > (_value))
#define ntklog_this_cpu_add_to_sum(_sum, _variable)				\
	((_sum) += this_cpu_read(_variable))
#define ntklog_this_cpu_add_u32_to_sum(_sum, _variable)				\
	((_sum) = (u32)((_sum) + this_cpu_read(_variable)))

#endif

#endif /* _NTKLOG_PERF_THIS_CPU_H */
