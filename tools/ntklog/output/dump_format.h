/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DUMP_FORMAT_H
#define _NTKLOG_DUMP_FORMAT_H

enum dump_format {
	DUMP_TEXT,
	DUMP_JSON,
	DUMP_CSV,
};

#endif /* _NTKLOG_DUMP_FORMAT_H */
