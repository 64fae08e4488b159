/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_RELEASE_COUNT_H
#define _NTKLOG_PERF_RELEASE_COUNT_H

/*
 * Final releases of resources, or of Linux' own locks that sleep, and which of them are sampled for
 * their number: each processor's multiples of NT's ReleaseSamplingRate. A release counts down, by
 * one instruction, and only one that finds the count below 0 has to look: there is no division.
 */

#include <linux/types.h>

#include "this_cpu.h"

/**
 * struct ntklog_release_count - releases of a processor
 * @left: releases until one that is a multiple of the rate, less 1
 * @multiple: the number of that one, or of one before it where the rate is very great
 *
 * Written by its own processor only: @multiple with interrupts off, @left also by the instruction
 * that counts; of one that is offline by who changes the rate. Read by any. Who counts down and
 * is then preempted or interrupted may find that somebody else has seen the multiple: exactly one
 * does.
 */
struct ntklog_release_count {
	s32 left;
	u64 multiple;
};

/**
 * ntklog_count_down_release() - count a release
 * @_count: of this processor, a per-CPU variable
 *
 * Context: any; preemption may be on.
 * Return: whether ntklog_release_countdown_expired() has to be asked.
 */
#define ntklog_count_down_release(_count)	ntklog_this_cpu_dec_is_negative((_count).left)

/**
 * ntklog_releases() - how many there were
 * @count: of some processor
 *
 * Context: any. Of another processor's it may be off by what is counted down at once.
 * Return: so many.
 */
static inline u64 ntklog_releases(const struct ntklog_release_count *count)
{
	return READ_ONCE(count->multiple) - 1 - READ_ONCE(count->left);
}

void ntklog_restart_release_countdown(struct ntklog_release_count *count, u64 released);
bool ntklog_release_countdown_expired(struct ntklog_release_count *count);

#endif /* _NTKLOG_PERF_RELEASE_COUNT_H */
