/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SESSION_ARGP_H
#define _NTKLOG_SESSION_ARGP_H

#include <argp.h>

/* Children for struct argp; their input is a struct session_settings. */
extern const struct argp session_argp;
extern const struct argp_child session_argp_children[];

#endif /* _NTKLOG_SESSION_ARGP_H */
