/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_GROUND_IDENTITY_READER_H
#define _NTKLOG_GROUND_IDENTITY_READER_H

#include <linux/types.h>

struct ntklog_identity_reader;

struct ntklog_identity_reader *ntklog_open_identities(void);
void ntklog_close_identities(struct ntklog_identity_reader *reader);
ssize_t ntklog_read_identities(struct ntklog_identity_reader *reader, char __user *buffer,
			       size_t count);

#endif /* _NTKLOG_GROUND_IDENTITY_READER_H */
