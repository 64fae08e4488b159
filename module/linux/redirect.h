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

/* Can functions be redirected in this kernel at all? */
#if defined(CONFIG_X86_64) && defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS) && \
	defined(CONFIG_KPROBES)
#define NTKLOG_CAN_REDIRECT
#include <asm/ibt.h>

/**
 * struct ntklog_redirect - one function that is redirected
 * @name: the kernel's function
 * @trampoline: what it calls then: see NTKLOG_TRAMPOLINE()
 * @releases: it releases a lock: first on, last off
 * @optional: not every kernel has it
 * @address: where it is; 0: this kernel has none
 * @is_on: @ops is registered
 * @is_stuck: and will stay so
 * @ops: ftrace's
 */
struct ntklog_redirect {
	const char *name;
	void (*trampoline)(void);
	bool releases;
	bool optional;
	unsigned long address;
	bool is_on;
	bool is_stuck;
	struct ftrace_ops ops;
};

/*
 * Makes trampoline_NAME(), which goes on in linux_NAME(). The return address on top of the
 * stack is that into the kernel's function; below it is that of its caller. Two calls are ended by
 * one return: the processor predicts the outer one wrongly, which is most of what it costs; and a
 * kernel that counts calls (retbleed=stuff) would be one off.
 */
#define NTKLOG_TRAMPOLINE(_name)						\
void trampoline_##_name(void);							\
asm(".pushsection .text, \"ax\", @progbits\n"					\
	/* Newer kernels take an odd address for one to jump to, not to call. */	\
	"	.balign 16\n"								\
	"	.globl trampoline_" #_name "\n"						\
	"	.type trampoline_" #_name ", @function\n"				\
	"trampoline_" #_name ":\n"							\
	"	" ASM_ENDBR								\
	"	movq $linux_" #_name ", (%rsp)\n"					\
	"	" ASM_RET								\
	"	.size trampoline_" #_name ", . - trampoline_" #_name "\n"		\
	".popsection\n")

#define NTKLOG_REDIRECT(_name, ...)						\
{										\
	.name = #_name,								\
	.trampoline = trampoline_##_name,					\
	__VA_ARGS__								\
}

unsigned long ntklog_find_function(const char *name);
const char *ntklog_find_functions(struct ntklog_redirect *redirects, size_t count);
int ntklog_keep_ftrace_enabled(void);
void ntklog_let_ftrace_go(void);
int ntklog_redirect_functions(struct ntklog_redirect *redirects, size_t count, bool releases,
			      const char **failed);
void ntklog_restore_functions(struct ntklog_redirect *redirects, size_t count, bool releases);

#endif /* NTKLOG_CAN_REDIRECT */

#endif /* _NTKLOG_LINUX_REDIRECT_H */
