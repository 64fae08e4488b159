// SPDX-License-Identifier: GPL-2.0-only
/* The files in /sys/kernel/debug/ntklog, except those of sessions. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "../etw/group_mask.h"
#include "../etw/provider.h"
#include "../etw/session.h"
#include "../ex/locks_information.h"
#include "../ground/address.h"
#include "../ground/identity.h"
#include "../ground/identity_reader.h"
#include "../ground/task_notes.h"
#include "../linux/locks.h"
#include "../linux/selftest_work.h"
#include "../perf/context_swap.h"
#include "../perf/resource.h"
#include "../perf/sleeping_lock.h"
#include "../perf/spin_lock.h"
#include "../perf/stack.h"
#include "debugfs.h"
#include "debugfs_file.h"
#include "debugfs_held.h"
#include "debugfs_session.h"

static struct dentry *ntklog_directory;

static void ntklog_parameter_show(struct seq_file *seq, void *object)
{
	seq_printf(seq, "%u\n", ntklog_get_parameter(object));
}

static int ntklog_status_to_errno(u32 status)
{
	switch (status) {
	case STATUS_SUCCESS:
		return 0;
	case STATUS_NO_MEMORY:
		return -ENOMEM;
	case STATUS_THREAD_IS_TERMINATING:
		return -EINTR;
	default:
		return -EINVAL;
	}
}

static int ntklog_parameter_store(void *object, char *text)
{
	u32 value;

	if (ntklog_parse_number(text, &value))
		return -EINVAL;
	return ntklog_status_to_errno(ntklog_set_parameter(object, value));
}

static void ntklog_blockers_show(struct seq_file *seq, void *object)
{
	seq_printf(seq, "%u\n", READ_ONCE(ntklog_spin_lock_blocker_rate));
}

static int ntklog_blockers_store(void *object, char *text)
{
	u32 rate;

	return ntklog_parse_number(text, &rate) ?: ntklog_linux_set_blocker_rate(rate);
}

static const struct ntklog_file ntklog_blockers_file = {
	.name = "blockers",
	.show = ntklog_blockers_show,
	.store = ntklog_blockers_store,
	.accepted_values = "0 to 4294967295",
};

static struct ntklog_file ntklog_spin_lock_files[PERF_SPIN_LOCK_PARAMETER_COUNT];
static struct ntklog_file ntklog_resource_files[PERF_RESOURCE_PARAMETER_COUNT];

/* Texts for ntklog_file.accepted_values of the parameters, NTKLOG_RANGE_SIZE bytes each. */
#define NTKLOG_RANGE_SIZE	32
static char ntklog_spin_lock_ranges[PERF_SPIN_LOCK_PARAMETER_COUNT][NTKLOG_RANGE_SIZE];
static char ntklog_resource_ranges[PERF_RESOURCE_PARAMETER_COUNT][NTKLOG_RANGE_SIZE];

static ssize_t ntklog_information_read(struct file *file, char __user *buffer,
				       size_t count, loff_t *position)
{
	struct ntklog_parameter_set *information = file->private_data;
	u8 structure[PERF_PARAMETER_SET_SIZE_MAX];
	size_t length;

	if (ntklog_query_parameter_set(information, structure, information->length,
				       &length) != STATUS_SUCCESS)
		return -EIO;
	return simple_read_from_buffer(buffer, count, position, structure, length);
}

static ssize_t ntklog_information_write(struct file *file,
					const char __user *buffer, size_t count,
					loff_t *position)
{
	u8 structure[PERF_PARAMETER_SET_SIZE_MAX];
	int err;

	/* ntklog_change_parameter_set() checks the exact length. */
	if (count > sizeof(structure) || *position)
		return -EINVAL;
	if (copy_from_user(structure, buffer, count))
		return -EFAULT;
	err = ntklog_status_to_errno(ntklog_change_parameter_set(file->private_data, structure,
								 count));
	return err ?: count;
}

static const struct file_operations ntklog_information_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = ntklog_information_read,
	.write = ntklog_information_write,
	.llseek = default_llseek,
};

