#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# checkpatch.sh FILE...: run the kernel's checkpatch.pl --strict with
# .checkpatch.conf. It is silent and successful if no file has a finding. The cache remembers files,
# by name and content, that had none.

. "$(dirname "$0")/../lib.sh"

need style
cd "$TOP"
checkpatch=$(scripts/kernels/kernel-source.sh)/scripts/checkpatch.pl
status=0
clean=$CACHE/checkpatch
mkdir -p "$clean"
rules=$(sha256sum "$checkpatch" .checkpatch.conf scripts/check/checkpatch.sh)
for file; do
	key=$({ printf '%s\n' "$rules" "$file"; cat "$file"; } | sha256sum | cut -c 1-32)
	[ ! -e "$clean/$key" ] || continue
	case $file in
	# TRACE_EVENT() has a layout of its own, in the kernel too.
	*/trace.h)
		ignore=(--ignore OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT) ;;
	# NT's spellings are not the kernel's.
	*/nt.h | */nt_*.[ch])
		ignore=(--ignore CAMELCASE,NEW_TYPEDEFS,SPACING,VOLATILE,LINE_SPACING,COMPLEX_MACRO
			--ignore COMPARISON_TO_NULL,BOOL_COMPARISON,INITIALISED_STATIC
			--ignore MACRO_WITH_FLOW_CONTROL,FUNCTION_ARGUMENTS) ;;
	# Its macros return the line of the condition that failed.
	*/linkage/*.[ch])
		ignore=(--ignore MACRO_WITH_FLOW_CONTROL) ;;
	# The macros of <inttypes.h>; types of a library, which checkpatch takes for factors.
	tools/ntklog/output/convert_ctf.c)
		ignore=(--ignore CAMELCASE,SPACING,LINE_SPACING) ;;
	# A table of all numbers of two digits; a format of many; argp's own arguments.
	tools/ntklog/output/out.c | tools/ntklog/output/report_json.c | tools/ntklog/commands/trace_argp.c)
		ignore=(--ignore CAMELCASE,SPLIT_STRING,MISSING_SPACE) ;;
	# A member's name stands behind an arrow.
	tools/ntklog/ground/hash.h | tools/ntklog/output/report_rows.c)
		ignore=(--ignore CAMELCASE,MACRO_ARG_PRECEDENCE) ;;
	tools/ntklog/commands/main.c)
		ignore=(--ignore CAMELCASE,STATIC_CONST_CHAR_ARRAY) ;;
	# A message is one string. A signal handler may write nothing but a volatile sig_atomic_t.
	tools/ntklog/live/* | tools/ntklog/commands/*)
		ignore=(--ignore CAMELCASE,LONG_LINE_STRING,VOLATILE) ;;
	# Errno is positive in user space, and a function of the C library has its pointer's type.
	tools/ntklog/tests/fake_module.c)
		ignore=(--ignore CAMELCASE,FUNCTION_ARGUMENTS,USE_NEGATIVE_ERRNO,EMBEDDED_FUNCTION_NAME) ;;
	tools/*)
		ignore=(--ignore CAMELCASE) ;;
	# The kernel's names and their definitions are the kernel's.
	workload/native/shim/*)
		ignore=(--ignore COMPLEX_MACRO,VOLATILE,NEW_TYPEDEFS,MACRO_ARG_PRECEDENCE
			--ignore EXPORT_SYMBOL,MEMORY_BARRIER,DATA_RACE,IS_ENABLED_CONFIG
			--ignore LINE_SPACING,AVOID_EXTERNS) ;;
	# Programs too, but it knows those by the name of the directory.
	tests/programs/*)
		ignore=(--ignore CAMELCASE,PREFER_KERNEL_TYPES) ;;
	*)
		ignore=() ;;
	esac
	if perl "$checkpatch" --terse --show-types "${ignore[@]}" -f "$file"; then
		: >"$clean/$key"
	else
		status=1
	fi
done
exit $status
