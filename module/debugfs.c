// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files in /sys/kernel/debug/ntklog: text and bytes on one side, the
 * functions of perf, etw and ex on the other. No rule is decided here.
 */

#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "address.h"
#include "debugfs.h"
#include "etw/event.h"
#include "etw/group_mask.h"
#include "etw/logfile.h"
#include "etw/provider.h"
#include "etw/reader.h"
#include "etw/run.h"
#include "etw/session.h"
#include "etw/snapshot.h"
#include "etw/stacks.h"
#include "ex/locks_information.h"
#include "ground/identity.h"
#include "linux/locks.h"
#include "perf/context_swap.h"
#include "perf/resource.h"
#include "perf/sleeping_lock.h"
#include "perf/spin_lock.h"
#include "perf/stack.h"

/* Longer than any text that a file takes. */
#define NTKLOG_TEXT_MAX	512

static struct dentry *ntklog_directory;

/*
 * A file of text: @show writes it; @store, if there is one, takes what was
 * written, without the newline, cut up as it likes.
 */
struct ntklog_file {
	const char *name;
	void (*show)(struct seq_file *file, void *object);
	int (*store)(void *object, char *text);
};

struct ntklog_open_file {
	const struct ntklog_file *file;
	void *object;
};

static int ntklog_file_show(struct seq_file *seq, void *unused)
{
	struct ntklog_open_file *open = seq->private;

	open->file->show(seq, open->object);
	return 0;
}

static int ntklog_file_open(struct inode *inode, struct file *file)
{
	return single_open(file, ntklog_file_show, inode->i_private);
}

static ssize_t ntklog_file_write(struct file *file, const char __user *from,
				 size_t count, loff_t *position)
{
	struct ntklog_open_file *open = file_inode(file)->i_private;
	char *text;
	int err;

	/* One write is one value: nothing is put together from parts. */
	if (!count || count > NTKLOG_TEXT_MAX || *position)
		return -EINVAL;
	text = memdup_user_nul(from, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (strlen(text) != count) {
		err = -EINVAL;
		goto out;
	}
	if (text[count - 1] == '\n')
		text[count - 1] = '\0';
	err = open->file->store(open->object, text);
out:
	kfree(text);
	if (err)
		return err;
	*position += count;
	return count;
}

static const struct file_operations ntklog_file_read_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_file_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static const struct file_operations ntklog_file_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_file_open,
	.read = seq_read,
	.write = ntklog_file_write,
	.llseek = seq_lseek,
	.release = single_release,
};

/* What the inodes point to; freed with the directory. */
static LIST_HEAD(ntklog_open_files);

struct ntklog_file_node {
	struct list_head list;
	struct ntklog_open_file open;
};

static int ntklog_create_file(const struct ntklog_file *file,
			      struct dentry *directory, void *object)
{
	struct ntklog_file_node *node = kzalloc(sizeof(*node), GFP_KERNEL);
	struct dentry *dentry;

	if (!node)
		return -ENOMEM;
	node->open.file = file;
	node->open.object = object;
	list_add(&node->list, &ntklog_open_files);
	dentry = debugfs_create_file(file->name, file->store ? 0600 : 0400,
				     directory, &node->open,
				     file->store ? &ntklog_file_fops :
						   &ntklog_file_read_fops);
	return PTR_ERR_OR_ZERO(dentry);
}

/* Decimal and nothing else: no sign, no space, no other base. */
static int ntklog_parse_number(const char *text, u32 *value)
{
	if (!isdigit(*text) || kstrtou32(text, 10, value))
		return -EINVAL;
	return 0;
}

/* spinlock/<parameter>, resource/<parameter> */

static void ntklog_parameter_show(struct seq_file *seq, void *object)
{
	seq_printf(seq, "%u\n", ntklog_get_parameter(object));
}

static int ntklog_parameter_store(void *object, char *text)
{
	u32 value;

	if (ntklog_parse_number(text, &value) ||
	    ntklog_set_parameter(object, value) != STATUS_SUCCESS)
		return -EINVAL;
	return 0;
}

/* spinlock/blockers */

