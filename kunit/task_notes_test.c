// SPDX-License-Identifier: GPL-2.0-only

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/mman.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "../module/ground/clock.h"
#include "../module/ground/task_notes.h"
#include "fixture.h"

#define TASK_NAME	"ntklog\n\ttest"
#define TEXT_SIZE	SZ_64K

static struct ntklog_task_note_reader *reader;
static char *text;

static int task_notes_test_init(struct kunit *test)
{
	text = vmalloc(TEXT_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, text);
	reader = ntklog_open_task_notes();
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	return 0;
}

static void task_notes_test_exit(struct kunit *test)
{
	if (!IS_ERR_OR_NULL(reader))
		ntklog_close_task_notes(reader);
	reader = NULL;
	vfree(text);
	text = NULL;
}

static char __user *map_text(struct kunit *test)
{
	unsigned long user = kunit_vm_mmap(test, NULL, 0, TEXT_SIZE, PROT_READ | PROT_WRITE,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_TRUE(test, user && user < TASK_SIZE);
	return (char __user *)user;
}

/* Returns the number of bytes. */
static size_t read_notes(struct kunit *test, struct ntklog_task_note_reader *from,
			 char __user *user)
{
	ssize_t done = ntklog_read_task_notes(from, user, TEXT_SIZE - 1);

	KUNIT_ASSERT_GE(test, done, 0);
	KUNIT_ASSERT_EQ(test, copy_from_user(text, user, done), 0);
	text[done] = '\0';
	return done;
}

static int wait_for_stop(void *argument)
{
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

/* Run a task until the probes of its exit have run. Returns its id. */
static pid_t run_task(struct kunit *test)
{
	struct task_struct *task = kthread_run(wait_for_stop, NULL, TASK_NAME);
	pid_t id;

	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	id = task->pid;
	test_stop_kthread(task);
	return id;
}

/* The kernel may rename a new kernel thread, so only the last note of the thread is of its exit. */
static void task_that_exits_is_noted_with_its_name(struct kunit *test)
{
	char __user *user = map_text(test);
	pid_t id = run_task(test);
	u64 exit_time = 0;
	char line[64], *position, *last = NULL;
	int field_count;

	read_notes(test, reader, user);
	snprintf(line, sizeof(line), "%d %d ", id, id);
	for (position = text; (position = strstr(position, line)); position++)
		last = position;
	KUNIT_ASSERT_NOT_NULL(test, last);
	field_count = sscanf(last + strlen(line), "%llu", &exit_time);
	KUNIT_EXPECT_EQ(test, field_count, 1);
	KUNIT_EXPECT_LE(test, exit_time, ntklog_read_cycles());
	KUNIT_EXPECT_NOT_NULL(test, strstr(last, IS_ENABLED(CONFIG_CGROUPS) ?
					   " ntklog??test\t/\n" : " ntklog??test\t-\n"));
}

static void overwritten_notes_are_counted(struct kunit *test)
{
	unsigned int lost = 0, lines = 0, i;
	char __user *user = map_text(test);
	const char *position;
	int field_count;

	for (i = 0; i < NTKLOG_TASK_NOTES + 5; i++)
		ntklog_note_task(current);
	while (read_notes(test, reader, user))
		for (position = text; *position; position = strchr(position, '\n') + 1) {
			lines += position[0] != 'l';
			if (position[0] != 'l')
				continue;
			field_count = sscanf(position, "lost %u long 0", &lost);
			KUNIT_EXPECT_EQ(test, field_count, 1);
		}
	/* Other tasks may have ended meanwhile. */
	KUNIT_EXPECT_GE(test, lost, 5);
	KUNIT_EXPECT_GE(test, lines, NTKLOG_TASK_NOTES);
}

static void each_reader_reads_all_notes_that_are_kept(struct kunit *test)
{
	char __user *user = map_text(test);
	struct ntklog_task_note_reader *late_reader;
	char line[64];

	snprintf(line, sizeof(line), "%d %d ", current->pid, current->tgid);
	ntklog_note_task(current);
	late_reader = ntklog_open_task_notes();
	KUNIT_ASSERT_FALSE(test, IS_ERR(late_reader));
	read_notes(test, late_reader, user);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, line));
	read_notes(test, reader, user);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, line));
	read_notes(test, reader, user);
	KUNIT_EXPECT_NULL(test, strstr(text, line));
	ntklog_close_task_notes(late_reader);
}

static void buffer_too_small_for_a_line_loses_nothing(struct kunit *test)
{
	char __user *user = map_text(test);
	char line[64];

	snprintf(line, sizeof(line), "%d %d ", current->pid, current->tgid);
	ntklog_note_task(current);
	KUNIT_EXPECT_EQ(test, ntklog_read_task_notes(reader, user, 8), -EINVAL);
	read_notes(test, reader, user);
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, line));
}

static struct kunit_case task_notes_test_cases[] = {
	KUNIT_CASE(task_that_exits_is_noted_with_its_name),
	KUNIT_CASE(overwritten_notes_are_counted),
	KUNIT_CASE(each_reader_reads_all_notes_that_are_kept),
	KUNIT_CASE(buffer_too_small_for_a_line_loses_nothing),
	{}
};

static struct kunit_suite task_notes_test_suite = {
	.name = "ntklog_task_notes",
	.init = task_notes_test_init,
	.exit = task_notes_test_exit,
	.test_cases = task_notes_test_cases,
};

kunit_test_suite(task_notes_test_suite);