static void ntklog_group_mask_show(struct seq_file *seq, void *object)
{
	struct perfinfo_groupmask mask = etw_get_global_group_mask();

	/* A tracepoint enables its group without a session. */
	if (ntklog_spin_locks_are_tracked())
		etw_group_mask_set(&mask, PERF_SPINLOCK);
	ntklog_linux_add_groups(&mask);
	if (static_key_enabled(&ntklog_resource_key))
		etw_group_mask_set(&mask, PERF_SYNC_OBJECTS);
	if (ntklog_context_swaps_are_traced())
		etw_group_mask_set(&mask, PERF_CONTEXT_SWITCH);
	etw_group_mask_show(seq, &mask);
}

/* SpinLockAcquireCount is not stored; it follows from the countdowns and other counters. */
static u64 ntklog_get_acquire_count(int cpu)
{
	return ntklog_get_spin_lock_acquire_count(cpu);
}

static u64 ntklog_count_sleeping_releases(int cpu)
{
	return ntklog_get_release_count(&per_cpu_ptr(&ntklog_sleeping_lock_cpu, cpu)
						 ->release_count);
}

static u64 ntklog_get_slots_in_use(int cpu)
{
	return ntklog_count_spin_lock_slots_in_use(cpu);
}

#define NTKLOG_COUNTER(_name, _structure, _member)			\
{									\
	.name = _name,							\
	.counts = &(_structure),					\
	.offset = offsetof(struct _structure, _member),			\
	.size = sizeof_field(struct _structure, _member),		\
}

#define NTKLOG_SPIN_LOCK_COUNTER(_name, _member) \
	NTKLOG_COUNTER(_name, ntklog_spin_lock_cpu, _member)
#define NTKLOG_RESOURCE_COUNTER(_name, _member) \
	NTKLOG_COUNTER("Resource" _name, ntklog_resource_cpu, _member)
#define NTKLOG_SLEEPING_COUNTER(_name, _member) \
	NTKLOG_COUNTER("Sleeping" _name, ntklog_sleeping_lock_cpu, _member)
#define NTKLOG_STACK_COUNTER(_name, _member) \
	NTKLOG_COUNTER("Stacks" _name, ntklog_stack_cpu, _member)

/* The columns: the value of @get, or a member of a per-CPU structure. */
static const struct {
	const char *name;
	u64 (*get)(int cpu);
	const void __percpu *counts;
	size_t offset;
	size_t size;
} ntklog_counters[] = {
	{ .name = "SpinLockAcquireCount", .get = ntklog_get_acquire_count },
	NTKLOG_SPIN_LOCK_COUNTER("SpinLockContentionCount", contention_count),
	NTKLOG_SPIN_LOCK_COUNTER("SpinLockSpinCount", spin_count),
	NTKLOG_SPIN_LOCK_COUNTER("Untracked", untracked_count),
	NTKLOG_SPIN_LOCK_COUNTER("Unmatched", unmatched_count),
	NTKLOG_SPIN_LOCK_COUNTER("Suppressed", suppressed_count),
	NTKLOG_SPIN_LOCK_COUNTER("Events", event_count),
	NTKLOG_RESOURCE_COUNTER("ExclusiveReleases", exclusive_releases),
	NTKLOG_RESOURCE_COUNTER("SharedReleases", shared_releases),
	NTKLOG_RESOURCE_COUNTER("Untracked", untracked_count),
	NTKLOG_RESOURCE_COUNTER("Unmatched", unmatched_count),
	NTKLOG_RESOURCE_COUNTER("Suppressed", suppressed_count),
	NTKLOG_RESOURCE_COUNTER("Events", event_count),
	NTKLOG_RESOURCE_COUNTER("PointerReleases", owner_pointer_releases),
	NTKLOG_SPIN_LOCK_COUNTER("Before", expected_unmatched_count),
	NTKLOG_SPIN_LOCK_COUNTER("Blockers", blocker_count),
	{ .name = "InUse", .get = ntklog_get_slots_in_use },
	NTKLOG_SLEEPING_COUNTER("Acquired", acquire_attempts),
	{ .name = "SleepingReleased", .get = ntklog_count_sleeping_releases },
	NTKLOG_SLEEPING_COUNTER("Untracked", untracked_count),
	NTKLOG_SLEEPING_COUNTER("GivenUp", waits_given_up),
	NTKLOG_SLEEPING_COUNTER("Again", releases_missed),
	NTKLOG_SLEEPING_COUNTER("Unmatched", unmatched_count),
	NTKLOG_SLEEPING_COUNTER("InInterrupts", untrackable_operations),
	NTKLOG_SLEEPING_COUNTER("Waits", waits_begun),
	NTKLOG_SLEEPING_COUNTER("Waited", waits_ended),
	NTKLOG_STACK_COUNTER("Walked", walked_stacks),
	NTKLOG_STACK_COUNTER("LeftOut", left_out_stacks),
	NTKLOG_SPIN_LOCK_COUNTER("BlockersDropped", blocker_limit.dropped_records),
	NTKLOG_SLEEPING_COUNTER("BlockersDropped", blocker_limit.dropped_records),
};