static void ntklog_blockers_show(struct seq_file *seq, void *object)
{
	seq_printf(seq, "%u\n", READ_ONCE(ntklog_spin_lock_blockers));
}

static int ntklog_blockers_store(void *object, char *text)
{
	u32 rate;

	return ntklog_parse_number(text, &rate) ?: ntklog_linux_set_blockers(rate);
}

static const struct ntklog_file ntklog_blockers_file = {
	.name = "blockers",
	.show = ntklog_blockers_show,
	.store = ntklog_blockers_store,
};

static struct ntklog_file ntklog_spin_lock_files[PERF_SPIN_LOCK_PARAMETERS];
static struct ntklog_file ntklog_resource_files[PERF_RESOURCE_PARAMETERS];

/* spinlock/information, resource/information */

static ssize_t ntklog_information_read(struct file *file, char __user *to,
				       size_t count, loff_t *position)
{
	struct ntklog_information *information = file->private_data;
	u8 buffer[PERF_INFORMATION_MAX];
	size_t length;

	if (ntklog_query_information(information, buffer, information->length,
				     &length) != STATUS_SUCCESS)
		return -EIO;
	return simple_read_from_buffer(to, count, position, buffer, length);
}

static ssize_t ntklog_information_write(struct file *file,
					const char __user *from, size_t count,
					loff_t *position)
{
	u8 buffer[PERF_INFORMATION_MAX];

	/* Longer than any: as wrong as what a shorter one may turn out to be. */
	if (count > sizeof(buffer) || *position)
		return -EINVAL;
	if (copy_from_user(buffer, from, count))
		return -EFAULT;
	if (ntklog_set_information(file->private_data, buffer, count) !=
	    STATUS_SUCCESS)
		return -EINVAL;
	return count;
}

static const struct file_operations ntklog_information_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.read = ntklog_information_read,
	.write = ntklog_information_write,
	.llseek = default_llseek,
};

/* group_mask */

static void ntklog_group_mask_show(struct seq_file *seq, void *object)
{
	struct perfinfo_groupmask mask = etw_global_group_mask();

	/* The tracepoints want theirs without any session. */
	if (ntklog_spin_locks_are_tracked())
		etw_group_mask_set(&mask, PERF_SPINLOCK);
	ntklog_linux_add_groups(&mask);
	if (static_key_enabled(&ntklog_resource_key))
		etw_group_mask_set(&mask, PERF_SYNC_OBJECTS);
	if (ntklog_context_swaps_are_on())
		etw_group_mask_set(&mask, PERF_CONTEXT_SWITCH);
	etw_group_mask_show(seq, &mask);
}

/* counters */

/* SpinLockAcquireCount is kept as what is left until one is sampled. */
static u64 ntklog_get_acquire_count(int cpu)
{
	return ntklog_spin_lock_acquire_count(cpu);
}

