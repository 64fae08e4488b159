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
	# The entries of a list become declarations.
	module/linux/spin_lock.c | module/linux/rw_lock.c)
		ignore=(--ignore TRAILING_SEMICOLON) ;;
	# Files with NT's spellings do not follow the kernel's rules of naming.
	*/nt.h | */nt_*.[ch])
		ignore=(--ignore CAMELCASE,NEW_TYPEDEFS,SPACING,VOLATILE,LINE_SPACING,COMPLEX_MACRO
			--ignore COMPARISON_TO_NULL,BOOL_COMPARISON,INITIALISED_STATIC
			--ignore MACRO_WITH_FLOW_CONTROL,FUNCTION_ARGUMENTS) ;;
	# Macros of these tests return the line of the condition that failed.
	*/linkage/*.[ch])
		ignore=(--ignore MACRO_WITH_FLOW_CONTROL) ;;
	# The macros of <inttypes.h>; types of a library, which checkpatch takes for factors.
	tools/ntklog/output/convert_ctf.c)
		ignore=(--ignore CAMELCASE,SPACING,LINE_SPACING) ;;
	# out.c has a table of all numbers of two digits, report_json.c a format of many values, and
	# trace_argp.c the arguments of argp.
	tools/ntklog/output/out.c | tools/ntklog/output/report_json.c | tools/ntklog/commands/trace_argp.c)
		ignore=(--ignore CAMELCASE,SPLIT_STRING,MISSING_SPACE) ;;
	# Some macros use an argument, the name of a member, behind "->".
	tools/ntklog/ground/hash.h | tools/ntklog/output/report_rows.c)
		ignore=(--ignore CAMELCASE,MACRO_ARG_PRECEDENCE) ;;
	tools/ntklog/commands/main.c)
		ignore=(--ignore CAMELCASE,STATIC_CONST_CHAR_ARRAY) ;;
	# The string of a message is on one line. A signal handler may write only volatile
	# sig_atomic_t.
	tools/ntklog/live/* | tools/ntklog/commands/*)
		ignore=(--ignore CAMELCASE,LONG_LINE_STRING,VOLATILE) ;;
	# errno is positive in user space, and the types of functions are those of the C library.
	tools/ntklog/tests/fake_module.c)
		ignore=(--ignore CAMELCASE,FUNCTION_ARGUMENTS,USE_NEGATIVE_ERRNO,EMBEDDED_FUNCTION_NAME) ;;
	tools/*)
		ignore=(--ignore CAMELCASE) ;;
	# The shim repeats names and definitions of the kernel.
	workload/native/shim/*)
		ignore=(--ignore COMPLEX_MACRO,VOLATILE,NEW_TYPEDEFS,MACRO_ARG_PRECEDENCE
			--ignore EXPORT_SYMBOL,MEMORY_BARRIER,DATA_RACE,IS_ENABLED_CONFIG
			--ignore LINE_SPACING,AVOID_EXTERNS) ;;
	# These are programs of user space too, but checkpatch recognizes such files by the folder
	# tools/.
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
