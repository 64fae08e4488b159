// SPDX-License-Identifier: GPL-2.0-only

#include <linux/err.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "../etw/rundown.h"
#include "information.h"

static u32 *ntklog_find_parameter_word(u32 *words, const struct ntklog_parameter *parameter)
{
	return words + parameter->offset / sizeof(*words);
}

static bool ntklog_parameter_permits_value(const struct ntklog_parameter *parameter,
					   u32 value)
{
	return value >= parameter->minimum || (parameter->zero_permitted && !value);
}

static bool ntklog_parameter_set_has_size(const struct ntklog_parameter_set *parameter_set,
					  size_t length)
{
	return length == parameter_set->length || length == parameter_set->v1_length;
}

static u32 ntklog_change_err_to_status(const struct etw_parameter_change *change)
{
	return PTR_ERR(change) == -EINTR ? STATUS_THREAD_IS_TERMINATING : STATUS_NO_MEMORY;
}

/**
 * ntklog_query_parameter_set() - query an information structure, as NT does
 * @parameter_set: the structure
 * @buffer: receives the structure
 * @length: size of @buffer in bytes; must be the size of one of the versions
 * @return_length: set to the number of bytes written; unchanged on an error
 *
 * Context: task; may sleep.
 * Return: STATUS_SUCCESS, or STATUS_INFO_LENGTH_MISMATCH for another size.
 */
u32 ntklog_query_parameter_set(struct ntklog_parameter_set *parameter_set, void *buffer,
			       size_t length, size_t *return_length)
{
	if (!ntklog_parameter_set_has_size(parameter_set, length))
		return STATUS_INFO_LENGTH_MISMATCH;

	mutex_lock(&parameter_set->lock);
	memcpy(buffer, parameter_set->words, length);
	mutex_unlock(&parameter_set->lock);
	*return_length = length;
	return STATUS_SUCCESS;
}

/**
 * ntklog_change_parameter_set() - set an information structure, as NT does
 * @parameter_set: the structure
 * @buffer: the new contents
 * @length: size of @buffer in bytes
 *
 * Sets all parameters that this version of the structure has, or none.
 *
 * Context: task; may sleep.
 * Return: STATUS_SUCCESS, or the error because of which nothing has been changed.
 */
u32 ntklog_change_parameter_set(struct ntklog_parameter_set *parameter_set,
				const void *buffer, size_t length)
{
	u32 new_words[PERF_PARAMETER_SET_SIZE_MAX / sizeof(u32)];
	const struct ntklog_parameter *parameter;
	const struct ntklog_parameter *end =
		parameter_set->parameters + parameter_set->parameter_count;
	struct etw_parameter_change *change;

	if (length < sizeof(new_words[0]))
		return STATUS_INFO_LENGTH_MISMATCH;
	memcpy(new_words, buffer, min(length, sizeof(new_words)));
	if (new_words[0] != parameter_set->words[0])
		return STATUS_NOT_IMPLEMENTED;
	if (!ntklog_parameter_set_has_size(parameter_set, length))
		return STATUS_INFO_LENGTH_MISMATCH;

	for (parameter = parameter_set->parameters; parameter < end; parameter++)
		if (parameter->offset < length &&
		    !ntklog_parameter_permits_value(parameter,
						    *ntklog_find_parameter_word(new_words,
										parameter)))
			return STATUS_INVALID_PARAMETER;

	change = etw_begin_parameter_change();
	if (IS_ERR(change))
		return ntklog_change_err_to_status(change);
	mutex_lock(&parameter_set->lock);
	for (parameter = parameter_set->parameters; parameter < end; parameter++)
		if (parameter->offset < length)
			WRITE_ONCE(*ntklog_find_parameter_word(parameter_set->words, parameter),
				   *ntklog_find_parameter_word(new_words, parameter));
	if (parameter_set->on_change)
		parameter_set->on_change();
	mutex_unlock(&parameter_set->lock);
	etw_end_parameter_change(change);
	return STATUS_SUCCESS;
}

/**
 * ntklog_get_parameter() - read one parameter
 * @parameter: the parameter
 *
 * Context: any.
 * Return: its value.
 */
u32 ntklog_get_parameter(const struct ntklog_parameter *parameter)
{
	return READ_ONCE(*ntklog_find_parameter_word(parameter->parameter_set->words,
						     parameter));
}

/**
 * ntklog_set_parameter() - set one parameter
 * @parameter: the parameter
 * @value: the new value
 *
 * Context: task; may sleep.
 * Return: STATUS_SUCCESS, or the error because of which nothing has been changed.
 */
u32 ntklog_set_parameter(const struct ntklog_parameter *parameter, u32 value)
{
	struct ntklog_parameter_set *parameter_set = parameter->parameter_set;
	struct etw_parameter_change *change;

	if (!ntklog_parameter_permits_value(parameter, value))
		return STATUS_INVALID_PARAMETER;

	change = etw_begin_parameter_change();
	if (IS_ERR(change))
		return ntklog_change_err_to_status(change);
	mutex_lock(&parameter_set->lock);
	WRITE_ONCE(*ntklog_find_parameter_word(parameter_set->words, parameter), value);
	if (parameter_set->on_change)
		parameter_set->on_change();
	mutex_unlock(&parameter_set->lock);
	etw_end_parameter_change(change);
	return STATUS_SUCCESS;
}
