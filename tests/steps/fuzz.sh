#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Feed damaged files to the tool's code by libFuzzer under ASan and UBSan, for FUZZ_SECONDS (30), in
# FUZZ_JOBS (1) processes. FUZZ_CORPUS: a directory in which the corpus is kept, and minimised at
# the end.

. "$(dirname "$0")/../lib.sh"

install_groups fuzz tool
mkdir -p "$OUT/build/tool"
run_test "fuzz: the fuzzer is built" make -s -C "$TOP/tools/ntklog" O="$OUT/build/tool" fuzz
corpus=${FUZZ_CORPUS:-$DIR/corpus}
python3 "$TOOL_TESTS/make_corpus.py" "$DIR/seeds"
mkdir -p "$corpus" "$DIR/minimal"
jobs=${FUZZ_JOBS:-1}
run_test "fuzz: damaged files do no harm" env -C "$DIR" "$OUT/build/tool/fuzz" \
	-max_total_time="${FUZZ_SECONDS:-30}" -max_len=8192 -close_fd_mask=3 \
	-print_final_stats=1 -jobs="$jobs" -workers="$jobs" "$corpus" seeds
if [ -n "${FUZZ_CORPUS:-}" ]; then
	run_test "fuzz: the corpus is minimised" env -C "$DIR" "$OUT/build/tool/fuzz" -merge=1 \
		-close_fd_mask=3 minimal "$corpus" seeds
	rm -rf "$corpus"
	cp -r "$DIR/minimal" "$corpus"
fi
