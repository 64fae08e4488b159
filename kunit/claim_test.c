// SPDX-License-Identifier: GPL-2.0-only

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <uapi/ntklog/event.h>
#include <uapi/ntklog/session.h>

#include "../module/etw/claim.h"
#include "../module/etw/control.h"
#include "../module/etw/event.h"
#include "../module/etw/group_mask.h"
#include "../module/etw/run.h"
#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "../module/etw/snapshot.h"
#include "fixture.h"

#define SESSION_BUFFER_SIZE		4096
#define SESSION		(&etw_sessions[3])
#define TEST_HOOK_ID	0x0FFD
#define TEST_GROUP	PERF_SPINLOCK_CNTRS

static const struct ntklog_session_start good_start = {
	.size = sizeof(good_start),
	.name = "of the claim",
	.group_mask.masks[PERF_MASK_INDEX(TEST_GROUP)] = PERF_MASK_BITS(TEST_GROUP),
	.buffer_size = SESSION_BUFFER_SIZE,
	.buffers = 4,
};

static void log_event(void)
{
	const u64 data = 1;
	unsigned long flags;

	local_irq_save(flags);
	etw_log_event(etw_find_sessions_for_event(TEST_GROUP), TEST_HOOK_ID, 1, &data,
		      sizeof(data));
	local_irq_restore(flags);
}

static struct etw_claim *open_claim(struct kunit *test)
{
	struct etw_claim *claim = etw_open_claim(SESSION);

	KUNIT_ASSERT_FALSE(test, IS_ERR(claim));
	return claim;
}

static u32 state_of(struct kunit *test, struct etw_claim *claim)
{
	struct ntklog_session_info info = { .size = sizeof(info) };

	KUNIT_EXPECT_EQ(test, etw_get_claim_info(claim, &info), 0);
	KUNIT_EXPECT_EQ(test, info.session, SESSION->id);
	KUNIT_EXPECT_EQ(test, info.failures, 0u);
	return info.state;
}

static void a_claim_is_exclusive(struct kunit *test)
{
	struct etw_claim *claim = open_claim(test);
	struct etw_settings before = SESSION->settings, after;
	struct etw_group_mask_change change = { .replaces_mask = true };

	KUNIT_EXPECT_EQ(test, PTR_ERR(etw_open_claim(SESSION)), -EBUSY);
	KUNIT_EXPECT_EQ(test, PTR_ERR(etw_adopt_session(SESSION)), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_start_session(SESSION), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_stop_session(SESSION), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_flush_session(SESSION), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_set_name(SESSION, "by hand"), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_set_mode(SESSION, ETW_MODE_BUFFERING), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_set_buffer_size(SESSION, 2 * SESSION_BUFFER_SIZE), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_set_buffers(SESSION, 7), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_set_flush_timer(SESSION, 7), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_set_stacks(SESSION, 1), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_set_contextswap_version(SESSION, 1), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_change_group_mask(SESSION, &change), -EBUSY);
	after = etw_get_settings(SESSION);
	KUNIT_EXPECT_MEMEQ(test, &after, &before, sizeof(before));
	KUNIT_EXPECT_EQ(test, state_of(test, claim), (u32)NTKLOG_SESSION_IDLE);
	KUNIT_EXPECT_EQ(test, PTR_ERR(etw_get_claim_run(claim)), -ENODATA);
	KUNIT_EXPECT_EQ(test, etw_flush_claimed_session(claim), -EINVAL);
	KUNIT_EXPECT_EQ(test, etw_stop_claimed_session(claim), -EINVAL);
	etw_close_claim(claim);
	KUNIT_EXPECT_EQ(test, etw_set_buffers(SESSION, before.buffers), 0);
}

