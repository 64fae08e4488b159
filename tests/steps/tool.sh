#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The command-line tool: its own tests, under ASan and UBSan.

. "$(dirname "$0")/../lib.sh"

need tool-tests
result "tool: builds without a warning" tool generate make_types libntklog-etl.a libntklog-etl.so.0
result "tool: builds with ASan and UBSan" make -s -C "$TOP/tools/ntklog" O="$OUT/build/tool-asan" \
	CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover"
for test in dump sample windows stacks info damage rundown formats stream report answer convert control manual; do
	results python3 "$TOOL_TESTS/test_$test.py" "$OUT/build/tool-asan/ntklog"
done
results python3 "$TOOL_TESTS/test_classes.py" "$OUT/build/tool-asan/ntklog" \
	"$OUT/build/tool/make_types"
# As it is installed: the compiler's flags of strangers are not those of the sanitizers.
results env CFLAGS="-O2 -g" python3 "$TOOL_TESTS/test_library.py" "$OUT/build/tool/ntklog"
# Memory that the sanitizers take is not the tool's.
results python3 "$TOOL_TESTS/test_large.py" "$OUT/build/tool/ntklog" "$OUT/build/tool/generate"
