/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_TRAMPOLINE_ARM64_H
#define _NTKLOG_LINUX_TRAMPOLINE_ARM64_H

/*
 * The trampolines of redirected and of hooked functions, in arm64's assembler; see redirect.h.
 *
 * A function that ftrace may change begins with two instructions for it: the first keeps the
 * return address to the function's caller in x9, the second calls. So a trampoline is come to with
 * that in x9 and the function's next instruction in x30; x0 to x8 are the function's arguments.
 * ftrace's own code, which may come first, leaves them so, and uses x10 to x17 as we do.
 */

#include <linux/linkage.h>
#include <linux/stringify.h>

/* It is come to by a branch to what x17 has, where that is asked for: "bti c". */
#define NTKLOG_CODE(_name, _instructions)					\
	".pushsection .text, \"ax\", @progbits\n"				\
	"	.balign 16\n"							\
	"	.globl " _name "\n"						\
	"	.type " _name ", %function\n"					\
_name ":\n"								\
	"	hint #34\n"							\
	_instructions								\
	"	.size " _name ", . - " _name "\n"				\
	".popsection\n"

/* Makes a trampoline, which goes on in another function, as if that had been called. */
#define NTKLOG_TRAMPOLINE(_trampoline, _function, _first)			\
	NTKLOG_CODE(_trampoline,						\
		    _first							\
		    "	mov x30, x9\n"						\
		    "	b " _function "\n")

/*
 * Calls a hook with the function's first argument and who called the function, and returns into
 * the function. Two records of frames, for who unwinds the hook's stack to find the function and
 * its caller there, as ftrace has them.
 */
#define NTKLOG_HOOK_TRAMPOLINE(_trampoline, _hook)				\
	NTKLOG_CODE(_trampoline,						\
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

/* One keeps all arguments: for functions of any number, and for a hook of no caller. */
#define NTKLOG_HOOK(_hook)							\
void trampoline_##_hook(void);							\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_" #_hook, #_hook))
#define NTKLOG_HOOK_2(_hook)							\
void trampoline_2_##_hook(void);						\
asm(NTKLOG_HOOK_TRAMPOLINE("trampoline_2_" #_hook, #_hook))
#define NTKLOG_HOOK_OF_LOCK(_hook)	NTKLOG_HOOK(_hook)

/* Of what is called in place of a function: where that goes on behind ftrace's two instructions. */
#ifdef CONFIG_ARM64_BTI_KERNEL
#define BEHIND	12
#else
#define BEHIND	8
#endif

/* x18 is the shadow call stack's, or anybody's. */
#ifdef CONFIG_SHADOW_CALL_STACK
#define NTKLOG_PLATFORM_REGISTER
#else
#define NTKLOG_PLATFORM_REGISTER	"x18",
#endif

/* Not by a pointer: the middle of a function is no place for those to go to. */
#define CALL_BEHIND(_name, _lock, _context)					\
({										\
	register unsigned long __result asm("x0") = (unsigned long)(_lock);	\
	register const void *__context asm("x1") = (_context);			\
										\
	asm volatile("bl " #_name " + " __stringify(BEHIND)			\
		     : "+r" (__result), "+r" (__context)			\
		     : : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",	\
			 "x12", "x13", "x14", "x15", "x16", "x17", NTKLOG_PLATFORM_REGISTER	\
			 "x30", "memory", "cc");					\
	(int)__result;								\
})

#endif /* _NTKLOG_LINUX_TRAMPOLINE_ARM64_H */
