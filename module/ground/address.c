// SPDX-License-Identifier: GPL-2.0-only

#include <linux/export.h>
#include <linux/kallsyms.h>
#include <linux/random.h>
#include <linux/security.h>
#include <linux/siphash.h>
#include <linux/string.h>

#include "address.h"

static const char * const ntklog_address_modes[] = {
	[NTKLOG_ADDRESS_RAW] = "raw",
	[NTKLOG_ADDRESS_HASHED] = "hashed",
	[NTKLOG_ADDRESS_ZERO] = "zero",
};

enum ntklog_address_mode ntklog_address_mode;
static siphash_key_t ntklog_address_key;

/**
 * ntklog_address_init() - set how kernel addresses are shown
 * @mode: "raw", "hashed" or "zero"
 *
 * Context: module load; also KUnit, while no other code shows addresses.
 * Return: 0, or -EINVAL for another mode.
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

/**
 * ntklog_hide_address() - hash or zero a kernel address
 * @address: the address
 *
 * Context: any.
 * Return: the hash; 0 in mode "zero" or if @address is 0.
 */
u64 ntklog_hide_address(unsigned long address)
{
	if (ntklog_address_mode == NTKLOG_ADDRESS_ZERO || !address)
		return 0;
	return (u32)siphash_1u64(address, &ntklog_address_key);
}

/**
 * ntklog_format_symbol() - format the symbol of an address, if it may be shown
 * @address: the address
 * @buffer: KSYM_SYMBOL_LEN bytes
 *
 * Context: any.
 * Return: @buffer, or "-" if the address has no symbol or the mode is "zero".
 */
const char *ntklog_format_symbol(unsigned long address, char *buffer)
{
	if (ntklog_address_mode == NTKLOG_ADDRESS_ZERO)
		return "-";
	sprint_symbol(buffer, address);
	/* Without a symbol, sprint_symbol() prints the address itself. */
	return strncmp(buffer, "0x", 2) ? buffer : "-";
}

/**
 * ntklog_may_read_addresses() - check access to files that show addresses
 *
 * Context: task.
 * Return: 0, or -EPERM if the kernel is locked down for confidentiality and addresses are shown
 * raw.
 */
int ntklog_may_read_addresses(void)
{
	if (ntklog_address_mode != NTKLOG_ADDRESS_RAW)
		return 0;
	return security_locked_down(LOCKDOWN_TRACEFS);
}

/**
 * ntklog_may_change_settings() - check access to parameters and sessions
 *
 * Context: task.
 * Return: 0, or -EPERM if the kernel is locked down for integrity, as for debugfs.
 */
int ntklog_may_change_settings(void)
{
	return security_locked_down(LOCKDOWN_DEBUGFS);
}
