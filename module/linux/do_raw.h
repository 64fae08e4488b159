/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_DO_RAW_H
#define _NTKLOG_LINUX_DO_RAW_H

/* The kernel's operations on lock words. With CONFIG_DEBUG_SPINLOCK they are not exported. */

#include <linux/spinlock.h>

#ifdef CONFIG_DEBUG_SPINLOCK

/* Resolved at module load, then constant. */
extern struct ntklog_do_raw_functions {
	void (*do_raw_spin_lock)(raw_spinlock_t *lock);
	int (*do_raw_spin_trylock)(raw_spinlock_t *lock);
	void (*do_raw_spin_unlock)(raw_spinlock_t *lock);
	void (*do_raw_read_lock)(rwlock_t *lock);
	int (*do_raw_read_trylock)(rwlock_t *lock);
	void (*do_raw_read_unlock)(rwlock_t *lock);
	void (*do_raw_write_lock)(rwlock_t *lock);
	int (*do_raw_write_trylock)(rwlock_t *lock);
	void (*do_raw_write_unlock)(rwlock_t *lock);
} ntklog_do_raw_functions;

#define ntklog_do_raw(_function)	ntklog_do_raw_functions._function

const char *ntklog_resolve_do_raw(void);

#else

#define ntklog_do_raw(_function)	_function

static inline const char *ntklog_resolve_do_raw(void)
{
	return NULL;
}

#endif

#endif /* _NTKLOG_LINUX_DO_RAW_H */
