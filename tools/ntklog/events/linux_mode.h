/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINUX_MODE_H
#define _NTKLOG_LINUX_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "event_symbol.h"

#define LINUX_MODES	4

extern const struct event_symbol linux_modes[LINUX_MODES];

const char *linux_mode_name(uint32_t mode);
bool linux_mode_has_holds(uint32_t mode);
bool linux_mode_find(const char *name, uint32_t *mode);

#endif /* _NTKLOG_LINUX_MODE_H */
