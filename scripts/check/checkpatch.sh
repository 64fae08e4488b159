#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# checkpatch.sh FILE...: run the kernel's checkpatch.pl with the options of .checkpatch.conf
# (--strict among them). It is silent and successful if no file has a finding. checkpatch starts
# slowly, so it checks 16 files at a time, and names each CamelCase word once for these. When
# none of the 16 has a finding, an empty file in the cache stands for each of them; its name is a
# hash of path, content and rules.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/progress.sh"

[ $# -gt 0 ] || die "usage: checkpatch.sh FILE..."
begin_stages 120
install_groups style
cd "$TOP"
checkpatch=$(scripts/kernels/kernel-source.sh)/scripts/checkpatch.pl
status=0
# Files that are not in the cache, by the options with which they are checked.
declare -A files_of=() cached=()
clean=$CACHE/checkpatch
mkdir -p "$clean"
rules=$(cat "$checkpatch" .checkpatch.conf scripts/check/checkpatch.sh | sha256sum)
sums=$(sha256sum -- "$@")
while read -r sum file; do
	# checkpatch ends without a finding at an empty file, and does not check the next ones.
	[ -s "$file" ] || continue
	cached[$file]=$clean/${rules:0:16}-${sum:0:32}-${file//\//-}
	[ ! -e "${cached[$file]}" ] || continue
	case $file in
	# TRACE_EVENT() has another layout than other code, in the kernel too.
	*/trace.h)
		ignore=(--ignore OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT) ;;
	# checkpatch reports a semicolon at the end of a macro. These macros make declarations.
	module/linux/spin_lock.c | module/linux/rw_lock.c)
		ignore=(--ignore TRAILING_SEMICOLON) ;;
	# Files with NT's spellings do not follow the kernel's rules of naming.
	*/nt.h | */nt_*.[ch])
		ignore=(--ignore CAMELCASE,NEW_TYPEDEFS,SPACING,VOLATILE,LINE_SPACING,COMPLEX_MACRO
			--ignore COMPARISON_TO_NULL,BOOL_COMPARISON,INITIALISED_STATIC
			--ignore MACRO_WITH_FLOW_CONTROL,FUNCTION_ARGUMENTS) ;;
	# REQUIRE() returns from its caller.
	*/linkage/*.[ch])
		ignore=(--ignore MACRO_WITH_FLOW_CONTROL) ;;
	# Macros of <inttypes.h>. checkpatch takes "TYPE *" of a library for a product.
	tools/ntklog/output/convert_ctf.c)
		ignore=(--ignore CAMELCASE,SPACING,LINE_SPACING) ;;
	# Long strings over several lines: a table of all numbers of two digits in out.c, a format
	# of many values in report_json.c, help texts in trace_argp.c.
	tools/ntklog/output/out.c | tools/ntklog/output/report_json.c | tools/ntklog/commands/trace_argp.c)
		ignore=(--ignore CAMELCASE,SPLIT_STRING,MISSING_SPACE) ;;
	# Some macros have the name of a member as argument, which cannot be in parentheses behind
	# "->".
	tools/ntklog/ground/hash.h | tools/ntklog/output/report_rows.c)
		ignore=(--ignore CAMELCASE,MACRO_ARG_PRECEDENCE) ;;
	tools/ntklog/commands/main.c)
		ignore=(--ignore CAMELCASE,STATIC_CONST_CHAR_ARRAY) ;;
	# A message is one string on one line, so that it can be found. A signal handler may write
	# only volatile sig_atomic_t.
	tools/ntklog/live/* | tools/ntklog/commands/*)
		ignore=(--ignore CAMELCASE,LONG_LINE_STRING,VOLATILE) ;;
	# errno is positive in user space, and the types of functions are those of the C library.
	tools/ntklog/tests/fake_module.c)
		ignore=(--ignore CAMELCASE,FUNCTION_ARGUMENTS,USE_NEGATIVE_ERRNO,EMBEDDED_FUNCTION_NAME) ;;
	# checkpatch takes "PyObject *" for a product. Python declares arrays of char *, and looks up
	# PyInit__etl(), which no header declares.
	tools/ntklog/python/*)
		ignore=(--ignore CAMELCASE,SPACING,AVOID_EXTERNS,STATIC_CONST_CHAR_ARRAY) ;;
	tools/*)
		ignore=(--ignore CAMELCASE) ;;
	# The shim repeats names and definitions of the kernel.
	workload/native/shim/*)
		ignore=(--ignore COMPLEX_MACRO,VOLATILE,NEW_TYPEDEFS,MACRO_ARG_PRECEDENCE
			--ignore EXPORT_SYMBOL,MEMORY_BARRIER,DATA_RACE,IS_ENABLED_CONFIG
			--ignore LINE_SPACING,AVOID_EXTERNS,MACRO_WITH_FLOW_CONTROL) ;;
	# Programs of user space, which checkpatch recognizes only below tools/.
	tests/programs/* | bench/*)
		ignore=(--ignore CAMELCASE,PREFER_KERNEL_TYPES) ;;
	*)
		ignore=() ;;
	esac
	files_of["--terse --show-types ${ignore[*]}"]+="$file "
done <<<"$sums"
for options in "${!files_of[@]}"; do
	read -ra words <<<"$options"
	read -ra files <<<"${files_of[$options]}"
	while [ ${#files[@]} -gt 0 ]; do
		together=("${files[@]:0:16}") files=("${files[@]:16}")
		set_stage "checking $(dirname "${together[0]}")"
		findings=$(perl "$checkpatch" "${words[@]}" -f "${together[@]}") ||
			: "${findings:=checkpatch failed for one of: ${together[*]}}"
		if [ -z "$findings" ]; then
			for file in "${together[@]}"; do
				: >"${cached[$file]}"
			done
		else
			printf '%s\n' "$findings"
			status=1
		fi
	done
done
exit $status
