/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_WORD_H
#define _NTKLOG_GROUND_WORD_H

/*
 * Access to words of 64 bits that a CPU may read while another CPU writes them. On 32-bit CPUs an
 * access is two accesses of 32 bits, low half first, each with the requested ordering. A number may
 * be torn, but not a byte.
 */

#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>

#ifdef CONFIG_64BIT

#define ntklog_read_u64(_word)		READ_ONCE(_word)
#define ntklog_write_u64(_word, _value) WRITE_ONCE(_word, _value)
/* The comment at the call names the partner. */
#define ntklog_read_u64_acquire(_word)	smp_load_acquire(&(_word))
/* The comment at the call names the partner. */
#define ntklog_write_u64_release(_word, _value) smp_store_release(&(_word), _value)

#else

/* Little-endian: the low half comes first. */
static __always_inline u64 ntklog_read_halves(const u32 *halves)
{
	u32 low = READ_ONCE(halves[0]);

	return low | (u64)READ_ONCE(halves[1]) << 32;
}

static __always_inline u64 ntklog_read_halves_acquire(const u32 *halves)
{
	/* The comment at the call names the partner. */
	u32 low = smp_load_acquire(&halves[0]);

	/* The comment at the call names the partner. */
	return low | (u64)smp_load_acquire(&halves[1]) << 32;
}

static __always_inline void ntklog_write_halves(u32 *halves, u64 value)
{
	WRITE_ONCE(halves[0], (u32)value);
	WRITE_ONCE(halves[1], (u32)(value >> 32));
}

static __always_inline void ntklog_write_halves_release(u32 *halves, u64 value)
{
	/* The comment at the call names the partner. */
	smp_store_release(&halves[0], (u32)value);
	/* The comment at the call names the partner. */
	smp_store_release(&halves[1], (u32)(value >> 32));
}

#define ntklog_read_u64(_word)		ntklog_read_halves((const u32 *)&(_word))
#define ntklog_write_u64(_word, _value) ntklog_write_halves((u32 *)&(_word), _value)
#define ntklog_read_u64_acquire(_word)	ntklog_read_halves_acquire((const u32 *)&(_word))
#define ntklog_write_u64_release(_word, _value)	\
	ntklog_write_halves_release((u32 *)&(_word), _value)

#endif

#endif /* _NTKLOG_GROUND_WORD_H */
