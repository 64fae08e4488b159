/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_REDIRECT_H
#define _NTKLOG_LINUX_REDIRECT_H

/*
 * Functions of the kernel, found by name and redirected to ours: ftrace makes their first
 * instruction call a trampoline of ours, which returns to our function in place of theirs. Ours
 * then returns to whoever called theirs, and is all that has been executed of it.
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
#include <asm/ibt.h>

/**
 * struct ntklog_redirect - one function that is redirected
 * @name: the kernel's function
 * @trampolines: what it calls then, by enum ntklog_way: see NTKLOG_TRAMPOLINE()
 * @trampoline: that of the present way
 * @releases: it releases a lock: first on, last off
 * @optional: not every kernel has it
 * @address: where it is; 0: this kernel has none
 * @is_on: @ops is registered
 * @is_stuck: and will stay so
 * @ops: ftrace's
 */
struct ntklog_redirect {
	const char *name;
	const void *trampolines[NTKLOG_WAYS];
	const void *trampoline;
	bool releases;
	bool optional;
	unsigned long address;
	bool is_on;
	bool is_stuck;
	struct ftrace_ops ops;
};

/*
 * Makes a trampoline, which goes on in another function. The return address on top of the
 * stack is that into the kernel's function; below it is that of its caller. Two calls are ended by
 * one return: the processor predicts the outer one wrongly, which is most of what it costs; and a
 * kernel that counts calls (retbleed=stuff) would be one off.
 */
#define NTKLOG_TRAMPOLINE(_trampoline, _function, _first)			\
	".pushsection .text, \"ax\", @progbits\n"				\
	/* Newer kernels take an odd address for one to jump to, not to call. */	\
	"	.balign 16\n"								\
	"	.globl " _trampoline "\n"						\
	"	.type " _trampoline ", @function\n"					\
	_trampoline ":\n"								\
	"	" ASM_ENDBR								\
	_first									\
	"	movq $" _function ", (%rsp)\n"						\
	"	" ASM_RET								\
	"	.size " _trampoline ", . - " _trampoline "\n"				\
	".popsection\n"

/*
 * Of a release while nothing that this processor owns has been chosen: back into the kernel's
 * function, which releases. Preemption is off. Flags are nobody's at a function's entry.
 */
#define NTKLOG_UNLESS_SAMPLED							\
	"	cmpl $0, %gs:ntklog_spin_lock_cpu(%rip)\n"				\
	"	jne 1f\n"								\
	"	" ASM_RET								\
	"1:\n"

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

#define NTKLOG_REDIRECT(_name, _finding_blockers, ...)				\
{										\
	.name = #_name,								\
	.trampolines = {							\
		[NTKLOG_TRACKING] = trampoline_##_name,				\
		[NTKLOG_FINDING_BLOCKERS] = _finding_blockers,			\
		[NTKLOG_SAMPLING] = sampled_trampoline_##_name,			\
	},									\
	__VA_ARGS__								\
}

#define NTKLOG_ACQUIRES(_name, ...)						\
	NTKLOG_REDIRECT(_name, trampoline_##_name, __VA_ARGS__)
#define NTKLOG_RELEASES(_name)							\
	NTKLOG_REDIRECT(_name, blocking_trampoline_##_name, .releases = true)

const char *ntklog_find_functions(struct ntklog_redirect *redirects, size_t count);
int ntklog_keep_ftrace_enabled(void);
void ntklog_let_ftrace_go(void);
void ntklog_choose_way(struct ntklog_redirect *redirects, size_t count, enum ntklog_way way);
int ntklog_redirect_functions(struct ntklog_redirect *redirects, size_t count, bool releases,
			      const char **failed);
void ntklog_restore_functions(struct ntklog_redirect *redirects, size_t count, bool releases);

#endif /* NTKLOG_CAN_REDIRECT */

#endif /* _NTKLOG_LINUX_REDIRECT_H */
