// SPDX-License-Identifier: GPL-2.0-only
/*
 * The notes are a ring, to which probes of task_rename and sched_process_exit write. A full ring
 * overwrites its oldest note. Each reader has its own position, and counts the notes that it has
 * missed.
 */

#include <linux/processor.h>
#include <linux/bit_spinlock.h>
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <trace/events/sched.h>

#include "clock.h"
#include "compat.h"
#include "task_notes.h"
#include "tracepoint.h"

/* Size of the path of a cgroup, which makes a note 512 bytes. */
#define NTKLOG_CGROUP_PATH_SIZE	480

#define NTKLOG_TASK_NOTE_TEXT_SIZE	(64 + TASK_COMM_LEN + NTKLOG_CGROUP_PATH_SIZE)

/* A task as it was until @time. @cgroup is empty if its path is too long or not known. */
struct ntklog_task_note {
	u64 time;
	u32 thread_id;
	u32 process_id;
	char name[TASK_COMM_LEN];
	char cgroup[NTKLOG_CGROUP_PATH_SIZE];
};

/**
 * struct ntklog_task_notes - the ring
 * @lock: bit lock, which protects the other members. It is no spinlock_t, because acquisitions of
 *	the kernel's spin locks may be recorded. Interrupt handlers do not take it
 * @note_count: number of notes that were ever written; the next note goes to
 *	@ring[@note_count % size]
 * @long_path_count: number of notes whose cgroup has too long a path
 * @ring: the newest notes
 */
struct ntklog_task_notes {
	unsigned long lock;
	u64 note_count;
	u32 long_path_count;
	struct ntklog_task_note ring[NTKLOG_TASK_NOTES];
};

/* A reader of the notes. @mutex protects the other members. */
struct ntklog_task_note_reader {
	/* Serializes reads. */
	struct mutex mutex;
	u64 next_note;
	u64 lost_notes;
	u32 long_path_count;
	u64 printed_lost_notes;
	u32 printed_long_path_count;
	struct ntklog_task_note note;
	char text[NTKLOG_TASK_NOTE_TEXT_SIZE];
};

/* Protects the three variables below. */
static DEFINE_MUTEX(ntklog_task_notes_mutex);
static unsigned int ntklog_task_notes_user_count;
static bool ntklog_task_notes_always_enabled;
/* NULL if there is no user. */
static struct ntklog_task_notes *ntklog_task_notes;

/*
 * Returns false if the path is too long. No lock is needed: names and parents of cgroups in the
 * default hierarchy do not change, and the task's css_set keeps the cgroup from being freed.
 */
static bool ntklog_write_cgroup_path(char path[NTKLOG_CGROUP_PATH_SIZE], struct task_struct *task)
{
#ifdef CONFIG_CGROUPS
	size_t start = NTKLOG_CGROUP_PATH_SIZE - 1, length;
	struct cgroup *cgroup;
	const char *name;

	path[0] = '\0';
	path[start] = '\0';
	rcu_read_lock();
	for (cgroup = task_dfl_cgroup(task); cgroup_parent(cgroup);
	     cgroup = cgroup_parent(cgroup)) {
		name = rcu_dereference_raw(cgroup->kn->name);
		length = strlen(name);
		if (length + 1 >= start) {
			rcu_read_unlock();
			return false;
		}
		start -= length;
		memcpy(path + start, name, length);
		path[--start] = '/';
	}
	rcu_read_unlock();
	if (!path[start])
		path[--start] = '/';
	memmove(path, path + start, NTKLOG_CGROUP_PATH_SIZE - start);
#else
	path[0] = '\0';
#endif
	return true;
}

/**
 * ntklog_note_task() - write a note of a task
 * @task: the task, which exits or gets another name
 *
 * Context: task; a probe of a tracepoint, which is registered only while ntklog_task_notes is set.
 */
void ntklog_note_task(struct task_struct *task)
{
	struct ntklog_task_notes *notes = READ_ONCE(ntklog_task_notes);
	struct ntklog_task_note *note;

	bit_spin_lock(0, &notes->lock);
	note = &notes->ring[notes->note_count % NTKLOG_TASK_NOTES];
	note->time = ntklog_read_cycles();
	note->thread_id = task->pid;
	note->process_id = task->tgid;
	/* Another thread of the process may change the name now. */
	data_race(memcpy(note->name, task->comm, TASK_COMM_LEN));
	note->name[TASK_COMM_LEN - 1] = '\0';
	if (!ntklog_write_cgroup_path(note->cgroup, task)) {
		note->cgroup[0] = '\0';
		notes->long_path_count++;
	}
	notes->note_count++;
	bit_spin_unlock(0, &notes->lock);
}

