// SPDX-License-Identifier: GPL-2.0-only

#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/irqflags.h>
#include <linux/mman.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <uapi/ntklog/identity.h>

#include "../module/ground/identity.h"
#include "../module/ground/identity_notes.h"
#include "../module/ground/identity_reader.h"
#include "fixture.h"

#define CACHE_NAME	"ntklog_test_cache"
#define OBJECT_SIZE	136
#define LOCK_OFFSET	24
#define TEXT_SIZE	SZ_64K

static struct ntklog_identity_reader *reader;
static char *text;

static int identity_test_init(struct kunit *test)
{
	reader = ntklog_open_identities();
	KUNIT_ASSERT_FALSE(test, IS_ERR(reader));
	text = vmalloc(TEXT_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, text);
	return 0;
}

static void identity_test_exit(struct kunit *test)
{
	if (!IS_ERR_OR_NULL(reader))
		ntklog_close_identities(reader);
	reader = NULL;
	vfree(text);
	text = NULL;
}

static void record_lock_of_kind(const void *lock, u8 kind)
{
	unsigned long flags;

	local_irq_save(flags);
	ntklog_record_identity((unsigned long)lock, _THIS_IP_, kind);
	local_irq_restore(flags);
}

static void record_lock(const void *lock)
{
	record_lock_of_kind(lock, NTKLOG_IDENTITY_SPIN);
}

static void read_new_notes(struct kunit *test)
{
	unsigned long address = kunit_vm_mmap(test, NULL, 0, TEXT_SIZE, PROT_READ | PROT_WRITE,
						   MAP_ANONYMOUS | MAP_PRIVATE, 0);
	ssize_t copied_length;

	KUNIT_ASSERT_TRUE(test, address && address < TASK_SIZE);
	copied_length = ntklog_read_identities(reader, (char __user *)address, TEXT_SIZE - 1);
	KUNIT_ASSERT_GE(test, copied_length, 0);
	KUNIT_ASSERT_EQ(test, copy_from_user(text, (char __user *)address, copied_length), 0);
	text[copied_length] = '\0';
	if (copied_length)
		KUNIT_ASSERT_EQ(test, ntklog_read_identities(reader, (char __user *)address, 1), 0);
}

static const char *find_line_of_lock(const void *lock)
{
	char line_begin[32];

	snprintf(line_begin, sizeof(line_begin), "0x%lx ", (unsigned long)lock);
	return strstr(text, line_begin);
}

static void slab_object_cache_and_offset_reported_once(struct kunit *test)
{
	struct kmem_cache *cache = kmem_cache_create(CACHE_NAME, OBJECT_SIZE, 0, SLAB_NO_MERGE,
						     NULL);
	unsigned int offset, size, object_size, kind;
	unsigned long long time;
	const char *line;
	char name[32];
	void *object;
	int field_count;

	KUNIT_ASSERT_NOT_NULL(test, cache);
	object = kmem_cache_alloc(cache, GFP_KERNEL);
	KUNIT_EXPECT_NOT_NULL(test, object);
	if (object) {
		record_lock(object + LOCK_OFFSET);
		record_lock(object + LOCK_OFFSET);
		read_new_notes(test);
		line = find_line_of_lock(object + LOCK_OFFSET);
		KUNIT_EXPECT_NOT_NULL(test, line);
		if (line) {
			field_count = sscanf(line, "0x%*x %u %llu slab 0x%*x %u %u %u %31s", &kind,
					     &time, &offset, &size, &object_size, name);
			KUNIT_EXPECT_EQ(test, field_count, 6);
			KUNIT_EXPECT_EQ(test, kind, NTKLOG_IDENTITY_SPIN);
			KUNIT_EXPECT_STREQ(test, name, CACHE_NAME);
			KUNIT_EXPECT_EQ(test, object_size, OBJECT_SIZE);
			KUNIT_EXPECT_EQ(test, offset % size, LOCK_OFFSET);
			KUNIT_EXPECT_NULL(test, strstr(strchr(line, '\n'), CACHE_NAME));
		}
		record_lock(object + LOCK_OFFSET);
		read_new_notes(test);
		KUNIT_EXPECT_NULL(test, find_line_of_lock(object + LOCK_OFFSET));
		kmem_cache_free(cache, object);
	}
	kmem_cache_destroy(cache);
}

static int record_lock_thread(void *lock)
{
	record_lock(lock);
	return 0;
}

