/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_TRAMPOLINE_X86_H
#define _NTKLOG_LINUX_TRAMPOLINE_X86_H

/* Trampolines of redirected and hooked functions in x86 assembler; see redirect.h. */

#include <asm/frame.h>
#include <asm/ibt.h>
#include <linux/linkage.h>
#include <linux/objtool.h>

#include "../compat.h"

/*
 * Some instructions of ours that a function of the kernel calls first, and which then return. What
 * is come to by calls that are patched in, and by returns, needs no ENDBR: nobody jumps there by an
 * address in a register; objtool has to be told.
 */
#define NTKLOG_CODE(_name, _instructions)					\
	".pushsection .text, \"ax\", @progbits\n"				\
	/* Newer kernels take an odd address for one to jump to, not to call. */	\
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
 * Makes a trampoline, which goes on in another function. The return address on top of the
 * stack is that into the kernel's function; below it is that of its caller. Two calls are ended by
 * one return: the processor predicts the outer one wrongly, which is most of what it costs; and a
 * kernel that counts calls (retbleed=stuff) would be one off.
 */
#define NTKLOG_TRAMPOLINE(_trampoline, _function, _first)			\
	NTKLOG_CODE(_trampoline,						\
		    ntklog_annotate_no_endbr(_function)				\
		    _first							\
		    "	movq $" _function ", (%rsp)\n")

/*
 * Of a release while nothing that this processor owns has been chosen: back into the kernel's
 * function, which releases. Preemption is off. Flags are nobody's at a function's entry.
 */
#define NTKLOG_UNLESS_SAMPLED							\
	"	cmpl $0, %gs:ntklog_spin_lock_cpu(%rip)\n"				\
	"	jne 1f\n"								\
	"	" ASM_RET								\
	"1:\n"

/* Calls a hook with the function's first argument. */
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
 * Makes a trampoline that calls a hook, and returns into the function. @_save and @_restore keep
 * what else it has of arguments, @_more makes the hook's. @_first returns by itself if that is all,
 * or goes on to the call.
 */
#define NTKLOG_HOOK_TRAMPOLINE(_trampoline, _hook, _first, _save, _more, _restore)	\
	NTKLOG_CODE(_trampoline,						\
		    _first							\
		    NTKLOG_CALL_HOOK(_hook, _save, _more, _restore))

/* What FRAME_BEGIN leaves on the stack. */
#ifdef CONFIG_FRAME_POINTER
#define NTKLOG_FRAME	"8"
#else
#define NTKLOG_FRAME	"0"
#endif

/* The second argument of a hook: who called the function, with so much on the stack. */
#define NTKLOG_CALLER(_pushed)							\
	"	movq 8+" #_pushed "+" NTKLOG_FRAME "(%rsp), %rsi\n"

/* For functions of one argument, and for those of up to three; and for a hook of no caller. */
#define NTKLOG_HOOK(_hook)							\
void trampoline_##_hook(void);							\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_" #_hook, #_hook, "", "", NTKLOG_CALLER(8), ""))
#define NTKLOG_HOOK_2(_hook)							\
void trampoline_2_##_hook(void);						\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_2_" #_hook, #_hook, "",		\
			   "	pushq %rsi\n	pushq %rdx\n", NTKLOG_CALLER(24),	\
			   "	popq %rdx\n	popq %rsi\n"))
#define NTKLOG_HOOK_OF_LOCK(_hook)						\
void trampoline_##_hook(void);							\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_" #_hook, #_hook, "", "", "", ""))

/* A function's trampolines. */
#define NTKLOG_ACQUIRING(_name)							\
void trampoline_##_name(void);							\
void sampled_trampoline_##_name(void);						\
asm(NTKLOG_TRAMPOLINE("trampoline_" #_name, "tracked_" #_name, "")		\
	NTKLOG_TRAMPOLINE("sampled_trampoline_" #_name, "sampled_" #_name, ""))

#define NTKLOG_RELEASING(_name)							\
void trampoline_##_name(void);							\
void blocking_trampoline_##_name(void);						\
void sampled_trampoline_##_name(void);						\
asm(NTKLOG_TRAMPOLINE("trampoline_" #_name, "tracked_" #_name, "")		\
	NTKLOG_TRAMPOLINE("blocking_trampoline_" #_name, "blocking_" #_name, "")	\
	NTKLOG_TRAMPOLINE("sampled_trampoline_" #_name, "sampled_" #_name,	\
			  NTKLOG_UNLESS_SAMPLED))

/* Of what is called in place of a function: where that goes on behind its first instruction. */
#ifdef CONFIG_X86_KERNEL_IBT
#define BEHIND	9
#else
#define BEHIND	5
#endif

/* Not by a pointer: the middle of a function is no place for those to go to. */
#define CALL_BEHIND(_name, _lock, _context)					\
({										\
	const void *__lock = (_lock), *__context = (_context);			\
	int __result;								\
										\
	asm volatile("call " #_name " + " __stringify(BEHIND)			\
		     : "=a" (__result), "+D" (__lock), "+S" (__context),	\
		       ASM_CALL_CONSTRAINT					\
		     : : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");	\
	__result;								\
})

#endif /* _NTKLOG_LINUX_TRAMPOLINE_X86_H */
