// SPDX-License-Identifier: GPL-2.0-only

#include <linux/kernel_stat.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/types.h>

#include "address.h"
#include "location.h"

/* Upper bound of the size of a CPU's first per-CPU chunk. */
#define NTKLOG_PER_CPU_SIZE_MAX	(2UL << 20)

static bool ntklog_is_in_node_or_struct_page(unsigned long lock, const char **structure_name,
					     unsigned long *offset)
{
	unsigned int node;

	for_each_online_node(node) {
		*offset = lock - (unsigned long)NODE_DATA(node);
		if (*offset < sizeof(pg_data_t)) {
			*structure_name = "node";
			return true;
		}
	}
#ifdef CONFIG_SPARSEMEM_VMEMMAP
	*offset = lock - (unsigned long)pfn_to_page(0);
	if (lock >= (unsigned long)pfn_to_page(0) &&
	    lock < (unsigned long)virt_to_page(high_memory - 1) + sizeof(struct page)) {
		*offset %= sizeof(struct page);
		*structure_name = "page";
		return true;
	}
#endif
	return false;
}

/* True on x86-64 before 6.15. kstat is a per-CPU variable of the kernel. */
static bool ntklog_per_cpu_section_begins_at_zero(void)
{
	return (__force unsigned long)&kstat < NTKLOG_PER_CPU_SIZE_MAX;
}

/*
 * Return the address in the per-CPU section that corresponds to @lock, or any number if @lock is
 * no per-CPU variable. Each CPU gives a candidate. The one nearest to the section is used.
 */
static unsigned long ntklog_get_per_cpu_address(unsigned long lock)
{
	unsigned long nearest_address = ULONG_MAX;
#ifdef CONFIG_SMP
	const unsigned long known_address = (__force unsigned long)&kstat;
	const bool section_begins_at_zero = ntklog_per_cpu_section_begins_at_zero();
	unsigned long address, least_distance = ULONG_MAX, distance;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		address = lock - per_cpu_offset(cpu);
		distance = section_begins_at_zero ? address :
			   max(address, known_address) - min(address, known_address);
		if (distance < least_distance) {
			least_distance = distance;
			nearest_address = address;
		}
	}
#endif
	return nearest_address;
}

static bool ntklog_is_in_page_lists(unsigned long address, unsigned long *offset)
{
	unsigned int node, i;

	for_each_online_node(node)
		for (i = 0; i < MAX_NR_ZONES; i++) {
			const struct zone *zone = &NODE_DATA(node)->node_zones[i];

			*offset = address - (__force unsigned long)zone->per_cpu_pageset;
			if (zone->per_cpu_pageset && *offset < sizeof(struct per_cpu_pages))
				return true;
		}
	return false;
}

/**
 * ntklog_print_location() - print where a lock that lies in no slab is
 * @text: buffer for the text
 * @size: size of @text in bytes
 * @lock: address of the lock
 * @buffer: scratch buffer of KSYM_SYMBOL_LEN bytes
 *
 * The address of a per-CPU variable is not secret if the section begins at 0.
 *
 * Context: task.
 * Return: length of the text in bytes.
 */
size_t ntklog_print_location(char *text, size_t size, unsigned long lock, char *buffer)
{
	unsigned long offset, address = ntklog_get_per_cpu_address(lock);
	const char *structure_name, *symbol;
	bool section_begins_at_zero;

	if (ntklog_is_in_node_or_struct_page(lock, &structure_name, &offset))
		return scnprintf(text, size, "%s %lu", structure_name, offset);
	symbol = ntklog_format_symbol(lock, buffer);
	if (strcmp(symbol, "-"))
		return scnprintf(text, size, "symbol %s", symbol);
	if (ntklog_is_in_page_lists(address, &offset))
		return scnprintf(text, size, "lists %lu", offset);
	section_begins_at_zero = ntklog_per_cpu_section_begins_at_zero();
	if (section_begins_at_zero && address < NTKLOG_PER_CPU_SIZE_MAX)
		return scnprintf(text, size, "percpu %lu", address);
	symbol = ntklog_format_symbol(address, buffer);
	if (!section_begins_at_zero && strcmp(symbol, "-"))
		return scnprintf(text, size, "percpu %s", symbol);
	return scnprintf(text, size, is_vmalloc_addr((void *)lock) ? "vmalloc" : "pages");
}
