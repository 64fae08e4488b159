/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KUNIT_ERESOURCE_EXPECT_H
#define _NTKLOG_KUNIT_ERESOURCE_EXPECT_H

/* For the suites that test NT's facts R1 to R18 in kunit/facts.rst. */

#include <ntklog/eresource.h>

#include "fixture.h"
#include "resource_fixture.h"

#define EXPECT_OWNED(test, count) \
	KUNIT_EXPECT_EQ(test, ex_is_resource_acquired_shared_lite(&resource), count)
#define EXPECT_WAITERS(test, for_exclusive, for_shared) \
do { \
	KUNIT_EXPECT_EQ(test, ex_get_exclusive_waiter_count(&resource), for_exclusive); \
	KUNIT_EXPECT_EQ(test, ex_get_shared_waiter_count(&resource), for_shared); \
} while (0)
#define EXPECT_DESCRIBED(test, _owners, _entries, _recursion)			\
do {										\
	struct ex_resource_description _resource = describe_resource(test, &resource);	\
										\
	KUNIT_EXPECT_EQ(test, _resource.information.lock_count, _owners);		\
	KUNIT_EXPECT_EQ(test, _resource.information.entry_count, _entries);		\
	KUNIT_EXPECT_EQ(test, _resource.information.recursion_count, _recursion);	\
} while (0)

#endif /* _NTKLOG_KUNIT_ERESOURCE_EXPECT_H */
