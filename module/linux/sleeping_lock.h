/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_SLEEPING_LOCK_H
#define _NTKLOG_LINUX_SLEEPING_LOCK_H

#include <linux/errno.h>
#include <linux/types.h>

#include "redirect.h"

struct ntklog_lock_functions;
struct task_struct;

const char *ntklog_resolve_sleeping_kind(struct ntklog_lock_functions *functions,
					 bool *lacks_function);

/* With PREEMPT_RT sleeping locks have other functions. */
#if defined(NTKLOG_CAN_REDIRECT) && !defined(CONFIG_PREEMPT_RT)
#define NTKLOG_CAN_HOOK_SLEEPING

extern struct ntklog_lock_functions ntklog_linux_mutex_functions;
extern struct ntklog_lock_functions ntklog_linux_rwsem_functions;
extern struct ntklog_lock_functions ntklog_linux_semaphore_functions;
extern struct ntklog_lock_functions ntklog_linux_rt_mutex_functions;
extern struct ntklog_lock_functions ntklog_linux_percpu_rwsem_functions;
extern struct ntklog_lock_functions ntklog_linux_ww_mutex_functions;

const struct task_struct *ntklog_get_sleeping_lock_owner(const void *lock, u32 class);
int ntklog_attach_sleeping_kind(struct ntklog_lock_functions *functions, u32 class,
				const char **failed_name);
void ntklog_detach_sleeping_kind(struct ntklog_lock_functions *functions, u32 class);
void ntklog_finish_sleeping_detach(void);
bool ntklog_sleeping_detach_is_pending(void);

#else

static inline int ntklog_attach_sleeping_kind(struct ntklog_lock_functions *functions, u32 class,
					      const char **failed_name)
{
	return -EOPNOTSUPP;
}

static inline void ntklog_detach_sleeping_kind(struct ntklog_lock_functions *functions, u32 class)
{
}

static inline void ntklog_finish_sleeping_detach(void)
{
}

static inline bool ntklog_sleeping_detach_is_pending(void)
{
	return false;
}

#endif

#endif /* _NTKLOG_LINUX_SLEEPING_LOCK_H */
