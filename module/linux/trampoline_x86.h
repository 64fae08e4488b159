/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_TRAMPOLINE_X86_H
#define _NTKLOG_LINUX_TRAMPOLINE_X86_H

/* Trampolines of redirected and hooked functions in x86 assembler; see redirect.h. */

#include <asm/frame.h>
#include <asm/ibt.h>
#include <linux/linkage.h>
#include <linux/objtool.h>

#include "../ground/compat.h"

/* The call of a trampoline is direct, so it needs no ENDBR, and objtool must be told so. */
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
 * Define a trampoline that continues in @_function: it replaces the return address on top of the
 * stack, which leads into the kernel function, by @_function, and returns. A kernel that counts
 * calls and returns (retbleed=stuff) would be off by one.
 */
#define NTKLOG_TRAMPOLINE(_trampoline, _function, _fast_path)			\
	NTKLOG_TRAMPOLINE_CODE(_trampoline,					\
		    ntklog_annotate_no_endbr(_function)				\
		    _fast_path							\
		    "	movq $" _function ", (%rsp)\n")

/*
 * Begin the trampoline of a release function: return into the kernel function if this CPU holds no
 * sampled lock and the lock word has none of the bits @_waiters set. Preemption is off. The flags
 * register may be changed.
 */
#define NTKLOG_UNLESS_SAMPLED_OR_WAITED_FOR(_waiters)					\
	"	cmpl $0, %gs:ntklog_spin_lock_cpu(%rip)\n"				\
	"	jne 1f\n"								\
	"	testl $" __stringify(_waiters) ", (%rdi)\n"				\
	"	jne 1f\n"								\
	"	" ASM_RET								\
	"1:\n"

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

/* @_pushed_bytes: number of bytes that were pushed after FRAME_BEGIN */
#define NTKLOG_LOAD_CALLER(_pushed_bytes)					\
	"	movq 8+" #_pushed_bytes "+" NTKLOG_FRAME_BYTES "(%rsp), %rsi\n"

/* _3ARGS: for functions with up to three arguments. _LOCK_HOOK: the hook gets only the lock. */
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

/* @_waiters: bits of the lock word that are set if a CPU waits for the lock. */
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

/* Offset behind ENDBR, if any, and the call that ftrace patches. */
#ifdef CONFIG_X86_KERNEL_IBT
#define NTKLOG_ORIGINAL_OFFSET	9
#else
#define NTKLOG_ORIGINAL_OFFSET	5
#endif

/* There is no ENDBR behind the patched call, so the call must be direct. */
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
