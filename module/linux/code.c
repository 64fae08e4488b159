// SPDX-License-Identifier: GPL-2.0-only
/* See code.h. */

#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "redirect.h"

#ifdef NTKLOG_CAN_REDIRECT

#include "code.h"

/* Of a function whose size nobody says. */
#define NTKLOG_LOOK_AT_BYTES	256

static unsigned long ntklog_size_of(unsigned long function)
{
	static char text[KSYM_SYMBOL_LEN];	/* One at a time. */
	unsigned long size = 0;
	const char *slash;

	/* "name+0x0/0x60" */
	sprint_symbol(text, function);
	slash = strchr(text, '/');
	return slash && sscanf(slash, "/0x%lx", &size) == 1 && size ? size : NTKLOG_LOOK_AT_BYTES;
}

#ifdef CONFIG_X86_64

#include <asm/nops.h>
#include <asm/text-patching.h>

/* Before it there may be the mark of what is called by pointers, or what that was made into. */
static const u8 *ntklog_patched_instruction(const u8 *code)
{
	static const u8 nop[] = { BYTES_NOP5 };

	if (*code == CALL_INSN_OPCODE || !memcmp(code, nop, sizeof(nop)))
		return code;
	return code + ENDBR_INSN_SIZE;
}

static const u8 *ntklog_branch_target(const u8 *code)
{
	s32 distance;

	if (*code != CALL_INSN_OPCODE && *code != JMP32_INSN_OPCODE)
		return NULL;
	memcpy(&distance, code + 1, sizeof(distance));
	return code + CALL_INSN_SIZE + distance;
}

/* What is called may be the mark. */
static bool ntklog_is_entry_of(const u8 *called, unsigned long function)
{
	const u8 *code = ntklog_patched_instruction((const u8 *)function);

	return called == code || called == code - ENDBR_INSN_SIZE;
}

#define INSTRUCTION_SIZE	1
#define CALL_SIZE		CALL_INSN_SIZE

#else /* CONFIG_ARM64 */

#include <asm/insn.h>

/* Before it: the return address goes to x9; before that there may be "bti c". */
static const u8 *ntklog_patched_instruction(const u8 *code)
{
	if (aarch64_insn_is_hint(le32_to_cpup((const __le32 *)code)))
		code += AARCH64_INSN_SIZE;
	return code + AARCH64_INSN_SIZE;
}

static const u8 *ntklog_branch_target(const u8 *code)
{
	u32 instruction = le32_to_cpup((const __le32 *)code);

	if (!aarch64_insn_is_bl(instruction) && !aarch64_insn_is_b(instruction))
		return NULL;
	/* 26 bits of words, signed. */
	return code + ((s32)(instruction << 6) >> 4);
}

static bool ntklog_is_entry_of(const u8 *called, unsigned long function)
{
	return called == (const u8 *)function;
}

#define INSTRUCTION_SIZE	AARCH64_INSN_SIZE
#define CALL_SIZE		AARCH64_INSN_SIZE

#endif

/**
 * ntklog_address_after_call() - where a function goes on behind what ftrace changes
 * @function: which; what a kprobe says is its address will do
 *
 * Context: any.
 * Return: there.
 */
const u8 *ntklog_address_after_call(unsigned long function)
{
	return ntklog_patched_instruction((const u8 *)function) + CALL_SIZE;
}

/**
 * ntklog_code_calls() - does a function call another, or end by it?
 * @function: which
 * @other: the other one, as a kprobe says
 *
 * Bytes that are not an instruction seem one once in four thousand million times.
 *
 * Context: thread. One at a time.
 * Return: whether it does.
 */
bool ntklog_code_calls(unsigned long function, unsigned long other)
{
	const u8 *code = ntklog_address_after_call(function);
	const u8 *end = (const u8 *)function + ntklog_size_of(function);

	for (; code + CALL_SIZE <= end; code += INSTRUCTION_SIZE) {
		const u8 *called = ntklog_branch_target(code);

		if (called && ntklog_is_entry_of(called, other))
			return true;
	}
	return false;
}

#endif /* NTKLOG_CAN_REDIRECT */
