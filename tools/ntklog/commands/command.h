/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_COMMAND_H
#define _NTKLOG_COMMAND_H

#include "status.h"

/* A command gets its own name as argv[0]. Return: the exit status. */
int command_list(int argc, char **argv);
int command_start(int argc, char **argv);
int command_stop(int argc, char **argv);
int command_status(int argc, char **argv);
int command_set(int argc, char **argv);
int command_selftest(int argc, char **argv);
int command_names(int argc, char **argv);
int command_record(int argc, char **argv);
int command_top(int argc, char **argv);
int command_exporter(int argc, char **argv);
int command_held(int argc, char **argv);
int command_dump(int argc, char **argv);
int command_info(int argc, char **argv);
int command_report(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_convert(int argc, char **argv);

#endif /* _NTKLOG_COMMAND_H */
