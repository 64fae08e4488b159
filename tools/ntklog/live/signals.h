/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SIGNALS_H
#define _NTKLOG_SIGNALS_H

/* Signals that are read, not taken at any time. */

#include <signal.h>

int signals_open(sigset_t *signals, int more);

#endif /* _NTKLOG_SIGNALS_H */