static void a_claim_runs_once_at_a_time(struct kunit *test)
{
	struct etw_claim *claim = open_claim(test);
	struct ntklog_session_counts counts = { .size = sizeof(counts) };
	struct etw_run *run;

	counts.cpu = NTKLOG_SESSION_ALL_CPUS;
	KUNIT_EXPECT_EQ(test, etw_get_claim_counts(claim, &counts), -ENODATA);
	KUNIT_ASSERT_EQ(test, etw_start_claimed_session(claim, &good_start), 0);
	KUNIT_EXPECT_EQ(test, etw_start_claimed_session(claim, &good_start), -EBUSY);
	KUNIT_EXPECT_EQ(test, etw_stop_session(SESSION), -EBUSY);
	KUNIT_EXPECT_EQ(test, state_of(test, claim), (u32)NTKLOG_SESSION_STARTED);
	KUNIT_EXPECT_STREQ(test, SESSION->settings.name, "of the claim");
	log_event();
	KUNIT_EXPECT_EQ(test, etw_flush_claimed_session(claim), 0);
	log_event();
	KUNIT_EXPECT_EQ(test, etw_stop_claimed_session(claim), 0);
	KUNIT_EXPECT_EQ(test, etw_stop_claimed_session(claim), -EINVAL);
	KUNIT_EXPECT_EQ(test, state_of(test, claim), (u32)NTKLOG_SESSION_FINISHED);
	KUNIT_EXPECT_EQ(test, etw_get_claim_counts(claim, &counts), 0);
	KUNIT_EXPECT_EQ(test, counts.written, 2ull);
	KUNIT_EXPECT_EQ(test, counts.generated, 2ull);
	KUNIT_EXPECT_EQ(test, counts.processors, nr_cpu_ids);
	counts.cpu = TEST_CPU;
	KUNIT_EXPECT_EQ(test, etw_get_claim_counts(claim, &counts), 0);
	KUNIT_EXPECT_EQ(test, counts.cpu, (u32)TEST_CPU);
	KUNIT_EXPECT_EQ(test, counts.written, 2ull);
	counts.cpu = nr_cpu_ids;
	KUNIT_EXPECT_EQ(test, etw_get_claim_counts(claim, &counts), -ENXIO);
	counts.size--;
	KUNIT_EXPECT_EQ(test, etw_get_claim_counts(claim, &counts), -EINVAL);

	run = etw_get_claim_run(claim);
	KUNIT_ASSERT_FALSE(test, IS_ERR(run));
	KUNIT_EXPECT_STREQ(test, run->name, "of the claim");
	KUNIT_EXPECT_EQ(test, etw_start_claimed_session(claim, &good_start), 0);
	KUNIT_EXPECT_PTR_NE(test, SESSION->run, run);
	etw_put_run(run);
	etw_close_claim(claim);
}

static void a_close_stops_frees_and_restores(struct kunit *test)
{
	struct ntklog_session_start start = good_start;
	struct etw_settings before, after;
	struct etw_claim *claim;

	KUNIT_ASSERT_EQ(test, etw_set_buffers(SESSION, 5), 0);
	before = etw_get_settings(SESSION);
	claim = open_claim(test);
	start.mode = NTKLOG_SESSION_BUFFERING;
	start.stacks = NTKLOG_STACKS_SPINLOCK;
	start.flush_timer = 77;
	start.contextswap_version = 1;
	KUNIT_ASSERT_EQ(test, etw_start_claimed_session(claim, &start), 0);
	KUNIT_EXPECT_EQ(test, SESSION->settings.buffers, 4u);
	KUNIT_EXPECT_EQ(test, SESSION->settings.flush_timer, 77u);
	KUNIT_EXPECT_EQ(test, etw_contextswap_versions.by_session[SESSION->id], 0);
	/* No other session may have this one's name, or the name that it gets back at the close. */
	KUNIT_EXPECT_EQ(test, etw_set_name(&etw_sessions[4], before.name), -EEXIST);
	KUNIT_EXPECT_EQ(test, etw_set_name(&etw_sessions[4], "of the claim"), -EEXIST);
	etw_close_claim(claim);
	KUNIT_EXPECT_FALSE(test, SESSION->is_logging);
	KUNIT_EXPECT_NULL(test, SESSION->run);
	KUNIT_EXPECT_EQ(test, etw_find_sessions_for_event(TEST_GROUP), 0ull);
	KUNIT_EXPECT_EQ(test, etw_contextswap_versions.by_session[SESSION->id],
			before.contextswap_version - 1);
	after = etw_get_settings(SESSION);
	KUNIT_EXPECT_MEMEQ(test, &after, &before, sizeof(before));
}

static void a_claim_that_never_started_leaves_the_run(struct kunit *test)
{
	struct etw_run *run;

	KUNIT_ASSERT_EQ(test, etw_start_session(SESSION), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(etw_open_claim(SESSION)), -EBUSY);
	KUNIT_ASSERT_EQ(test, etw_stop_session(SESSION), 0);
	run = SESSION->run;
	etw_close_claim(open_claim(test));
	KUNIT_EXPECT_PTR_EQ(test, SESSION->run, run);
}

