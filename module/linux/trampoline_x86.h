/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_TRAMPOLINE_X86_H
#define _NTKLOG_LINUX_TRAMPOLINE_X86_H

/* Trampolines of redirected and hooked functions in x86 assembler; see redirect.h. */

#include <asm/frame.h>
#include <asm/ibt.h>
#include <linux/linkage.h>
#include <linux/objtool.h>

#include "../ground/compat.h"

/*
 * Define a trampoline: code that a kernel function calls with its first instruction. The call is
 * direct, so the trampoline needs no ENDBR, and objtool must be told so.
 */
#define NTKLOG_TRAMPOLINE_CODE(_name, _instructions)				\
	".pushsection .text, \"ax\", @progbits\n"				\
	/* Newer versions of ftrace use bit 0 of the address as a flag for a jump. */	\
	"	.balign 16\n"								\
	"	.globl " _name "\n"							\
	"	.type " _name ", @function\n"						\
	_name ":\n"								\
	ANNOTATE_NOENDBR "\n"							\
	_instructions								\
	"	" ASM_RET								\
	"	.size " _name ", . - " _name "\n"					\
	".popsection\n"

/*
 * Define a trampoline that continues in @_function. The return address on top of the stack leads
 * into the kernel function, and the next one to its caller. The trampoline replaces the first one,
 * so that one return ends two calls. The CPU mispredicts the outer return, which is most of the
 * overhead. A kernel that counts calls (retbleed=stuff) would be off by one.
 */
#define NTKLOG_TRAMPOLINE(_trampoline, _function, _first)			\
	NTKLOG_TRAMPOLINE_CODE(_trampoline,						\
		    ntklog_annotate_no_endbr(_function)				\
		    _first							\
		    "	movq $" _function ", (%rsp)\n")

/*
 * Begin the trampoline of a release function: if this CPU holds no sampled lock, and the lock word
 * has none of the bits @_waiters set, return into the kernel function, which releases the lock.
 * Preemption is off. The flags are not live at the entry of a function.
 */
#define NTKLOG_UNLESS_SAMPLED_OR_WAITED_FOR(_waiters)				\
	"	cmpl $0, %gs:ntklog_spin_lock_cpu(%rip)\n"				\
	"	jne 1f\n"								\
	"	testl $" __stringify(_waiters) ", (%rdi)\n"			\
	"	jne 1f\n"								\
	"	" ASM_RET								\
	"1:\n"

/* Call a hook with the first argument of the function. */
#define NTKLOG_CALL_HOOK(_hook, _save, _more, _restore)				\
	FRAME_BEGIN								\
	"	pushq %rdi\n"							\
	_save									\
	_more									\
	"	call " _hook "\n"							\
	_restore								\
	"	popq %rdi\n"							\
	FRAME_END

/*
 * Define a trampoline that calls a hook and then returns into the kernel function.
 * @_first: fast path, which returns into the function or continues with the call of the hook
 * @_save: saves further arguments of the function
 * @_more: sets further arguments of the hook
 * @_restore: restores what @_save has saved
 */
#define NTKLOG_HOOK_TRAMPOLINE(_trampoline, _hook, _first, _save, _more, _restore)	\
	NTKLOG_TRAMPOLINE_CODE(_trampoline,						\
		    _first							\
		    NTKLOG_CALL_HOOK(_hook, _save, _more, _restore))

/* Bytes that FRAME_BEGIN pushes. */
#ifdef CONFIG_FRAME_POINTER
#define NTKLOG_FRAME	"8"
#else
#define NTKLOG_FRAME	"0"
#endif

/*
 * Load the return address of the kernel function into the second argument of a hook.
 * @_pushed_bytes: number of bytes that were pushed after FRAME_BEGIN
 */
#define NTKLOG_LOAD_CALLER(_pushed_bytes)					\
	"	movq 8+" #_pushed_bytes "+" NTKLOG_FRAME "(%rsp), %rsi\n"

/*
 * Trampolines that call a hook: NTKLOG_DEFINE_HOOK_TRAMPOLINE() for functions with one argument,
 * NTKLOG_DEFINE_HOOK_TRAMPOLINE_2() for functions with up to three,
 * NTKLOG_DEFINE_LOCK_HOOK_TRAMPOLINE() for a hook that does not use the caller.
 */
#define NTKLOG_DEFINE_HOOK_TRAMPOLINE(_hook)					\
void trampoline_##_hook(void);							\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_" #_hook, #_hook, "", "", NTKLOG_LOAD_CALLER(8), ""))
#define NTKLOG_DEFINE_HOOK_TRAMPOLINE_2(_hook)					\
void trampoline_2_##_hook(void);						\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_2_" #_hook, #_hook, "",		\
			   "	pushq %rsi\n	pushq %rdx\n",			\
			   NTKLOG_LOAD_CALLER(24),				\
			   "	popq %rdx\n	popq %rsi\n"))
#define NTKLOG_DEFINE_LOCK_HOOK_TRAMPOLINE(_hook)				\
void trampoline_##_hook(void);							\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_" #_hook, #_hook, "", "", "", ""))

/*
 * The trampolines of an acquire function and of a release function, one for each variant. @_waiters
 * are the bits of the lock word that say that a CPU waits for the lock.
 */
#define NTKLOG_DEFINE_ACQUIRE_TRAMPOLINES(_name)				\
void trampoline_##_name(void);							\
void sampled_trampoline_##_name(void);						\
asm(NTKLOG_TRAMPOLINE("trampoline_" #_name, "tracked_" #_name, "")		\
	NTKLOG_TRAMPOLINE("sampled_trampoline_" #_name, "sampled_" #_name, ""))

#define NTKLOG_DEFINE_RELEASE_TRAMPOLINES(_name, _waiters)			\
void trampoline_##_name(void);							\
void sampled_trampoline_##_name(void);						\
asm(NTKLOG_TRAMPOLINE("trampoline_" #_name, "tracked_" #_name, "")		\
	NTKLOG_TRAMPOLINE("sampled_trampoline_" #_name, "sampled_" #_name,	\
			  NTKLOG_UNLESS_SAMPLED_OR_WAITED_FOR(_waiters)))

/* Offset in a function behind ENDBR, if any, and the call that ftrace patches. */
#ifdef CONFIG_X86_KERNEL_IBT
#define ORIGINAL_OFFSET	9
#else
#define ORIGINAL_OFFSET	5
#endif

/* Call the original of a replaced function. The call is direct, because there is no ENDBR. */
#define CALL_ORIGINAL(_name, _lock, _context)					\
({										\
	const void *__lock = (_lock), *__context = (_context);			\
	int __result;								\
										\
	asm volatile("call " #_name " + " __stringify(ORIGINAL_OFFSET)		\
		     : "=a" (__result), "+D" (__lock), "+S" (__context),	\
		       ASM_CALL_CONSTRAINT					\
		     : : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");	\
	__result;								\
})

#endif /* _NTKLOG_LINUX_TRAMPOLINE_X86_H */
