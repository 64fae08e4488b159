/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PYTHON_H
#define _NTKLOG_PYTHON_H

/*
 * CPython's stable interface, from Python 3.11 on: one build of the module works with that and all
 * later versions. Files include this header first, as Python.h demands.
 */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API	0x030B0000

#include <Python.h>
#include <structmember.h>

#endif /* _NTKLOG_PYTHON_H */
