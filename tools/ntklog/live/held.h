/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_HELD_H
#define _NTKLOG_HELD_H

#include <stddef.h>

#include "wait_graph.h"

/* @text: the strings of @graph point into it */
struct held_list {
	char *text;
	const char **frames;
	size_t frame_count;
	struct wait_graph graph;
};

int held_read(struct held_list *held);
void held_free(struct held_list *held);

#endif /* _NTKLOG_HELD_H */
