/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_LOCK_KINDS_H
#define _NTKLOG_LINUX_LOCK_KINDS_H

/* Kinds of Linux' own locks, and the work items that attach and detach them. */

#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "../perf/event_group.h"
#include "kind.h"

/**
 * struct ntklog_lock_kind - a kind of lock
 * @name: name of the kind in messages and in the file "linux"
 * @functions: functions to redirect or hook; NULL if this configuration does not allow it
 * @unavailable_reason: reason why the functions cannot be redirected or hooked, or the name of a
 *	function or tracepoint that the kernel lacks or that cannot be used; NULL if they can.
 *	Written at load and after a failure of ftrace
 * @lacks_function: @unavailable_reason is such a name
 * @is_attached: the kind is attached, and is not being detached; some readers do not hold the mutex
 * @failed_name: name of the function, tracepoint or sysctl for which the last attachment or
 *	self-test failed, or NULL
 * @err: 0, or the negative errno of the last attachment or self-test
 * @attach_us: duration of the last attachment, in microseconds
 * @detach_us: duration of the last detachment, in microseconds
 * @spin_kind: PERF_SPIN_LOCK_KIND() of a kind that spins
 * @class: NTKLOG_SLEEPING_CLASS() of a kind that sleeps; 0 for a kind that spins
 * @group: event group of the kind; its subscribers decide whether the kind is attached
 * @should_be_attached: true if @work must attach the kind, false if @work must detach it; written
 *	before @request_count, with the mutex of @group held
 * @request_count: number of requests to @work; written with the mutex of @group held
 * @completed_requests: value that @request_count had when @work read it for its last complete run;
 *	written by @work
 * @operation: name of the current operation, or NULL. Written with ntklog_linux_mutex held, read by
 *	the file "linux"
 * @operation_start_jiffies: jiffies at the start of @operation
 * @work: attaches or detaches the kind
 *
 * @unavailable_reason, @lacks_function, @is_attached, @failed_name, @err, @attach_us and @detach_us
 * are written with ntklog_linux_mutex held.
 */
struct ntklog_lock_kind {
	const char *name;
	struct ntklog_lock_functions *functions;
	const char *unavailable_reason;
	bool lacks_function;
	bool is_attached;
	const char *failed_name;
	int err;
	s64 attach_us;
	s64 detach_us;
	u8 spin_kind;
	u32 class;
	struct ntklog_event_group group;
	bool should_be_attached;
	u32 request_count;
	u32 completed_requests;
	const char *operation;
	unsigned long operation_start_jiffies;
	struct work_struct work;
};

#define NTKLOG_LOCK_KIND_COUNT	8

extern struct ntklog_lock_kind ntklog_lock_kinds[NTKLOG_LOCK_KIND_COUNT];

#define ntklog_for_each_kind(_kind)						\
	for ((_kind) = ntklog_lock_kinds;					\
	     (_kind) < ntklog_lock_kinds + NTKLOG_LOCK_KIND_COUNT; (_kind)++)

/* Reason why no kind may be observed in any mode, or NULL. Written at module load. */
extern const char *ntklog_linux_forbidden_reason;

extern struct mutex ntklog_linux_mutex;

static inline bool ntklog_kind_sleeps(const struct ntklog_lock_kind *kind)
{
	return kind->class;
}

bool ntklog_kind_uses_tracepoints(const struct ntklog_lock_kind *kind);
bool ntklog_kind_uses_release_tracepoint(const struct ntklog_lock_kind *kind);
const char *ntklog_get_kind_unavailable_reason(const struct ntklog_lock_kind *kind);
const char *ntklog_get_kind_fallback_hint(const struct ntklog_lock_kind *kind);
bool ntklog_kind_is_stuck(const struct ntklog_lock_kind *kind);
int ntklog_attach_kind(struct ntklog_lock_kind *kind);
void ntklog_detach_kind(struct ntklog_lock_kind *kind);
void ntklog_disable_broken_kind(struct ntklog_lock_kind *kind, const char *failed_function);
void ntklog_pin_module_if_stuck(struct ntklog_lock_kind *kind);
void ntklog_warn_attach_failed(const struct ntklog_lock_kind *kind);
void ntklog_wait_for_detached_kinds(unsigned int seconds);
void ntklog_end_detaching_now(void);

static inline void ntklog_set_operation(struct ntklog_lock_kind *kind, const char *operation)
{
	WRITE_ONCE(kind->operation_start_jiffies, jiffies);
	WRITE_ONCE(kind->operation, operation);
}

static inline void ntklog_clear_operation(struct ntklog_lock_kind *kind)
{
	WRITE_ONCE(kind->operation, NULL);
}

#endif /* _NTKLOG_LINUX_LOCK_KINDS_H */
