/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KUNIT_RESOURCE_FIXTURE_H
#define _NTKLOG_KUNIT_RESOURCE_FIXTURE_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <ntklog/eresource.h>

#include "../module/ex/locks_information.h"

#define acquire_exclusive		ex_acquire_resource_exclusive_lite
#define acquire_shared			ex_acquire_resource_shared_lite
#define acquire_starve_exclusive	ex_acquire_shared_starve_exclusive
#define acquire_wait_for_exclusive	ex_acquire_shared_wait_for_exclusive

#define RESOURCE_USERS	20

/*
 * A thread that calls functions on the resource, one at a time.
 *
 * @go: completed by the test when the thread is to call @call
 * @done: completed by the thread when @call has returned
 * @call: NULL: the thread ends
 */
struct resource_user {
	struct task_struct *task;
	struct completion go, done;
	bool (*call)(struct eresource *resource, bool wait);
	bool wait;
	bool result;
	bool is_lockdep_off;
};

extern struct eresource resource;
extern struct resource_user users[RESOURCE_USERS];

int resource_fixture_init(struct kunit *test);
void resource_fixture_exit(struct kunit *test);

void user_call_begin(struct kunit *test, int user,
		     bool (*call)(struct eresource *resource, bool wait), bool wait);
bool user_call_end(struct kunit *test, int user);
bool user_call(struct kunit *test, int user,
	       bool (*call)(struct eresource *resource, bool wait), bool wait);
unsigned long get_user_thread(struct kunit *test, int user);
void user_exit(struct kunit *test, int user);
void user_wait_exclusive(struct kunit *test, int user);
void user_wait_shared(struct kunit *test, int user,
		      bool (*call)(struct eresource *resource, bool wait));

struct ex_resource_description describe_resource(struct kunit *test, const struct eresource *which);

bool user_release(struct eresource *resource, bool wait);
bool user_is_exclusive(struct eresource *resource, bool wait);
bool user_is_owner(struct eresource *resource, bool wait);

static inline void release_acquisitions(unsigned int times)
{
	while (times--)
		ex_release_resource_lite(&resource);
}

#endif /* _NTKLOG_KUNIT_RESOURCE_FIXTURE_H */
