/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EVENT_SYMBOL_H
#define _NTKLOG_EVENT_SYMBOL_H

#include <stdint.h>

struct event_symbol {
	uint32_t value;
	const char *name;
};

#endif /* _NTKLOG_EVENT_SYMBOL_H */
