/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PARAMETER_H
#define _NTKLOG_PARAMETER_H

/* The parameters of the sampling, with their limits. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most parameters of a group. */
#define PARAMETERS_MAX	4

/**
 * struct parameter - a parameter of the sampling
 * @name: name of the module's file, which users know the parameter by
 * @minimum: least value
 * @or_zero: 0 is valid too, although it is less than @minimum
 * @help: description
 */
struct parameter {
	const char *name;
	uint32_t minimum;
	bool or_zero;
	const char *help;
};

/**
 * struct parameter_group - parameters that are set together
 * @name: name of the group
 * @class: EventTraceInformationClass
 * @parameters: parameters in NT's order
 * @count: number of @parameters
 * @optional: number of parameters at the end that a caller may leave out
 */
struct parameter_group {
	const char *name;
	uint32_t class;
	struct parameter parameters[PARAMETERS_MAX];
	size_t count;
	size_t optional;
};

extern const struct parameter_group parameter_groups[];
extern const size_t parameter_group_count;

const struct parameter_group *parameter_group_find(const char *name);
int parameter_get(const char *group, const char *name, uint32_t *value);
int parameter_group_get(const struct parameter_group *group, uint32_t *values);
int parameter_group_put(const struct parameter_group *group, const uint32_t *values,
			size_t count);

#endif /* _NTKLOG_PARAMETER_H */
