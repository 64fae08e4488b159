// SPDX-License-Identifier: GPL-2.0-only
/* See address.h. */

#include <linux/export.h>
#include <linux/kallsyms.h>
#include <linux/random.h>
#include <linux/security.h>
#include <linux/siphash.h>
#include <linux/string.h>

#include "address.h"
#include "compat.h"

static const char * const ntklog_address_modes[] = {
	[NTKLOG_ADDRESS_RAW] = "raw",
	[NTKLOG_ADDRESS_HASHED] = "hashed",
	[NTKLOG_ADDRESS_ZERO] = "zero",
};

enum ntklog_address_mode ntklog_address_mode;
static siphash_key_t ntklog_address_key;

/**
 * ntklog_address_init() - what is to be shown of addresses
 * @mode: raw, hashed or zero
 *
 * Context: load; also of a test that has nobody else running.
 * Return: 0 or -EINVAL.
 */
int ntklog_address_init(const char *mode)
{
	int i = match_string(ntklog_address_modes, ARRAY_SIZE(ntklog_address_modes), mode);

	if (i < 0)
		return -EINVAL;
	get_random_bytes(&ntklog_address_key, sizeof(ntklog_address_key));
	ntklog_address_mode = i;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(ntklog_address_init);

/**
 * ntklog_hide_address() - what is shown of an address, if not itself
 * @address: of the kernel
 *
 * A hash is as %p has it, of 32 bits and the same for the same address until the
 * module is loaded anew, but not the same number as %p gives.
 *
 * Context: any.
 * Return: a hash, or 0; 0 for 0.
 */
u64 ntklog_hide_address(unsigned long address)
{
	if (ntklog_address_mode == NTKLOG_ADDRESS_ZERO || !address)
		return 0;
	return (u32)siphash_1u64(address, &ntklog_address_key);
}

/**
 * ntklog_symbol() - the symbol that an address is in, if that may be shown
 * @address: of the kernel
 * @buffer: KSYM_SYMBOL_LEN bytes
 *
 * Context: any.
 * Return: @buffer, or "-" if there is no symbol or addresses are not shown at all.
 */
const char *ntklog_symbol(unsigned long address, char *buffer)
{
	if (ntklog_address_mode == NTKLOG_ADDRESS_ZERO)
		return "-";
	sprint_symbol(buffer, address);
	/* Without a symbol it would be the address itself. */
	return strncmp(buffer, "0x", 2) ? buffer : "-";
}

/**
 * ntklog_may_read_addresses() - may files with what is shown of addresses be read?
 *
 * Context: thread.
 * Return: 0, or -EPERM if the kernel is locked down for confidentiality and they are
 * raw.
 */
int ntklog_may_read_addresses(void)
{
	if (ntklog_address_mode != NTKLOG_ADDRESS_RAW)
		return 0;
	return security_locked_down(LOCKDOWN_TRACEFS);
}

/**
 * ntklog_may_change_settings() - may parameters and sessions be changed?
 *
 * Context: thread.
 * Return: 0, or -EPERM if the kernel is locked down for integrity: as debugfs has it.
 */
int ntklog_may_change_settings(void)
{
	return security_locked_down(LOCKDOWN_DEBUGFS);
}
