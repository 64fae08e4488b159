// SPDX-License-Identifier: GPL-2.0-only
/* All numbers are NT's. */

#include <linux/mm.h>
#include <ntklog/eresource.h>
#include <ntklog/queued_spin_lock.h>
#include <uapi/ntklog/group_mask.h>

#include "../module/etw/control.h"
#include "../module/etw/session.h"
#include "../module/etw/settings.h"
#include "../module/ex/locks_information.h"
#include "../module/ground/address.h"
#include "../module/perf/spin_lock.h"
#include "../module/user/system_information.h"
#include "fixture.h"

#define LOCKS_CLASS	0x0C
#define TRACE_CLASS	0x1F

/* Query with the first @length bytes of @words as input; the result replaces them. */
static u32 query_words(u32 class, void *words, size_t length, size_t *out_length)
{
	u8 in[NTKLOG_INFORMATION_SIZE_MAX] = {};
	size_t in_length = min_t(size_t, length, sizeof(in));
	void *out;
	u32 status;

	memcpy(in, words, min_t(size_t, in_length, 0x10));
	status = ntklog_query_system_information(class, in, in_length, length, true, &out,
						 out_length);
	if (out)
		memcpy(words, out, *out_length);
	kvfree(out);
	return status;
}

static u32 set_words(u32 class, const void *words, size_t length)
{
	u8 in[NTKLOG_INFORMATION_SIZE_MAX] = {};

	/* The handler reads at most 0x30 bytes of the input. */
	memcpy(in, words, min_t(size_t, length, 0x30));
	return ntklog_set_system_information(class, in, length, true);
}

static void each_class_set_query_returns_it(struct kunit *test)
{
	u32 spin_lock[] = { 5, 2, 1001, 3, 1000001 }, resource[] = { 7, 2, 3, 4 };
	u32 words_read[5] = { 5 };
	size_t out_length;

	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, spin_lock, 0x14), 0u);
	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, resource, 0x10), 0u);
	KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words_read, 0x14, &out_length), 0u);
	KUNIT_EXPECT_EQ(test, out_length, 0x14ul);
	KUNIT_EXPECT_MEMEQ(test, words_read, spin_lock, 0x14);
	words_read[0] = 7;
	KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words_read, 0x10, &out_length), 0u);
	KUNIT_EXPECT_EQ(test, out_length, 0x10ul);
	KUNIT_EXPECT_MEMEQ(test, words_read, resource, 0x10);
}

static void group_mask_set_query_returns_it(struct kunit *test)
{
	/* Class, padding, handle (two words), eight masks. */
	u32 words[12] = { 1, 0, 3, 0, 0, 0x00030000 }, words_read[12] = { 1, 0xEE, 3, 0 };
	size_t out_length;

	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x30), 0u);
	KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words_read, 0x30, &out_length), 0u);
	KUNIT_EXPECT_EQ(test, out_length, 0x30ul);
	KUNIT_EXPECT_MEMEQ(test, words_read, words, 0x30);
	/* EVENT_TRACE_FLAG_CSWITCH means the same group as PERF_CONTEXT_SWITCH. */
	words[4] = 0x10;
	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x30), 0u);
	KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words_read, 0x30, &out_length), 0u);
	KUNIT_EXPECT_EQ(test, words_read[4], 0x10u);
	KUNIT_EXPECT_EQ(test, words_read[5], 0x00030004u);

	words[6] = 1;
	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x30), 0xC000000Du);
	words[6] = 0;
	words[2] = 8;
	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x30), 0xC000000Du);
	KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words, 0x30, &out_length), 0xC000000Du);
	words[2] = 3;
	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x2C), 0xC0000004u);
	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x34), 0xC0000004u);
	KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words, 0x34, &out_length), 0xC0000004u);
	memset(words + 4, 0, 0x20);
	words[5] = 0x00010000;
	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x30), 0u);
}