static u64 ntklog_get_counter(size_t i, int cpu)
{
	const void *value;

	if (ntklog_counters[i].get)
		return ntklog_counters[i].get(cpu);
	value = per_cpu_ptr(ntklog_counters[i].counts, cpu) + ntklog_counters[i].offset;
	return ntklog_counters[i].size == sizeof(u32) ? READ_ONCE(*(u32 *)value) :
							READ_ONCE(*(u64 *)value);
}

static void ntklog_counters_show(struct seq_file *seq, void *object)
{
	size_t i;
	int cpu;

	seq_puts(seq, "Processor");
	for (i = 0; i < ARRAY_SIZE(ntklog_counters); i++)
		seq_printf(seq, " %s", ntklog_counters[i].name);
	seq_putc(seq, '\n');
	/* Offline CPUs are included, so that sums over all CPUs do not decrease. */
	for_each_possible_cpu(cpu) {
		seq_printf(seq, "cpu%d", cpu);
		for (i = 0; i < ARRAY_SIZE(ntklog_counters); i++)
			seq_printf(seq, " %llu", ntklog_get_counter(i, cpu));
		seq_putc(seq, '\n');
	}
}

/* locks_information: NT's SystemLocksInformation, made when the file is opened */

static int ntklog_locks_information_open(struct inode *inode, struct file *file)
{
	size_t size = 0;
	void *bytes;
	int err = ntklog_may_read_addresses();

	if (err)
		return err;
	bytes = ex_query_locks_information(&size);
	return ntklog_contents_open(file, bytes, size);
}

static const struct file_operations ntklog_locks_information_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_locks_information_open,
	.read = ntklog_contents_read,
	.llseek = default_llseek,
	.release = ntklog_contents_release,
};

/* locks: a line for each executive resource that is initialised and not deleted */

static int ntklog_locks_show(struct seq_file *seq, void *object)
{
	struct ex_resource_descriptions *descriptions;
	int err = ntklog_may_read_addresses();
	u32 i;

	if (err)
		return err;
	descriptions = ex_describe_all_resources();
	if (IS_ERR(descriptions))
		return PTR_ERR(descriptions);
	seq_puts(seq, "Address Type CreatorBackTraceIndex OwningThread LockCount ContentionCount EntryCount RecursionCount NumberOfWaitingShared NumberOfWaitingExclusive Symbol Creator\n");
	for (i = 0; i < descriptions->count; i++) {
		const struct ex_resource_description *description = &descriptions->entries[i];
		const struct rtl_process_lock_information64 *information =
			&description->information;

		char symbol[KSYM_SYMBOL_LEN];

		seq_printf(seq, "0x%llx %u %u %llu %d %u %u %d %u %u",
			   information->address, information->type,
			   information->creator_back_trace_index,
			   information->owning_thread, information->lock_count,
			   information->contention_count, information->entry_count,
			   information->recursion_count,
			   information->number_of_waiting_shared,
			   information->number_of_waiting_exclusive);
		seq_printf(seq, " %s", ntklog_format_symbol(description->resource, symbol));
		seq_printf(seq, " %s\n", ntklog_format_symbol(description->init_caller, symbol));
	}
	kvfree(descriptions);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ntklog_locks);

