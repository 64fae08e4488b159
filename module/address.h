/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _NTKLOG_ADDRESS_H
#define _NTKLOG_ADDRESS_H

/*
 * Addresses of the kernel in records, tracepoints, files and warnings: what is shown of them is
 * decided here, at the moment of writing, by the module parameter addresses=.
 */

#include <linux/compiler.h>
#include <linux/types.h>

enum ntklog_address_mode {
	NTKLOG_ADDRESS_RAW,
	NTKLOG_ADDRESS_HASHED,
	NTKLOG_ADDRESS_ZERO,
};

/* Set at load. */
extern enum ntklog_address_mode ntklog_address_mode;

u64 ntklog_hide_address(unsigned long address);

/**
 * ntklog_addresses_are_raw() - are addresses shown as they are?
 *
 * Context: any.
 * Return: whether they are.
 */
static __always_inline bool ntklog_addresses_are_raw(void)
{
	return likely(ntklog_address_mode == NTKLOG_ADDRESS_RAW);
}

/**
 * ntklog_address() - what is shown of an address
 * @address: of the kernel
 *
 * Context: any.
 * Return: itself, a hash, or 0; 0 for 0.
 */
static __always_inline u64 ntklog_address(unsigned long address)
{
	return ntklog_addresses_are_raw() ? address : ntklog_hide_address(address);
}

/**
 * ntklog_code() - a place in the code, for a warning to print with %pS
 * @address: of the kernel's text
 *
 * Context: any.
 * Return: itself where its symbol may be shown and is known; else what is shown of
 * an address, which has no symbol.
 */
static inline void *ntklog_code(unsigned long address)
{
	if (IS_ENABLED(CONFIG_KALLSYMS) && ntklog_address_mode != NTKLOG_ADDRESS_ZERO)
		return (void *)address;
	return (void *)(unsigned long)ntklog_address(address);
}

int ntklog_address_init(const char *mode);
const char *ntklog_symbol(unsigned long address, char *buffer);
int ntklog_may_read_addresses(void);
int ntklog_may_change_settings(void);

#endif /* _NTKLOG_ADDRESS_H */