static void stacks_set_query_returns_them(struct kunit *test)
{
	/* Class, padding, handle (two words); hook ids in any order, one of them twice. */
	u32 words[16] = { 6, 0, 3, 0, 0x052B, 0x0529, 0x052B }, words_read[16] = { 6, 0xEE, 3, 0 };
	u32 no_stacks[16] = { 6, 0, 3, 0 };
	size_t out_length, length;

	KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words_read, 0x10, &out_length), 0u);
	KUNIT_EXPECT_EQ(test, out_length, 0x10ul);
	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x1C), 0u);
	KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words_read, 0x18, &out_length), 0u);
	KUNIT_EXPECT_EQ(test, out_length, 0x18ul);
	KUNIT_EXPECT_EQ(test, words_read[1], 0u);
	KUNIT_EXPECT_EQ(test, words_read[4], 0x0529u);
	KUNIT_EXPECT_EQ(test, words_read[5], 0x052Bu);
	/* The status of a buffer that is too small comes with the needed size. */
	KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words_read, 0x14, &out_length), 0xC0000004u);
	KUNIT_EXPECT_EQ(test, out_length, 0x18ul);
	KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words_read, 0x0C, &out_length), 0xC0000004u);

	words[4] = 0x0F4B;
	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x14), 0xC000000Du);
	words[4] = 0x0524;
	words[2] = 8;
	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x14), 0xC000000Du);
	words[2] = 3;
	for (length = 0x04; length < 0x10; length++)
		KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, length), 0xC0000004u);
	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x12), 0xC0000004u);
	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x44), 0xC0000004u);
	KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words_read, 0x18, &out_length), 0u);
	KUNIT_EXPECT_EQ(test, words_read[4], 0x0529u);
	KUNIT_EXPECT_EQ(test, ntklog_set_system_information(TRACE_CLASS, no_stacks, 0x10, false),
			0xC0000022u);

	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, no_stacks, 0x10), 0u);
	KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words_read, 0x10, &out_length), 0u);
	KUNIT_EXPECT_EQ(test, out_length, 0x10ul);
}

static void unknown_class_or_length_refused(struct kunit *test)
{
	u32 words[16] = { 5, 2, 1001, 3, 1000001 };
	size_t length, out_length;
	u32 class;

	for (class = 0; class < 0x100; class++) {
		if (class == TRACE_CLASS || class == LOCKS_CLASS)
			continue;
		KUNIT_EXPECT_EQ(test, set_words(class, words, 0x14), 0xC0000003u);
		KUNIT_EXPECT_EQ(test, query_words(class, words, 0x14, &out_length), 0xC0000003u);
	}
	KUNIT_EXPECT_EQ(test, set_words(LOCKS_CLASS, words, 0x14), 0xC0000003u);
	for (class = 0; class < 16; class++) {
		words[0] = class;
		if (class == 1 || class == 5 || class == 6 || class == 7)
			continue;
		KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x14), 0xC0000002u);
		KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words, 0x14, &out_length),
				0xC0000002u);
	}
	words[0] = 5;
	for (length = 0; length < 0x40; length++) {
		if (length == 0x10 || length == 0x14)
			continue;
		KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, length), 0xC0000004u);
		KUNIT_EXPECT_EQ(test, query_words(TRACE_CLASS, words, length, &out_length),
				0xC0000004u);
	}
	words[2] = 999;
	KUNIT_EXPECT_EQ(test, set_words(TRACE_CLASS, words, 0x14), 0xC000000Du);
}

static void unprivileged_caller_denied(struct kunit *test)
{
	u32 words[16] = { 5, 2, 1001, 3, 1000001 }, before[5] = { 5 }, words_read[5] = { 5 };
	size_t out_length;
	void *out;

	query_words(TRACE_CLASS, before, 0x14, &out_length);
	KUNIT_EXPECT_EQ(test, ntklog_set_system_information(TRACE_CLASS, words, 0x14, false),
			0xC0000022u);
	KUNIT_EXPECT_EQ(test, ntklog_query_system_information(LOCKS_CLASS, words, 64, 64,
							      false, &out, &out_length),
			0xC0000022u);
	KUNIT_EXPECT_NULL(test, out);
	KUNIT_EXPECT_EQ(test, ntklog_query_system_information(TRACE_CLASS, words_read, 0x14, 0x14,
							      false, &out, &out_length), 0u);
	KUNIT_EXPECT_MEMEQ(test, out, before, 0x14);
	kvfree(out);
}

static struct eresource resource;

