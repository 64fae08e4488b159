/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SESSION_ARGP_H
#define _NTKLOG_SESSION_ARGP_H

/* What the commands that start a session have in common on the command line. */

#include <argp.h>

/* For struct argp's children. Its input is a struct session_settings. */
extern const struct argp_child session_argp_children[];

#endif /* _NTKLOG_SESSION_ARGP_H */
