/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINKAGE_H
#define _NTKLOG_LINKAGE_H

/* Return: 0, or the line of the first failed check in the file of the function. */
int linkage_snake_case(void);
int linkage_nt_code(void);

/* Return: 0, or a negative errno. */
int linkage_misuse(void);

/* Let the caller return its line if the condition is false. */
#define REQUIRE(_condition)		\
do {					\
	if (!(_condition))		\
		return __LINE__;	\
} while (0)

#endif /* _NTKLOG_LINKAGE_H */
