// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "can_redirect.h"

#ifdef NTKLOG_CAN_REDIRECT

#include "code.h"

/* Number of bytes to search if kallsyms does not know the size of a function. */
#define NTKLOG_CODE_BYTES_DEFAULT	256

static unsigned long ntklog_get_function_size(unsigned long function)
{
	static char text[KSYM_SYMBOL_LEN];	/* Callers are serialized. */
	unsigned long size = 0;
	const char *slash;

	/* "name+0x0/0x60" */
	sprint_symbol(text, function);
	slash = strchr(text, '/');
	return slash && sscanf(slash, "/0x%lx", &size) == 1 && size ? size :
								      NTKLOG_CODE_BYTES_DEFAULT;
}

#ifdef CONFIG_X86_64

#include <asm/nops.h>
#include <asm/text-patching.h>

/* Skip ENDBR, the landing pad of indirect calls, or the NOP that has replaced it. */
static const u8 *ntklog_find_patched_instruction(const u8 *code)
{
	static const u8 nop[] = { BYTES_NOP5 };

	if (*code == CALL_INSN_OPCODE || !memcmp(code, nop, sizeof(nop)))
		return code;
	return code + ENDBR_INSN_SIZE;
}

static const u8 *ntklog_get_branch_target(const u8 *code)
{
	s32 distance;

	if (*code != CALL_INSN_OPCODE && *code != JMP32_INSN_OPCODE)
		return NULL;
	memcpy(&distance, code + 1, sizeof(distance));
	return code + CALL_INSN_SIZE + distance;
}

/* The target of a call may be the landing pad or the instruction behind it. */
static bool ntklog_code_is_entry_of(const u8 *called_code, unsigned long function)
{
	const u8 *code = ntklog_find_patched_instruction((const u8 *)function);

	return called_code == code || called_code == code - ENDBR_INSN_SIZE;
}

#define NTKLOG_INSTRUCTION_STEP	1
#define NTKLOG_CALL_SIZE		CALL_INSN_SIZE

#else /* CONFIG_ARM64 */

#include <asm/insn.h>

/* Skip "bti c", if the function has it, and the instruction that saves the return address in x9. */
static const u8 *ntklog_find_patched_instruction(const u8 *code)
{
	if (aarch64_insn_is_hint(le32_to_cpup((const __le32 *)code)))
		code += AARCH64_INSN_SIZE;
	return code + AARCH64_INSN_SIZE;
}

static const u8 *ntklog_get_branch_target(const u8 *code)
{
	u32 instruction = le32_to_cpup((const __le32 *)code);

	if (!aarch64_insn_is_bl(instruction) && !aarch64_insn_is_b(instruction))
		return NULL;
	/* The distance is a signed number of words, 26 bits wide. */
	return code + ((s32)(instruction << 6) >> 4);
}

static bool ntklog_code_is_entry_of(const u8 *called_code, unsigned long function)
{
	return called_code == (const u8 *)function;
}

#define NTKLOG_INSTRUCTION_STEP	AARCH64_INSN_SIZE
#define NTKLOG_CALL_SIZE		AARCH64_INSN_SIZE

#endif

/**
 * ntklog_get_address_after_call() - find the address behind the call that ftrace patches
 * @function: address of the function, or the address that a kprobe has resolved for it
 *
 * Context: any.
 * Return: address of the instruction after the patched call.
 */
const u8 *ntklog_get_address_after_call(unsigned long function)
{
	return ntklog_find_patched_instruction((const u8 *)function) + NTKLOG_CALL_SIZE;
}

/**
 * ntklog_function_has_call_to() - test whether a function calls another one, or ends with a jump to
 *	it
 * @function: address of the function
 * @other: address of the other function, as a kprobe has resolved it
 *
 * On x86 the search takes each byte for the start of an instruction, so it may be wrong.
 *
 * Context: task. Callers are serialized.
 * Return: true if a call or jump to @other was found.
 */
bool ntklog_function_has_call_to(unsigned long function, unsigned long other)
{
	const u8 *code = ntklog_get_address_after_call(function);
	const u8 *end = (const u8 *)function + ntklog_get_function_size(function);

	for (; code + NTKLOG_CALL_SIZE <= end; code += NTKLOG_INSTRUCTION_STEP) {
		const u8 *called_code = ntklog_get_branch_target(code);

		if (called_code && ntklog_code_is_entry_of(called_code, other))
			return true;
	}
	return false;
}

#endif /* NTKLOG_CAN_REDIRECT */