static u64 ntklog_get_slots_in_use(int cpu)
{
	return ntklog_spin_lock_slots_in_use(cpu);
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
	NTKLOG_COUNTER("Sleeping" _name, ntklog_sleeping_cpu, _member)
#define NTKLOG_STACK_COUNTER(_name, _member) \
	NTKLOG_COUNTER("Stacks" _name, ntklog_stack_cpu, _member)

/* The columns, in their order. Counters of 32 bits wrap as NT's do. */
static const struct {
	const char *name;
	u64 (*get)(int cpu);	/* or: */
	const void __percpu *counts;
	size_t offset;
	size_t size;
} ntklog_counters[] = {
	{ .name = "SpinLockAcquireCount", .get = ntklog_get_acquire_count },
	NTKLOG_SPIN_LOCK_COUNTER("SpinLockContentionCount", contention_count),
	NTKLOG_SPIN_LOCK_COUNTER("SpinLockSpinCount", spin_count),
	NTKLOG_SPIN_LOCK_COUNTER("Untracked", untracked),
	NTKLOG_SPIN_LOCK_COUNTER("Unmatched", unmatched),
	NTKLOG_SPIN_LOCK_COUNTER("Suppressed", suppressed),
	NTKLOG_SPIN_LOCK_COUNTER("Events", events),
	NTKLOG_RESOURCE_COUNTER("ExclusiveReleases", exclusive_releases),
	NTKLOG_RESOURCE_COUNTER("SharedReleases", shared_releases),
	NTKLOG_RESOURCE_COUNTER("Untracked", untracked),
	NTKLOG_RESOURCE_COUNTER("Unmatched", unmatched),
	NTKLOG_RESOURCE_COUNTER("Suppressed", suppressed),
	NTKLOG_RESOURCE_COUNTER("Events", events),
	NTKLOG_RESOURCE_COUNTER("PointerReleases", pointer_releases),
	NTKLOG_SPIN_LOCK_COUNTER("Before", before),
	NTKLOG_SPIN_LOCK_COUNTER("Blockers", blockers),
	{ .name = "InUse", .get = ntklog_get_slots_in_use },
	NTKLOG_SLEEPING_COUNTER("Acquired", acquired),
	{ .name = "SleepingReleased", .get = ntklog_sleeping_released },
	NTKLOG_SLEEPING_COUNTER("Untracked", untracked),
	NTKLOG_SLEEPING_COUNTER("GivenUp", given_up),
	NTKLOG_SLEEPING_COUNTER("Again", again),
	NTKLOG_SLEEPING_COUNTER("Unmatched", unmatched),
	NTKLOG_SLEEPING_COUNTER("InInterrupts", in_interrupts),
	NTKLOG_SLEEPING_COUNTER("Waits", waits),
	NTKLOG_SLEEPING_COUNTER("Waited", waited),
	NTKLOG_STACK_COUNTER("Walked", walked),
	NTKLOG_STACK_COUNTER("LeftOut", left_out),
};

static u64 ntklog_get_counter(size_t i, int cpu)
{
	const void *at;

	if (ntklog_counters[i].get)
		return ntklog_counters[i].get(cpu);
	at = per_cpu_ptr(ntklog_counters[i].counts, cpu) + ntklog_counters[i].offset;
	return ntklog_counters[i].size == sizeof(u32) ? READ_ONCE(*(u32 *)at) :
							READ_ONCE(*(u64 *)at);
}

static void ntklog_counters_show(struct seq_file *seq, void *object)
{
	size_t i;
	int cpu;

	seq_puts(seq, "Processor");
	for (i = 0; i < ARRAY_SIZE(ntklog_counters); i++)
		seq_printf(seq, " %s", ntklog_counters[i].name);
	seq_putc(seq, '\n');
	/* Also of those that are offline: sums shall not go back. */
	for_each_possible_cpu(cpu) {
		seq_printf(seq, "cpu%d", cpu);
		for (i = 0; i < ARRAY_SIZE(ntklog_counters); i++)
			seq_printf(seq, " %llu", ntklog_get_counter(i, cpu));
		seq_putc(seq, '\n');
	}
}

/* locks_information, sessions/<n>/header and snapshot: made at open, of one moment */

struct ntklog_made {
	size_t size;
	void *bytes;
};

static int ntklog_made_open(struct file *file, void *bytes, size_t size)
{
	struct ntklog_made *made;

	if (IS_ERR(bytes))
		return PTR_ERR(bytes);
	made = kzalloc(sizeof(*made), GFP_KERNEL);
	if (!made) {
		kvfree(bytes);
		return -ENOMEM;
	}
	made->bytes = bytes;
	made->size = size;
	file->private_data = made;
	return 0;
}

static int ntklog_locks_information_open(struct inode *inode, struct file *file)
{
	size_t size = 0;
	void *bytes;
	int err = ntklog_may_read_addresses();

	if (err)
		return err;
	bytes = ex_query_locks_information(&size);
	return ntklog_made_open(file, bytes, size);
}

static int ntklog_header_open(struct inode *inode, struct file *file)
{
	size_t size = 0;
	void *bytes = etw_make_header_buffer(inode->i_private, &size);

	return ntklog_made_open(file, bytes, size);
}

static int ntklog_snapshot_open(struct inode *inode, struct file *file)
{
	size_t size = 0;
	void *bytes;
	int err = ntklog_may_read_addresses();

	if (err)
		return err;
	bytes = etw_make_snapshot(inode->i_private, &size);
	return ntklog_made_open(file, bytes, size);
}

static ssize_t ntklog_made_read(struct file *file, char __user *to, size_t count,
				loff_t *position)
{
	struct ntklog_made *made = file->private_data;

	return simple_read_from_buffer(to, count, position, made->bytes, made->size);
}

static int ntklog_made_release(struct inode *inode, struct file *file)
{
	struct ntklog_made *made = file->private_data;

	kvfree(made->bytes);
	kfree(made);
	return 0;
}

static const struct file_operations ntklog_locks_information_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_locks_information_open,
	.read = ntklog_made_read,
	.llseek = default_llseek,
	.release = ntklog_made_release,
};

