/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_TRAMPOLINE_ARM64_H
#define _NTKLOG_LINUX_TRAMPOLINE_ARM64_H

/*
 * Trampolines of redirected and hooked functions in arm64 assembler; see redirect.h.
 *
 * A function that ftrace can patch begins with two instructions: the first saves the function's
 * return address in x9, the second calls. At the entry of a trampoline, x9 is the return address of
 * the kernel function, x30 is the address of its next instruction, and x0 to x8 are its arguments.
 * If ftrace's own trampoline has run before, it has preserved these registers. x10 to x17 are free.
 */

#include <linux/linkage.h>
#include <linux/stringify.h>

/* Define a trampoline. "hint #34" is "bti c": ftrace branches to the address in x17. */
#define NTKLOG_TRAMPOLINE_CODE(_name, _instructions)				\
	".pushsection .text, \"ax\", @progbits\n"				\
	"	.balign 16\n"							\
	"	.globl " _name "\n"						\
	"	.type " _name ", %function\n"					\
_name ":\n"									\
	"	hint #34\n"							\
	_instructions								\
	"	.size " _name ", . - " _name "\n"				\
	".popsection\n"

/* Define a trampoline that continues in @_function, as if its caller had called that function. */
#define NTKLOG_TRAMPOLINE(_trampoline, _function, _fast_path)			\
	NTKLOG_TRAMPOLINE_CODE(_trampoline,					\
		    _fast_path							\
		    "	mov x30, x9\n"						\
		    "	b " _function "\n")

/*
 * Define a trampoline that calls a hook with the first argument and the return address of the
 * kernel function, and then returns into the function. Like ftrace, it writes two frame records, so
 * that an unwinder finds the function and its caller.
 */
#define NTKLOG_HOOK_TRAMPOLINE(_trampoline, _hook)				\
	NTKLOG_TRAMPOLINE_CODE(_trampoline,					\
		    "	sub sp, sp, #112\n"					\
		    "	stp x29, x9, [sp, #96]\n"				\
		    "	add x29, sp, #96\n"					\
		    "	stp x29, x30, [sp]\n"					\
		    "	mov x29, sp\n"						\
		    "	stp x0, x1, [sp, #16]\n"				\
		    "	stp x2, x3, [sp, #32]\n"				\
		    "	stp x4, x5, [sp, #48]\n"				\
		    "	stp x6, x7, [sp, #64]\n"				\
		    "	str x8, [sp, #80]\n"					\
		    "	mov x1, x9\n"						\
		    "	bl " _hook "\n"						\
		    "	ldp x0, x1, [sp, #16]\n"				\
		    "	ldp x2, x3, [sp, #32]\n"				\
		    "	ldp x4, x5, [sp, #48]\n"				\
		    "	ldp x6, x7, [sp, #64]\n"				\
		    "	ldr x8, [sp, #80]\n"					\
		    "	ldr x10, [sp, #8]\n"					\
		    "	ldp x29, x30, [sp, #96]\n"				\
		    "	add sp, sp, #112\n"					\
		    "	ret x10\n")

/* This trampoline saves all arguments, so it serves functions with any number of arguments. */
#define NTKLOG_DEFINE_HOOK_TRAMPOLINE(_hook)					\
void trampoline_##_hook(void);							\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_" #_hook, #_hook))
#define NTKLOG_DEFINE_HOOK_TRAMPOLINE_3ARGS(_hook)					\
void trampoline_3args_##_hook(void);							\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_3args_" #_hook, #_hook))
#define NTKLOG_DEFINE_LOCK_HOOK_TRAMPOLINE(_hook)	NTKLOG_DEFINE_HOOK_TRAMPOLINE(_hook)

/* Offset behind "bti c", if any, and the two instructions of ftrace. */
#ifdef CONFIG_ARM64_BTI_KERNEL
#define NTKLOG_ORIGINAL_OFFSET	12
#else
#define NTKLOG_ORIGINAL_OFFSET	8
#endif

/* Without a shadow call stack, x18 is a call-clobbered register. */
#ifdef CONFIG_SHADOW_CALL_STACK
#define NTKLOG_PLATFORM_REGISTER
#else
#define NTKLOG_PLATFORM_REGISTER	"x18",
#endif

/* There is no "bti c" behind the patched call, so the call must be direct. */
#define NTKLOG_CALL_ORIGINAL(_name, _lock, _context)				\
({										\
	register unsigned long __result asm("x0") = (unsigned long)(_lock);	\
	register const void *__context asm("x1") = (_context);			\
										\
	asm volatile("bl " #_name " + " __stringify(NTKLOG_ORIGINAL_OFFSET)	\
		     : "+r" (__result), "+r" (__context)			\
		     : : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",	\
			 "x12", "x13", "x14", "x15", "x16", "x17", NTKLOG_PLATFORM_REGISTER	\
			 "x30", "memory", "cc");				\
	(int)__result;								\
})

#endif /* _NTKLOG_LINUX_TRAMPOLINE_ARM64_H */
