// SPDX-License-Identifier: GPL-2.0-only

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "macros.h"
#include "message.h"

int main(int argc, char **argv);
static int command_help(int argc, char **argv);

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "list", command_list },
	{ "start", command_start },
	{ "stop", command_stop },
	{ "status", command_status },
	{ "set", command_set },
	{ "selftest", command_selftest },
	{ "record", command_record },
	{ "top", command_top },
	{ "exporter", command_exporter },
	{ "held", command_held },
	{ "dump", command_dump },
	{ "info", command_info },
	{ "report", command_report },
	{ "diff", command_diff },
	{ "convert", command_convert },
	{ "names", command_names },
	{ "help", command_help },
};

/* "help COMMAND" is "COMMAND --help", "help" is "--help". */
static int command_help(int argc, char **argv)
{
	char name[] = "ntklog", option[] = "--help";
	char *tool_arguments[] = { name, option, NULL };
	char *command_arguments[] = { name, argc > 1 ? argv[1] : NULL, option, NULL };

	return argc > 1 ? main(3, command_arguments) : main(2, tool_arguments);
}

static error_t parse_option(int key, char *argument, struct argp_state *state)
{
	const struct command **command = state->input;
	size_t i;

	switch (key) {
	case ARGP_KEY_ARG:
		for (i = 0; i < ARRAY_SIZE(commands); i++)
			if (!strcmp(argument, commands[i].name))
				*command = &commands[i];
		if (!*command)
			argp_error(state, "unknown command: %s", argument);
		/* The command parses the arguments that follow its name. */
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp main_argp = {
	.parser = parse_option,
	.args_doc = "COMMAND [ARGUMENT...]",
	.doc = "Record and report what happens at locks, as NT's kernel logger does: on this\n"
	       "machine, with ntklog.ko, and in event trace logs (ETL files) of ntklog and of\n"
	       "Windows.\n"
	       "\vCommands:\n"
	       "  list       print what the module offers: events, parameters, sessions\n"
	       "  start      start a session\n"
	       "  stop       stop a session, and write its file\n"
	       "  status     print what sessions have counted\n"
	       "  set        set the parameters of the sampling\n"
	       "  selftest   compare redirected lock functions with the kernel's own\n"
	       "  record     record in a file, until a command ends or Ctrl-C\n"
	       "  top        show the locks that are waited for most, now\n"
	       "  exporter   offer metrics of locks to Prometheus\n"
	       "  held       show which tasks hold and wait for locks, now, and deadlocks\n"
	       "  dump       print each event of a file\n"
	       "  info       print what a file says of itself, and what is in it\n"
	       "  report     sum up a file: as text, JSON, CSV, or a page\n"
	       "  diff       compare two files: which locks are waited for longer now\n"
	       "  convert    convert a file to CTF, or for Perfetto or pprof\n"
	       "  names      write the names of a file that has none\n"
	       "  help       print the help of a command\n\n"
	       "`ntklog help COMMAND' describes one command, ntklog(1) all of them.\n\n"
	       "Exit status: 0: done. 1: the file is damaged, or the system does not allow it.\n"
	       "2: wrong usage. 3: the condition of diff --fail-if is true.",
};

int main(int argc, char **argv)
{
	const struct command *command = NULL;
	char name[64];
	int index;

	atexit(check_output);
	argp_err_exit_status = NTKLOG_USAGE;
	argp_program_version = "ntklog " NTKLOG_VERSION;
	/* ARGP_IN_ORDER: stop at the name of the command, which parses the options behind it. */
	argp_parse(&main_argp, argc, argv, ARGP_IN_ORDER, &index, &command);
	for (index = 1; argv[index] && strcmp(argv[index], command->name); index++)
		;
	snprintf(name, sizeof(name), "ntklog %s", command->name);
	argv[index] = name;
	/* The commands have no version of their own. */
	argp_program_version = NULL;
	return command->run(argc - index, argv + index);
}
