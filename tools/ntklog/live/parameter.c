// SPDX-License-Identifier: GPL-2.0-only

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ntklog/system_information.h>

#include "kernel.h"
#include "macros.h"
#include "message.h"
#include "parameter.h"

const struct parameter_group parameter_groups[] = {
	{
		.name = "spinlock",
		.class = EVENT_TRACE_SPINLOCK_INFORMATION_CLASS,
		.parameters = {
			{ "spin_threshold", EVENT_TRACE_SPINLOCK_MIN_SPIN_THRESHOLD, false,
			  "contended acquisitions with fewer spins are not sampled" },
			{ "acquire_sample_rate",
			  EVENT_TRACE_SPINLOCK_MIN_ACQUIRE_SAMPLE_RATE, false,
			  "one in this many acquisitions that did not wait is written" },
			{ "contention_sample_rate",
			  EVENT_TRACE_SPINLOCK_MIN_CONTENTION_SAMPLE_RATE, false,
			  "one in this many contended acquisitions is written" },
			{ "hold_threshold", EVENT_TRACE_SPINLOCK_MIN_HOLD_THRESHOLD, true,
			  "cycles; what was held longer is always written; 0: no such rule" },
		},
		.parameter_count = 4,
		.optional_parameter_count = 1,
	},
	{
		.name = "resource",
		.class = EVENT_TRACE_EXECUTIVE_RESOURCE_INFORMATION_CLASS,
		.parameters = {
			{ "release_sample_rate", EVENT_TRACE_EXECUTIVE_RESOURCE_MIN_RATE,
			  false, "one in this many last releases is written" },
			{ "contention_sample_rate", EVENT_TRACE_EXECUTIVE_RESOURCE_MIN_RATE,
			  false,
			  "one in this many after a wait; all with so many waiters or a multiple" },
			{ "excessive_timeouts", EVENT_TRACE_EXECUTIVE_RESOURCE_MIN_RATE,
			  false, "one in this many time-outs of a wait is written" },
		},
		.parameter_count = 3,
	},
};

const size_t parameter_group_count = ARRAY_SIZE(parameter_groups);

/**
 * parameter_group_find() - find a group of parameters by its name
 * @name: name of the group
 *
 * Return: the group, or NULL if there is none.
 */
const struct parameter_group *parameter_group_find(const char *name)
{
	size_t i;

	for (i = 0; i < parameter_group_count; i++)
		if (!strcmp(parameter_groups[i].name, name))
			return &parameter_groups[i];
	return NULL;
}

/**
 * parameter_get() - read the present value of a parameter
 * @group: name of its group, and of a directory of the module
 * @name: name of the parameter, and of its file
 * @value: set to the value; not changed after an error
 *
 * Return: 0 or -errno: -ENOENT if the module does not know the parameter, -EINVAL if the file has
 * no number.
 */
int parameter_get(const char *group, const char *name, uint32_t *value)
{
	char text[KERNEL_TEXT], *end;
	unsigned long number;
	int err = kernel_read(text, sizeof(text), "%s/%s", group, name);

	if (err)
		return err;
	number = strtoul(text, &end, 10);
	if (end == text || *end || *text == '-' || number > UINT32_MAX)
		return -EINVAL;
	*value = number;
	return 0;
}

/**
 * parameter_group_get() - read the present values of a group
 * @group: the group
 * @values: set to @group->parameter_count values
 *
 * Return: 0, or -1 after a message.
 */
int parameter_group_get(const struct parameter_group *group, uint32_t *values)
{
	size_t i;

	for (i = 0; i < group->parameter_count; i++) {
		int err = parameter_get(group->name, group->parameters[i].name, &values[i]);

		if (!err)
			continue;
		message("%s %s: %s", group->name, group->parameters[i].name, strerror(-err));
		return -1;
	}
	return 0;
}

/**
 * parameter_group_check() - check that values are in range
 * @group: the group
 * @values: new values
 * @count: number of @values
 *
 * Return: 0, or -1 after a message.
 */
int parameter_group_check(const struct parameter_group *group, const uint32_t *values, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		const struct parameter *parameter = &group->parameters[i];

		if (values[i] >= parameter->minimum ||
		    (parameter->zero_is_valid && !values[i]))
			continue;
		message("%s %s: %" PRIu32 " is out of range: %s%" PRIu32 " to %" PRIu32,
			group->name, parameter->name, values[i],
			parameter->zero_is_valid ? "0, or " : "", parameter->minimum, UINT32_MAX);
		return -1;
	}
	return 0;
}

/**
 * parameter_group_put() - set the values of a group, all or none
 * @group: the group
 * @values: new values, which parameter_group_check() has accepted
 * @count: number of @values; optional parameters that are left out keep their values
 *
 * Return: 0, or -1 after a message.
 */
int parameter_group_put(const struct parameter_group *group, const uint32_t *values, size_t count)
{
	uint32_t words[1 + PARAMETERS_MAX] = { group->class };
	uint32_t status;

	memcpy(words + 1, values, count * sizeof(*values));
	if (kernel_set_system_information(words, (1 + count) * sizeof(*words), &status))
		return -1;
	if (status == STATUS_SUCCESS)
		return 0;
	if (status == STATUS_ACCESS_DENIED)
		message("STATUS_ACCESS_DENIED: no CAP_PERFMON, or the kernel is locked down");
	else
		message("NTSTATUS 0x%08x", status);
	return -1;
}