static void locks_queried_buffer_size_checked(struct kunit *test)
{
	static u8 buffer[0x10000];
	size_t needed_length, out_length;
	bool found = false;
	u32 i;

	KUNIT_ASSERT_EQ(test, ex_initialize_resource_lite(&resource), 0u);
	KUNIT_EXPECT_EQ(test, query_words(LOCKS_CLASS, buffer, 0, &needed_length), 0xC0000004u);
	KUNIT_ASSERT_GE(test, needed_length, 0x38ul);
	KUNIT_ASSERT_LE(test, needed_length, sizeof(buffer));
	KUNIT_EXPECT_EQ(test, query_words(LOCKS_CLASS, buffer, needed_length - 1, &out_length),
			0xC0000004u);
	KUNIT_EXPECT_EQ(test, out_length, needed_length);
	KUNIT_EXPECT_EQ(test, query_words(LOCKS_CLASS, buffer, needed_length, &out_length), 0u);
	KUNIT_EXPECT_EQ(test, out_length, needed_length);
	KUNIT_EXPECT_EQ(test, 8 + 0x30ul * read_u32(buffer, 0), needed_length);
	for (i = 0; i < read_u32(buffer, 0); i++)
		found |= read_u64(buffer, 8 + 0x30 * i) == (u64)(unsigned long)&resource;
	KUNIT_EXPECT_TRUE(test, found);
	ex_delete_resource_lite(&resource);
}

static struct kspin_lock lock[2];

static u64 read_lock_address_of_event(struct kunit *test, struct kspin_lock *spin_lock)
{
	struct klock_queue_handle handle;
	unsigned long flags;
	const u8 *event;

	start_session_0(test, PERF_SPINLOCK, 4096, 8);
	ke_acquire_in_stack_queued_spin_lock(spin_lock, &handle);
	/* Set a sampled count. No other acquisition may change it. */
	local_irq_save(flags);
	per_cpu_ptr(&ntklog_spin_lock_cpu, TEST_CPU)->contention_count = 0;
	ntklog_set_uncontended_count(per_cpu_ptr(&ntklog_spin_lock_cpu, TEST_CPU), 5000);
	local_irq_restore(flags);
	ke_release_in_stack_queued_spin_lock(&handle);
	event = get_session_event(0, 0x0529);
	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, read_u64(event, SPINLOCK_CALLER) >> 32 != 0,
			read_u64(event, SPINLOCK_ADDRESS) >> 32 != 0);
	stop_session_0(test);
	return read_u64(event, SPINLOCK_ADDRESS);
}

static void addresses_shown_raw_hashed_or_zero(struct kunit *test)
{
	u64 first, second;

	ke_initialize_spin_lock(&lock[0]);
	ke_initialize_spin_lock(&lock[1]);
	KUNIT_EXPECT_EQ(test, read_lock_address_of_event(test, &lock[0]),
			(u64)(unsigned long)&lock[0]);
	KUNIT_EXPECT_EQ(test, ntklog_address_init("half"), -EINVAL);

	KUNIT_ASSERT_EQ(test, ntklog_address_init("hashed"), 0);
	first = read_lock_address_of_event(test, &lock[0]);
	second = read_lock_address_of_event(test, &lock[1]);
	KUNIT_EXPECT_EQ(test, first >> 32, 0ull);
	KUNIT_EXPECT_NE(test, first, (u64)(u32)(unsigned long)&lock[0]);
	KUNIT_EXPECT_NE(test, first, second);
	/* A lock keeps its hash, so that events can still be summed by lock. */
	KUNIT_EXPECT_EQ(test, read_lock_address_of_event(test, &lock[0]), first);

	KUNIT_ASSERT_EQ(test, ntklog_address_init("zero"), 0);
	KUNIT_EXPECT_EQ(test, read_lock_address_of_event(test, &lock[0]), 0ull);
	KUNIT_ASSERT_EQ(test, ntklog_address_init("raw"), 0);
}

static void system_information_exit(struct kunit *test)
{
	ntklog_address_init("raw");
	fixture_exit(test);
}

static struct kunit_case system_information_test_cases[] = {
	KUNIT_CASE(each_class_set_query_returns_it),
	KUNIT_CASE(group_mask_set_query_returns_it),
	KUNIT_CASE(stacks_set_query_returns_them),
	KUNIT_CASE(unknown_class_or_length_refused),
	KUNIT_CASE(unprivileged_caller_denied),
	KUNIT_CASE(locks_queried_buffer_size_checked),
	KUNIT_CASE(addresses_shown_raw_hashed_or_zero),
	{}
};

static struct kunit_suite system_information_test_suite = {
	.name = "ntklog_system_information",
	.init = fixture_init,
	.exit = system_information_exit,
	.test_cases = system_information_test_cases,
};

kunit_test_suite(system_information_test_suite);
