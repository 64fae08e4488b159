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
#if (defined(CONFIG_X86_64) || defined(CONFIG_ARM64)) && \
	defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS) && defined(CONFIG_KPROBES)
#define NTKLOG_CAN_REDIRECT
#ifdef CONFIG_X86_64
#include "trampoline_x86.h"
#else
#include "trampoline_arm64.h"
#endif

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

#define NTKLOG_HOOKED(_trampoline, _places, ...)				\
{										\
	.places = _places,							\
	.place_count = ARRAY_SIZE(_places),					\
	.trampolines = { [NTKLOG_TRACKING] = _trampoline },			\
	.is_hook = true,							\
	__VA_ARGS__								\
}

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
