/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_KUNIT_FIXTURE_H
#define _NTKLOG_KUNIT_FIXTURE_H

/* Binding of a test to one CPU, threads on other CPUs, and session 0. */

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/sched.h>
#include <linux/tracepoint-defs.h>
#include <linux/types.h>

/* The CPU that fixture_init() binds a test to. */
#define TEST_CPU	0

struct test_thread {
	struct task_struct *task;
	int (*run)(void *data);
	void *data;
	struct completion done;
};

int fixture_init(struct kunit *test);
void fixture_exit(struct kunit *test);

void test_let_sleep_be_reported(void);
void test_sleep(unsigned int ms);
void test_thread_start(struct kunit *test, struct test_thread *thread,
		       unsigned int cpu, int (*run)(void *data), void *data);
void test_thread_join(struct test_thread *thread);
int test_thread_result(struct test_thread *thread);
int test_stop_kthread(struct task_struct *task);
void test_run_in_softirq(void (*run)(void *data), void *data);
void test_run_in_hardirq(void (*run)(void *data), void *data);

/* A tracepoint that cannot get a probe. */
extern struct tracepoint failing_tracepoint;

/* Offsets in an event, taken from NT's documents and not from the module's structures. */
#define EVENT_VERSION	0x00
#define EVENT_MARKER	0x00	/* u32 */
#define EVENT_SIZE	0x04	/* u16 */
#define EVENT_HOOK_ID	0x06	/* u16 */
#define EVENT_TIME	0x08	/* u64 */
#define EVENT_DATA	0x10

#define SPINLOCK_ADDRESS	(EVENT_DATA + 0x00)
#define SPINLOCK_CALLER		(EVENT_DATA + 0x08)
#define SPINLOCK_ACQUIRE_TIME	(EVENT_DATA + 0x10)
#define SPINLOCK_RELEASE_TIME	(EVENT_DATA + 0x18)
#define SPINLOCK_WAIT_TIME	(EVENT_DATA + 0x20)
#define SPINLOCK_SPIN_COUNT	(EVENT_DATA + 0x24)
#define SPINLOCK_THREAD_ID	(EVENT_DATA + 0x28)
#define SPINLOCK_INTERRUPTS	(EVENT_DATA + 0x2C)
#define SPINLOCK_IRQL		(EVENT_DATA + 0x30)
#define SPINLOCK_DEPTH		(EVENT_DATA + 0x31)
#define SPINLOCK_MODE		(EVENT_DATA + 0x32)
#define SPINLOCK_RESERVED	(EVENT_DATA + 0x33)

#define BUFFER_SIZE		0x00
#define BUFFER_SAVED_OFFSET	0x04
#define BUFFER_CURRENT_OFFSET	0x08
#define BUFFER_REFERENCE_COUNT	0x0C
#define BUFFER_TIME_STAMP	0x10
#define BUFFER_SEQUENCE		0x18
#define BUFFER_CLOCK		0x20
#define BUFFER_PROCESSOR	0x28
#define BUFFER_LOGGER_ID	0x2A
#define BUFFER_STATE		0x2C
#define BUFFER_OFFSET		0x30
#define BUFFER_FLAG		0x34
#define BUFFER_TYPE		0x36
#define BUFFER_START_TIME	0x38
#define BUFFER_START_CLOCK	0x40
#define BUFFER_EVENTS		0x48

u64 read_little_endian(const u8 *bytes, size_t offset, size_t size);
#define read_u8(bytes, offset)	((u8)read_little_endian(bytes, offset, 1))
#define read_u16(bytes, offset)	((u16)read_little_endian(bytes, offset, 2))
#define read_u32(bytes, offset)	((u32)read_little_endian(bytes, offset, 4))
#define read_u64(bytes, offset)	read_little_endian(bytes, offset, 8)

void start_session_0(struct kunit *test, u32 group, u32 buffer_size, u32 buffers);
void stop_session_0(struct kunit *test);
void disable_preemption_with_etw_mutex_free(void);
const u8 *get_session_buffer(unsigned int cpu, unsigned int index);
unsigned int count_finished_buffers(unsigned int cpu);
const u8 *get_session_event(unsigned int index, u16 hook_id);
unsigned int count_session_events(u16 hook_id);

#endif /* _NTKLOG_KUNIT_FIXTURE_H */
