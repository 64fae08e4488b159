/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_WAIT_REASON_H
#define _NTKLOG_WAIT_REASON_H

#include "event_symbol.h"

#define WAIT_REASONS	42

extern const struct event_symbol wait_reasons[WAIT_REASONS];

#endif /* _NTKLOG_WAIT_REASON_H */
