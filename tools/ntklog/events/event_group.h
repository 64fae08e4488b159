/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EVENT_GROUP_H
#define _NTKLOG_EVENT_GROUP_H

#include "event_symbol.h"

#define EVENT_GROUPS	41

extern const struct event_symbol event_groups[EVENT_GROUPS];

#endif /* _NTKLOG_EVENT_GROUP_H */
