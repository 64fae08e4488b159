// SPDX-License-Identifier: GPL-2.0-only

#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/relay.h>
#include <linux/sched.h>

#include "../module/etw/control.h"
#include "../module/etw/event.h"
#include "../module/etw/flush.h"
#include "../module/etw/logfile.h"
#include "../module/etw/reader.h"
#include "../module/etw/run.h"
#include "session_fixture.h"

/* A group without a provider, so that enabling it patches no code. */
#define TEST_GROUP	0x40000001

struct logger_in_flight {
	struct etw_session *session;
	bool has_found_session;
	bool may_continue;
};

/* A logger that has found the session started, and writes its events later. */
static int log_in_flight(void *data)
{
	struct logger_in_flight *logger_in_flight = data;
	u64 bytes[EVENT_LENGTH / 8] = {};
	int i;

	disable_preemption_with_etw_mutex_free();
	WRITE_ONCE(logger_in_flight->has_found_session, true);
	while (!READ_ONCE(logger_in_flight->may_continue))
		cpu_relax();
	for (i = 0; i < 4 * EVENTS_PER_BUFFER; i++)
		etw_log_session_event(logger_in_flight->session, TEST_HOOK_ID, 1, bytes,
				      EVENT_LENGTH);
	preempt_enable();
	return 0;
}

static int stop_in_flight(void *data)
{
	struct logger_in_flight *logger_in_flight = data;

	return etw_stop_session(logger_in_flight->session);
}

