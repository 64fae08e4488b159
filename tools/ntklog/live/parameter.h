/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PARAMETER_H
#define _NTKLOG_PARAMETER_H

/* The parameters of the sampling: what they are, what they may be, and setting them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parameters of a set at most. */
#define PARAMETERS_MAX	4

/**
 * struct parameter - of the sampling
 * @name: NT's and the file's
 * @minimum: least value
 * @or_zero: 0 is also one
 * @help: what it does
 */
struct parameter {
	const char *name;
	uint32_t minimum;
	bool or_zero;
	const char *help;
};

/**
 * struct parameter_set - parameters that are set together
 * @name: of the set
 * @class: EventTraceInformationClass
 * @parameters: in NT's order
 * @count: how many
 * @optional: of them, at the end, may be left as they are
 */
struct parameter_set {
	const char *name;
	uint32_t class;
	struct parameter parameters[PARAMETERS_MAX];
	size_t count;
	size_t optional;
};

extern const struct parameter_set parameter_sets[];
extern const size_t parameter_set_count;

const struct parameter_set *parameter_set_find(const char *name);
int parameter_get(const char *set, const char *name, uint32_t *value);
int parameter_set_get(const struct parameter_set *set, uint32_t *values);
int parameter_set_put(const struct parameter_set *set, const uint32_t *values,
		      size_t count);

#endif /* _NTKLOG_PARAMETER_H */
