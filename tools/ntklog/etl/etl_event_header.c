// SPDX-License-Identifier: GPL-2.0-only

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <ntklog/etl.h>

#include "etl_bytes.h"
#include "macros.h"

/* Flags of a WPP message: these values come first in its data, in this order. */
#define TRACE_MESSAGE_SEQUENCE		0x01
#define TRACE_MESSAGE_GUID		0x02

static void read_process(struct etl_event_header *values, const unsigned char *header)
{
	values->has_process = true;
	values->thread_id = get_u32(header + 8);
	values->process_id = get_u32(header + 12);
}

static void read_provider(struct etl_event_header *values, const unsigned char *guid)
{
	values->has_provider = true;
	memcpy(values->provider, guid, sizeof(values->provider));
}

static void read_message(struct etl_event_header *values, const struct etl_event *event)
{
	uint16_t flags = get_u16(event->header + 6);
	size_t at = flags & TRACE_MESSAGE_SEQUENCE ? 4 : 0;

	values->has_id = true;
	values->id = get_u16(event->header + 4);
	if (flags & TRACE_MESSAGE_GUID && event->data_size >= at + 16)
		read_provider(values, event->data + at);
}

/**
 * etl_read_event_header() - read the values of an event's header
 * @values: set to the values
 * @event: event
 */
void etl_read_event_header(struct etl_event_header *values, const struct etl_event *event)
{
	const unsigned char *header = event->header;

	*values = (struct etl_event_header) { 0 };
	switch (event->header_type) {
	case TRACE_HEADER_TYPE_SYSTEM32:
	case TRACE_HEADER_TYPE_SYSTEM64:
	case TRACE_HEADER_TYPE_COMPACT32:
	case TRACE_HEADER_TYPE_COMPACT64:
		read_process(values, header);
		break;
	case TRACE_HEADER_TYPE_FULL_HEADER32:
	case TRACE_HEADER_TYPE_FULL_HEADER64:
		read_provider(values, header + 0x18);
		__attribute__((__fallthrough__));
	case TRACE_HEADER_TYPE_INSTANCE32:
	case TRACE_HEADER_TYPE_INSTANCE64:
		read_process(values, header);
		values->has_opcode = true;
		values->opcode = header[4];
		values->level = header[5];
		values->version = get_u16(header + 6);
		break;
	case TRACE_HEADER_TYPE_EVENT_HEADER32:
	case TRACE_HEADER_TYPE_EVENT_HEADER64:
		read_process(values, header);
		read_provider(values, header + 0x18);
		values->has_id = true;
		values->id = get_u16(header + 0x28);
		values->version = header[0x2A];
		values->level = header[0x2C];
		values->has_opcode = true;
		values->opcode = header[0x2D];
		break;
	case TRACE_HEADER_TYPE_MESSAGE:
		read_message(values, event);
		break;
	}
}

/**
 * etl_format_guid() - format a GUID as text
 * @guid: 16 bytes of the GUID as they are in a file
 * @text: set to the text; ETL_GUID_SIZE bytes
 */
void etl_format_guid(const unsigned char *guid, char *text)
{
	snprintf(text, ETL_GUID_SIZE, "%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 get_u32(guid), get_u16(guid + 4), get_u16(guid + 6), guid[8], guid[9],
		 guid[10], guid[11], guid[12], guid[13], guid[14], guid[15]);
}

