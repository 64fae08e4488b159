/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_TORTURE_RESOURCE_H
#define _NTKLOG_TORTURE_RESOURCE_H

#include <linux/types.h>

struct torture_parameters;

int torture_start_resources(const struct torture_parameters *parameters);
void torture_stop_resources(void);
u64 torture_check_resources(char *text, size_t size);

#endif /* _NTKLOG_TORTURE_RESOURCE_H */
