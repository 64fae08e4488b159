/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_INFORMATION_H
#define _NTKLOG_PERF_INFORMATION_H

/* Parameters of the sampling: the rates and thresholds that NT keeps in information structures. */

#include <linux/mutex.h>
#include <linux/types.h>
#include <uapi/ntklog/system_information.h>

struct ntklog_parameter_set;

/**
 * struct ntklog_parameter - one parameter of an information structure
 * @parameter_set: the structure
 * @name: name of its debugfs file, also for messages
 * @offset: offset in the structure, in bytes
 * @minimum: lowest permitted value
 * @zero_permitted: 0 is permitted too, although it is less than @minimum
 */
struct ntklog_parameter {
	struct ntklog_parameter_set *parameter_set;
	const char *name;
	size_t offset;
	u32 minimum;
	bool zero_permitted;
};

/**
 * struct ntklog_parameter_set - an information structure of NT, with its checks
 * @lock: held while @words is written
 * @words: the structure; its first word is the class. Written with WRITE_ONCE(). A reader without
 *	the lock may see old and new words together
 * @length: size of the structure in bytes
 * @v1_length: size of the older version, which is a prefix of the structure
 * @on_change: called after a change with @lock held; may be NULL
 * @parameters: the parameters, in the order of the module parameter spinlock= or resource=
 * @parameter_count: number of elements of @parameters
 */
struct ntklog_parameter_set {
	struct mutex lock;	/* held by writers of @words */
	u32 *words;
	size_t length;
	size_t v1_length;
	void (*on_change)(void);
	const struct ntklog_parameter *parameters;
	unsigned int parameter_count;
};

/* Upper limit of the size of a structure, in bytes. */
#define PERF_PARAMETER_SET_SIZE_MAX	0x20

u32 ntklog_query_parameter_set(struct ntklog_parameter_set *parameter_set, void *buffer,
			       size_t length, size_t *return_length);
u32 ntklog_change_parameter_set(struct ntklog_parameter_set *parameter_set,
				const void *buffer, size_t length);
u32 ntklog_get_parameter(const struct ntklog_parameter *parameter);
u32 ntklog_set_parameter(const struct ntklog_parameter *parameter, u32 value);

#endif /* _NTKLOG_PERF_INFORMATION_H */
