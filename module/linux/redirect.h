/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_REDIRECT_H
#define _NTKLOG_LINUX_REDIRECT_H

/*
 * Hooks on kernel functions, by ftrace direct calls: ftrace patches the begin of a function at run
 * time into a call of a trampoline. There are two kinds of hook:
 *
 * - A redirected function is replaced: the trampoline replaces its own return address, which points
 *   into the original function, by the address of the replacement in this module, and returns. The
 *   original does not run, unless the replacement calls it. The replacement returns to the caller
 *   of the original.
 *
 *	caller               original            trampoline           replacement
 *	call original  --->  call trampoline  -> return  ---------->  acquire the lock
 *	...            <--------------------------------------------  return
 *
 * - A hooked function keeps running: the trampoline calls a hook of this module and returns into
 *   the original. A function that may sleep must be hooked in this way, so that no code of this
 *   module is on the stack of a sleeping task.
 *
 *	caller               original            trampoline           hook
 *	call original  --->  call trampoline  -> call hook  ------->  note the lock
 *	                     acquire        <--- return  <----------  return
 *	...            <---  return
 *
 * The states of a hook:
 *
 *	unregistered -> registered -> draining -> unregistered, after a grace period
 *	                           -> stuck until reboot, if ftrace fails
 *
 * Any CPU may enter a trampoline from the registration on, in any context in which the original is
 * called, also in an NMI. A CPU or task may still execute the trampoline while the hook is
 * draining.
 */

#include <linux/ftrace.h>
#include <linux/types.h>

#include "can_redirect.h"

/* The sets of replacements: for each acquisition, or for sampled ones. */
enum ntklog_hook_variant {
	NTKLOG_VARIANT_TRACK,
	NTKLOG_VARIANT_SAMPLE,
	NTKLOG_VARIANT_COUNT,
};

#ifdef NTKLOG_CAN_REDIRECT
#ifdef CONFIG_X86_64
#include "trampoline_x86.h"
#else
#include "trampoline_arm64.h"
#endif

/**
 * struct ntklog_target - a kernel function to hook
 * @name: symbol name
 * @exported_address: address of the function if it is exported, otherwise NULL. A kprobe may find
 *	another symbol of the same name
 * @optional: not every supported kernel has this function
 * @inner_name: symbol name of an inner lock function, or NULL. A function that calls it is not
 *	hooked, because the hook of the inner function sees the lock operation already
 * @address: address of the function; 0 if it is not hooked
 */
struct ntklog_target {
	const char *name;
	const void *exported_address;
	bool optional;
	const char *inner_name;
	unsigned long address;
};

/**
 * struct ntklog_hook - kernel functions that share one trampoline
 * @targets: array of the kernel functions
 * @target_count: number of @targets
 * @trampolines: trampoline of each variant
 * @selected_trampoline: trampoline of the selected variant
 * @is_release: the functions release or downgrade a lock
 * @entry_only: the trampoline returns into the original function; otherwise into a replacement
 * @original_entry: address behind the patched call in the original function, if it is called
 * @registered: @ops is registered
 * @stuck: ftrace has failed to unregister @ops, and its targets stay patched until reboot
 * @draining: @ops is unregistered, but its grace period has not ended
 * @ops: one ftrace_ops for all @targets
 *
 * Written with ntklog_linux_mutex held.
 */
struct ntklog_hook {
	struct ntklog_target *targets;
	size_t target_count;
	const void *trampolines[NTKLOG_VARIANT_COUNT];
	const void *selected_trampoline;
	bool is_release;
	bool entry_only;
	const void *original_entry;
	bool registered;
	bool stuck;
	bool draining;
	struct ftrace_ops ops;
};

#define NTKLOG_EXPORTED_TARGET(_name, ...)                                                         \
	{                                                                                          \
		.name = #_name, .exported_address = _name, __VA_ARGS__                             \
	}

#define NTKLOG_ENTRY_HOOK(_trampoline, _targets, ...)				\
{										\
	.targets = _targets,							\
	.target_count = ARRAY_SIZE(_targets),					\
	.trampolines = { [NTKLOG_VARIANT_TRACK] = _trampoline },		\
	.entry_only = true,							\
	__VA_ARGS__								\
}

#define NTKLOG_REPLACE_HOOK(_name, _is_release, ...)				\
{										\
	.targets = (struct ntklog_target[]){ NTKLOG_EXPORTED_TARGET(_name, __VA_ARGS__) },	\
	.target_count = 1,							\
	.is_release = _is_release,						\
	.trampolines = {							\
		[NTKLOG_VARIANT_TRACK] = trampoline_##_name,			\
		[NTKLOG_VARIANT_SAMPLE] = sampled_trampoline_##_name,		\
	},									\
}

#define NTKLOG_REPLACE_ACQUIRE(_name, ...)					\
	NTKLOG_REPLACE_HOOK(_name, false, __VA_ARGS__)
#define NTKLOG_REPLACE_RELEASE(_name)						\
	NTKLOG_REPLACE_HOOK(_name, true)

size_t ntklog_count_targets(const struct ntklog_hook *hooks, size_t count);
unsigned long ntklog_find_function(const char *name);
const char *ntklog_resolve_targets(struct ntklog_hook *hooks, size_t count);
int ntklog_pin_ftrace_enabled(const char **failed_name);
void ntklog_unpin_ftrace_enabled(void);
void ntklog_select_variant(struct ntklog_hook *hooks, size_t count,
			   enum ntklog_hook_variant variant);
int ntklog_register_hooks(struct ntklog_hook *hooks, size_t count, const char **failed_name);
void ntklog_unregister_hooks(struct ntklog_hook *hooks, size_t count, bool is_release);
void ntklog_unregister_hooks_nowait(struct ntklog_hook *hooks, size_t count);
void ntklog_reset_unregistered_hooks(struct ntklog_hook *hooks, size_t count);

#endif /* NTKLOG_CAN_REDIRECT */

#endif /* _NTKLOG_LINUX_REDIRECT_H */