static void ntklog_note_rename(void *data, struct task_struct *task, const char *name)
{
	ntklog_note_task(task);
}

static void ntklog_note_exit(void *data, struct task_struct *task)
{
	ntklog_note_task(task);
}

/* The probe must have the exact type of the tracepoint, because CFI checks indirect calls. */
static void ntklog_note_group_exit(void *data, struct task_struct *task, bool group_dead)
{
	ntklog_note_task(task);
}

static void *const ntklog_note_exit_probe = ntklog_exit_probe_has_group_dead() ?
	(void *)ntklog_note_group_exit : (void *)ntklog_note_exit;

static struct tracepoint *ntklog_rename_tracepoint;
static struct tracepoint *ntklog_note_exit_tracepoint;

/* Called with ntklog_task_notes_mutex held. */
static int ntklog_register_note_probes(void)
{
	int err;

	ntklog_rename_tracepoint = ntklog_find_tracepoint("task_rename");
	ntklog_note_exit_tracepoint = ntklog_find_tracepoint("sched_process_exit");
	if (!ntklog_rename_tracepoint || !ntklog_note_exit_tracepoint)
		return -EOPNOTSUPP;
	err = tracepoint_probe_register(ntklog_rename_tracepoint, ntklog_note_rename, NULL);
	if (err)
		return err;
	err = tracepoint_probe_register(ntklog_note_exit_tracepoint, ntklog_note_exit_probe, NULL);
	if (err)
		tracepoint_probe_unregister(ntklog_rename_tracepoint, ntklog_note_rename, NULL);
	return err;
}

/* No probe uses the notes any more. Called with ntklog_task_notes_mutex held. */
static void ntklog_free_task_notes(void)
{
	tracepoint_synchronize_unregister();
	vfree(ntklog_task_notes);
	ntklog_task_notes = NULL;
}

/* Called with ntklog_task_notes_mutex held. */
static int ntklog_add_task_notes_user(void)
{
	int err;

	if (!ntklog_task_notes_user_count) {
		ntklog_task_notes = vzalloc(sizeof(*ntklog_task_notes));
		if (!ntklog_task_notes)
			return -ENOMEM;
		err = ntklog_register_note_probes();
		if (err) {
			ntklog_free_task_notes();
			return err;
		}
	}
	ntklog_task_notes_user_count++;
	return 0;
}

/* Called with ntklog_task_notes_mutex held. */
static void ntklog_put_task_notes(void)
{
	if (--ntklog_task_notes_user_count)
		return;
	tracepoint_probe_unregister(ntklog_rename_tracepoint, ntklog_note_rename, NULL);
	tracepoint_probe_unregister(ntklog_note_exit_tracepoint, ntklog_note_exit_probe, NULL);
	ntklog_free_task_notes();
}

/**
 * ntklog_set_task_notes_always_enabled() - keep the notes enabled without a reader
 * @enable: true to keep the notes enabled; false to disable them when no reader is left
 *
 * Context: task; may sleep.
 * Return: 0 or a negative errno.
 */
int ntklog_set_task_notes_always_enabled(bool enable)
{
	int err = 0;

	mutex_lock(&ntklog_task_notes_mutex);
	if (enable && !ntklog_task_notes_always_enabled)
		err = ntklog_add_task_notes_user();
	else if (!enable && ntklog_task_notes_always_enabled)
		ntklog_put_task_notes();
	if (!err)
		ntklog_task_notes_always_enabled = enable;
	mutex_unlock(&ntklog_task_notes_mutex);
	return err;
}

/**
 * ntklog_open_task_notes() - create a reader, and enable the notes
 *
 * Context: task; may sleep.
 * Return: the reader, which reads all notes that are kept, or a negative errno.
 */
struct ntklog_task_note_reader *ntklog_open_task_notes(void)
{
	struct ntklog_task_note_reader *reader = kzalloc(sizeof(*reader), GFP_KERNEL);
	int err;

