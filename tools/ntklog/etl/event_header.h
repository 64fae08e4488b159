/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EVENT_HEADER_H
#define _NTKLOG_EVENT_HEADER_H

/* What an event's header says besides which and when: of the events that are stepped over. */

#include <stdbool.h>
#include <stdint.h>

#include "etl.h"

/* "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" and a NUL. */
#define GUID_SIZE	37

/**
 * struct event_header_info - of an event; what is not in its header is not set
 * @has_process: there are these two:
 * @process_id: that logged it, or was current
 * @thread_id: likewise
 * @has_provider: there is this:
 * @provider: GUID, as it is in the file
 * @has_opcode: there are these, of classic and manifest events:
 * @opcode: what happened
 * @level: how bad it is
 * @version: of the event
 * @has_id: there is this, of manifest events and messages of WPP:
 * @id: which event
 */
struct event_header_info {
	bool has_process;
	uint32_t process_id;
	uint32_t thread_id;
	bool has_provider;
	unsigned char provider[16];
	bool has_opcode;
	uint8_t opcode;
	uint8_t level;
	uint16_t version;
	bool has_id;
	uint16_t id;
};

void event_header_read(struct event_header_info *info, const struct etl_event *event);
void guid_format(const unsigned char *guid, char *text);
const char *provider_name(const unsigned char *guid);

#endif /* _NTKLOG_EVENT_HEADER_H */
