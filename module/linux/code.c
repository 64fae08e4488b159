// SPDX-License-Identifier: GPL-2.0-only
/* See code.h. */

#include <linux/string.h>

#include "redirect.h"

#ifdef NTKLOG_CAN_REDIRECT

#include <asm/nops.h>
#include <asm/text-patching.h>

#include "code.h"

/* How much of a function is looked at. */
#define NTKLOG_LOOK_AT_BYTES	256

/**
 * ntklog_first_instruction() - the one that ftrace changes
 * @function: of which; what a kprobe says is its address will do
 *
 * Before it there may be the mark of what is called by pointers, or what that was made into.
 *
 * Context: any.
 * Return: where it is.
 */
const u8 *ntklog_first_instruction(unsigned long function)
{
	static const u8 nop[] = { BYTES_NOP5 };
	const u8 *code = (const u8 *)function;

	if (*code == CALL_INSN_OPCODE || !memcmp(code, nop, sizeof(nop)))
		return code;
	return code + ENDBR_INSN_SIZE;
}

/**
 * ntklog_called_by() - what a call or a jump goes to
 * @code: the instruction
 *
 * Context: any.
 * Return: that, or NULL: it is neither.
 */
const u8 *ntklog_called_by(const u8 *code)
{
	s32 distance;

	if (*code != CALL_INSN_OPCODE && *code != JMP32_INSN_OPCODE)
		return NULL;
	memcpy(&distance, code + 1, sizeof(distance));
	return code + CALL_INSN_SIZE + distance;
}

/**
 * ntklog_code_calls() - does a function call another, or end by it?
 * @function: which
 * @other: the other one, as a kprobe says
 *
 * Of a long function only the beginning is looked at. Bytes that are not an instruction seem one
 * once in four thousand million times.
 *
 * Context: thread.
 * Return: whether it does.
 */
bool ntklog_code_calls(unsigned long function, unsigned long other)
{
	const u8 *callee = ntklog_first_instruction(other);
	const u8 *code = ntklog_first_instruction(function) + CALL_INSN_SIZE;
	const u8 *end = code + NTKLOG_LOOK_AT_BYTES;

	for (; code < end; code++) {
		const u8 *called = ntklog_called_by(code);

		/* What is called may be the mark before it. */
		if (called && (called == callee || called == callee - ENDBR_INSN_SIZE))
			return true;
	}
	return false;
}

#endif /* NTKLOG_CAN_REDIRECT */
