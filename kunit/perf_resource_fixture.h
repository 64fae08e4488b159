/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KUNIT_PERF_RESOURCE_FIXTURE_H
#define _NTKLOG_KUNIT_PERF_RESOURCE_FIXTURE_H

/* An action that NT only tracks has no event; a test sees it in the event of the release. */

#include <kunit/test.h>
#include <linux/percpu.h>
#include <ntklog/eresource.h>
#include <uapi/ntklog/group_mask.h>

#include "../module/perf/resource.h"
#include "fixture.h"
#include "resource_fixture.h"

#define RESOURCE_ACQUIRE_TIME	(EVENT_DATA + 0x00)
#define RESOURCE_HOLD_TIME	(EVENT_DATA + 0x08)
#define RESOURCE_WAIT_TIME	(EVENT_DATA + 0x10)
#define RESOURCE_MAX_DEPTH	(EVENT_DATA + 0x18)
#define RESOURCE_THREAD_ID	(EVENT_DATA + 0x1C)
#define RESOURCE_RESOURCE	(EVENT_DATA + 0x20)
#define RESOURCE_ACTION		(EVENT_DATA + 0x28)
#define RESOURCE_CONTENTION	(EVENT_DATA + 0x2C)

#define EXPECT_EVENT(test, event, action, max_depth, contention)		\
do {										\
	const u8 *_event = (event);						\
										\
	KUNIT_EXPECT_EQ(test, read_u32(_event, RESOURCE_ACTION), action);	\
	KUNIT_EXPECT_EQ(test, read_u32(_event, RESOURCE_MAX_DEPTH), max_depth);	\
	KUNIT_EXPECT_EQ(test, read_u32(_event, RESOURCE_CONTENTION), contention); \
	KUNIT_EXPECT_EQ(test, read_u64(_event, RESOURCE_RESOURCE),		\
			(u64)(unsigned long)&resource);				\
} while (0)

#define EXPECT_NO_TIMES(test, event)						\
do {										\
	const u8 *_event = (event);						\
										\
	KUNIT_EXPECT_EQ(test, read_u64(_event, RESOURCE_ACQUIRE_TIME), 0ull);	\
	KUNIT_EXPECT_EQ(test, read_u64(_event, RESOURCE_HOLD_TIME), 0ull);	\
	KUNIT_EXPECT_EQ(test, read_u64(_event, RESOURCE_WAIT_TIME), 0ull);	\
} while (0)

static inline void set_resource_parameters(struct kunit *test, u32 release_rate,
					   u32 contention_rate, u32 timeout_rate)
{
	u32 information[] = { 7, release_rate, contention_rate, timeout_rate };

	KUNIT_ASSERT_EQ(test, ntklog_change_parameter_set(&ntklog_resource_parameter_set,
							  information, sizeof(information)),
			0u);
}

static inline void resource_session_start(struct kunit *test)
{
	set_resource_parameters(test, 1, 1, 1);
	start_session_0(test, PERF_SYNC_OBJECTS, 4096, 64);
}

/* Write no excessive waits, because on a busy host any wait may be one. */
static inline void disable_excessive_waits(struct kunit *test)
{
	set_resource_parameters(test, 1, 1, U32_MAX);
}

static inline struct ntklog_resource_cpu *get_resource_cpu(void)
{
	return per_cpu_ptr(&ntklog_resource_cpu, TEST_CPU);
}

static inline unsigned int count_resource_events(void)
{
	return count_session_events(0x052B);
}

static inline const u8 *get_resource_event(struct kunit *test, unsigned int index)
{
	const u8 *found = get_session_event(index, 0x052B);

	KUNIT_ASSERT_NOT_NULL(test, found);
	return found;
}

#endif /* _NTKLOG_KUNIT_PERF_RESOURCE_FIXTURE_H */
