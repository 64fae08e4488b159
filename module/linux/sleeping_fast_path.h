/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_SLEEPING_FAST_PATH_H
#define _NTKLOG_LINUX_SLEEPING_FAST_PATH_H

/*
 * Fast paths of ntklog_track_sleeping_acquire() and ntklog_track_sleeping_release() in assembler,
 * as a part of the trampoline. The assembler code writes the same words in the same order as the C
 * functions.
 *
 * If a check fails, the fast path has changed nothing and the trampoline calls the hook. If the
 * countdown of releases expires, the fast path has only decremented it, and the trampoline calls
 * counted_<hook>().
 *
 * At the entry of a function the arguments are live. Flags and the other call-clobbered registers
 * may be changed.
 */

#include <linux/hardirq.h>
#include <linux/mutex.h>
#include <linux/percpu-rwsem.h>
#include <linux/rtmutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/stddef.h>

#include "../ground/compat.h"
#include "../ground/task_record.h"
#include "../perf/sleeping_lock.h"
#include "redirect.h"

#define NTKLOG_ASM_CONSTANT(_name, _value)					\
static void __used notrace ntklog_set_##_name(void)				\
{										\
	asm volatile(".set ntklog_asm_" #_name ", %c0" : : "i" ((int)(_value)));	\
}										\
static_assert(true)

NTKLOG_ASM_CONSTANT(current_record, offsetof(struct ntklog_current, record));
NTKLOG_ASM_CONSTANT(record_task, offsetof(struct ntklog_task, task));
NTKLOG_ASM_CONSTANT(record_next_sleeping_slot, offsetof(struct ntklog_task, next_sleeping_slot));
NTKLOG_ASM_CONSTANT(record_ready, offsetof(struct ntklog_task, off_cpu.ready_cycles));
NTKLOG_ASM_CONSTANT(record_blocked, offsetof(struct ntklog_task, off_cpu.blocked_cycles));
NTKLOG_ASM_CONSTANT(slot_size, sizeof(struct ntklog_sleeping_slot));
NTKLOG_ASM_CONSTANT(slot_lock, offsetof(struct ntklog_sleeping_slot, lock));
NTKLOG_ASM_CONSTANT(slot_time_low, offsetof(struct ntklog_sleeping_slot, acquire_time_halves[0]));
NTKLOG_ASM_CONSTANT(slot_time_high, offsetof(struct ntklog_sleeping_slot, acquire_time_halves[1]));
NTKLOG_ASM_CONSTANT(slot_caller, offsetof(struct ntklog_sleeping_slot, caller));
NTKLOG_ASM_CONSTANT(slot_state, offsetof(struct ntklog_sleeping_slot, state));
NTKLOG_ASM_CONSTANT(slot_ready, offsetof(struct ntklog_sleeping_slot, off_cpu_before.ready_cycles));
NTKLOG_ASM_CONSTANT(slot_blocked,
		    offsetof(struct ntklog_sleeping_slot, off_cpu_before.blocked_cycles));
NTKLOG_ASM_CONSTANT(attempts, offsetof(struct ntklog_sleeping_lock_cpu, acquire_attempts));
NTKLOG_ASM_CONSTANT(countdown, offsetof(struct ntklog_sleeping_lock_cpu, release_count.countdown));
NTKLOG_ASM_CONSTANT(mutex_spinners, offsetof(struct mutex, osq.tail));
NTKLOG_ASM_CONSTANT(rwsem_spinners, offsetof(struct rw_semaphore, osq.tail));
NTKLOG_ASM_CONSTANT(rt_mutex_owner, offsetof(struct rt_mutex, rtmutex.owner));
NTKLOG_ASM_CONSTANT(percpu_rwsem_waiters, offsetof(struct percpu_rw_semaphore, waiters.head));
NTKLOG_ASM_CONSTANT(not_in_task, NMI_MASK | HARDIRQ_MASK | SOFTIRQ_OFFSET);
ntklog_check_current();
static_assert(offsetof(struct mutex, owner) == 0);
static_assert(offsetof(struct rw_semaphore, count) == 0);

/* Load the cached record, which may be of another task, into r8, and its task into rax. */
#define NTKLOG_LOAD_CACHED_RECORD						\
	"	movq %gs:ntklog_current+ntklog_asm_current_record(%rip), %r8\n"	\
	"	movq ntklog_asm_record_task(%r8), %rax\n"

/* Skip the fast path, unless the CPU runs in task context as in_task() defines it. */
#define NTKLOG_UNLESS_IN_TASK							\
	"	testl $ntklog_asm_not_in_task, %gs:" NTKLOG_PREEMPT_COUNT "(%rip)\n"	\
	"	jne 1f\n"

#define DEFINE_ACQUIRE_TRAMPOLINE(_hook)					\
void trampoline_##_hook(void);							\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_" #_hook, #_hook,			\
	NTKLOG_LOAD_CACHED_RECORD						\
	/* Test for the current task and a free next slot. The dummy record has slots, too. */ \
	"	subq %gs:" NTKLOG_CURRENT "(%rip), %rax\n"			\
	"	movq ntklog_asm_record_next_sleeping_slot(%r8), %rcx\n"		\
	"	orq ntklog_asm_slot_lock(%rcx), %rax\n"				\
	"	jne 1f\n"							\
	"	incq %gs:ntklog_sleeping_lock_cpu+ntklog_asm_attempts(%rip)\n"	\
	"	rdtsc\n"							\
	"	movl %eax, ntklog_asm_slot_time_low(%rcx)\n"			\
	"	movl %edx, ntklog_asm_slot_time_high(%rcx)\n"			\
	"	movq ntklog_asm_record_ready(%r8), %rax\n"			\
	"	movq ntklog_asm_record_blocked(%r8), %rdx\n"			\
	"	movq %rax, ntklog_asm_slot_ready(%rcx)\n"			\
	"	movq %rdx, ntklog_asm_slot_blocked(%rcx)\n"			\
	"	movq 8(%rsp), %rax\n"						\
	"	movq %rax, ntklog_asm_slot_caller(%rcx)\n"			\
	"	movq $ntklog_asm_action_of_" #_hook ", ntklog_asm_slot_state(%rcx)\n"	\
	/* Publishes the slot. On x86 each store has release semantics. */	\
	"	movq %rdi, ntklog_asm_slot_lock(%rcx)\n"			\
	"	addq $ntklog_asm_slot_size, ntklog_asm_record_next_sleeping_slot(%r8)\n"	\
	"	" ASM_RET							\
	"1:\n",									\
	"", NTKLOG_LOAD_CALLER(8), ""))

