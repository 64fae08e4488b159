// SPDX-License-Identifier: GPL-2.0-only
/* The module ntklog._etl: libntklog-etl for the Python package ntklog. */

#include "event.h"
#include "reader.h"
#include "records.h"

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "ntklog._etl",
	.m_doc = "Reading event trace logs (ETL files). Programs use the package ntklog.",
	/* The classes are variables of the process, so the module cannot be loaded twice. */
	.m_size = -1,
};

/* Python calls this function, and no header declares it. */
PyMODINIT_FUNC PyInit__etl(void);

PyMODINIT_FUNC PyInit__etl(void)
{
	PyObject *module = PyModule_Create(&definition);

	if (!module)
		return NULL;
	if (event_class_add(module) || reader_class_add(module) || record_types_add(module))
		Py_CLEAR(module);
	return module;
}
