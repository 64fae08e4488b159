// SPDX-License-Identifier: GPL-2.0-only

#include <linux/export.h>

#include "resource_cpu.h"

DEFINE_PER_CPU_ALIGNED(struct ntklog_resource_cpu, ntklog_resource_cpu);