	if (!reader)
		return ERR_PTR(-ENOMEM);
	mutex_init(&reader->mutex);
	mutex_lock(&ntklog_task_notes_mutex);
	err = ntklog_add_task_notes_user();
	if (!err && !ntklog_task_notes_always_enabled) {
		/*
		 * Begin with the oldest note in the ring. Unless the notes are always enabled,
		 * notes that were overwritten before this reader existed are not lost to it.
		 */
		bit_spin_lock(0, &ntklog_task_notes->lock);
		if (ntklog_task_notes->note_count > NTKLOG_TASK_NOTES)
			reader->next_note = ntklog_task_notes->note_count - NTKLOG_TASK_NOTES;
		bit_spin_unlock(0, &ntklog_task_notes->lock);
	}
	mutex_unlock(&ntklog_task_notes_mutex);
	if (err) {
		kfree(reader);
		return ERR_PTR(err);
	}
	return reader;
}

/**
 * ntklog_close_task_notes() - free a reader, and disable the notes if it was the last user
 * @reader: from ntklog_open_task_notes()
 *
 * Context: task; may sleep.
 */
void ntklog_close_task_notes(struct ntklog_task_note_reader *reader)
{
	mutex_lock(&ntklog_task_notes_mutex);
	ntklog_put_task_notes();
	mutex_unlock(&ntklog_task_notes_mutex);
	kfree(reader);
}

static bool ntklog_copy_next_note(struct ntklog_task_note_reader *reader)
{
	struct ntklog_task_notes *notes = ntklog_task_notes;
	bool is_new;

	bit_spin_lock(0, &notes->lock);
	if (notes->note_count - reader->next_note > NTKLOG_TASK_NOTES) {
		reader->lost_notes += notes->note_count - NTKLOG_TASK_NOTES - reader->next_note;
		reader->next_note = notes->note_count - NTKLOG_TASK_NOTES;
	}
	is_new = reader->next_note != notes->note_count;
	if (is_new)
		reader->note = notes->ring[reader->next_note % NTKLOG_TASK_NOTES];
	reader->long_path_count = notes->long_path_count;
	bit_spin_unlock(0, &notes->lock);
	return is_new;
}

/* Returns the length of the line; 0 if there is nothing to print. */
static size_t ntklog_print_next_line(struct ntklog_task_note_reader *reader, bool *is_note)
{
	const struct ntklog_task_note *note = &reader->note;
	char *character;

	*is_note = ntklog_copy_next_note(reader);
	if (*is_note) {
		/* A task can give itself any name: replace control characters. */
		for (character = reader->note.name; *character; character++)
			if ((u8)*character < ' ' || *character == '\x7f')
				*character = '?';
		return scnprintf(reader->text, sizeof(reader->text), "%u %u %llu %s\t%s\n",
				 note->thread_id, note->process_id, note->time, note->name,
				 note->cgroup[0] ? note->cgroup : "-");
	}
	if (reader->lost_notes == reader->printed_lost_notes &&
	    reader->long_path_count == reader->printed_long_path_count)
		return 0;
	return scnprintf(reader->text, sizeof(reader->text), "lost %llu long %u\n",
			 reader->lost_notes, reader->long_path_count);
}

/**
 * ntklog_read_task_notes() - copy the notes that are new to a reader to user space
 * @reader: from ntklog_open_task_notes()
 * @buffer: buffer for the text, which gets whole lines
 * @count: size of the buffer in bytes
 *
 * Context: task; may sleep.
 * Return: number of bytes copied, 0 if there are no more for now, or a negative errno.
 */
ssize_t ntklog_read_task_notes(struct ntklog_task_note_reader *reader, char __user *buffer,
			       size_t count)
{
	size_t copied = 0, length;
	ssize_t err = 0;
	bool is_note;

	if (mutex_lock_interruptible(&reader->mutex))
		return -EINTR;
	while ((length = ntklog_print_next_line(reader, &is_note))) {
		if (length > count - copied)
			err = -EINVAL;
		else if (copy_to_user(buffer + copied, reader->text, length))
			err = -EFAULT;
		if (err)
			break;
		copied += length;
		reader->next_note += is_note;
		if (!is_note) {
			reader->printed_lost_notes = reader->lost_notes;
			reader->printed_long_path_count = reader->long_path_count;
		}
		cond_resched();
	}
	mutex_unlock(&reader->mutex);
	return copied ? copied : err;
}

/**
 * ntklog_task_notes_exit() - disable and free the notes
 *
 * Context: module unload, or a load that failed; no reader is left.
 */
void ntklog_task_notes_exit(void)
{
	ntklog_set_task_notes_always_enabled(false);
}
