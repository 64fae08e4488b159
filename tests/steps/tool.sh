#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tool.sh [asan] [FILE [CASE...]]: run the tool's own tests; with asan, run them under ASan and UBSan.
# FILE is such as test_dump, CASE such as Class.test. The sanitizers need six times the CPU time.

. "$(dirname "$0")/../lib.sh"

install_groups tool-tests
run_test "tool: builds without a warning" build_tool generate make_types fake_module.so libntklog-etl.a libntklog-etl.so.0
plain=$OUT/build/tool/ntklog
tried=$plain
if [ "${1:-}" = asan ]; then
	shift
	tried=$OUT/build/tool-asan/ntklog
	run_test "tool: builds with ASan and UBSan" make -s -C "$TOP/tools/ntklog" O="$OUT/build/tool-asan" \
		CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover"
fi
only=${1:-}
begun=' '
[ $# -lt 2 ] || export CASES=${*:2}

run_test_file()
{
	begun+="$1 "
	[ -n "$only" ] && [ "$only" != "$1" ] ||
		run_test_program python3 "$TOOL_TESTS/$1.py" "${@:2}"
}

for name in dump sample windows stacks info damage rundown formats stream report report_rates \
	report_output report_by ndjson errors answer answer_by answer_open answer_text off_cpu longest diff many convert convert_open pprof output_files \
	manual budget; do
	run_test_file "test_$name" "$tried"
done
for name in control start record trap top top_by top_terminal held names exporter; do
	run_test_file "test_$name" "$tried" "$OUT/build/tool/fake_module.so"
done
run_test_file test_classes "$tried" "$OUT/build/tool/fake_module.so" \
	"$OUT/build/tool/make_types"

# The step python has files of its own.
each_test_file_runs()
{
	local file name
	for file in "$TOOL_TESTS"/test_*.py; do
		name=$(basename "$file" .py)
		[[ $name = test_python* || $begun = *" $name "* ]] ||
			{ echo "$name runs in no step"; return 1; }
	done
}

# Test the library as a package builds it, and measure memory, of which the sanitizers need much of
# their own.
if [ "$tried" = "$plain" ]; then
	CFLAGS="-O2 -g" run_test_file test_library "$plain"
	run_test_file test_large "$plain" "$OUT/build/tool/generate"
	run_test "tool: each file of the tests runs" each_test_file_runs
fi
[ -z "$only" ] || [[ $begun = *" $only "* ]] || echo "not ok - $only is a file of these tests"
