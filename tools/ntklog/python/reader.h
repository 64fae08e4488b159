/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PYTHON_READER_H
#define _NTKLOG_PYTHON_READER_H

/* The class Reader: an open trace, which is an iterator over its events. */

#include "python.h"

int reader_class_add(PyObject *module);

#endif /* _NTKLOG_PYTHON_READER_H */
