// SPDX-License-Identifier: GPL-2.0-only
/* The files in /sys/kernel/debug/ntklog/sessions. */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../etw/claim.h"
#include "../etw/control.h"
#include "../etw/group_mask.h"
#include "../etw/logfile.h"
#include "../etw/observe.h"
#include "../etw/reader.h"
#include "../etw/run.h"
#include "../etw/session.h"
#include "../etw/settings.h"
#include "../etw/snapshot.h"
#include "../etw/stacks.h"
#include "../ground/address.h"
#include "debugfs_claim.h"
#include "debugfs_file.h"
#include "debugfs_session.h"

static void ntklog_state_show(struct seq_file *seq, void *object)
{
	seq_puts(seq, etw_session_is_started(object) ? "started\n" : "stopped\n");
}

static void ntklog_mention_linux_locks(struct etw_session *session)
{
	const struct perfinfo_groupmask mask = etw_get_settings(session).group_mask;

	if (!mask.masks[PERF_MASK_INDEX(PERF_LINUX_SPINLOCK)])
		pr_notice_once("session %u has no group PERF_LINUX_*: it does not record Linux' own locks\n",
			       session->id);
}

static int ntklog_state_store(void *object, char *text)
{
	if (!strcmp(text, "start")) {
		int err = etw_start_session(object);

		if (!err)
			ntklog_mention_linux_locks(object);
		return err;
	}
	if (!strcmp(text, "stop"))
		return etw_stop_session(object);
	return -EINVAL;
}

static void ntklog_name_show(struct seq_file *seq, void *object)
{
	seq_printf(seq, "%s\n", etw_get_settings(object).name);
}

static int ntklog_name_store(void *object, char *text)
{
	return etw_set_name(object, text);
}

static void ntklog_session_mask_show(struct seq_file *seq, void *object)
{
	struct etw_settings settings = etw_get_settings(object);

	etw_group_mask_show(seq, &settings.group_mask);
}

static int ntklog_session_mask_store(void *object, char *text)
{
	struct etw_group_mask_change change;

	return etw_group_change_parse(text, &change) ?: etw_change_group_mask(object, &change);
}

static void ntklog_stacks_show(struct seq_file *seq, void *object)
{
	etw_stacks_show(seq, etw_get_settings(object).stacks);
}

static int ntklog_stacks_store(void *object, char *text)
{
	u32 stacks;

	return etw_stacks_parse(text, &stacks) ?: etw_set_stacks(object, stacks);
}

static void ntklog_buffer_size_show(struct seq_file *seq, void *object)
{
	seq_printf(seq, "%u\n", etw_get_settings(object).buffer_size);
}

static int ntklog_buffer_size_store(void *object, char *text)
{
	u32 value;

	return ntklog_parse_number(text, &value) ?: etw_set_buffer_size(object, value);
}

static void ntklog_buffers_show(struct seq_file *seq, void *object)
{
	seq_printf(seq, "%u\n", etw_get_settings(object).buffers);
}

static int ntklog_buffers_store(void *object, char *text)
{
	u32 value;

	return ntklog_parse_number(text, &value) ?: etw_set_buffers(object, value);
}

static const char * const ntklog_session_modes[] = {
	[ETW_MODE_SEQUENTIAL] = "sequential",
	[ETW_MODE_BUFFERING] = "buffering",
};

static void ntklog_mode_show(struct seq_file *seq, void *object)
{
	seq_printf(seq, "%s\n", ntklog_session_modes[etw_get_settings(object).mode]);
}

static int ntklog_mode_store(void *object, char *text)
{
	int mode = match_string(ntklog_session_modes, ARRAY_SIZE(ntklog_session_modes), text);

	return mode < 0 ? -EINVAL : etw_set_mode(object, mode);
}

static void ntklog_flush_timer_show(struct seq_file *seq, void *object)
{
	seq_printf(seq, "%u\n", etw_get_settings(object).flush_timer);
}

static int ntklog_flush_timer_store(void *object, char *text)
{
	u32 value;

	return ntklog_parse_number(text, &value) ?: etw_set_flush_timer(object, value);
}

static void ntklog_contextswap_version_show(struct seq_file *seq, void *object)
{
	seq_printf(seq, "%u\n", etw_get_settings(object).contextswap_version);
}

static int ntklog_contextswap_version_store(void *object, char *text)
{
	u32 value;

	return ntklog_parse_number(text, &value) ?: etw_set_contextswap_version(object, value);
}

static void ntklog_failures_show(struct seq_file *seq, void *object)
{
	struct ntklog_session_failure failures[NTKLOG_SESSION_FAILURES];
	struct etw_run *run = etw_get_session_run(object);
	u32 count = run ? etw_get_failures(run, failures) : 0, i;

	etw_put_run(run);
	for (i = 0; i < count; i++)
		seq_printf(seq, "0x%08x %s %u\n", failures[i].group,
			   etw_get_group_name(failures[i].group), failures[i].error);
	if (!count)
		seq_puts(seq, "none\n");
}

static void ntklog_owner_show(struct seq_file *seq, void *object)
{
	etw_show_claim_owner(seq, object);
}

static void ntklog_show_counts(struct seq_file *seq, const struct etw_counts *counts)
{
	seq_printf(seq, " %llu %llu %llu %llu %llu %llu\n", counts->generated,
		   counts->written, counts->lost, counts->finished, counts->unread,
		   counts->overwritten);
}

