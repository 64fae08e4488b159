/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_LOCATION_H
#define _NTKLOG_GROUND_LOCATION_H

#include <linux/types.h>

size_t ntklog_print_location(char *text, size_t size, unsigned long lock, char *buffer);

#endif /* _NTKLOG_GROUND_LOCATION_H */
