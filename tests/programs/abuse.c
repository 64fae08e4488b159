// SPDX-License-Identifier: GPL-2.0-only
/*
 * Write random and sometimes valid text to all files of ntklog, and make ioctls with random
 * arguments.
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
static int file_count, device, quiet;
static long taken, refused, ioctls;
static uint64_t state;

/* xorshift64*, so that a seed gives the same numbers on each machine. */
static uint32_t chance(uint32_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (uint32_t)((state * 0x2545F4914F6CDD1DULL) >> 33) % below;
}

static void find_files(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	char path[512];
	struct stat stat_buffer;

	while (dir && (entry = readdir(dir))) {
		/*
		 * A reading of linux_selftest takes seconds, and the file is read-only. Opening
		 * and closing adopt stops the session.
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

static size_t make_text(char *text)
{
	static const char * const words[] = {
		"start", "stop", "1", "0", "1000", "1000000", "65536", "4096", "2", "4294967295",
		"4294967296", "-1", "PERF_SPINLOCK", "+PERF_SYNC_OBJECTS", "-0x20010000", "0x10",
		"PERF_CONTEXT_SWITCH", "sequential", "buffering", "NT Kernel Logger", "\n", " ",
		"x", "0x20010001", "1024", "+", "-",
	};
	uint32_t kind = chance(4), length, i;

	if (kind == 0) {
		length = chance(300);
		for (i = 0; i < length; i++)
			text[i] = chance(256);
		return length;
	}
	text[0] = '\0';
	for (i = 0; i < kind; i++)
		strcat(text, words[chance(sizeof(words) / sizeof(*words))]);
	/* Words of a structure, some of them valid. */
	if (!chance(3)) {
		uint32_t structure[] = { chance(9), 1 + chance(3), chance(2) ? 1000 : chance(2000),
					 chance(3), chance(2) * 1000000 };

		length = chance(sizeof(structure) + 4);
		memcpy(text, structure, length < sizeof(structure) ? length : sizeof(structure));
		return length;
	}
	return strlen(text);
}

static void abuse_file(const char *path)
{
	static char before[1 << 16], after[1 << 16];
	char text[512] = "";
	size_t length = make_text(text);
	ssize_t had = 0, has;
	int fd;

	/*
	 * Counters and headers, which a claim gives too, change by themselves. Reading some files
	 * consumes their content.
	 */
	if (quiet && (strstr(path, "stats") || strstr(path, "/cpu") || strstr(path, "counters") ||
		      strstr(path, "header") || strstr(path, "snapshot") || strstr(path, "claim")))
		return;
	if (quiet)
		had = read_file(path, before, sizeof(before));
	fd = open(path, chance(2) ? O_WRONLY : O_RDWR);
	if (fd < 0)
		return;
	if (write(fd, text, length) == (ssize_t)length && length) {
		taken++;
	} else {
		refused++;
		has = quiet ? read_file(path, after, sizeof(after)) : 0;
		if (quiet && (had != has || (had > 0 && memcmp(before, after, had)))) {
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
		.system_information_class = chance(2) ? 0x1F : chance(0x40),
		.system_information_length = chance(3) ? chance(0x60) : chance(0x7FFFFFFF),
		.system_information = (uintptr_t)buffer,
	};
	static const unsigned long numbers[] = {
		NTKLOG_QUERY_SYSTEM_INFORMATION, NTKLOG_SET_SYSTEM_INFORMATION,
	};

	make_text(buffer);
	if (!chance(4))
		call.system_information = (uint64_t)chance(0x7FFFFFFF) << chance(33);
	ioctl(device, chance(10) ? numbers[chance(2)] : chance(0x7FFFFFFF),
	      chance(20) ? (void *)&call : (void *)(uintptr_t)chance(0x7FFFFFFF));
	ioctls++;
}

int main(int argc, char **argv)
{
	static char buffer[1 << 16];
	long writes;

	if (argc < 4)
		return 2;
	state = strtoull(argv[2], NULL, 0) * 2 + 1;
	writes = strtol(argv[3], NULL, 0);
	quiet = argc > 4;
	find_files(argv[1]);
	device = open("/dev/ntklog", O_RDWR);
	printf("# abuse: seed %s, %ld writes, %d files\n", argv[2], writes, file_count);
	fflush(stdout);
	while (taken + refused < writes) {
		switch (chance(12)) {
		case 0:
			read_file(files[chance(file_count)], buffer, chance(sizeof(buffer)));
			break;
		case 1:
			abuse_device();
			break;
		default:
			abuse_file(files[chance(file_count)]);
		}
	}
	printf("ok - abuse: seed %s%s\n# %ld writes taken, %ld refused, %ld ioctls\n", argv[2],
	       quiet ? ", and refused ones change nothing" : "", taken, refused, ioctls);
	return 0;
}