static void ntklog_stats_show(struct seq_file *seq, void *object)
{
	struct etw_run *run = etw_get_session_run(object);
	struct etw_counts counts, sum = {};
	unsigned int cpu;

	seq_puts(seq, "processor generated written lost buffers unread overwritten\n");
	if (run)
		etw_lock_buffers(run);
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
	if (run)
		etw_unlock_buffers(run);
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
	{ "state", ntklog_state_show, ntklog_state_store,
	  "start, or stop while it is started" },
	{ "name", ntklog_name_show, ntklog_name_store, "1 to 63 printable ASCII characters" },
	{ "group_mask", ntklog_session_mask_show, ntklog_session_mask_store,
	  "names or 0x numbers of event groups, all with + or - before them, or none" },
	{ "stacks", ntklog_stacks_show, ntklog_stacks_store,
	  "spinlock, resource, contextswap, their hook ids, or none" },
	{ "buffer_size", ntklog_buffer_size_show, ntklog_buffer_size_store,
	  "a multiple of the page size from 4096 to 1048576" },
	{ "buffers", ntklog_buffers_show, ntklog_buffers_store, "2 to 1024" },
	{ "mode", ntklog_mode_show, ntklog_mode_store, "sequential or buffering" },
	{ "flush_timer", ntklog_flush_timer_show, ntklog_flush_timer_store,
	  "0 to 3600000 (milliseconds)" },
	{ "contextswap_version", ntklog_contextswap_version_show,
	  ntklog_contextswap_version_store, "1 to 4" },
	{ "stats", ntklog_stats_show },
	{ "flush", ntklog_flush_show, ntklog_flush_store,
	  "1, while the session is started in mode sequential" },
	{ "owner", ntklog_owner_show },
	{ "failures", ntklog_failures_show },
};

struct ntklog_cpu_file {
	struct etw_session *session;
	unsigned int cpu;
};

static struct ntklog_cpu_file *ntklog_cpu_files;

static int ntklog_cpu_file_open(struct inode *inode, struct file *file)
{
	const struct ntklog_cpu_file *cpu_file = inode->i_private;
	struct etw_reader *reader;
	struct etw_run *run;
	int err = ntklog_may_read_addresses();

	if (err)
		return err;
	run = etw_get_session_run(cpu_file->session);
	if (!run)
		return -ENODATA;
	reader = etw_open_reader(run, cpu_file->cpu);
	etw_put_run(run);
	if (IS_ERR(reader))
		return PTR_ERR(reader);
	file->private_data = reader;
	return nonseekable_open(inode, file);
}

static const struct file_operations ntklog_cpu_file_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_cpu_file_open,
	.read = ntklog_reader_read,
	.poll = ntklog_reader_poll,
	.release = ntklog_reader_release,
};

static int ntklog_header_open(struct inode *inode, struct file *file)
{
	struct etw_run *run = etw_get_session_run(inode->i_private);
	size_t size = 0;
	void *bytes;

	if (!run)
		return -ENODATA;
	bytes = etw_make_header_buffer(run, &size);
	etw_put_run(run);
	return ntklog_contents_open(file, bytes, size);
}

static int ntklog_snapshot_open(struct inode *inode, struct file *file)
{
	size_t size = 0;
	void *bytes;
	int err = ntklog_may_read_addresses();

	if (err)
		return err;
	bytes = etw_make_snapshot(inode->i_private, &size);
	return ntklog_contents_open(file, bytes, size);
}

static const struct file_operations ntklog_header_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_header_open,
	.read = ntklog_contents_read,
	.llseek = default_llseek,
	.release = ntklog_contents_release,
};

static const struct file_operations ntklog_snapshot_fops = {
	.owner = THIS_MODULE,
	.open = ntklog_snapshot_open,
	.read = ntklog_contents_read,
	.llseek = default_llseek,
	.release = ntklog_contents_release,
};

static int ntklog_create_cpu_files(size_t number)
{
	struct etw_session *session = &etw_sessions[number];
	unsigned int cpu;
	char name[16];
	int err;

	for_each_possible_cpu(cpu) {
		struct ntklog_cpu_file *cpu_file =
			&ntklog_cpu_files[number * nr_cpu_ids + cpu];

		cpu_file->session = session;
		cpu_file->cpu = cpu;
		snprintf(name, sizeof(name), "cpu%u", cpu);
		err = PTR_ERR_OR_ZERO(debugfs_create_file(name, 0400, session->directory,
							  cpu_file,
							  &ntklog_cpu_file_fops));
		if (err)
			return err;
	}
	return 0;
}

/**
 * ntklog_create_session_directories() - create the files of all sessions
 * @directory: parent of the directory "sessions"
 *
 * Context: module load.
 * Return: 0 or a negative errno. In either case ntklog_free_session_files() frees the memory.
 */
int ntklog_create_session_directories(struct dentry *directory)
{
	struct dentry *sessions;
	size_t i, j;
	int err;

	ntklog_cpu_files = kvcalloc(ETW_SESSIONS * nr_cpu_ids,
				    sizeof(*ntklog_cpu_files), GFP_KERNEL);
	if (!ntklog_cpu_files)
		return -ENOMEM;
	sessions = debugfs_create_dir("sessions", directory);
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
		err = ntklog_create_cpu_files(i) ?:
		      ntklog_create_claim_files(session->directory, session);
		if (err)
			return err;
	}
	return ntklog_create_claim_files(sessions, NULL);
}

/**
 * ntklog_free_session_files() - free the objects of the files cpu<m>
 *
 * Context: module unload, or a load that failed; the directory has been removed.
 */
void ntklog_free_session_files(void)
{
	kvfree(ntklog_cpu_files);
}