static const struct file_operations ntklog_header_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_header_open,
	.read = ntklog_made_read,
	.llseek = default_llseek,
	.release = ntklog_made_release,
};

static const struct file_operations ntklog_snapshot_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_snapshot_open,
	.read = ntklog_made_read,
	.llseek = default_llseek,
	.release = ntklog_made_release,
};

/* locks: a line for each live resource */

static int ntklog_locks_show(struct seq_file *seq, void *object)
{
	struct ex_locks *locks;
	int err = ntklog_may_read_addresses();
	u32 i;

	if (err)
		return err;
	locks = ex_query_locks();
	if (IS_ERR(locks))
		return PTR_ERR(locks);
	seq_puts(seq, "Address Type CreatorBackTraceIndex OwningThread LockCount ContentionCount EntryCount RecursionCount NumberOfWaitingShared NumberOfWaitingExclusive Symbol Creator\n");
	for (i = 0; i < locks->count; i++) {
		const struct ex_lock *lock = &locks->locks[i];
		const struct rtl_process_lock_information64 *information =
			&lock->information;

		char symbol[KSYM_SYMBOL_LEN];

		seq_printf(seq, "0x%llx %u %u %llu %d %u %u %d %u %u",
			   information->address, information->type,
			   information->creator_back_trace_index,
			   information->owning_thread, information->lock_count,
			   information->contention_count, information->entry_count,
			   information->recursion_count,
			   information->number_of_waiting_shared,
			   information->number_of_waiting_exclusive);
		seq_printf(seq, " %s", ntklog_symbol(lock->resource, symbol));
		seq_printf(seq, " %s\n", ntklog_symbol(lock->creator, symbol));
	}
	kvfree(locks);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(ntklog_locks);

/* linux: which of Linux' own locks are watched, or can be */

static void ntklog_linux_show(struct seq_file *seq, void *object)
{
	ntklog_linux_describe(seq);
}

/* linux_mode: how they are watched */

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
	ntklog_linux_selftest(seq);
	return 0;
}

static int ntklog_linux_selftest_open(struct inode *inode, struct file *file)
{
	/* Room for all of it, lest it is tested once more. */
	return single_open_size(file, ntklog_linux_selftest_show, NULL, SZ_32K);
}

static const struct file_operations ntklog_linux_selftest_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_linux_selftest_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

/* identities: what the locks of events lie in; a note is made while somebody has it open */

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

