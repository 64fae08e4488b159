/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_RUNDOWN_H
#define _NTKLOG_RUNDOWN_H

#include <ntklog/etl.h>

#include "names.h"

int rundown_read(struct names **names, const struct etl_file *file);

#endif /* _NTKLOG_RUNDOWN_H */
