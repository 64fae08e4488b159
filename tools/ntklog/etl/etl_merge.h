/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ETL_MERGE_H
#define _NTKLOG_ETL_MERGE_H

/* The events of a file in the order of their times, over all processors. */

#include "etl.h"

struct etl_stream;

/**
 * struct etl_merge - where the merging is
 * @file: the file
 * @streams: by processor; NULL: it has no buffer
 * @stream_count: how many
 * @heap: those that have an event, the one with the earliest on top
 * @heap_count: how many
 * @given: the event on top has been given
 * @last: its time
 * @place_count: of the file's, that have been given to the streams
 * @is_in_order: they have come without gaps in their sequence numbers
 * @begun: all that comes was taken into use after this, session clock
 */
struct etl_merge {
	struct etl_file *file;
	struct etl_stream **streams;
	size_t stream_count;
	struct etl_stream **heap;
	size_t heap_count;
	bool given;
	uint64_t last;
	size_t place_count;
	bool is_in_order;
	uint64_t begun;
};

int etl_merge_open(struct etl_merge *merge, struct etl_file *file);
int etl_merge_next(struct etl_merge *merge, struct etl_event *event);
void etl_merge_close(struct etl_merge *merge);

#endif /* _NTKLOG_ETL_MERGE_H */