static void a_bad_start_changes_nothing(struct kunit *test)
{
	struct etw_claim *claim = open_claim(test);
	const struct etw_settings before = etw_get_settings(SESSION);
	struct etw_settings after;
	unsigned int i;

	for (i = 0; i < 14; i++) {
		struct ntklog_session_start start = good_start;
		int err = -EINVAL;

		switch (i) {
		case 0:
			start.size--;
			break;
		case 1:
			start.flags = 1;
			break;
		case 2:
			memset(start.name, 'n', sizeof(start.name));
			break;
		case 3:
			strscpy(start.name, "two\nlines", sizeof(start.name));
			break;
		case 4:
			strscpy(start.name, etw_sessions[5].settings.name, sizeof(start.name));
			err = -EEXIST;
			break;
		case 5:
			start.group_mask.masks[7] = 1;
			break;
		case 6:
			start.buffer_size = SESSION_BUFFER_SIZE + 1;
			break;
		case 7:
			start.buffer_size = 2 * SZ_1M;
			break;
		case 8:
			start.buffers = 1;
			break;
		case 9:
			start.buffers = 1025;
			break;
		case 10:
			start.mode = NTKLOG_SESSION_BUFFERING + 1;
			break;
		case 11:
			start.flush_timer = 3600001;
			break;
		case 12:
			start.stacks = 8;
			break;
		case 13:
			start.contextswap_version = 5;
			break;
		}
		KUNIT_EXPECT_EQ_MSG(test, etw_start_claimed_session(claim, &start), err,
				    "case %u", i);
		KUNIT_EXPECT_FALSE(test, SESSION->is_logging);
		after = etw_get_settings(SESSION);
		KUNIT_EXPECT_MEMEQ(test, &after, &before, sizeof(before));
	}
	/* An empty name, and 0 as buffer size and as number of buffers, keep the present values. */
	KUNIT_EXPECT_EQ(test, etw_start_claimed_session(claim, &(struct ntklog_session_start) {
		.size = sizeof(struct ntklog_session_start),
	}), 0);
	KUNIT_EXPECT_STREQ(test, SESSION->settings.name, before.name);
	KUNIT_EXPECT_EQ(test, SESSION->settings.buffer_size, before.buffer_size);
	KUNIT_EXPECT_EQ(test, SESSION->settings.buffers, before.buffers);
	etw_close_claim(claim);
}

static void a_kept_session_runs_on_and_can_be_adopted(struct kunit *test)
{
	struct ntklog_session_counts counts = { .size = sizeof(counts) };
	struct ntklog_session_info info = { .size = sizeof(info) };
	struct etw_claim *claim = open_claim(test);
	struct etw_run *run;

	KUNIT_ASSERT_EQ(test, etw_start_claimed_session(claim, &good_start), 0);
	run = SESSION->run;
	KUNIT_EXPECT_EQ(test, etw_keep_claimed_session(claim), 0);
	KUNIT_EXPECT_EQ(test, etw_keep_claimed_session(claim), -EBADFD);
	KUNIT_EXPECT_EQ(test, etw_start_claimed_session(claim, &good_start), -EBADFD);
	KUNIT_EXPECT_EQ(test, etw_stop_claimed_session(claim), -EBADFD);
	KUNIT_EXPECT_EQ(test, etw_flush_claimed_session(claim), -EBADFD);
	KUNIT_EXPECT_EQ(test, etw_get_claim_counts(claim, &counts), -EBADFD);
	KUNIT_EXPECT_EQ(test, etw_get_claim_info(claim, &info), -EBADFD);
	KUNIT_EXPECT_EQ(test, PTR_ERR(etw_get_claim_run(claim)), -EBADFD);
	etw_close_claim(claim);
	KUNIT_EXPECT_TRUE(test, SESSION->is_logging);
	KUNIT_EXPECT_STREQ(test, SESSION->settings.name, "of the claim");
	KUNIT_EXPECT_EQ(test, PTR_ERR(etw_open_claim(SESSION)), -EBUSY);

	claim = etw_adopt_session(SESSION);
	KUNIT_ASSERT_FALSE(test, IS_ERR(claim));
	KUNIT_EXPECT_PTR_EQ(test, SESSION->run, run);
	KUNIT_EXPECT_EQ(test, state_of(test, claim), (u32)NTKLOG_SESSION_STARTED);
	KUNIT_EXPECT_EQ(test, etw_stop_claimed_session(claim), 0);
	KUNIT_EXPECT_EQ(test, etw_keep_claimed_session(claim), 0);
	etw_close_claim(claim);
	KUNIT_EXPECT_PTR_EQ(test, SESSION->run, run);

	claim = etw_adopt_session(SESSION);
	KUNIT_ASSERT_FALSE(test, IS_ERR(claim));
	KUNIT_EXPECT_EQ(test, state_of(test, claim), (u32)NTKLOG_SESSION_FINISHED);
	etw_close_claim(claim);
	KUNIT_EXPECT_NULL(test, SESSION->run);
	KUNIT_EXPECT_EQ(test, etw_set_name(SESSION, "System Logger 3"), 0);
}

