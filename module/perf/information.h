/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PERF_INFORMATION_H
#define _NTKLOG_PERF_INFORMATION_H

/*
 * The numbers that tune the sampling: NT's information structures, which are set
 * as a whole or by each of their parameters, by the same rules.
 */

#include <linux/mutex.h>
#include <linux/types.h>
#include <uapi/ntklog/system_information.h>

struct ntklog_information;

/**
 * struct ntklog_parameter - one number of an information structure
 * @information: which structure
 * @name: of its file and module parameter
 * @offset: in the structure
 * @minimum: the least permitted value
 * @zero: 0 is permitted too
 */
struct ntklog_parameter {
	struct ntklog_information *information;
	const char *name;
	size_t offset;
	u32 minimum;
	bool zero;
};

/**
 * struct ntklog_information - an information structure of NT and its rules
 * @lock: taken by who writes @words
 * @words: the structure itself, with its class as the first word. Each word is
 *	written at once, and read by any user at any time: one who meets a change
 *	may see some words old and some new, each of them permitted
 * @length: bytes of the structure
 * @v1_length: bytes of an older version, which is a beginning of it
 * @changed: called after a change, if it is there, with @lock held
 * @parameters: the numbers in it, in the order of the module parameter
 * @parameter_count: how many
 */
struct ntklog_information {
	struct mutex lock;	/* of who writes */
	u32 *words;
	size_t length;
	size_t v1_length;
	void (*changed)(void);
	const struct ntklog_parameter *parameters;
	unsigned int parameter_count;
};

/* More than any structure has bytes. */
#define PERF_INFORMATION_MAX	0x20

u32 ntklog_query_information(struct ntklog_information *information, void *buffer,
			     size_t length, size_t *return_length);
u32 ntklog_set_information(struct ntklog_information *information,
			   const void *buffer, size_t length);
u32 ntklog_get_parameter(const struct ntklog_parameter *parameter);
u32 ntklog_set_parameter(const struct ntklog_parameter *parameter, u32 value);

#endif /* _NTKLOG_PERF_INFORMATION_H */