static void ntklog_linux_show(struct seq_file *seq, void *object)
{
	ntklog_linux_describe(seq);
}

static void ntklog_linux_mode_show(struct seq_file *seq, void *object)
{
	ntklog_linux_show_mode(seq);
}

static int ntklog_linux_mode_store(void *object, char *text)
{
	return ntklog_linux_set_mode(text);
}

/* linux_selftest: each reading is a test */

static int ntklog_linux_selftest_show(struct seq_file *seq, void *object)
{
	return ntklog_show_linux_selftest(seq);
}

static int ntklog_linux_selftest_open(struct inode *inode, struct file *file)
{
	/* If the buffer were too small, seq_file would enlarge it and run the self-test again. */
	return single_open_size(file, ntklog_linux_selftest_show, NULL,
				NTKLOG_SELFTEST_OUTPUT_MAX);
}

static const struct file_operations ntklog_linux_selftest_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_linux_selftest_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

/* identities: the memory objects that Linux' locks with events lie in; noted while it is open */

static int ntklog_identities_open(struct inode *inode, struct file *file)
{
	struct ntklog_identity_reader *reader;
	int err = ntklog_may_read_addresses();

	if (err)
		return err;
	reader = ntklog_open_identities();
	if (IS_ERR(reader))
		return PTR_ERR(reader);
	file->private_data = reader;
	return nonseekable_open(inode, file);
}

static ssize_t ntklog_identities_read(struct file *file, char __user *buffer, size_t count,
				      loff_t *position)
{
	return ntklog_read_identities(file->private_data, buffer, count);
}

static int ntklog_identities_release(struct inode *inode, struct file *file)
{
	ntklog_close_identities(file->private_data);
	return 0;
}

static const struct file_operations ntklog_identities_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_identities_open,
	.read = ntklog_identities_read,
	.release = ntklog_identities_release,
};

/* tasks: names, processes and cgroups of tasks that end or are renamed; noted while it is open */

static int ntklog_tasks_open(struct inode *inode, struct file *file)
{
	struct ntklog_task_note_reader *reader = ntklog_open_task_notes();

	if (IS_ERR(reader))
		return PTR_ERR(reader);
	file->private_data = reader;
	return nonseekable_open(inode, file);
}

static ssize_t ntklog_tasks_read(struct file *file, char __user *buffer, size_t count,
				 loff_t *position)
{
	return ntklog_read_task_notes(file->private_data, buffer, count);
}

static int ntklog_tasks_release(struct inode *inode, struct file *file)
{
	ntklog_close_task_notes(file->private_data);
	return 0;
}

static const struct file_operations ntklog_tasks_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_tasks_open,
	.read = ntklog_tasks_read,
	.release = ntklog_tasks_release,
};

/* keep_identities: 1 keeps the notes enabled while "identities" and "tasks" are not open */

static void ntklog_keep_identities_show(struct seq_file *seq, void *object)
{
	seq_printf(seq, "%d\n", ntklog_identities_are_always_enabled());
}

static int ntklog_keep_identities_store(void *object, char *text)
{
	bool keeps_notes = *text == '1';
	int err;

	if (strcmp(text, "0") && strcmp(text, "1"))
		return -EINVAL;
	err = ntklog_set_identities_always_enabled(keeps_notes);
	if (err)
		return err;
	err = ntklog_set_task_notes_always_enabled(keeps_notes);
	/* A kernel without the tracepoints has no notes of tasks. */
	if (!err || err == -EOPNOTSUPP)
		return 0;
	ntklog_set_identities_always_enabled(false);
	return err;
}

static const struct ntklog_file ntklog_top_files[] = {
	{ .name = "group_mask", .show = ntklog_group_mask_show },
	{ .name = "counters", .show = ntklog_counters_show },
	{ .name = "linux", .show = ntklog_linux_show },
	{ .name = "linux_mode", .show = ntklog_linux_mode_show,
	  .store = ntklog_linux_mode_store, .accepted_values = "full, sampled, waits or holders" },
	{ .name = "keep_identities", .show = ntklog_keep_identities_show,
	  .store = ntklog_keep_identities_store, .accepted_values = "0 or 1" },
};

