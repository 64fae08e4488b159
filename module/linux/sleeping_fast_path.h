/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_SLEEPING_FAST_PATH_H
#define _NTKLOG_LINUX_SLEEPING_FAST_PATH_H

/*
 * What ntklog_track_sleeping_acquire() and ntklog_track_sleeping_release() do when there is
 * nothing to look at, which is nearly always, in a trampoline itself: in their order, and by the
 * same words. A third of what it costs them is to be called with the function's arguments kept.
 * Whatever else there is goes on to the hook, which begins anew.
 *
 * As at a function's entry: its arguments are kept, but for flags and what calls may change.
 */

#include <linux/hardirq.h>
#include <linux/sched.h>
#include <linux/stddef.h>

#include "../compat.h"
#include "../ground/task_record.h"
#include "../perf/sleeping_lock.h"
#include "redirect.h"

/* A constant of C's, of 32 bits, for the assembler of this file. */
#define NTKLOG_ASM_CONSTANT(_name, _value)					\
static void __used notrace ntklog_set_##_name(void)				\
{										\
	asm volatile(".set ntklog_asm_" #_name ", %c0" : : "i" ((int)(_value)));	\
}										\
static_assert(true)

NTKLOG_ASM_CONSTANT(here_room, offsetof(struct ntklog_current, room));
NTKLOG_ASM_CONSTANT(room_task, offsetof(struct ntklog_task, task));
NTKLOG_ASM_CONSTANT(room_next, offsetof(struct ntklog_task, next_sleeping_slot));
NTKLOG_ASM_CONSTANT(slot_size, sizeof(struct ntklog_sleeping_slot));
NTKLOG_ASM_CONSTANT(slot_lock, offsetof(struct ntklog_sleeping_slot, lock));
NTKLOG_ASM_CONSTANT(slot_low, offsetof(struct ntklog_sleeping_slot, acquire_time_halves[0]));
NTKLOG_ASM_CONSTANT(slot_high, offsetof(struct ntklog_sleeping_slot, acquire_time_halves[1]));
NTKLOG_ASM_CONSTANT(slot_caller, offsetof(struct ntklog_sleeping_slot, caller));
NTKLOG_ASM_CONSTANT(slot_state, offsetof(struct ntklog_sleeping_slot, state));
NTKLOG_ASM_CONSTANT(acquired, offsetof(struct ntklog_sleeping_cpu, attempts));
NTKLOG_ASM_CONSTANT(countdown, offsetof(struct ntklog_sleeping_cpu, releases.left));
NTKLOG_ASM_CONSTANT(not_in_task, NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET);
ntklog_check_current();

/* What this processor remembers, be it another thread's or nobody's, in r8; whose it is in rax. */
#define NTKLOG_ROOM								\
	"	movq %gs:ntklog_current+ntklog_asm_here_room(%rip), %r8\n"			\
	"	movq ntklog_asm_room_task(%r8), %rax\n"

/* As in_task(). */
#define NTKLOG_UNLESS_IN_TASK							\
	"	testl $ntklog_asm_not_in_task, %gs:" NTKLOG_PREEMPT_COUNT "(%rip)\n"	\
	"	jne 1f\n"

/* Functions of one argument. */
#define ACQUIRING(_hook)							\
void trampoline_##_hook(void);							\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_" #_hook, #_hook,				\
	NTKLOG_ROOM								\
	/* The thread's own, with a free slot? Nobody's room has slots to look at, too. */	\
	"	subq %gs:" NTKLOG_CURRENT "(%rip), %rax\n"			\
	"	movq ntklog_asm_room_next(%r8), %rcx\n"				\
	"	orq ntklog_asm_slot_lock(%rcx), %rax\n"				\
	"	jne 1f\n"							\
	"	incq %gs:ntklog_sleeping_cpu+ntklog_asm_acquired(%rip)\n"		\
	"	rdtsc\n"							\
	"	movl %eax, ntklog_asm_slot_low(%rcx)\n"				\
	"	movl %edx, ntklog_asm_slot_high(%rcx)\n"				\
	"	movq 8(%rsp), %rax\n"						\
	"	movq %rax, ntklog_asm_slot_caller(%rcx)\n"			\
	"	movq $ntklog_asm_action_of_" #_hook ", ntklog_asm_slot_state(%rcx)\n"	\
	/* After all that is in the slot: a release, as all stores of x86's. */	\
	"	movq %rdi, ntklog_asm_slot_lock(%rcx)\n"				\
	"	addq $ntklog_asm_slot_size, ntklog_asm_room_next(%r8)\n"		\
	"	" ASM_RET							\
	"1:\n",									\
	"", NTKLOG_CALLER(8), ""))

/* @_first: what of the threads it may be in has slots. */
#define RELEASING(_hook, _first)						\
void trampoline_##_hook(void);							\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_" #_hook, #_hook,				\
	_first									\
	NTKLOG_ROOM								\
	"	cmpq %gs:" NTKLOG_CURRENT "(%rip), %rax\n"			\
	"	jne 1f\n"							\
	"	movq ntklog_asm_room_next(%r8), %rcx\n"				\
	"	cmpq %rdi, ntklog_asm_slot_lock-ntklog_asm_slot_size(%rcx)\n"	\
	"	jne 1f\n"							\
	"	cmpq $ntklog_asm_action_of_" #_hook ", "					\
			"ntklog_asm_slot_state-ntklog_asm_slot_size(%rcx)\n"	\
	"	jne 1f\n"							\
	"	decl %gs:ntklog_sleeping_cpu+ntklog_asm_countdown(%rip)\n"	\
	"	js 2f\n"							\
	"	subq $ntklog_asm_slot_size, ntklog_asm_room_next(%r8)\n"		\
	"	movq $0, ntklog_asm_slot_lock-ntklog_asm_slot_size(%rcx)\n"	\
	"	" ASM_RET							\
	"2:\n"									\
	NTKLOG_CALL_HOOK("counted_" #_hook, "", "", "")				\
	"	" ASM_RET							\
	"1:\n",									\
	"", "", ""))

#endif /* _NTKLOG_LINUX_SLEEPING_FAST_PATH_H */
