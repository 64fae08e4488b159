/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PARAMETER_H
#define _NTKLOG_PARAMETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARAMETERS_MAX	4

/*
 * @name: name of the module's file, which users know the parameter by
 * @zero_is_valid: 0 is valid too, although it is less than @minimum
 */
struct parameter {
	const char *name;
	uint32_t minimum;
	bool zero_is_valid;
	const char *help;
};

/*
 * @class: EventTraceInformationClass
 * @parameters: parameters in NT's order
 * @optional_parameter_count: number of parameters at the end that a caller may leave out
 */
struct parameter_group {
	const char *name;
	uint32_t class;
	struct parameter parameters[PARAMETERS_MAX];
	size_t parameter_count;
	size_t optional_parameter_count;
};

extern const struct parameter_group parameter_groups[];
extern const size_t parameter_group_count;

const struct parameter_group *parameter_group_find(const char *name);
int parameter_get(const char *group, const char *name, uint32_t *value);
int parameter_group_get(const struct parameter_group *group, uint32_t *values);
int parameter_group_check(const struct parameter_group *group, const uint32_t *values,
			  size_t count);
int parameter_group_put(const struct parameter_group *group, const uint32_t *values,
			size_t count);

#endif /* _NTKLOG_PARAMETER_H */
