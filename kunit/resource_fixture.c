// SPDX-License-Identifier: GPL-2.0-only

#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/sched/task.h>

#include "fixture.h"
#include "resource_fixture.h"

struct eresource resource;
struct resource_user users[RESOURCE_USERS];

int resource_fixture_init(struct kunit *test)
{
	/* Fill the memory, because the initialization must not depend on its content. */
	memset(&resource, 0xA5, sizeof(resource));
	if (ex_initialize_resource_lite(&resource))
		return -EINVAL;
	return fixture_init(test);
}

void resource_fixture_exit(struct kunit *test)
{
	int i;

	for (i = 0; i < RESOURCE_USERS; i++)
		if (users[i].task)
			user_exit(test, i);
	KUNIT_EXPECT_EQ(test, ex_delete_resource_lite(&resource), 0u);
	fixture_exit(test);
}

static int user_main(void *data)
{
	struct resource_user *user = data;

	if (user->is_lockdep_off)
		lockdep_off();
	for (;;) {
		wait_for_completion(&user->go);
		if (!user->call)
			break;
		user->result = user->call(&resource, user->wait);
		complete(&user->done);
	}
	return 0;
}

static void user_start(struct kunit *test, int i)
{
	struct resource_user *user = &users[i];

	init_completion(&user->go);
	init_completion(&user->done);
	user->task = kthread_create(user_main, user, "user/%d", i);
	KUNIT_ASSERT_FALSE(test, IS_ERR(user->task));
	get_task_struct(user->task);
	/* Keep the user off the test's CPU if there is another one. */
	kthread_bind(user->task, 1 % num_online_cpus());
	wake_up_process(user->task);
}

/* Let user @i call @call; start the user's thread if it does not run yet. */
void user_call_begin(struct kunit *test, int i,
		     bool (*call)(struct eresource *resource, bool wait), bool wait)
{
	struct resource_user *user = &users[i];

	if (!user->task)
		user_start(test, i);
	user->call = call;
	user->wait = wait;
	complete(&user->go);
}

bool user_call_end(struct kunit *test, int i)
{
	if (!wait_for_completion_timeout(&users[i].done, 300 * HZ))
		KUNIT_FAIL_AND_ABORT(test, "user %d does not return", i);
	return users[i].result;
}

bool user_call(struct kunit *test, int i,
	       bool (*call)(struct eresource *resource, bool wait), bool wait)
{
	user_call_begin(test, i, call, wait);
	return user_call_end(test, i);
}

unsigned long get_user_thread(struct kunit *test, int i)
{
	return (unsigned long)users[i].task;
}

void user_exit(struct kunit *test, int i)
{
	struct resource_user *user = &users[i];

	user->call = NULL;
	complete(&user->go);
	test_stop_kthread(user->task);
	put_task_struct(user->task);
	user->task = NULL;
	user->is_lockdep_off = false;
}

static void wait_for_count(struct kunit *test, u32 (*count)(const struct eresource *resource),
			   u32 expected)
{
	int tries = 60000;

	while (count(&resource) != expected && tries--)
		usleep_range(500, 1000);
	KUNIT_ASSERT_EQ(test, count(&resource), expected);
}

/* Let user @i ask for exclusive ownership, and return when the user waits. */
void user_wait_exclusive(struct kunit *test, int i)
{
	u32 before = ex_get_exclusive_waiter_count(&resource);

	user_call_begin(test, i, ex_acquire_resource_exclusive_lite, true);
	wait_for_count(test, ex_get_exclusive_waiter_count, before + 1);
}

void user_wait_shared(struct kunit *test, int i,
		      bool (*call)(struct eresource *resource, bool wait))
{
	u32 before = ex_get_shared_waiter_count(&resource);

	user_call_begin(test, i, call, true);
	wait_for_count(test, ex_get_shared_waiter_count, before + 1);
}

bool user_release(struct eresource *resource, bool wait)
{
	ex_release_resource_lite(resource);
	return true;
}

bool user_is_exclusive(struct eresource *resource, bool wait)
{
	return ex_is_resource_acquired_exclusive_lite(resource);
}

bool user_is_owner(struct eresource *resource, bool wait)
{
	return ex_is_resource_acquired_shared_lite(resource);
}

/*
 * Return the description of a resource in SystemLocksInformation, whose entries must be sorted by
 * address. All members are 0 if the resource is not live.
 */
struct ex_resource_description describe_resource(struct kunit *test, const struct eresource *which)
{
	struct ex_resource_descriptions *descriptions = ex_describe_all_resources();
	struct ex_resource_description found = {};
	u32 i;

	KUNIT_ASSERT_FALSE(test, IS_ERR(descriptions));
	for (i = 0; i < descriptions->count; i++) {
		if (i)
			KUNIT_EXPECT_GT(test, descriptions->entries[i].resource,
					descriptions->entries[i - 1].resource);
		if (descriptions->entries[i].resource == (unsigned long)which)
			found = descriptions->entries[i];
	}
	kvfree(descriptions);
	return found;
}
