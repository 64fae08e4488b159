// SPDX-License-Identifier: GPL-2.0-only

#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntklog/logfile.h>

#include "etl_reader.h"
#include "message.h"
#include "names.h"
#include "trace_file.h"

#define OLD_SUFFIX	".old"

/**
 * trace_file_open_stream() - open the file before the recording if it is no regular file
 * @trace: its path is set
 *
 * A pipe has to wait for its reader. A regular file behind the standard output is a stream too:
 * other programs may write to it as well.
 *
 * Return: 0, or -1 after a message.
 */
int trace_file_open_stream(struct trace_file *trace)
{
	bool is_standard_output = !strcmp(trace->path, "-");
	struct stat status;

	if (is_standard_output) {
		if (isatty(STDOUT_FILENO)) {
			message("-o -: the standard output is a terminal: redirect it");
			return -1;
		}
		trace->path = "standard output";
		trace->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	} else if (!stat(trace->path, &status) && !S_ISREG(status.st_mode) &&
		   !S_ISDIR(status.st_mode)) {
		trace->fd = open(trace->path, O_WRONLY | O_CLOEXEC);
	} else {
		return 0;
	}
	if (trace->fd < 0) {
		message("%s: %s", trace->path, strerror(errno));
		return -1;
	}
	trace->is_stream = is_standard_output || lseek(trace->fd, 0, SEEK_CUR) < 0;
	/* FILE.names needs a FILE beside it. */
	trace->has_names = false;
	return 0;
}

/*
 * Take the lock that a recording holds on its file. A file system without locks is no reason to
 * refuse the recording.
 */
static int lock_file(const char *path, int fd)
{
	struct stat opened, at_path;

	if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		goto in_use;
	/* Another recording may have renamed the file between open() and flock(). */
	if (!fstat(fd, &opened) && !stat(path, &at_path) && opened.st_ino == at_path.st_ino)
		return 0;
in_use:
	message("%s: another recording is writing this file: choose another name (-o)", path);
	return -1;
}

/* Rename the file of an earlier recording, and its names, to FILE.old and FILE.old.names. */
static int rename_earlier_file(const char *path)
{
	char *old_path = NULL, *names = NULL, *old_names = NULL;
	int err = -1;

	if (asprintf(&old_path, "%s" OLD_SUFFIX, path) < 0 ||
	    asprintf(&names, "%s" NAMES_SUFFIX, path) < 0 ||
	    asprintf(&old_names, "%s" NAMES_SUFFIX, old_path) < 0)
		message("%s: no memory to keep the earlier file", path);
	else if (rename(path, old_path))
		message("%s: cannot be kept as %s: %s", path, old_path, strerror(errno));
	/* FILE.old must not keep the names of the file that had this name before. */
	else if (rename(names, old_names) && (errno != ENOENT ||
					      (remove(old_names) && errno != ENOENT)))
		message("%s: cannot be kept as %s: %s", names, old_names, strerror(errno));
	else
		err = 0;
	free(old_path);
	free(names);
	free(old_names);
	return err;
}

static int keep_earlier_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0) {
		message("%s: %s", path, strerror(errno));
		return -1;
	}
	err = lock_file(path, fd) || rename_earlier_file(path);
	close(fd);
	return err ? -1 : 0;
}

/* Create a file, and lock it. */
static int create_file(const char *path)
{
	struct stat status;
	int fd;

	for (;;) {
		if (!stat(path, &status) && S_ISREG(status.st_mode) && keep_earlier_file(path))
			return -1;
		/* The file shows where the kernel is in memory: it is for its owner alone. */
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		if (fd < 0) {
			message("%s: %s", path, strerror(errno));
			return -1;
		}
		if (lock_file(path, fd)) {
			close(fd);
			return -1;
		}
		/* Another recording may have made the file, and have ended, before the lock. */
		if (fstat(fd, &status) || !status.st_size)
			return fd;
		close(fd);
	}
}

/*
 * Reserve space for a file whose size is known, so that a full disk is found before a buffer is
 * read: the module gives each buffer once. File systems without fallocate() find it later.
 */
