/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_HOOK_ID_H
#define _NTKLOG_HOOK_ID_H

#include <stdbool.h>
#include <stdint.h>

const char *hook_id_name(uint16_t hook_id);
bool hook_name_exists(const char *name);

#endif /* _NTKLOG_HOOK_ID_H */
