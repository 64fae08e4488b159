/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_DEVICE_H
#define _NTKLOG_DEVICE_H

int ntklog_device_init(void);
void ntklog_device_exit(void);

#endif /* _NTKLOG_DEVICE_H */
