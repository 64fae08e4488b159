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
#define NTKLOG_TRAMPOLINE_CODE(_name, _instructions)					\
	".pushsection .text, \"ax\", @progbits\n"					\
	/* Newer versions of ftrace use bit 0 of the address as a flag for a jump. */	\
	"	.balign 16\n"								\
	"	.globl " _name "\n"							\
	"	.type " _name ", @function\n"						\
	_name ":\n"									\
	ANNOTATE_NOENDBR "\n"								\
	_instructions									\
	"	" ASM_RET								\
	"	.size " _name ", . - " _name "\n"					\
	".popsection\n"

/*
 * Define a trampoline that continues in @_function. The return address on top of the stack leads
 * into the kernel function, and the next one to its caller. The trampoline replaces the first
 * return address by @_function and returns to it. The CPU mispredicts this return, which is most of
 * the overhead. A kernel that counts calls and returns (retbleed=stuff) would be off by one,
 * because the trampoline does not count its own call.
 */
#define NTKLOG_TRAMPOLINE(_trampoline, _function, _fast_path)			\
	NTKLOG_TRAMPOLINE_CODE(_trampoline,					\
		    ntklog_annotate_no_endbr(_function)				\
		    _fast_path							\
		    "	movq $" _function ", (%rsp)\n")

/*
 * Begin the trampoline of a release function: if this CPU holds no sampled lock, and the lock word
 * has none of the bits @_waiters set, return into the kernel function, which releases the lock.
 * Preemption is off. The instructions may change the flags register, which is not live at the entry
 * of a function.
 */
#define NTKLOG_UNLESS_SAMPLED_OR_WAITED_FOR(_waiters)					\
	"	cmpl $0, %gs:ntklog_spin_lock_cpu(%rip)\n"				\
	"	jne 1f\n"								\
	"	testl $" __stringify(_waiters) ", (%rdi)\n"				\
	"	jne 1f\n"								\
	"	" ASM_RET								\
	"1:\n"

/* Call a hook with the first argument of the function. */
#define NTKLOG_CALL_HOOK(_hook, _save, _set_arguments, _restore)		\
	FRAME_BEGIN								\
	"	pushq %rdi\n"							\
	_save									\
	_set_arguments								\
	"	call " _hook "\n"						\
	_restore								\
	"	popq %rdi\n"							\
	FRAME_END

/*
 * Define a trampoline that calls a hook and then returns into the kernel function.
 * @_fast_path: instructions that return into the function, or continue with the call of the hook
 * @_save: instructions that save further arguments of the function
 * @_set_arguments: instructions that set further arguments of the hook
 * @_restore: instructions that restore the arguments that @_save has saved
 */
#define NTKLOG_HOOK_TRAMPOLINE(_trampoline, _hook, _fast_path, _save, _set_arguments, _restore)	\
	NTKLOG_TRAMPOLINE_CODE(_trampoline,							\
		    _fast_path									\
		    NTKLOG_CALL_HOOK(_hook, _save, _set_arguments, _restore))

/* Number of bytes that FRAME_BEGIN pushes. */
#ifdef CONFIG_FRAME_POINTER
#define NTKLOG_FRAME_BYTES	"8"
#else
#define NTKLOG_FRAME_BYTES	"0"
#endif

/*
 * Load the return address of the kernel function into the second argument of a hook.
 * @_pushed_bytes: number of bytes that were pushed after FRAME_BEGIN
 */
#define NTKLOG_LOAD_CALLER(_pushed_bytes)					\
	"	movq 8+" #_pushed_bytes "+" NTKLOG_FRAME_BYTES "(%rsp), %rsi\n"

/*
 * Define the trampoline of a hook: NTKLOG_DEFINE_HOOK_TRAMPOLINE() for functions with one argument,
 * NTKLOG_DEFINE_HOOK_TRAMPOLINE_3ARGS() for functions with up to three arguments,
 * NTKLOG_DEFINE_LOCK_HOOK_TRAMPOLINE() for functions with one argument and a hook that gets only
 * the lock, not the caller.
 */
#define NTKLOG_DEFINE_HOOK_TRAMPOLINE(_hook)					\
void trampoline_##_hook(void);							\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_" #_hook, #_hook, "", "", NTKLOG_LOAD_CALLER(8), ""))
#define NTKLOG_DEFINE_HOOK_TRAMPOLINE_3ARGS(_hook)				\
void trampoline_3args_##_hook(void);						\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_3args_" #_hook, #_hook, "",		\
			   "	pushq %rsi\n	pushq %rdx\n",			\
			   NTKLOG_LOAD_CALLER(24),				\
			   "	popq %rdx\n	popq %rsi\n"))
#define NTKLOG_DEFINE_LOCK_HOOK_TRAMPOLINE(_hook)				\
void trampoline_##_hook(void);							\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_" #_hook, #_hook, "", "", "", ""))

/*
 * Define the trampolines of an acquire function and of a release function, one for each variant.
 * @_waiters: bits of the lock word that are set if a CPU waits for the lock.
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

/*
 * Offset of the first instruction of a function that follows ENDBR, if any, and the call that
 * ftrace patches.
 */
#ifdef CONFIG_X86_KERNEL_IBT
#define NTKLOG_ORIGINAL_OFFSET	9
#else
#define NTKLOG_ORIGINAL_OFFSET	5
#endif

/*
 * Call the original of a replaced function behind the patched call. There is no ENDBR, so the call
 * must be direct.
 */
#define NTKLOG_CALL_ORIGINAL(_name, _lock, _context)				\
({										\
	const void *__lock = (_lock), *__context = (_context);			\
	int __result;								\
										\
	asm volatile("call " #_name " + " __stringify(NTKLOG_ORIGINAL_OFFSET)	\
		     : "=a" (__result), "+D" (__lock), "+S" (__context),	\
		       ASM_CALL_CONSTRAINT					\
		     : : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");	\
	__result;								\
})

#endif /* _NTKLOG_LINUX_TRAMPOLINE_X86_H */
