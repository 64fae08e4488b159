/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_RESOURCE_KIND_H
#define _NTKLOG_RESOURCE_KIND_H

#include <stdbool.h>
#include <stdint.h>

#include "event_symbol.h"

enum resource_kind {
	RESOURCE_KIND_NT,
	RESOURCE_KIND_LINUX_MUTEX,
	RESOURCE_KIND_LINUX_RWSEM,
	RESOURCE_KIND_LINUX_SEMAPHORE,
	RESOURCE_KIND_LINUX_RT_MUTEX,
	RESOURCE_KIND_LINUX_PERCPU_RWSEM,
	RESOURCE_KIND_LINUX_WW_MUTEX,
	RESOURCE_KINDS,
};

extern const struct event_symbol resource_kinds[RESOURCE_KINDS];

enum resource_kind resource_kind_find(uint32_t action);
uint32_t resource_kind_group(enum resource_kind kind);
bool resource_is_blocker_only(uint32_t action);
uint32_t resource_nt_action(uint32_t action);

#endif /* _NTKLOG_RESOURCE_KIND_H */
