/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_PYTHON_EVENT_H
#define _NTKLOG_PYTHON_EVENT_H

/* The class Event: a copy of an event, which outlives the file that it was read from. */

#include "python.h"

#include <ntklog/etl.h>

#include "event_type.h"

int event_class_add(PyObject *module);
PyObject *event_make(const struct etl_file *file, const struct etl_event *source,
		     const struct event_type *type);

#endif /* _NTKLOG_PYTHON_EVENT_H */