/* Some providers of Windows. */
static const struct {
	const char *guid;
	const char *name;
} providers[] = {
	{ "3d6fa8d0-fe05-11d0-9dda-00c04fd7ba7c", "Process" },
	{ "3d6fa8d1-fe05-11d0-9dda-00c04fd7ba7c", "Thread" },
	{ "3d6fa8d3-fe05-11d0-9dda-00c04fd7ba7c", "PageFault" },
	{ "3d6fa8d4-fe05-11d0-9dda-00c04fd7ba7c", "DiskIo" },
	{ "2cb15d1d-5fc1-11d2-abe1-00a0c911f518", "Image" },
	{ "90cbdc39-4a3e-11d1-84f4-0000f80464e3", "FileIo" },
	{ "9a280ac0-c8e0-11d1-84e2-00c04fb998a2", "TcpIp" },
	{ "bf3a50c5-a9c9-4988-a005-2df0b7c80f80", "UdpIp" },
	{ "ae53722e-c863-11d2-8659-00c04fa321a1", "Registry" },
	{ "01853a65-418f-4f36-aefc-dc0f1d2fd235", "HWConfig" },
	{ "ce1dbfb4-137e-4da6-87b0-3f59aa102cbc", "PerfInfo" },
	{ "d837ca92-12b9-44a5-ad6a-3a65b3578aa8", "SplitIo" },
	{ "def2fe46-7bd6-4b80-bd94-f57fe20d0ce3", "StackWalk" },
	{ "45d8cccd-539f-4b72-a8b7-5c683142609a", "ALPC" },
	{ "68fdd900-4a3e-11d1-84f4-0000f80464e3", "EventTrace" },
	{ "0268a8b6-74fd-4302-9dd0-6e8f1795c0cf", "Pool" },
	{ "6a399ae0-4bc6-4de9-870b-3657f8947e7e", "LostEvents" },
	{ "3282fc76-feed-498e-8aa7-e70f459d430e", "Job" },
	{ "89497f50-effe-4440-8cf2-ce6b1cdcaca7", "Object" },
	{ "9e814aad-3204-11d2-9a82-006008a86939", "SystemTrace" },
	{ "22fb2cd6-0e7b-422b-a0c7-2fad1fd0e716", "Microsoft-Windows-Kernel-Process" },
	{ "a68ca8b7-004f-d7b6-a698-07e2de0f1f5d", "Microsoft-Windows-Kernel-General" },
	{ "b675ec37-bdb6-4648-bc92-f3fdc74d3ca2", "Microsoft-Windows-Kernel-EventTracing" },
	{ "edd08927-9cc4-4e65-b970-c2560fb5c289", "Microsoft-Windows-Kernel-File" },
	{ "c7bde69a-e1e0-4177-b6ef-283ad1525271", "Microsoft-Windows-Kernel-Disk" },
	{ "7dd42a49-5329-4832-8dfd-43d979153a88", "Microsoft-Windows-Kernel-Network" },
	{ "70eb4f03-c1de-4f73-a051-33d13d5413bd", "Microsoft-Windows-Kernel-Registry" },
	{ "d1d93ef7-e1f2-4f45-9943-03d245fe6c00", "Microsoft-Windows-Kernel-Memory" },
	{ "331c3b3a-2005-44c2-ac5e-77220c37d6b4", "Microsoft-Windows-Kernel-Power" },
	{ "9c205a39-1250-487d-abd7-e831c6290539", "Microsoft-Windows-Kernel-PnP" },
	{ "0f67e49f-fe51-4e9f-b490-6f2948cc6027", "Microsoft-Windows-Kernel-Processor-Power" },
	{ "c514638f-7723-485b-bcfc-96565d735d4a", "Microsoft-Windows-Kernel-Acpi" },
	{ "15ca44ff-4d7a-4baa-bba5-0998955e531e", "Microsoft-Windows-Kernel-Boot" },
};

/**
 * etl_provider_name() - get the name of a provider
 * @guid: 16 bytes of the GUID as they are in a file
 *
 * Return: the name, or NULL if providers[] lacks it.
 */
const char *etl_provider_name(const unsigned char *guid)
{
	char text[ETL_GUID_SIZE];
	size_t i;

	etl_format_guid(guid, text);
	for (i = 0; i < ARRAY_SIZE(providers); i++)
		if (!strcmp(providers[i].guid, text))
			return providers[i].name;
	return NULL;
}
