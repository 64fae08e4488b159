/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_CLOCK_H
#define _NTKLOG_GROUND_CLOCK_H

/*
 * The clock that every time in every event is of, and every parameter in cycles. Nothing else
 * knows which it is.
 *
 * x86: the TSC, as NT has it there. Files say that it is the processor's cycle counter.
 *
 * arm64: the architected timer's virtual counter, as NT has it there: 24 MHz to 1 GHz, whatever
 * the processor's own speed, so that a cycle is another time than on x86. Files say that it is
 * the performance counter, and of the processor's speed nothing.
 */

#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/timex.h>
#include <linux/types.h>
#include <linux/time64.h>
#include <uapi/ntklog/buffer.h>

/**
 * struct ntklog_time - a reading of the clock that locks are timed by
 * @low: its low half
 * @high: its high half
 *
 * In halves, as x86 gives it: most are never put together.
 */
struct ntklog_time {
	u32 low;
	u32 high;
};

static __always_inline u64 ntklog_time_value(struct ntklog_time time)
{
	return (u64)time.high << 32 | time.low;
}

#if defined(CONFIG_X86)

#include <asm/tsc.h>

#define NTKLOG_CLOCK_NAME	"TSC"
#define NTKLOG_CLOCK_TYPE	ETW_CLOCK_CPU_CYCLE
#define NTKLOG_CLOCK_HZ		((u64)tsc_khz * 1000)
#define NTKLOG_CLOCK_KHZ	tsc_khz
#define ntklog_clock_is_unreliable()	check_tsc_unstable()

static __always_inline struct ntklog_time ntklog_read_time(void)
{
	struct ntklog_time time;

	asm volatile("rdtsc" : "=a" (time.low), "=d" (time.high));
	return time;
}

#elif defined(CONFIG_ARM64)

#include <asm/arch_timer.h>

#define NTKLOG_CLOCK_NAME	"architected timer"
#define NTKLOG_CLOCK_TYPE	ETW_CLOCK_PERFORMANCE_COUNTER
#define NTKLOG_CLOCK_HZ		((u64)arch_timer_get_cntfrq())
#define NTKLOG_CLOCK_KHZ	(arch_timer_get_cntfrq() / 1000)
/* It is one for all processors, by the architecture. */
#define ntklog_clock_is_unreliable()	false

static __always_inline struct ntklog_time ntklog_read_time(void)
{
	u64 cycles = get_cycles();

	return (struct ntklog_time){ .low = cycles, .high = cycles >> 32 };
}

#else
#error "ntklog does not know this architecture's clock"
#endif

/**
 * ntklog_cycles() - the clock now
 *
 * Context: any, NMI too.
 * Return: cycles of the clock, since some time before the boot.
 */
static __always_inline u64 ntklog_cycles(void)
{
	return ntklog_time_value(ntklog_read_time());
}

/**
 * ntklog_store_time() - put a reading of the clock where 64 bits of it go
 * @value: where
 * @time: the reading
 *
 * In halves, where it comes in them: it takes more to put them together than to write them.
 *
 * Context: any.
 */
static __always_inline void ntklog_store_time(u64 *value, struct ntklog_time time)
{
	if (IS_ENABLED(CONFIG_X86)) {
		WRITE_ONCE(((u32 *)value)[0], time.low);
		WRITE_ONCE(((u32 *)value)[1], time.high);
	} else {
		*value = ntklog_time_value(time);
	}
}

/**
 * ntklog_clock_frequency() - how fast is it?
 *
 * Context: any.
 * Return: cycles per second; 0: the machine has no such clock.
 */
static inline u64 ntklog_clock_frequency(void)
{
	return NTKLOG_CLOCK_HZ;
}

/**
 * ntklog_ms_to_cycles() - how long is that?
 * @milliseconds: so many
 *
 * Context: any.
 * Return: cycles.
 */
static inline u64 ntklog_ms_to_cycles(u32 milliseconds)
{
	return div_u64(milliseconds * ntklog_clock_frequency(), 1000);
}

/**
 * ntklog_ns_to_kilocycles() - how long is that?
 * @nanoseconds: so many; may be negative
 *
 * Context: any.
 * Return: units of 1024 cycles.
 */
static inline s64 ntklog_ns_to_kilocycles(s64 nanoseconds)
{
	return div_s64(nanoseconds * (s64)NTKLOG_CLOCK_KHZ, (s32)(USEC_PER_SEC * 1024));
}

/**
 * ntklog_clock_is_unstable() - do processors differ, or does it stop?
 *
 * Context: any.
 * Return: whether Linux has found so; at the boot, or at any time later.
 */
static inline bool ntklog_clock_is_unstable(void)
{
	return ntklog_clock_is_unreliable();
}

/**
 * ntklog_clock_processor_mhz() - for CpuSpeedInMHz
 *
 * Context: any.
 * Return: MHz; 0: the clock does not tell.
 */
static inline u32 ntklog_clock_processor_mhz(void)
{
	return NTKLOG_CLOCK_TYPE == ETW_CLOCK_CPU_CYCLE ?
		div_u64(ntklog_clock_frequency(), 1000000) : 0;
}

#endif /* _NTKLOG_GROUND_CLOCK_H */
