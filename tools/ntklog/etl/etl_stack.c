// SPDX-License-Identifier: GPL-2.0-only

#include <string.h>

#include <ntklog/etl.h>
#include <ntklog/stack_walk.h>

#include "etl_bytes.h"
#include "etl_reader.h"

static const struct {
	uint16_t hook_id;
	enum etl_stack_kind kind;
} stack_kinds[] = {
	{ PERFINFO_LOG_TYPE_STACKWALK, ETL_STACK_OF_EVENT },
	{ PERFINFO_LOG_TYPE_STACKWALK_CREATE, ETL_STACK_DEFINITION },
	{ PERFINFO_LOG_TYPE_STACKWALK_DELETE, ETL_STACK_DELETION },
	{ PERFINFO_LOG_TYPE_STACKWALK_RUNDOWN, ETL_STACK_DEFINITION },
	{ PERFINFO_LOG_TYPE_STACKWALK_KEY_KERNEL, ETL_STACK_KEY_OF_EVENT },
	{ PERFINFO_LOG_TYPE_STACKWALK_KEY_USER, ETL_STACK_KEY_OF_EVENT },
};

static enum etl_stack_kind stack_kind_of(const struct etl_event *event)
{
	size_t i;

	/* Other headers have other ids, and other versions may have another layout. */
	if ((event->header_type != TRACE_HEADER_TYPE_PERFINFO32 &&
	     event->header_type != TRACE_HEADER_TYPE_PERFINFO64) ||
	    event->version != PERFINFO_STACKWALK_VERSION)
		return ETL_STACK_NONE;
	for (i = 0; i < ARRAY_SIZE(stack_kinds); i++)
		if (stack_kinds[i].hook_id == event->hook_id)
			return stack_kinds[i].kind;
	return ETL_STACK_NONE;
}

static uint64_t get_pointer(const unsigned char *from, unsigned int pointer_size)
{
	return pointer_size == 8 ? get_u64(from) : get_u32(from);
}

static int read_addresses(struct etl_stack *stack, struct etl_file *file,
			  const struct etl_event *event, size_t at)
{
	size_t addresses_size = event->data_size - at;

	if (addresses_size % stack->pointer_size)
		return etl_leave_out_event(file, event,
					   "stack with 0x%zx bytes of addresses of %u bytes each",
					   addresses_size, stack->pointer_size);
	stack->count = addresses_size / stack->pointer_size;
	if (!stack->count || stack->count > STACK_WALK_MAX)
		return etl_leave_out_event(file, event, "stack with %zu addresses, not 1 to %d",
					   stack->count, STACK_WALK_MAX);
	stack->addresses = event->data + at;
	return 0;
}

/**
 * etl_read_stack() - read the stack of an event
 * @stack: set to the stack, or to one of kind ETL_STACK_NONE if the event has none
 * @file: file of the event
 * @event: event, which must stay valid while the addresses of the stack are in use
 *
 * Return: 0, or -1 with a message in @file->error if the event is damaged and left out.
 */
int etl_read_stack(struct etl_stack *stack, struct etl_file *file, const struct etl_event *event)
{
	size_t needed_size = sizeof(struct stack_walk_event);

	*stack = (struct etl_stack) {
		.kind = stack_kind_of(event),
		.pointer_size = event->pointer_size,
	};
	if (stack->kind == ETL_STACK_NONE)
		return 0;
	if (stack->kind == ETL_STACK_DEFINITION || stack->kind == ETL_STACK_DELETION)
		needed_size = event->pointer_size;
	else if (stack->kind == ETL_STACK_KEY_OF_EVENT)
		needed_size += event->pointer_size;
	if (event->data_size < needed_size)
		return etl_leave_out_event(file, event,
					   "stack with 0x%zx bytes of data, not 0x%zx or more",
					   event->data_size, needed_size);
	switch (stack->kind) {
	case ETL_STACK_DEFINITION:
	case ETL_STACK_DELETION:
		stack->key = get_pointer(event->data, event->pointer_size);
		break;
	default:
		stack->event_time_stamp = get_u64(event->data);
		stack->process_id = get_u32(event->data + 8);
		stack->thread_id = get_u32(event->data + 12);
		if (stack->kind == ETL_STACK_KEY_OF_EVENT)
			stack->key = get_pointer(event->data + 16, event->pointer_size);
	}
	if (stack->kind == ETL_STACK_KEY_OF_EVENT || stack->kind == ETL_STACK_DELETION)
		return 0;
	return read_addresses(stack, file, event, needed_size);
}

/**
 * etl_copy_stack() - copy the addresses of a stack
 * @addresses: set to the addresses, the innermost first
 * @stack: stack of an event that is still valid
 * @count: number of addresses to copy
 */
void etl_copy_stack(uint64_t *addresses, const struct etl_stack *stack, size_t count)
{
	size_t i;

	if (stack->pointer_size == sizeof(*addresses)) {
		memcpy(addresses, stack->addresses, count * sizeof(*addresses));
		return;
	}
	for (i = 0; i < count; i++)
		addresses[i] = get_u32(stack->addresses + i * stack->pointer_size);
}

/**
 * etl_stack_address() - get an address of a stack
 * @stack: stack of an event that is still valid
 * @number: number of the address; 0 is the innermost
 *
 * Return: the address.
 */
uint64_t etl_stack_address(const struct etl_stack *stack, size_t number)
{
	return get_pointer(stack->addresses + number * stack->pointer_size, stack->pointer_size);
}
