// SPDX-License-Identifier: GPL-2.0-only

#include <linux/mutex.h>
#include <linux/sched/signal.h>

#include "../module/etw/session.h"
#include "../module/perf/resource.h"
#include "../module/perf/spin_lock.h"
#include "fixture.h"

/*
 * The sizes are those of NT's documents. @minimum has no entry for the first word, the class. NT
 * documents no minimum for resources: ntklog refuses 0, because the words are divisors.
 */
static const struct parameter_set_kind {
	struct ntklog_parameter_set *information;
	const char *name;
	u32 class;
	size_t length;
	size_t v1_length;
	u32 minimum[4];
} kinds[] = {
	{ &ntklog_spin_lock_parameter_set, "spin lock", 5, 0x14, 0x10,
	  { 1, 1000, 1, 1000000 } },
	{ &ntklog_resource_parameter_set, "resource", 7, 0x10, 0x10, { 1, 1, 1 } },
};

#define for_each_kind(kind) \
	for (kind = kinds; kind < kinds + ARRAY_SIZE(kinds); kind++)

static unsigned int count_words(const struct parameter_set_kind *kind)
{
	return kind->length / 4;
}

static void query_words(struct kunit *test, const struct parameter_set_kind *kind, u32 *words_read)
{
	size_t length = 0;

	KUNIT_ASSERT_EQ(test,
			ntklog_query_parameter_set(kind->information, words_read, kind->length,
						   &length),
			0u);
	KUNIT_ASSERT_EQ(test, length, kind->length);
}

static u32 set_words(const struct parameter_set_kind *kind, const u32 *words_to_set, size_t length)
{
	return ntklog_change_parameter_set(kind->information, words_to_set, length);
}

/* Fill @words_to_set with permitted values; another @increment gives other values. */
static void fill_words(const struct parameter_set_kind *kind, u32 *words_to_set, u32 increment)
{
	unsigned int i;

	words_to_set[0] = kind->class;
	for (i = 1; i < count_words(kind); i++)
		words_to_set[i] = kind->minimum[i - 1] + increment + i;
}

static void structure_set_query_returns_it(struct kunit *test)
{
	const struct parameter_set_kind *kind;
	u32 words_to_set[5], words_read[5];

	for_each_kind(kind) {
		fill_words(kind, words_to_set, 5);
		KUNIT_EXPECT_EQ(test, set_words(kind, words_to_set, kind->length), 0u);
		query_words(test, kind, words_read);
		KUNIT_EXPECT_MEMEQ(test, words_read, words_to_set, kind->length);
	}
}

static void older_version_set_other_words_kept(struct kunit *test)
{
	u32 words_to_set[5], before[5], words_read[5] = {};
	const struct parameter_set_kind *kind = &kinds[0];
	size_t length = 0;

	query_words(test, kind, before);
	fill_words(kind, words_to_set, 9);
	KUNIT_EXPECT_EQ(test, set_words(kind, words_to_set, 0x10), 0u);
	words_read[4] = 0xEEEEEEEE;
	KUNIT_EXPECT_EQ(test,
			ntklog_query_parameter_set(kind->information, words_read, 0x10, &length),
			0u);
	KUNIT_EXPECT_EQ(test, length, 0x10);
	KUNIT_EXPECT_MEMEQ(test, words_read, words_to_set, 0x10);
	KUNIT_EXPECT_EQ(test, words_read[4], 0xEEEEEEEE);
	query_words(test, kind, words_read);
	KUNIT_EXPECT_EQ(test, words_read[4], before[4]);
}

static void wrong_length_mismatch_returned(struct kunit *test)
{
	u32 words_to_set[16] = {}, before[5], words_read[16];
	const struct parameter_set_kind *kind;
	size_t length, returned;

	for_each_kind(kind) {
		query_words(test, kind, before);
		fill_words(kind, words_to_set, 3);
		for (length = 0; length <= 0x40; length++) {
			if (length == kind->length || length == kind->v1_length)
				continue;
			KUNIT_EXPECT_EQ_MSG(test, set_words(kind, words_to_set, length),
					    0xC0000004u, "%s, %zu bytes", kind->name, length);
			KUNIT_EXPECT_EQ_MSG(test, ntklog_query_parameter_set(kind->information,
									     words_read, length,
									     &returned),
					    0xC0000004u, "%s, %zu bytes", kind->name, length);
		}
		query_words(test, kind, words_read);
		KUNIT_EXPECT_MEMEQ(test, words_read, before, kind->length);
	}
}

