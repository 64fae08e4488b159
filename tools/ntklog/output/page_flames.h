/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PAGE_FLAMES_H
#define _NTKLOG_PAGE_FLAMES_H

#include <jansson.h>

#include "flame.h"

json_t *page_flame_json(const struct flame_node *root, enum flame_kind flame_kind,
			size_t functions_max);

#endif /* _NTKLOG_PAGE_FLAMES_H */