static int reserve_space(const struct trace_file *trace, uint64_t bytes)
{
	struct rlimit limit;
	int err = 0;

	if (fallocate(trace->fd, FALLOC_FL_KEEP_SIZE, 0, bytes) &&
	    (errno == ENOSPC || errno == EFBIG || errno == EDQUOT))
		err = errno;
	else if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < bytes)
		err = EFBIG;
	if (err)
		message("%s: %.1f MB cannot be written: %s: nothing was read, choose another file",
			trace->path, (double)bytes / 1e6, strerror(err));
	return err ? -1 : 0;
}

static int write_at(struct trace_file *trace, const unsigned char *buffer, size_t size,
		    uint64_t offset)
{
	size_t written = 0;

	while (written < size) {
		ssize_t n = trace->is_stream ?
			write(trace->fd, buffer + written, size - written) :
			pwrite(trace->fd, buffer + written, size - written, offset + written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			message("%s: %s", trace->path, strerror(errno));
			/* Only whole buffers stay in the file. */
			if (!trace->is_stream && ftruncate(trace->fd, trace->written_bytes) &&
			    trace->written_bytes)
				message("%s: its last buffer is not complete", trace->path);
			trace->has_failed = true;
			return -1;
		}
		written += n;
	}
	return 0;
}

/**
 * trace_file_begin() - make the file, and write its first buffer
 * @trace: its path is set, and its names are prepared
 * @header: first buffer, as it is when the recording begins
 * @size: bytes of @header
 * @bytes: bytes of the whole file; 0: not known
 *
 * Return: 0, or -1 after a message; trace_file_close() in both cases.
 */
int trace_file_begin(struct trace_file *trace, unsigned char *header, size_t size, uint64_t bytes)
{
	if (etl_attach(&trace->etl_file, trace->path, header, size)) {
		message("%s: %s", trace->path, trace->etl_file->error);
		return -1;
	}
	if (trace->fd < 0)
		trace->fd = create_file(trace->path);
	if (trace->fd < 0)
		return -1;
	if (bytes && !trace->is_stream && reserve_space(trace, bytes))
		return -1;
	if (write_at(trace, header, size, 0))
		return -1;
	trace->written_bytes = size;
	return trace->has_names ? names_writer_open(&trace->names, trace->path, trace->etl_file) :
				  0;
}

static uint64_t read_events(struct trace_file *trace, unsigned char *buffer)
{
	struct etl_cursor cursor = { .buffer = buffer };
	struct etl_reader *reader = etl_reader_of(trace->etl_file);
	struct etl_event event;
	uint64_t count = 0;

	if (etl_use_buffer(reader, &cursor, 1))
		return 0;
	while (cursor.next_offset < cursor.end_offset &&
	       etl_parse_event(reader, &cursor, &event) == 1) {
		count++;
		if (trace->has_names && !trace->has_failed)
			names_writer_add_event(&trace->names, &event);
	}
	return count;
}

/**
 * trace_file_write() - write a buffer of the recording
 * @trace_file: struct trace_file, begun
 * @buffer: the buffer
 * @size: bytes of @buffer
 *
 * After a write has failed, buffers are counted and dropped.
 *
 * Return: 0, or -1 after a message if this write has failed; 0 again in the calls after that.
 */
int trace_file_write(void *trace_file, unsigned char *buffer, size_t size)
{
	struct trace_file *trace = trace_file;
	bool had_failed = trace->has_failed;
	uint64_t events;

	if (!had_failed)
		write_at(trace, buffer, size, trace->written_bytes);
	events = read_events(trace, buffer);
	if (trace->has_failed) {
		trace->dropped_buffer_count++;
		trace->dropped_event_count += events;
		return had_failed ? 0 : -1;
	}
	trace->written_bytes += size;
	trace->written_buffer_count++;
	trace->written_event_count += events;
	return 0;
}

/**
 * trace_file_finish() - write the first buffer again, with the final numbers of the file
 * @trace: begun
 * @header: first buffer, as it is after the session has stopped; its numbers are changed
 * @size: bytes of @header
 *
 * Return: 0, or -1 after a message. A stream keeps the numbers of the beginning.
 */