static ssize_t ntklog_identities_read(struct file *file, char __user *to, size_t count,
				      loff_t *position)
{
	return ntklog_read_identities(file->private_data, to, count);
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

/* keep_identities: or while this is 1 */

static void ntklog_keep_identities_show(struct seq_file *seq, void *object)
{
	seq_printf(seq, "%d\n", ntklog_identities_are_kept());
}

static int ntklog_keep_identities_store(void *object, char *text)
{
	if (strcmp(text, "0") && strcmp(text, "1"))
		return -EINVAL;
	return ntklog_keep_identities(*text == '1');
}

static const struct ntklog_file ntklog_top_files[] = {
	{ .name = "group_mask", .show = ntklog_group_mask_show },
	{ .name = "counters", .show = ntklog_counters_show },
	{ .name = "linux", .show = ntklog_linux_show },
	{ .name = "linux_mode", .show = ntklog_linux_mode_show,
	  .store = ntklog_linux_mode_store },
	{ .name = "keep_identities", .show = ntklog_keep_identities_show,
	  .store = ntklog_keep_identities_store },
};

/* sessions/<n>/... */

static void ntklog_state_show(struct seq_file *seq, void *object)
{
	seq_puts(seq, etw_session_is_started(object) ? "started\n" : "stopped\n");
}

static int ntklog_state_store(void *object, char *text)
{
	if (!strcmp(text, "start"))
		return etw_start_session(object);
	if (!strcmp(text, "stop"))
		return etw_stop_session(object);
	return -EINVAL;
}

static void ntklog_name_show(struct seq_file *seq, void *object)
{
	struct etw_session *session = object;

	seq_printf(seq, "%s\n", session->name);
}

static int ntklog_name_store(void *object, char *text)
{
	return etw_set_name(object, text);
}

static void ntklog_session_mask_show(struct seq_file *seq, void *object)
{
	struct perfinfo_groupmask mask = etw_get_group_mask(object);

	etw_group_mask_show(seq, &mask);
}

static int ntklog_session_mask_store(void *object, char *text)
{
	struct etw_group_change change;

	if (etw_group_change_parse(text, &change))
		return -EINVAL;
	etw_change_group_mask(object, &change);
	return 0;
}

static void ntklog_stacks_show(struct seq_file *seq, void *object)
{
	etw_stacks_show(seq, etw_get_stacks(object));
}

static int ntklog_stacks_store(void *object, char *text)
{
	u32 stacks;

	if (etw_stacks_parse(text, &stacks))
		return -EINVAL;
	etw_set_stacks(object, stacks);
	return 0;
}

static void ntklog_buffer_size_show(struct seq_file *seq, void *object)
{
	struct etw_session *session = object;

	seq_printf(seq, "%u\n", READ_ONCE(session->buffer_size));
}

static int ntklog_buffer_size_store(void *object, char *text)
{
	u32 value;

	if (ntklog_parse_number(text, &value))
		return -EINVAL;
	return etw_set_buffer_size(object, value);
}

static void ntklog_buffers_show(struct seq_file *seq, void *object)
{
	struct etw_session *session = object;

	seq_printf(seq, "%u\n", READ_ONCE(session->buffers));
}

static int ntklog_buffers_store(void *object, char *text)
{
	u32 value;

	if (ntklog_parse_number(text, &value))
		return -EINVAL;
	return etw_set_buffers(object, value);
}

static const char * const ntklog_modes[] = {
	[ETW_MODE_SEQUENTIAL] = "sequential",
	[ETW_MODE_BUFFERING] = "buffering",
};

static void ntklog_mode_show(struct seq_file *seq, void *object)
{
	struct etw_session *session = object;

	seq_printf(seq, "%s\n", ntklog_modes[READ_ONCE(session->mode)]);
}

static int ntklog_mode_store(void *object, char *text)
{
	int mode = match_string(ntklog_modes, ARRAY_SIZE(ntklog_modes), text);

	return mode < 0 ? -EINVAL : etw_set_mode(object, mode);
}

static void ntklog_flush_timer_show(struct seq_file *seq, void *object)
{
	struct etw_session *session = object;

	seq_printf(seq, "%u\n", READ_ONCE(session->flush_timer));
}

static int ntklog_flush_timer_store(void *object, char *text)
{
	u32 value;

	if (ntklog_parse_number(text, &value))
		return -EINVAL;
	return etw_set_flush_timer(object, value);
}

static void ntklog_contextswap_version_show(struct seq_file *seq, void *object)
{
	struct etw_session *session = object;

	seq_printf(seq, "%u\n", READ_ONCE(etw_contextswap_versions.of_session[session->id]));
}

static int ntklog_contextswap_version_store(void *object, char *text)
{
	u32 value;

	if (ntklog_parse_number(text, &value))
		return -EINVAL;
	return etw_set_contextswap_version(object, value);
}

static void ntklog_show_counts(struct seq_file *seq, const struct etw_counts *counts)
{
	seq_printf(seq, " %llu %llu %llu %llu %llu %llu\n", counts->generated,
		   counts->written, counts->lost, counts->finished, counts->unread,
		   counts->overwritten);
}

static void ntklog_stats_show(struct seq_file *seq, void *object)
{
	struct etw_run *run = etw_get_run(object);
	struct etw_counts counts, sum = {};
	unsigned int cpu;

	seq_puts(seq, "processor generated written lost buffers unread overwritten\n");
	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		if (!run || !etw_get_counts(run, cpu, &counts))
			continue;
		seq_printf(seq, "cpu%u", cpu);
		ntklog_show_counts(seq, &counts);
		sum.generated += counts.generated;
		sum.written += counts.written;
		sum.lost += counts.lost;
		sum.finished += counts.finished;
		sum.unread += counts.unread;
		sum.overwritten += counts.overwritten;
	}
	cpus_read_unlock();
	etw_put_run(run);
	seq_puts(seq, "total");
	ntklog_show_counts(seq, &sum);
}