/* Another thread cannot recognize the lock on this thread's stack, and must not change its note. */
static void lock_on_stack_reported_by_its_thread_kept(struct kunit *test)
{
	struct test_thread other;
	long lock[2] = { 0, 0 };

	record_lock(&lock[0]);
	read_new_notes(test);
	KUNIT_ASSERT_NOT_NULL(test, find_line_of_lock(&lock[0]));
	KUNIT_EXPECT_NOT_NULL(test, strstr(find_line_of_lock(&lock[0]), " stack by "));
	test_thread_start(test, &other, TEST_CPU, record_lock_thread, &lock[0]);
	test_thread_join(&other);
	record_lock(&lock[0]);
	read_new_notes(test);
	KUNIT_EXPECT_NULL(test, find_line_of_lock(&lock[0]));

	test_thread_start(test, &other, TEST_CPU, record_lock_thread, &lock[1]);
	test_thread_join(&other);
	read_new_notes(test);
	KUNIT_ASSERT_NOT_NULL(test, find_line_of_lock(&lock[1]));
	KUNIT_EXPECT_NULL(test, strnstr(find_line_of_lock(&lock[1]), " stack by ", 80));
	record_lock(&lock[1]);
	read_new_notes(test);
	KUNIT_ASSERT_NOT_NULL(test, find_line_of_lock(&lock[1]));
	KUNIT_EXPECT_NOT_NULL(test, strstr(find_line_of_lock(&lock[1]), " stack by "));
	test_thread_start(test, &other, TEST_CPU, record_lock_thread, &lock[1]);
	test_thread_join(&other);
	read_new_notes(test);
	KUNIT_EXPECT_NULL(test, find_line_of_lock(&lock[1]));
}

static int record_other_kind_thread(void *lock)
{
	record_lock_of_kind(lock, NTKLOG_IDENTITY_SPIN + 1);
	return 0;
}

/* A note belongs to an address and a kind, so a lock of another kind gets a new note. */
static void same_address_other_kind_reported_again(struct kunit *test)
{
	struct test_thread other;
	long lock = 0;

	record_lock(&lock);
	read_new_notes(test);
	KUNIT_EXPECT_NOT_NULL(test, find_line_of_lock(&lock));
	test_thread_start(test, &other, TEST_CPU, record_other_kind_thread, &lock);
	test_thread_join(&other);
	read_new_notes(test);
	KUNIT_EXPECT_NOT_NULL(test, find_line_of_lock(&lock));
}

static void records_of_full_set_replaced_and_counted(struct kunit *test)
{
	const unsigned int hash_bits = 16, count = 50;
	unsigned int missed_count = 0, replaced_count = 0, line_count = 0, i;
	unsigned long address = 0x10000;
	const char *position;
	int field_count;

	for (i = 0; i < count; i++) {
		while (hash_64(address, hash_bits) != 1)
			address += sizeof(long);
		record_lock((void *)address);
		address += sizeof(long);
	}
	read_new_notes(test);
	for (position = text; *position; position = strchr(position, '\n') + 1) {
		line_count += position[0] == '0';
		if (position[0] != 'm')
			continue;
		field_count = sscanf(position, "missed %u replaced %u", &missed_count,
				     &replaced_count);
		KUNIT_EXPECT_EQ(test, field_count, 2);
	}
	KUNIT_EXPECT_EQ(test, missed_count, 0);
	KUNIT_EXPECT_GT(test, replaced_count, 0);
	KUNIT_EXPECT_EQ(test, line_count + replaced_count, count);
	read_new_notes(test);
	KUNIT_EXPECT_STREQ(test, text, "");
}

static void note_for_locked_set_dropped_and_counted(struct kunit *test)
{
	long lock = 0;

	bitmap_fill(ntklog_identities->locked, NTKLOG_IDENTITY_SETS);
	record_lock(&lock);
	bitmap_zero(ntklog_identities->locked, NTKLOG_IDENTITY_SETS);
	read_new_notes(test);
	KUNIT_EXPECT_NULL(test, find_line_of_lock(&lock));
	KUNIT_EXPECT_NOT_NULL(test, strstr(text, "missed 1 replaced 0\n"));
	record_lock(&lock);
	read_new_notes(test);
	KUNIT_EXPECT_NOT_NULL(test, find_line_of_lock(&lock));
}

static struct kunit_case identity_test_cases[] = {
	KUNIT_CASE(slab_object_cache_and_offset_reported_once),
	KUNIT_CASE(lock_on_stack_reported_by_its_thread_kept),
	KUNIT_CASE(same_address_other_kind_reported_again),
	KUNIT_CASE(records_of_full_set_replaced_and_counted),
	KUNIT_CASE(note_for_locked_set_dropped_and_counted),
	{}
};

static struct kunit_suite identity_test_suite = {
	.name = "ntklog_identity",
	.init = identity_test_init,
	.exit = identity_test_exit,
	.test_cases = identity_test_cases,
};

kunit_test_suite(identity_test_suite);
