/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_CSV_H
#define _NTKLOG_CSV_H

#include <stdio.h>

void csv_print(FILE *stream, const char *text);

#endif /* _NTKLOG_CSV_H */