static void value_out_of_range_refused_all_kept(struct kunit *test)
{
	u32 words_to_set[5], before[5], words_read[5];
	const struct parameter_set_kind *kind;
	unsigned int i;

	for_each_kind(kind) {
		query_words(test, kind, before);
		for (i = 1; i < count_words(kind); i++) {
			fill_words(kind, words_to_set, 7);
			words_to_set[i] = kind->minimum[i - 1] - 1;
			KUNIT_EXPECT_EQ_MSG(test, set_words(kind, words_to_set, kind->length),
					    0xC000000Du, "%s, word %u", kind->name, i);
			/* Version 1 does not have the last word. */
			if (i < kind->v1_length / 4)
				KUNIT_EXPECT_EQ_MSG(test,
						    set_words(kind, words_to_set, kind->v1_length),
						    0xC000000Du, "%s, word %u", kind->name, i);
			query_words(test, kind, words_read);
			KUNIT_EXPECT_MEMEQ(test, words_read, before, kind->length);
		}
	}
}

static void values_at_limits_accepted(struct kunit *test)
{
	u32 words_to_set[5], words_read[5];
	const struct parameter_set_kind *kind;

	for_each_kind(kind) {
		memset(words_to_set, 0xFF, sizeof(words_to_set));
		words_to_set[0] = kind->class;
		KUNIT_EXPECT_EQ(test, set_words(kind, words_to_set, kind->length), 0u);
		query_words(test, kind, words_read);
		KUNIT_EXPECT_MEMEQ(test, words_read, words_to_set, kind->length);
		memcpy(words_to_set + 1, kind->minimum, kind->length - 4);
		KUNIT_EXPECT_EQ(test, set_words(kind, words_to_set, kind->length), 0u);
		query_words(test, kind, words_read);
		KUNIT_EXPECT_MEMEQ(test, words_read, words_to_set, kind->length);
	}
}

/* A hold threshold of 0 is below the minimum, but means that hold times are not tested. */
static void value_0_accepted_by_hold_threshold_only(struct kunit *test)
{
	u32 words_to_set[] = { 5, 1, 1000, 1, 0 }, words_read[5];
	static const u32 refused_values[] = { 1, 2, 999999 };
	unsigned int i;

	KUNIT_EXPECT_EQ(test, set_words(&kinds[0], words_to_set, 0x14), 0u);
	for (i = 0; i < ARRAY_SIZE(refused_values); i++) {
		words_to_set[4] = refused_values[i];
		KUNIT_EXPECT_EQ(test, set_words(&kinds[0], words_to_set, 0x14), 0xC000000Du);
	}
	words_to_set[4] = 0;
	query_words(test, &kinds[0], words_read);
	KUNIT_EXPECT_MEMEQ(test, words_read, words_to_set, 0x14);
}

static void unknown_class_not_implemented(struct kunit *test)
{
	u32 words_to_set[5], before[5], words_read[5];
	const struct parameter_set_kind *kind;

	for_each_kind(kind) {
		query_words(test, kind, before);
		fill_words(kind, words_to_set, 2);
		words_to_set[0] = kind->class == 5 ? 7 : 5;
		KUNIT_EXPECT_EQ(test, set_words(kind, words_to_set, kind->length), 0xC0000002u);
		query_words(test, kind, words_read);
		KUNIT_EXPECT_MEMEQ(test, words_read, before, kind->length);
	}
}

static int set_parameters_when_killed(void *data)
{
	u32 status_of_parameter, status;
	const u32 *words_to_set = data;

	allow_signal(SIGKILL);
	send_sig(SIGKILL, current, 0);
	status_of_parameter = ntklog_set_parameter(&ntklog_spin_lock_parameter_set.parameters[0],
						   words_to_set[1]);
	status = set_words(&kinds[0], words_to_set, kinds[0].length);
	flush_signals(current);
	return status_of_parameter == 0xC000004B && status == 0xC000004B ? 0 : -EINVAL;
}

/* A start of a session can hold etw_mutex for long. A killed task must not wait for it. */
static void killed_task_terminating_returned(struct kunit *test)
{
	u32 words_to_set[5], before[5], words_read[5];
	struct test_thread thread;

	query_words(test, &kinds[0], before);
	fill_words(&kinds[0], words_to_set, 11);
	mutex_lock(&etw_mutex);
	test_thread_start(test, &thread, TEST_CPU, set_parameters_when_killed, words_to_set);
	KUNIT_EXPECT_EQ(test, test_thread_result(&thread), 0);
	mutex_unlock(&etw_mutex);
	query_words(test, &kinds[0], words_read);
	KUNIT_EXPECT_MEMEQ(test, words_read, before, kinds[0].length);
}

static struct kunit_case information_test_cases[] = {
	KUNIT_CASE(structure_set_query_returns_it),
	KUNIT_CASE(older_version_set_other_words_kept),
	KUNIT_CASE(wrong_length_mismatch_returned),
	KUNIT_CASE(value_out_of_range_refused_all_kept),
	KUNIT_CASE(values_at_limits_accepted),
	KUNIT_CASE(value_0_accepted_by_hold_threshold_only),
	KUNIT_CASE(unknown_class_not_implemented),
	KUNIT_CASE(killed_task_terminating_returned),
	{}
};

static struct kunit_suite information_test_suite = {
	.name = "ntklog_information",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = information_test_cases,
};

kunit_test_suite(information_test_suite);