static void check_stop_with_logger(struct kunit *test, enum etw_session_mode mode)
{
	struct logger_in_flight logger_in_flight = { .session = &etw_sessions[5] };
	struct test_thread logger, stopper;
	struct etw_reader *reader;

	start_session_by_id(test, 5, TEST_GROUP, 2, mode);
	reader = etw_open_reader(logger_in_flight.session->run, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	test_thread_start(test, &logger, 1, log_in_flight, &logger_in_flight);
	while (!READ_ONCE(logger_in_flight.has_found_session))
		schedule_timeout_interruptible(1);
	test_thread_start(test, &stopper, 2, stop_in_flight, &logger_in_flight);
	while (READ_ONCE(logger_in_flight.session->is_logging))
		schedule_timeout_interruptible(1);
	/* New loggers find the session stopped, but one logger has not written its events yet. */
	KUNIT_EXPECT_EQ(test, (__force u32)etw_poll_buffers(reader, NULL, NULL), 0u);
	KUNIT_EXPECT_EQ(test, etw_read_buffers(reader, NULL, 1),
			mode == ETW_MODE_BUFFERING ? -EBUSY : 0);
	WRITE_ONCE(logger_in_flight.may_continue, true);
	test_thread_join(&logger);
	test_thread_join(&stopper);
	KUNIT_EXPECT_FALSE(test, etw_session_is_started(logger_in_flight.session));
	KUNIT_EXPECT_EQ(test, (__force u32)etw_poll_buffers(reader, NULL, NULL),
			(__force u32)(EPOLLHUP | EPOLLIN | EPOLLRDNORM));
	KUNIT_EXPECT_EQ(test, etw_read_buffers(reader, NULL, 0), 0);
	etw_close_reader(reader);
}

static void stop_with_logger_in_flight_run_ends_after_it(struct kunit *test)
{
	check_stop_with_logger(test, ETW_MODE_SEQUENTIAL);
	check_stop_with_logger(test, ETW_MODE_BUFFERING);
}

static void reader_open_at_restart_keeps_its_run(struct kunit *test)
{
	struct etw_reader *reader;
	struct etw_run *run;

	start_session_by_id(test, 5, TEST_GROUP, 2, ETW_MODE_SEQUENTIAL);
	log_event(TEST_GROUP, 5);
	run = etw_sessions[5].run;
	reader = etw_open_reader(run, TEST_CPU);
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	stop_session_by_id(test, 5);
	/* The reader must not see the new run, which is in another mode. */
	start_session_by_id(test, 5, TEST_GROUP, 4, ETW_MODE_BUFFERING);
	KUNIT_EXPECT_PTR_NE(test, etw_sessions[5].run, run);
	KUNIT_EXPECT_EQ(test, (__force u32)etw_poll_buffers(reader, NULL, NULL),
			(__force u32)(EPOLLHUP | EPOLLIN | EPOLLRDNORM));
	KUNIT_EXPECT_EQ(test, etw_read_buffers(reader, NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, read_u64(etw_get_buffer_of_cpu(run, TEST_CPU)->start,
				       BUFFER_EVENTS + EVENT_DATA), 5ull);
	etw_close_reader(reader);
	stop_session_by_id(test, 5);
}

static void last_close_of_read_run_frees_its_buffers(struct kunit *test)
{
	struct etw_reader *first, *second;
	struct etw_counts before, after;
	struct rchan_buf *last;
	struct etw_run *run;
	size_t size;
	void *header;

	start_session_by_id(test, 5, TEST_GROUP, 2, ETW_MODE_SEQUENTIAL);
	log_event(TEST_GROUP, 5);
	run = etw_sessions[5].run;
	first = etw_open_reader(run, TEST_CPU);
	second = etw_open_reader(run, TEST_CPU);
	KUNIT_ASSERT_FALSE(test, IS_ERR(first) || IS_ERR(second));
	stop_session_by_id(test, 5);
	etw_close_reader(first);
	KUNIT_ASSERT_NOT_NULL(test, run->channel);
	last = session_rchan_buf(5);
	relay_subbufs_consumed(last->chan, TEST_CPU,
			       last->subbufs_produced - last->subbufs_consumed);
	/* Read also the buffer with the end of the file, on the CPU whose file is the last. */
	last = etw_get_buffer_of_cpu(run, etw_find_last_file_cpu(run));
	relay_subbufs_consumed(last->chan, last->cpu,
			       last->subbufs_produced - last->subbufs_consumed);
	etw_close_reader(etw_open_reader(run, TEST_CPU));
	KUNIT_ASSERT_NOT_NULL(test, run->channel);
	KUNIT_EXPECT_TRUE(test, etw_get_counts(run, TEST_CPU, &before));
	etw_close_reader(second);
	KUNIT_EXPECT_NULL(test, run->channel);
	KUNIT_EXPECT_TRUE(test, etw_get_counts(run, TEST_CPU, &after));
	KUNIT_EXPECT_MEMEQ(test, &after, &before, sizeof(before));
	KUNIT_EXPECT_EQ(test, after.written, 1ull);
	KUNIT_EXPECT_EQ(test, after.finished, 1ull);
	KUNIT_EXPECT_FALSE(test, etw_run_has_unread_buffers(run));
	header = etw_make_header_buffer(run, &size);
	KUNIT_ASSERT_FALSE(test, IS_ERR(header));
	KUNIT_EXPECT_EQ(test, size, (size_t)SESSION_BUFFER_SIZE);
	KUNIT_EXPECT_EQ(test, read_u32(header, 0x68 + 0x24),
			1 + (u32)atomic64_read(&run->sequence_number));
	kvfree(header);
	first = etw_open_reader(run, TEST_CPU);
	KUNIT_ASSERT_FALSE(test, IS_ERR(first));
	KUNIT_EXPECT_EQ(test, etw_read_buffers(first, NULL, 1), 0);
	etw_close_reader(first);
}

static void cpu_online_after_stop_gets_no_buffers(struct kunit *test)
{
	const unsigned int cpu = nr_cpu_ids - 1;

	if (cpu == TEST_CPU || remove_cpu(cpu))
		kunit_skip(test, "no CPU can be taken offline");
	start_session_by_id(test, 5, TEST_GROUP, 2, ETW_MODE_SEQUENTIAL);
	log_event(TEST_GROUP, 5);
	KUNIT_EXPECT_NULL(test, etw_get_buffer_of_cpu(etw_sessions[5].run, cpu));
	stop_session_by_id(test, 5);
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	KUNIT_EXPECT_NULL(test, etw_get_buffer_of_cpu(etw_sessions[5].run, cpu));
	start_session_by_id(test, 5, TEST_GROUP, 2, ETW_MODE_SEQUENTIAL);
	KUNIT_EXPECT_NOT_NULL(test, etw_get_buffer_of_cpu(etw_sessions[5].run, cpu));
	stop_session_by_id(test, 5);
}

static void boot_time_of_all_starts_equal(struct kunit *test)
{
	u64 first = 0;
	size_t size;
	u8 *header;
	int i;

	for (i = 0; i < 6; i++) {
		start_session_by_id(test, i % 2, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
		stop_session_by_id(test, i % 2);
		header = etw_make_header_buffer(etw_sessions[i % 2].run, &size);
		KUNIT_ASSERT_FALSE(test, IS_ERR(header));
		first = first ?: read_u64(header, 0x68 + 0xF8);
		KUNIT_EXPECT_EQ(test, read_u64(header, 0x68 + 0xF8), first);
		kvfree(header);
	}
}

#if IS_ENABLED(CONFIG_KPROBES) && IS_ENABLED(CONFIG_X86)
static struct task_struct *clock_reader;
static int clock_readings, clock_readings_with_interrupts;

static int count_clock_reading(struct kprobe *probe, struct pt_regs *regs)
{
	if (current != clock_reader)
		return 0;
	clock_readings++;
	if (regs->flags & X86_EFLAGS_IF)
		clock_readings_with_interrupts++;
	return 0;
}

/* The function by which a start reads the wall clock. */
static struct kprobe clock_probe = {
	.symbol_name = "ktime_get_with_offset",
	.pre_handler = count_clock_reading,
};

static void start_clocks_read_with_interrupts_disabled(struct kunit *test)
{
	clock_reader = current;
	clock_readings = 0;
	clock_readings_with_interrupts = 0;
	KUNIT_ASSERT_EQ(test, register_kprobe(&clock_probe), 0);
	start_session_by_id(test, 1, PERF_SPINLOCK_CNTRS, 2, ETW_MODE_SEQUENTIAL);
	unregister_kprobe(&clock_probe);
	KUNIT_EXPECT_GT(test, clock_readings, 0);
	KUNIT_EXPECT_EQ(test, clock_readings_with_interrupts, 0);
	stop_session_by_id(test, 1);
}
#else
static void start_clocks_read_with_interrupts_disabled(struct kunit *test)
{
	kunit_skip(test, "no kprobes");
}
#endif

static struct kunit_case session_run_test_cases[] = {
	KUNIT_CASE(stop_with_logger_in_flight_run_ends_after_it),
	KUNIT_CASE(reader_open_at_restart_keeps_its_run),
	KUNIT_CASE(last_close_of_read_run_frees_its_buffers),
	KUNIT_CASE(cpu_online_after_stop_gets_no_buffers),
	KUNIT_CASE(boot_time_of_all_starts_equal),
	KUNIT_CASE(start_clocks_read_with_interrupts_disabled),
	{}
};

static struct kunit_suite session_run_test_suite = {
	.name = "ntklog_session_run",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = session_run_test_cases,
};

kunit_test_suite(session_run_test_suite);
