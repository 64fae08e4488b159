// SPDX-License-Identifier: GPL-2.0-only

#include <kunit/test.h>
#include <linux/semaphore.h>

#include "../module/linux/redirect.h"

#ifdef NTKLOG_CAN_REDIRECT

static const char *resolve_target(struct ntklog_target *target)
{
	struct ntklog_hook hook = { .targets = target, .target_count = 1 };

	return ntklog_resolve_targets(&hook, 1);
}

static void exported_function_address_resolved(struct kunit *test)
{
	struct ntklog_target target = NTKLOG_EXPORTED_TARGET(up);

	KUNIT_EXPECT_NULL(test, resolve_target(&target));
	KUNIT_EXPECT_NE(test, target.address, 0ul);
}

static void exported_name_with_other_address_refused(struct kunit *test)
{
	struct ntklog_target target = { .name = "down", .exported_address = up, .optional = true };

	KUNIT_EXPECT_STREQ(test, resolve_target(&target), "down");
	KUNIT_EXPECT_EQ(test, target.address, 0ul);
}

static void function_with_another_entry_refused(struct kunit *test)
{
	struct ntklog_target target = NTKLOG_EXPORTED_TARGET(up);
	struct ntklog_hook hook = { .targets = &target, .target_count = 1, .original_entry = down };

	KUNIT_EXPECT_STREQ(test, ntklog_resolve_targets(&hook, 1), "up");
	KUNIT_EXPECT_EQ(test, target.address, 0ul);
}

static void function_missing_only_mandatory_reported(struct kunit *test)
{
	struct ntklog_target target = { .name = "ntklog_no_such_function", .optional = true };

	KUNIT_EXPECT_NULL(test, resolve_target(&target));
	target.optional = false;
	KUNIT_EXPECT_STREQ(test, resolve_target(&target), "ntklog_no_such_function");
	KUNIT_EXPECT_EQ(test, target.address, 0ul);
}

#endif /* NTKLOG_CAN_REDIRECT */

static struct kunit_case redirect_test_cases[] = {
#ifdef NTKLOG_CAN_REDIRECT
	KUNIT_CASE(exported_function_address_resolved),
	KUNIT_CASE(exported_name_with_other_address_refused),
	KUNIT_CASE(function_with_another_entry_refused),
	KUNIT_CASE(function_missing_only_mandatory_reported),
#endif
	{}
};

static struct kunit_suite redirect_test_suite = {
	.name = "ntklog_redirect",
	.test_cases = redirect_test_cases,
};

kunit_test_suite(redirect_test_suite);