/* Fills in @files and @ranges, which have an entry for each parameter. */
static int ntklog_create_information_directory(const char *name,
					       struct ntklog_parameter_set *information,
					       struct ntklog_file *files,
					       char (*ranges)[NTKLOG_RANGE_SIZE],
					       const struct ntklog_file *extra_file)
{
	struct dentry *directory;
	unsigned int i;
	int err;

	directory = debugfs_create_dir(name, ntklog_directory);
	if (IS_ERR(directory))
		return PTR_ERR(directory);
	for (i = 0; i < information->parameter_count; i++) {
		const struct ntklog_parameter *parameter = &information->parameters[i];

		snprintf(ranges[i], sizeof(ranges[i]), "%u to %u%s", parameter->minimum, U32_MAX,
			 parameter->zero_permitted ? ", or 0" : "");
		files[i] = (struct ntklog_file) {
			.name = parameter->name,
			.show = ntklog_parameter_show,
			.store = ntklog_parameter_store,
			.accepted_values = ranges[i],
		};
		err = ntklog_create_file(&files[i], directory, (void *)parameter);
		if (err)
			return err;
	}
	err = extra_file ? ntklog_create_file(extra_file, directory, NULL) : 0;
	if (err)
		return err;
	return PTR_ERR_OR_ZERO(debugfs_create_file("information", 0600,
						   directory, information,
						   &ntklog_information_fops));
}

static int ntklog_create_files(void)
{
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(ntklog_top_files); i++) {
		err = ntklog_create_file(&ntklog_top_files[i],
					 ntklog_directory, NULL);
		if (err)
			return err;
	}
	err = PTR_ERR_OR_ZERO(debugfs_create_file("linux_selftest", 0400, ntklog_directory,
						  NULL, &ntklog_linux_selftest_fops));
	if (err)
		return err;
	err = PTR_ERR_OR_ZERO(debugfs_create_file("identities", 0400, ntklog_directory,
						  NULL, &ntklog_identities_fops));
	if (err)
		return err;
	err = ntklog_create_held_file(ntklog_directory);
	if (err)
		return err;
	err = PTR_ERR_OR_ZERO(debugfs_create_file("tasks", 0400, ntklog_directory,
						  NULL, &ntklog_tasks_fops));
	if (err)
		return err;
	err = PTR_ERR_OR_ZERO(debugfs_create_file("locks", 0400, ntklog_directory,
						  NULL, &ntklog_locks_fops));
	if (err)
		return err;
	err = PTR_ERR_OR_ZERO(debugfs_create_file("locks_information", 0400,
						  ntklog_directory, NULL,
						  &ntklog_locks_information_fops));
	if (err)
		return err;
	err = ntklog_create_information_directory("spinlock",
						  &ntklog_spin_lock_parameter_set,
						  ntklog_spin_lock_files, ntklog_spin_lock_ranges,
						  &ntklog_blockers_file);
	if (err)
		return err;
	err = ntklog_create_information_directory("resource",
						  &ntklog_resource_parameter_set,
						  ntklog_resource_files, ntklog_resource_ranges,
						  NULL);
	if (err)
		return err;
	return ntklog_create_session_directories(ntklog_directory);
}

/**
 * ntklog_debugfs_init() - create the module's directory
 *
 * Context: module load.
 * Return: 0 or a negative errno.
 */
int ntklog_debugfs_init(void)
{
	ntklog_directory = debugfs_create_dir("ntklog", NULL);
	return PTR_ERR_OR_ZERO(ntklog_directory);
}

/**
 * ntklog_debugfs_create_files() - create all files in the module's directory
 *
 * A failure is only reported. The load cannot fail any more, because a file may be open.
 *
 * Context: module load.
 */
void ntklog_debugfs_create_files(void)
{
	int err = ntklog_create_files();

	if (err)
		pr_err("files in debugfs are missing: one cannot be created (%d)\n", err);
}

/**
 * ntklog_debugfs_exit() - remove all files
 *
 * Context: module unload, or a load that failed. No session is started.
 */
void ntklog_debugfs_exit(void)
{
	debugfs_remove_recursive(ntklog_directory);
	ntklog_free_files();
	ntklog_free_session_files();
}