static void ntklog_flush_show(struct seq_file *seq, void *object)
{
	seq_puts(seq, "0\n");
}

static int ntklog_flush_store(void *object, char *text)
{
	return strcmp(text, "1") ? -EINVAL : etw_flush_session(object);
}

static const struct ntklog_file ntklog_session_files[] = {
	{ "state", ntklog_state_show, ntklog_state_store },
	{ "name", ntklog_name_show, ntklog_name_store },
	{ "group_mask", ntklog_session_mask_show, ntklog_session_mask_store },
	{ "stacks", ntklog_stacks_show, ntklog_stacks_store },
	{ "buffer_size", ntklog_buffer_size_show, ntklog_buffer_size_store },
	{ "buffers", ntklog_buffers_show, ntklog_buffers_store },
	{ "mode", ntklog_mode_show, ntklog_mode_store },
	{ "flush_timer", ntklog_flush_timer_show, ntklog_flush_timer_store },
	{ "contextswap_version", ntklog_contextswap_version_show,
	  ntklog_contextswap_version_store },
	{ "stats", ntklog_stats_show },
	{ "flush", ntklog_flush_show, ntklog_flush_store },
};

/* sessions/<n>/cpu<m> */

/* What the inodes point to. */
struct ntklog_processor {
	struct etw_session *session;
	unsigned int cpu;
};

/* Of each session, each that there may be. */
static struct ntklog_processor *ntklog_processors;

static int ntklog_processor_open(struct inode *inode, struct file *file)
{
	const struct ntklog_processor *processor = inode->i_private;
	struct etw_reader *reader;
	int err = ntklog_may_read_addresses();

	if (err)
		return err;
	reader = etw_open_reader(processor->session, processor->cpu);
	if (IS_ERR(reader))
		return PTR_ERR(reader);
	file->private_data = reader;
	return nonseekable_open(inode, file);
}

static ssize_t ntklog_processor_read(struct file *file, char __user *to, size_t count,
				     loff_t *position)
{
	ssize_t done;

	etw_prepare_reader(file->private_data);
	/* One reader at a time, through whatever file. */
	inode_lock(file_inode(file));
	done = etw_read_buffers(file->private_data, to, count);
	inode_unlock(file_inode(file));
	return done;
}

static __poll_t ntklog_processor_poll(struct file *file, poll_table *wait)
{
	return etw_poll_buffers(file->private_data, file, wait);
}

static int ntklog_processor_release(struct inode *inode, struct file *file)
{
	etw_close_reader(file->private_data);
	return 0;
}

static const struct file_operations ntklog_processor_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_processor_open,
	.read = ntklog_processor_read,
	.poll = ntklog_processor_poll,
	.release = ntklog_processor_release,
};

