/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_CLOCK_H
#define _NTKLOG_GROUND_CLOCK_H

/*
 * The clock of time stamps and of durations in cycles. The assembler in linux/sleeping_fast_path.h
 * reads the TSC as well.
 *
 * x86: the TSC, as in NT. arm64: the counter of the architected timer, as in NT, whose frequency
 * is independent of the CPU's.
 */

#include <linux/compiler.h>
#include <linux/math64.h>
#include <linux/timex.h>
#include <linux/types.h>
#include <linux/time64.h>
#include <uapi/ntklog/buffer.h>

/* x86 reads the clock as two halves. Storing them is cheaper than combining them. */
struct ntklog_time {
	u32 low;
	u32 high;
};

static __always_inline u64 ntklog_time_to_cycles(struct ntklog_time time)
{
	return (u64)time.high << 32 | time.low;
}

#if defined(CONFIG_X86)

#include <asm/tsc.h>

#define NTKLOG_CLOCK_NAME	"TSC"
#define NTKLOG_CLOCK_TYPE	ETW_CLOCK_CPU_CYCLE
#define NTKLOG_CLOCK_HZ		((u64)tsc_khz * 1000)
#define NTKLOG_CLOCK_KHZ	tsc_khz
#define NTKLOG_CLOCK_IS_UNSTABLE	check_tsc_unstable()

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
/* The architecture has the same counter on all CPUs. */
#define NTKLOG_CLOCK_IS_UNSTABLE	false

static __always_inline struct ntklog_time ntklog_read_time(void)
{
	u64 cycles = get_cycles();

	return (struct ntklog_time){ .low = cycles, .high = cycles >> 32 };
}

#else
#error "ntklog does not know this architecture's clock"
#endif

/**
 * ntklog_read_cycles() - read the clock
 *
 * Context: any, also NMI.
 * Return: the clock, in cycles.
 */
static __always_inline u64 ntklog_read_cycles(void)
{
	return ntklog_time_to_cycles(ntklog_read_time());
}

/**
 * ntklog_cycles_since() - return how long ago a time was
 * @start: the time, in cycles
 * @fallback: result if @start is in the future, because the clocks of CPUs may differ
 *
 * Context: any, also NMI.
 * Return: cycles since @start, or @fallback.
 */
static inline u64 ntklog_cycles_since(u64 start, u64 fallback)
{
	u64 cycles = ntklog_read_cycles() - start;

	return (s64)cycles < 0 ? fallback : cycles;
}

/**
 * ntklog_store_time() - store a clock value
 * @value: receives the 64 bits
 * @time: the clock value
 *
 * Context: any.
 */
static __always_inline void ntklog_store_time(u64 *value, struct ntklog_time time)
{
	if (IS_ENABLED(CONFIG_X86)) {
		WRITE_ONCE(((u32 *)value)[0], time.low);
		WRITE_ONCE(((u32 *)value)[1], time.high);
	} else {
		*value = ntklog_time_to_cycles(time);
	}
}

/**
 * ntklog_get_clock_frequency() - return the frequency of the clock
 *
 * Context: any.
 * Return: cycles per second; 0 if the machine does not have this clock.
 */
static inline u64 ntklog_get_clock_frequency(void)
{
	return NTKLOG_CLOCK_HZ;
}

/**
 * ntklog_ms_to_cycles() - convert milliseconds to cycles
 * @milliseconds: a duration
 *
 * Context: any.
 * Return: the duration in cycles.
 */
static inline u64 ntklog_ms_to_cycles(u32 milliseconds)
{
	return div_u64(milliseconds * ntklog_get_clock_frequency(), 1000);
}

/**
 * ntklog_ns_to_cycles() - convert nanoseconds to cycles
 * @nanoseconds: a duration
 *
 * Context: any.
 * Return: the duration in cycles.
 */
static inline u64 ntklog_ns_to_cycles(u64 nanoseconds)
{
	return mul_u64_u32_div(nanoseconds, NTKLOG_CLOCK_KHZ, USEC_PER_SEC);
}

/**
 * ntklog_ns_to_kilocycles() - convert nanoseconds to units of 1024 cycles
 * @nanoseconds: a duration; may be negative
 *
 * Context: any.
 * Return: the duration in units of 1024 cycles.
 */
static inline s64 ntklog_ns_to_kilocycles(s64 nanoseconds)
{
	return div_s64(nanoseconds * (s64)NTKLOG_CLOCK_KHZ, (s32)(USEC_PER_SEC * 1024));
}

/**
 * ntklog_clock_is_unstable() - test whether the kernel has found that the clock is unstable
 *
 * The result may change at any time.
 *
 * Context: any.
 * Return: true if the kernel has marked the clock as unstable.
 */
static inline bool ntklog_clock_is_unstable(void)
{
	return NTKLOG_CLOCK_IS_UNSTABLE;
}

/**
 * ntklog_get_processor_mhz() - return CpuSpeedInMHz of an ETL file
 *
 * Context: any.
 * Return: frequency of the TSC in MHz; 0 if the clock does not count cycles of the CPU.
 */
static inline u32 ntklog_get_processor_mhz(void)
{
	return NTKLOG_CLOCK_TYPE == ETW_CLOCK_CPU_CYCLE ?
		div_u64(ntklog_get_clock_frequency(), 1000000) : 0;
}

#endif /* _NTKLOG_GROUND_CLOCK_H */
