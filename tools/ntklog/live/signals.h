/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_SIGNALS_H
#define _NTKLOG_SIGNALS_H

/* Signals that are read from a file instead of ending the process. */

#include <signal.h>
#include <stdbool.h>

void signals_block(void);
int signals_open(sigset_t *signals, const int *more);
void signals_let_interrupt(const sigset_t *signals);
bool signals_have_interrupted(const sigset_t *signals);

#endif /* _NTKLOG_SIGNALS_H */