/* @files: one for each parameter, to be filled. */
static int ntklog_create_information_directory(const char *name,
					       struct ntklog_information *information,
					       struct ntklog_file *files,
					       const struct ntklog_file *more)
{
	struct dentry *directory;
	unsigned int i;
	int err;

	directory = debugfs_create_dir(name, ntklog_directory);
	if (IS_ERR(directory))
		return PTR_ERR(directory);
	for (i = 0; i < information->parameter_count; i++) {
		const struct ntklog_parameter *parameter = &information->parameters[i];

		files[i] = (struct ntklog_file) {
			.name = parameter->name,
			.show = ntklog_parameter_show,
			.store = ntklog_parameter_store,
		};
		err = ntklog_create_file(&files[i], directory, (void *)parameter);
		if (err)
			return err;
	}
	err = more ? ntklog_create_file(more, directory, NULL) : 0;
	if (err)
		return err;
	return PTR_ERR_OR_ZERO(debugfs_create_file("information", 0600,
						   directory, information,
						   &ntklog_information_fops));
}

static int ntklog_create_processor_files(size_t number)
{
	struct etw_session *session = &etw_sessions[number];
	unsigned int cpu;
	char name[16];
	int err;

	for_each_possible_cpu(cpu) {
		struct ntklog_processor *processor =
			&ntklog_processors[number * nr_cpu_ids + cpu];

		processor->session = session;
		processor->cpu = cpu;
		snprintf(name, sizeof(name), "cpu%u", cpu);
		err = PTR_ERR_OR_ZERO(debugfs_create_file(name, 0400, session->directory,
							  processor,
							  &ntklog_processor_fops));
		if (err)
			return err;
	}
	return 0;
}

static int ntklog_create_session_directories(void)
{
	struct dentry *sessions;
	size_t i, j;
	int err;

	ntklog_processors = kvcalloc(ETW_SESSIONS * nr_cpu_ids,
				     sizeof(*ntklog_processors), GFP_KERNEL);
	if (!ntklog_processors)
		return -ENOMEM;
	sessions = debugfs_create_dir("sessions", ntklog_directory);
	if (IS_ERR(sessions))
		return PTR_ERR(sessions);
	for (i = 0; i < ETW_SESSIONS; i++) {
		struct etw_session *session = &etw_sessions[i];
		char name[8];

		snprintf(name, sizeof(name), "%zu", i);
		session->directory = debugfs_create_dir(name, sessions);
		if (IS_ERR(session->directory))
			return PTR_ERR(session->directory);
		for (j = 0; j < ARRAY_SIZE(ntklog_session_files); j++) {
			err = ntklog_create_file(&ntklog_session_files[j],
						 session->directory, session);
			if (err)
				return err;
		}
		err = PTR_ERR_OR_ZERO(debugfs_create_file("header", 0400,
							  session->directory,
							  session,
							  &ntklog_header_fops));
		if (err)
			return err;
		err = PTR_ERR_OR_ZERO(debugfs_create_file("snapshot", 0400,
							  session->directory,
							  session,
							  &ntklog_snapshot_fops));
		if (err)
			return err;
		err = ntklog_create_processor_files(i);
		if (err)
			return err;
	}
	return 0;
}

/**
 * ntklog_debugfs_init() - make all files
 *
 * Context: load.
 * Return: 0 or a negative errno, after which ntklog_debugfs_exit() cleans up.
 */
int ntklog_debugfs_init(void)
{
	size_t i;
	int err;

	ntklog_directory = debugfs_create_dir("ntklog", NULL);
	if (IS_ERR(ntklog_directory))
		return PTR_ERR(ntklog_directory);
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
						  &ntklog_spin_lock_information,
						  ntklog_spin_lock_files,
						  &ntklog_blockers_file);
	if (err)
		return err;
	err = ntklog_create_information_directory("resource",
						  &ntklog_resource_information,
						  ntklog_resource_files, NULL);
	if (err)
		return err;
	return ntklog_create_session_directories();
}

/**
 * ntklog_debugfs_exit() - remove all files
 *
 * Context: unload, or a load that failed. No session is started.
 */
void ntklog_debugfs_exit(void)
{
	struct ntklog_file_node *node, *next;

	debugfs_remove_recursive(ntklog_directory);
	list_for_each_entry_safe(node, next, &ntklog_open_files, list) {
		list_del(&node->list);
		kfree(node);
	}
	kvfree(ntklog_processors);
}