/*
 * Checks of DEFINE_RELEASE_TRAMPOLINE(): jump to label 1, which calls the hook, if the slot has a
 * state bit or a contention, or if the lock has a waiter. On entry rdi is the lock, rcx the
 * next_sleeping_slot, rax the current task.
 */
#define NTKLOG_TOPMOST_SLOT_STATE	"ntklog_asm_slot_state-ntklog_asm_slot_size(%rcx)"

#define NTKLOG_CHECK_STATE(_hook)						\
	"	cmpq $ntklog_asm_action_of_" #_hook ", " NTKLOG_TOPMOST_SLOT_STATE "\n"	\
	"	jne 1f\n"

/* No waiter: the owner word is the current task without flags, and no task spins. */
#define NTKLOG_CHECK_MUTEX(_hook)						\
	NTKLOG_CHECK_STATE(_hook)						\
	"	xorq (%rdi), %rax\n"						\
	"	orl ntklog_asm_mutex_spinners(%rdi), %eax\n"			\
	"	jne 1f\n"

/*
 * Without a waiter the low byte of the count is @_locked: 1 if a writer holds the lock, 0 if
 * readers do. The sum of this byte, the tail of the queue of spinners and the state of the slot is
 * compared. Each term has its lowest value if there is neither a waiter nor a contention, so one
 * comparison of the sum suffices.
 */
#define NTKLOG_CHECK_RWSEM(_hook, _locked)					\
	"	movzbl (%rdi), %eax\n"						\
	"	addl ntklog_asm_rwsem_spinners(%rdi), %eax\n"			\
	"	addq " NTKLOG_TOPMOST_SLOT_STATE ", %rax\n"			\
	"	cmpq $ntklog_asm_action_of_" #_hook "+" _locked ", %rax\n"	\
	"	jne 1f\n"

/* No waiter: the owner word is the current task and has no flag set. */
#define NTKLOG_CHECK_RT_MUTEX(_hook)						\
	NTKLOG_CHECK_STATE(_hook)						\
	"	xorq ntklog_asm_rt_mutex_owner(%rdi), %rax\n"			\
	"	jne 1f\n"

/* No waiter: the list of waiters is empty, so its head points to itself. */
#define NTKLOG_CHECK_PERCPU_RWSEM(_hook)					\
	NTKLOG_CHECK_STATE(_hook)						\
	"	leaq ntklog_asm_percpu_rwsem_waiters(%rdi), %rax\n"		\
	"	cmpq %rax, (%rax)\n"						\
	"	jne 1f\n"

/*
 * @_context_check: NTKLOG_UNLESS_IN_TASK if the function may be called in interrupt context,
 *	otherwise ""
 * @_check: NTKLOG_CHECK_* for the kind of lock
 */
#define DEFINE_RELEASE_TRAMPOLINE(_hook, _context_check, _check)		\
void trampoline_##_hook(void);							\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_" #_hook, #_hook,			\
	_context_check								\
	NTKLOG_LOAD_CACHED_RECORD						\
	"	cmpq %gs:" NTKLOG_CURRENT "(%rip), %rax\n"			\
	"	jne 1f\n"							\
	"	movq ntklog_asm_record_next_sleeping_slot(%r8), %rcx\n"		\
	"	cmpq %rdi, ntklog_asm_slot_lock-ntklog_asm_slot_size(%rcx)\n"	\
	"	jne 1f\n"							\
	_check									\
	"	decl %gs:ntklog_sleeping_lock_cpu+ntklog_asm_countdown(%rip)\n"	\
	"	js 2f\n"							\
	"	subq $ntklog_asm_slot_size, ntklog_asm_record_next_sleeping_slot(%r8)\n"	\
	"	movq $0, ntklog_asm_slot_lock-ntklog_asm_slot_size(%rcx)\n"	\
	"	" ASM_RET							\
	"2:\n"									\
	NTKLOG_CALL_HOOK("counted_" #_hook, "", "", "")				\
	"	" ASM_RET							\
	"1:\n",									\
	"", "", ""))

#endif /* _NTKLOG_LINUX_SLEEPING_FAST_PATH_H */
