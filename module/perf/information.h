/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_INFORMATION_H
#define _NTKLOG_PERF_INFORMATION_H

/* Parameters of the sampling: the rates and thresholds that NT keeps in information structures. */

#include <linux/mutex.h>
#include <linux/types.h>
#include <uapi/ntklog/system_information.h>

struct ntklog_information;

/**
 * struct ntklog_parameter - one parameter of an information structure
 * @information: the structure
 * @name: name of its debugfs file, also for messages
 * @offset: offset in the structure, in bytes
 * @minimum: lowest permitted value
 * @zero_permitted: 0 is permitted too, although it is less than @minimum
 */
struct ntklog_parameter {
	struct ntklog_information *information;
	const char *name;
	size_t offset;
	u32 minimum;
	bool zero_permitted;
};

/**
 * struct ntklog_information - an information structure of NT, with its checks
 * @lock: held while @words is written
 * @words: the structure; its first word is the class. Written with WRITE_ONCE(). A reader without
 *	the lock may see old and new words together
 * @length: size of the structure in bytes
 * @v1_length: size of the older version, which is a prefix of the structure
 * @changed: called after a change with @lock held; may be NULL
 * @parameters: the parameters, in the order of the module parameter spinlock= or resource=
 * @parameter_count: number of elements of @parameters
 */
struct ntklog_information {
	struct mutex lock;	/* held by writers of @words */
	u32 *words;
	size_t length;
	size_t v1_length;
	void (*changed)(void);
	const struct ntklog_parameter *parameters;
	unsigned int parameter_count;
};

/* Upper limit of the size of a structure, in bytes. */
#define PERF_INFORMATION_MAX	0x20

u32 ntklog_query_information(struct ntklog_information *information, void *buffer,
			     size_t length, size_t *return_length);
u32 ntklog_set_information(struct ntklog_information *information,
			   const void *buffer, size_t length);
u32 ntklog_get_parameter(const struct ntklog_parameter *parameter);
u32 ntklog_set_parameter(const struct ntklog_parameter *parameter, u32 value);

#endif /* _NTKLOG_PERF_INFORMATION_H */