/* A stopped session with unread buffers is not free, because its user still needs them. */
static void any_claim_is_of_the_last_free_session(struct kunit *test)
{
	struct etw_claim *claims[ETW_SESSIONS];
	struct etw_session *unread_session = &etw_sessions[6];
	struct etw_group_mask_change change = { .replaces_mask = true };
	int i, count = 0;

	etw_group_mask_set(&change.groups_to_set, TEST_GROUP);
	KUNIT_ASSERT_EQ(test, etw_change_group_mask(unread_session, &change), 0);
	KUNIT_ASSERT_EQ(test, etw_start_session(unread_session), 0);
	log_event();
	KUNIT_ASSERT_EQ(test, etw_stop_session(unread_session), 0);
	for (i = ETW_SESSIONS; i-- > 0;) {
		if (&etw_sessions[i] == unread_session ||
		    (etw_sessions[i].run && etw_run_has_unread_buffers(etw_sessions[i].run)))
			continue;
		claims[count] = etw_open_claim(NULL);
		KUNIT_ASSERT_FALSE(test, IS_ERR(claims[count]));
		KUNIT_EXPECT_PTR_EQ(test, claims[count]->session, &etw_sessions[i]);
		KUNIT_EXPECT_EQ(test, claims[count]->pid, task_tgid_nr(current));
		count++;
	}
	KUNIT_EXPECT_GT(test, count, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(etw_open_claim(NULL)), -EBUSY);
	while (count--)
		etw_close_claim(claims[count]);
}

/* A stopped flight recorder with unread buffers is free when a snapshot of it has been taken. */
static void any_claim_takes_a_session_in_a_snapshot(struct kunit *test)
{
	struct etw_session *last_session = &etw_sessions[ETW_SESSIONS - 1];
	struct etw_group_mask_change change = { .replaces_mask = true };
	struct etw_claim *claim;
	void *snapshot;
	size_t size;

	etw_group_mask_set(&change.groups_to_set, TEST_GROUP);
	KUNIT_ASSERT_EQ(test, etw_change_group_mask(last_session, &change), 0);
	KUNIT_ASSERT_EQ(test, etw_set_mode(last_session, ETW_MODE_BUFFERING), 0);
	KUNIT_ASSERT_EQ(test, etw_start_session(last_session), 0);
	log_event();
	KUNIT_ASSERT_EQ(test, etw_stop_session(last_session), 0);
	claim = etw_open_claim(NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(claim));
	KUNIT_EXPECT_PTR_NE(test, claim->session, last_session);
	etw_close_claim(claim);

	snapshot = etw_make_snapshot(last_session, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(snapshot));
	kvfree(snapshot);
	claim = etw_open_claim(NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(claim));
	KUNIT_EXPECT_PTR_EQ(test, claim->session, last_session);
	etw_close_claim(claim);
	KUNIT_EXPECT_EQ(test, etw_set_mode(last_session, ETW_MODE_SEQUENTIAL), 0);
}

static struct kunit_case claim_test_cases[] = {
	KUNIT_CASE(a_claim_is_exclusive),
	KUNIT_CASE(a_claim_runs_once_at_a_time),
	KUNIT_CASE(a_close_stops_frees_and_restores),
	KUNIT_CASE(a_claim_that_never_started_leaves_the_run),
	KUNIT_CASE(a_bad_start_changes_nothing),
	KUNIT_CASE(a_kept_session_runs_on_and_can_be_adopted),
	KUNIT_CASE(any_claim_is_of_the_last_free_session),
	KUNIT_CASE(any_claim_takes_a_session_in_a_snapshot),
	{}
};

static struct kunit_suite claim_test_suite = {
	.name = "ntklog_claim",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = claim_test_cases,
};

kunit_test_suite(claim_test_suite);
