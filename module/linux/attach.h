/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_ATTACH_H
#define _NTKLOG_LINUX_ATTACH_H

/* Redirect and restore the functions of a spinning lock kind. For lock_kinds.c. */

#include <linux/errno.h>
#include <linux/types.h>

#include "kind.h"

#ifdef NTKLOG_LINUX_LOCKS

const char *ntklog_check_attach(struct ntklog_linux_functions *functions, bool *lacks_function);
int ntklog_attach(struct ntklog_linux_functions *functions, enum ntklog_hook_variant variant,
		  const char **failed);
void ntklog_detach(struct ntklog_linux_functions *functions);

#else

const char *ntklog_check_attach(struct ntklog_linux_functions *functions, bool *lacks_function);

/* Never called where functions cannot be redirected. */
static inline int ntklog_attach(struct ntklog_linux_functions *functions,
				enum ntklog_hook_variant variant, const char **failed)
{
	return -EOPNOTSUPP;
}

static inline void ntklog_detach(struct ntklog_linux_functions *functions)
{
}

#endif

#endif /* _NTKLOG_LINUX_ATTACH_H */
