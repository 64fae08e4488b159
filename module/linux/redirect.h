/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_REDIRECT_H
#define _NTKLOG_LINUX_REDIRECT_H

/*
 * Hooks on kernel functions, by ftrace direct calls. The functions are found by name. ftrace
 * patches the first instruction of a function into a call of a trampoline. There are two kinds of
 * hook:
 *
 * - A redirected function is replaced: the trampoline replaces its own return address, which points
 *   into the original function, by the address of the replacement in this module, and returns. The
 *   original does not run. The replacement returns to the caller of the original.
 * - A hooked function keeps running: the trampoline calls a hook of this module and returns into
 *   the original. A function that may sleep must be hooked in this way, so that no code of this
 *   module is on the stack of a sleeping task.
 */

#include <linux/ftrace.h>
#include <linux/types.h>

/**
 * enum ntklog_way - which set of replacements is installed
 * @NTKLOG_TRACKING: track each acquisition
 * @NTKLOG_FINDING_BLOCKERS: track each acquisition, and detect releases that leave a waiter behind
 * @NTKLOG_SAMPLING: decide at each acquisition whether to record it
 * @NTKLOG_WAYS: number of sets
 */
enum ntklog_way {
	NTKLOG_TRACKING,
	NTKLOG_FINDING_BLOCKERS,
	NTKLOG_SAMPLING,
	NTKLOG_WAYS,
};

/* Defined if this kernel and architecture support ftrace direct calls and kprobes. */
#if (defined(CONFIG_X86_64) || defined(CONFIG_ARM64)) && \
	defined(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS) && defined(CONFIG_KPROBES)
#define NTKLOG_CAN_REDIRECT
#ifdef CONFIG_X86_64
#include "trampoline_x86.h"
#else
#include "trampoline_arm64.h"
#endif

/**
 * struct ntklog_place - a kernel function to hook
 * @name: symbol name
 * @optional: not every supported kernel has this function
 * @wraps: symbol name of another lock function that this one either calls or contains as an inlined
 *	copy; NULL if there is none. If it calls it, this function is not hooked, because the hook
 *	of the called function sees the lock operation already
 * @address: address of the function; 0 if this kernel lacks it, or if it is not hooked because of
 *	@wraps
 */
struct ntklog_place {
	const char *name;
	bool optional;
	const char *wraps;
	unsigned long address;
};

/**
 * struct ntklog_redirect - kernel functions that share one trampoline
 * @places: the kernel functions
 * @place_count: number of @places
 * @trampolines: trampoline of each variant, indexed by enum ntklog_way; see NTKLOG_TRAMPOLINE()
 * @trampoline: trampoline of the selected variant
 * @releases: the functions release a lock; they are installed first and removed last
 * @is_hook: the trampoline returns into the original function; else it returns into a replacement
 * @behind: address behind the patched call in the original function, which the replacement calls;
 *	NULL if the replacement does not call the original
 * @is_on: @ops is registered
 * @is_stuck: ftrace has failed to unregister @ops, and the functions stay patched until reboot
 * @is_leaving: @ops is unregistered, but its grace period has not ended
 * @ops: one ftrace_ops for all @places, because ftrace registers one ops with many functions faster
 *	than many ops
 *
 * Written by the attaching and detaching thread only; its callers serialize it.
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
