/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ADDRESS_H
#define _NTKLOG_ADDRESS_H

/*
 * Kernel addresses in records, tracepoints, files and warnings: raw, hashed or 0, as the module
 * parameter "addresses" says.
 */

#include <linux/compiler.h>
#include <linux/types.h>

enum ntklog_address_mode {
	NTKLOG_ADDRESS_RAW,
	NTKLOG_ADDRESS_HASHED,
	NTKLOG_ADDRESS_ZERO,
};

/* Written by ntklog_address_init(). */
extern enum ntklog_address_mode ntklog_address_mode;

u64 ntklog_hide_address(unsigned long address);

/**
 * ntklog_addresses_are_raw() - test whether addresses are shown unchanged
 *
 * Context: any.
 * Return: true in mode "raw".
 */
static __always_inline bool ntklog_addresses_are_raw(void)
{
	return likely(ntklog_address_mode == NTKLOG_ADDRESS_RAW);
}

/**
 * ntklog_get_displayed_address() - convert an address to its displayed form
 * @address: the address
 *
 * Context: any.
 * Return: the address, its hash, or 0; 0 if @address is 0.
 */
static __always_inline u64 ntklog_get_displayed_address(unsigned long address)
{
	return ntklog_addresses_are_raw() ? address : ntklog_hide_address(address);
}

/**
 * ntklog_get_printable_code() - convert a code address for a warning that prints it with %pS
 * @address: address in kernel code
 *
 * Context: any.
 * Return: the address, if the kernel has symbols and the mode is not "zero"; otherwise
 * ntklog_get_displayed_address().
 */
static inline void *ntklog_get_printable_code(unsigned long address)
{
	if (IS_ENABLED(CONFIG_KALLSYMS) && ntklog_address_mode != NTKLOG_ADDRESS_ZERO)
		return (void *)address;
	return (void *)(unsigned long)ntklog_get_displayed_address(address);
}

int ntklog_address_init(const char *mode);
const char *ntklog_format_symbol(unsigned long address, char *buffer);
int ntklog_may_read_addresses(void);
int ntklog_may_change_settings(void);

#endif /* _NTKLOG_ADDRESS_H */
