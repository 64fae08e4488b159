/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_REDIRECT_H
#define _NTKLOG_LINUX_REDIRECT_H

/*
 * Functions of the kernel, found by name and redirected to ours: ftrace makes their first
 * instruction call a trampoline of ours, which returns to our function in place of theirs. Ours
 * then returns to whoever called theirs, and is all that has been executed of it.
 *
 * Or hooked, when they are entered: then the trampoline calls ours and returns into theirs. Theirs
 * may sleep: nothing of ours is on the stack then.
 */

#include <linux/ftrace.h>
#include <linux/linkage.h>
#include <linux/types.h>

/**
 * enum ntklog_way - what functions are redirected to
 * @NTKLOG_TRACKING: those that track each acquisition
 * @NTKLOG_FINDING_BLOCKERS: those, and releases are looked at that leave a waiter behind
 * @NTKLOG_SAMPLING: those that choose some when they are made
 * @NTKLOG_WAYS: how many there are
 */
enum ntklog_way {
	NTKLOG_TRACKING,
	NTKLOG_FINDING_BLOCKERS,
	NTKLOG_SAMPLING,
	NTKLOG_WAYS,
};

/* Can functions be redirected in this kernel at all? */
#if defined(CONFIG_X86_64) && defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS) && \
	defined(CONFIG_KPROBES)
#define NTKLOG_CAN_REDIRECT
#include <asm/frame.h>
#include <asm/ibt.h>
#include <linux/objtool.h>

/**
 * struct ntklog_place - a function of the kernel
 * @name: its name
 * @optional: not every kernel has it
 * @wraps: a function that it may call, or have a copy of; if it calls it, it is left alone; or NULL
 * @address: where it is; 0: this kernel has none, or it is left alone
 */
struct ntklog_place {
	const char *name;
	bool optional;
	const char *wraps;
	unsigned long address;
};

/**
 * struct ntklog_redirect - functions that are redirected to, or hooked by, the same of ours
 * @places: the functions
 * @place_count: of them
 * @trampolines: what they call then, by enum ntklog_way: see NTKLOG_TRAMPOLINE()
 * @trampoline: that of the present way
 * @releases: they release a lock: first on, last off
 * @is_hook: they are hooked, and go on as before; else they are redirected
 * @behind: ours calls the kernel's behind its first instruction, which is here; NULL: it does not
 * @is_on: @ops is registered
 * @is_stuck: and will stay so
 * @is_leaving: they are restored, but who was on his way has not been waited for
 * @ops: ftrace's, who takes longer for many of these than for many functions of one
 */
struct ntklog_redirect {
	struct ntklog_place *places;
	size_t place_count;
	const void *trampolines[NTKLOG_WAYS];
	const void *trampoline;
	bool releases;
	bool is_hook;
	const void *behind;
	bool is_on;
	bool is_stuck;
	bool is_leaving;
	struct ftrace_ops ops;
};

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

#define NTKLOG_HOOKED(_trampoline, _places, ...)				\
{										\
	.places = _places,							\
	.place_count = ARRAY_SIZE(_places),					\
	.trampolines = { [NTKLOG_TRACKING] = _trampoline },			\
	.is_hook = true,							\
	__VA_ARGS__								\
}

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

#define NTKLOG_REDIRECT(_name, _finding_blockers, _releases, ...)			\
{										\
	.places = (struct ntklog_place[]){ { .name = #_name, __VA_ARGS__ } },	\
	.place_count = 1,							\
	.releases = _releases,							\
	.trampolines = {							\
		[NTKLOG_TRACKING] = trampoline_##_name,				\
		[NTKLOG_FINDING_BLOCKERS] = _finding_blockers,			\
		[NTKLOG_SAMPLING] = sampled_trampoline_##_name,			\
	},									\
}

#define NTKLOG_ACQUIRES(_name, ...)						\
	NTKLOG_REDIRECT(_name, trampoline_##_name, false, __VA_ARGS__)
#define NTKLOG_RELEASES(_name)							\
	NTKLOG_REDIRECT(_name, blocking_trampoline_##_name, true)

size_t ntklog_count_functions(const struct ntklog_redirect *redirects, size_t count);
unsigned long ntklog_find_function(const char *name);
const char *ntklog_find_functions(struct ntklog_redirect *redirects, size_t count);
int ntklog_keep_ftrace_enabled(void);
void ntklog_let_ftrace_go(void);
void ntklog_choose_way(struct ntklog_redirect *redirects, size_t count, enum ntklog_way way);
int ntklog_redirect_functions(struct ntklog_redirect *redirects, size_t count, bool releases,
			      const char **failed);
void ntklog_restore_functions(struct ntklog_redirect *redirects, size_t count, bool releases);
void ntklog_restore_without_waiting(struct ntklog_redirect *redirects, size_t count);
void ntklog_forget_restored(struct ntklog_redirect *redirects, size_t count);

#endif /* NTKLOG_CAN_REDIRECT */

#endif /* _NTKLOG_LINUX_REDIRECT_H */
