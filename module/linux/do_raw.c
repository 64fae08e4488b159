// SPDX-License-Identifier: GPL-2.0-only
#include <linux/init.h>
#include <linux/kernel.h>

#include "do_raw.h"
#include "kind.h"

#if defined(NTKLOG_CAN_REDIRECT_SPINNING) && defined(CONFIG_DEBUG_SPINLOCK)

struct ntklog_do_raw_functions ntklog_do_raw_functions __ro_after_init;

/**
 * ntklog_resolve_do_raw() - resolve the functions of struct ntklog_do_raw_functions
 *
 * Context: module load.
 * Return: NULL, or the name of the first function that the kernel lacks.
 */
const char __init *ntklog_resolve_do_raw(void)
{
	static const struct {
		const char *name;
		void *pointer;
	} functions[] = {
#define FUNCTION(_name) { .name = #_name, .pointer = &ntklog_do_raw_functions._name }
		FUNCTION(do_raw_spin_lock),
		FUNCTION(do_raw_spin_trylock),
		FUNCTION(do_raw_spin_unlock),
		FUNCTION(do_raw_read_lock),
		FUNCTION(do_raw_read_trylock),
		FUNCTION(do_raw_read_unlock),
		FUNCTION(do_raw_write_lock),
		FUNCTION(do_raw_write_trylock),
		FUNCTION(do_raw_write_unlock),
#undef FUNCTION
	};
	unsigned long address;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		address = ntklog_find_function(functions[i].name);
		if (!address)
			return functions[i].name;
		*(unsigned long *)functions[i].pointer = address;
	}
	return NULL;
}

#endif
