// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write random and sometimes valid text to the files below DIRECTORY (ntklog's in debugfs), read
 * them, and make ioctls with random arguments, until WRITES writes have been accepted or refused.
 *
 *	abuse DIRECTORY SEED WRITES [quiet]
 *
 * quiet: no other program uses ntklog, so a refused write must leave the file unchanged.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ntklog/ioctl.h>

#define FILES_MAX 512

static char *files[FILES_MAX];
static int file_count, device_fd, quiet;
static long writes_accepted, writes_refused, ioctl_count;
static uint64_t random_state;

/* xorshift64*, so that a seed gives the same numbers on each machine. */
static uint32_t random_below(uint32_t limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)((random_state * 0x2545F4914F6CDD1DULL) >> 33) % limit;
}

static void find_files(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	char path[512];
	struct stat stat_buffer;

	while (dir && (entry = readdir(dir))) {
		/*
		 * A reading of linux_selftest takes seconds; opening and closing adopt stops the
		 * session.
		 */
		if (entry->d_name[0] == '.' || !strcmp(entry->d_name, "linux_selftest") ||
		    !strcmp(entry->d_name, "adopt"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (stat(path, &stat_buffer))
			continue;
		if (S_ISDIR(stat_buffer.st_mode))
			find_files(path);
		else if (file_count < FILES_MAX)
			files[file_count++] = strdup(path);
	}
	if (dir)
		closedir(dir);
}

static ssize_t read_file(const char *path, char *buffer, size_t size)
{
	int fd = open(path, O_RDONLY);
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, buffer, size);
	close(fd);
	return got;
}

static size_t make_random_text(char *text)
{
	static const char * const words[] = {
		"start", "stop", "1", "0", "1000", "1000000", "65536", "4096", "2", "4294967295",
		"4294967296", "-1", "PERF_SPINLOCK", "+PERF_SYNC_OBJECTS", "-0x20010000", "0x10",
		"PERF_CONTEXT_SWITCH", "sequential", "buffering", "NT Kernel Logger", "\n", " ",
		"x", "0x20010001", "1024", "+", "-",
	};
	uint32_t kind = random_below(4), length, i;

	if (kind == 0) {
		length = random_below(300);
		for (i = 0; i < length; i++)
			text[i] = random_below(256);
		return length;
	}
	text[0] = '\0';
	for (i = 0; i < kind; i++)
		strcat(text, words[random_below(sizeof(words) / sizeof(*words))]);
	/* 32-bit words as in the binary parameters of spin locks, some of them valid. */
	if (!random_below(3)) {
		uint32_t structure[] = {
			random_below(9), 1 + random_below(3),
			random_below(2) ? 1000 : random_below(2000), random_below(3),
			random_below(2) * 1000000,
		};

		length = random_below(sizeof(structure) + 4);
		memcpy(text, structure, length < sizeof(structure) ? length : sizeof(structure));
		return length;
	}
	return strlen(text);
}

static void abuse_file(const char *path)
{
	static char before[1 << 16], after[1 << 16];
	char text[512] = "";
	size_t length = make_random_text(text);
	ssize_t size_before = 0, size_after;
	int fd;

	/* These files change by themselves or by a reading. */
	if (quiet && (strstr(path, "stats") || strstr(path, "/cpu") || strstr(path, "counters") ||
		      strstr(path, "header") || strstr(path, "snapshot") || strstr(path, "claim")))
		return;
	if (quiet)
		size_before = read_file(path, before, sizeof(before));
	fd = open(path, random_below(2) ? O_WRONLY : O_RDWR);
	if (fd < 0)
		return;
	if (write(fd, text, length) == (ssize_t)length && length) {
		writes_accepted++;
	} else {
		writes_refused++;
		size_after = quiet ? read_file(path, after, sizeof(after)) : 0;
		if (quiet && (size_before != size_after ||
			      (size_before > 0 && memcmp(before, after, size_before)))) {
			printf("not ok - abuse: %s changed by what it refused\n", path);
			exit(1);
		}
	}
	close(fd);
}

static void abuse_device(void)
{
	static char buffer[1 << 12];
	struct ntklog_system_information call = {
		.system_information_class = random_below(2) ? 0x1F : random_below(0x40),
		.system_information_length = random_below(3) ? random_below(0x60) :
							       random_below(0x7FFFFFFF),
		.system_information = (uintptr_t)buffer,
	};
	static const unsigned long numbers[] = {
		NTKLOG_QUERY_SYSTEM_INFORMATION, NTKLOG_SET_SYSTEM_INFORMATION,
	};

	make_random_text(buffer);
	if (!random_below(4))
		call.system_information = (uint64_t)random_below(0x7FFFFFFF) << random_below(33);
	ioctl(device_fd, random_below(10) ? numbers[random_below(2)] : random_below(0x7FFFFFFF),
	      random_below(20) ? (void *)&call : (void *)(uintptr_t)random_below(0x7FFFFFFF));
	ioctl_count++;
}

int main(int argc, char **argv)
{
	static char buffer[1 << 16];
	long writes;

	if (argc < 4)
		return 2;
	random_state = strtoull(argv[2], NULL, 0) * 2 + 1;
	writes = strtol(argv[3], NULL, 0);
	quiet = argc > 4;
	find_files(argv[1]);
	device_fd = open("/dev/ntklog", O_RDWR);
	printf("# abuse: seed %s, %ld writes, %d files\n", argv[2], writes, file_count);
	fflush(stdout);
	while (writes_accepted + writes_refused < writes) {
		switch (random_below(12)) {
		case 0:
			read_file(files[random_below(file_count)], buffer,
				  random_below(sizeof(buffer)));
			break;
		case 1:
			abuse_device();
			break;
		default:
			abuse_file(files[random_below(file_count)]);
		}
	}
	printf("ok - abuse: seed %s%s\n# %ld writes taken, %ld refused, %ld ioctls\n", argv[2],
	       quiet ? ", and refused ones change nothing" : "", writes_accepted, writes_refused,
	       ioctl_count);
	return 0;
}
