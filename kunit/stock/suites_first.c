// SPDX-License-Identifier: GPL-2.0-only
/* First object of the module: marks the start of the section that lists its suites. */
#include <kunit/test.h>

struct kunit_suite *ntklog_suites_start[0] __used __section(".kunit_test_suites");
