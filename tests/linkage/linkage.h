/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_LINKAGE_H
#define _NTKLOG_LINKAGE_H

/* Each function returns the line of the first failed check, or 0. */
int linkage_snake_case(void);
int linkage_nt_code(void);

int linkage_misuse(void);

#define REQUIRE(_condition)		\
do {					\
	if (!(_condition))		\
		return __LINE__;	\
} while (0)

#endif /* _NTKLOG_LINKAGE_H */
