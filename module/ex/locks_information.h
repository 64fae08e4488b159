/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_EX_LOCKS_INFORMATION_H
#define _NTKLOG_EX_LOCKS_INFORMATION_H

#include <uapi/ntklog/system_information.h>

/**
 * struct ex_resource_description - description of a resource
 * @information: in NT's format; its address may be hashed or 0
 * @resource: address of the resource
 * @owner: exclusive owner: task or owner pointer; 0 if there is none
 * @init_caller: return address of the initialisation
 */
struct ex_resource_description {
	struct rtl_process_lock_information64 information;
	unsigned long resource;
	unsigned long owner;
	unsigned long init_caller;
};

/**
 * struct ex_resource_descriptions - descriptions of all live resources, ordered by address
 * @count: number of descriptions
 * @entries: the descriptions
 */
struct ex_resource_descriptions {
	u32 count;
	struct ex_resource_description entries[];
};

struct ex_resource_descriptions *ex_describe_all_resources(void);
struct rtl_process_locks64 *ex_query_locks_information(size_t *size);

#endif /* _NTKLOG_EX_LOCKS_INFORMATION_H */
