// SPDX-License-Identifier: GPL-2.0-only
/* terminal COMMAND [ARGUMENT]...: run a command in a terminal, and copy the terminal's output. */

#include <errno.h>
#include <pty.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char text[4096];
	ssize_t got;
	int master, status;
	pid_t child;

	if (argc < 2)
		return 2;
	child = forkpty(&master, NULL, NULL, NULL);
	if (child < 0) {
		perror("forkpty");
		return 1;
	}
	if (!child) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	/* EIO: the command has closed the terminal. */
	while ((got = read(master, text, sizeof(text))) > 0 || (got < 0 && errno == EINTR))
		if (got > 0 && write(STDOUT_FILENO, text, got) != got)
			return 1;
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
