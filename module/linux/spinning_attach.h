/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_SPINNING_ATTACH_H
#define _NTKLOG_LINUX_SPINNING_ATTACH_H

#include <linux/errno.h>
#include <linux/types.h>

#include "kind.h"

const char *ntklog_resolve_spinning_kind(struct ntklog_lock_functions *functions,
					 bool *lacks_function);

#ifdef NTKLOG_CAN_REDIRECT_SPINNING

int ntklog_attach_spinning_kind(struct ntklog_lock_functions *functions,
				enum ntklog_hook_variant variant, const char **failed_name);
void ntklog_detach_spinning_kind(struct ntklog_lock_functions *functions);

#else

static inline int ntklog_attach_spinning_kind(struct ntklog_lock_functions *functions,
					      enum ntklog_hook_variant variant,
					      const char **failed_name)
{
	return -EOPNOTSUPP;
}

static inline void ntklog_detach_spinning_kind(struct ntklog_lock_functions *functions)
{
}

#endif

#endif /* _NTKLOG_LINUX_SPINNING_ATTACH_H */
