// SPDX-License-Identifier: GPL-2.0-only

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "kernel.h"
#include "macros.h"
#include "message.h"

#define TEXT_SIZE	65536

#define COLUMNS	8

static void print_row(char *line)
{
	static const int widths[COLUMNS] = { 29, 20, 13, 9, 10, 12, 7, 0 };
	char *word;
	size_t i;

	for (i = 0; i < COLUMNS && (word = strsep(&line, " ")); i++)
		printf("%-*s", widths[i], word);
	putchar('\n');
}

/* Print the table. The rows of each kind of lock end with a sentence about the outcome. */
static int print_table(char *text)
{
	char *line;
	bool is_same = true;

	while ((line = strsep(&text, "\n"))) {
		if (!strstr(line, ": ")) {
			print_row(line);
			continue;
		}
		puts(line);
		is_same &= !!strstr(line, "functions do what the kernel's own do");
	}
	return finish_output(stdout, NULL) || !is_same ? NTKLOG_FAILED : NTKLOG_OK;
}

/**
 * command_selftest() - ntklog selftest
 * @argc: count of the arguments
 * @argv: the arguments
 *
 * Return: enum ntklog_exit_status; NTKLOG_FAILED too if a redirected function leaves another state
 * than the kernel's own function, or cannot be called.
 */
int command_selftest(int argc, char **argv)
{
	static const struct argp argp = {
		.doc = "Call each of Linux' spin lock and rwlock functions, redirected as while a\n"
		       "session records them, on a lock of the module's own, in each context that it\n"
		       "is for, and print the state after the call: the lock's word, preemption,\n"
		       "softirqs, interrupts, slots in the tracking. A value that differs from the\n"
		       "kernel's own function's is followed by the latter, in parentheses. Exit status\n"
		       "1 if something differs or cannot be tried.",
	};
	static char text[TEXT_SIZE];
	int err;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (kernel_check())
		return NTKLOG_FAILED;
	err = kernel_read(text, sizeof(text), "linux_selftest");
	if (err) {
		message("linux_selftest: %s", strerror(-err));
		return NTKLOG_FAILED;
	}
	return print_table(text);
}
