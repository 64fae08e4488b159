#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The fuzzer on all that reads files, under ASan and UBSan: half a minute of files of
# strangers'. `make soak` does more.

. "$(dirname "$0")/../lib.sh"

need fuzz
need tool
tool
result "fuzz: the fuzzer is built" make -s -C "$TOP/tools/ntklog" O="$OUT/build/tool" fuzz
python3 "$TOOL_TESTS/make_corpus.py" "$DIR/corpus"
result "fuzz: files of strangers do no harm" env -C "$DIR" "$OUT/build/tool/fuzz" \
	-max_total_time="${FUZZ_SECONDS:-30}" -max_len=8192 -close_fd_mask=3 \
	-print_final_stats=1 corpus