int trace_file_finish(struct trace_file *trace, unsigned char *header, size_t size)
{
	struct trace_logfile_header64 numbers;
	unsigned char *logfile_header = header + sizeof(struct wmi_buffer_header) +
			       sizeof(struct system_trace_header);

	if (trace->is_stream || !trace->written_bytes)
		return 0;
	if (size < logfile_header - header + sizeof(numbers)) {
		message("%s: the session's header is too short", trace->path);
		return -1;
	}
	memcpy(&numbers, logfile_header, sizeof(numbers));
	numbers.buffers_written -= trace->dropped_buffer_count + trace->left_out_buffer_count;
	numbers.buffers_lost += trace->dropped_buffer_count + trace->left_out_buffer_count;
	numbers.events_lost += trace->dropped_event_count;
	/* A file of the last buffers is that of a flight recorder. */
	if (trace->left_out_buffer_count) {
		numbers.log_file_mode &= ~EVENT_TRACE_FILE_MODE_SEQUENTIAL;
		numbers.log_file_mode |= EVENT_TRACE_BUFFERING_MODE;
	}
	memcpy(logfile_header, &numbers, sizeof(numbers));
	return write_at(trace, header, size, 0);
}

/**
 * trace_file_rename() - give the file and its names another path
 * @trace: begun
 * @path: new path; a file that has it is kept as FILE.old
 *
 * Return: 0, also after a message if only the names keep their path; -1 after a message, and the
 * file has its former path.
 */
int trace_file_rename(struct trace_file *trace, const char *path)
{
	char *names = NULL;
	int fd;

	if (trace->names.path && asprintf(&names, "%s" NAMES_SUFFIX, path) < 0) {
		message("%s: no memory for its names", path);
		return -1;
	}
	/* Until rename() replaces it, an empty, locked file keeps other recordings from @path. */
	fd = create_file(path);
	if (fd < 0) {
		free(names);
		return -1;
	}
	if (rename(trace->path, path)) {
		message("%s: cannot be renamed to %s: %s", trace->path, path, strerror(errno));
		unlink(path);
		close(fd);
		free(names);
		return -1;
	}
	close(fd);
	trace->path = path;
	if (!names)
		return 0;
	if (rename(trace->names.path, names)) {
		message("%s: cannot be renamed to %s: %s", trace->names.path, names,
			strerror(errno));
		free(names);
		return 0;
	}
	free(trace->names.path);
	trace->names.path = names;
	return 0;
}

/**
 * trace_file_remove() - remove the file and its names
 * @trace: begun; trace_file_close() must still be called
 */
void trace_file_remove(const struct trace_file *trace)
{
	struct stat status;

	if (stat(trace->path, &status) || !S_ISREG(status.st_mode))
		return;
	unlink(trace->path);
	if (trace->names.path)
		unlink(trace->names.path);
}

/**
 * trace_file_close() - close the file and its names
 * @trace: begun or not
 *
 * Return: 0, or -1 after a message.
 */
int trace_file_close(struct trace_file *trace)
{
	int err = names_writer_close(&trace->names);

	if (trace->etl_file)
		etl_close(trace->etl_file);
	if (trace->fd >= 0 && close(trace->fd)) {
		message("%s: %s", trace->path, strerror(errno));
		err = -1;
	}
	trace->etl_file = NULL;
	trace->fd = -1;
	return err;
}

/**
 * trace_file_report_counts() - print the counts of the file, and of lost events
 * @trace: finished
 * @counts: counts of the run
 */
void trace_file_report_counts(const struct trace_file *trace,
			      const struct ntklog_session_counts *counts)
{
	message("%s: %" PRIu64 " events in %" PRIu64 " buffers, %.1f MB; %" PRIu64 " lost",
		trace->path, trace->written_event_count, trace->written_buffer_count,
		(double)trace->written_bytes / 1e6,
		(uint64_t)counts->lost + trace->dropped_event_count);
	if (trace->dropped_buffer_count)
		message("%s: %" PRIu64 " buffers with %" PRIu64
			" events could not be written: make space, or choose another file (-o)",
			trace->path, trace->dropped_buffer_count, trace->dropped_event_count);
	if (counts->lost)
		message("to lose fewer events: more or larger buffers (-n, -b), or ntklog set");
}
