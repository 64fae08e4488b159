#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check the sources: checkpatch, sparse, kernel-doc, bad habits of prose, length of files, circles
# of includes. Test what has no step of its own: the filter of race reports, which all steps with
# KCSAN use; the line of progress; whether checkpatch.sh and sparse.sh find errors, and run.sh and
# soak.sh notice steps that end as they should not.

. "$(dirname "$0")/../lib.sh"

kernel_doc_is_silent()
{
	cd "$TOP"
	git ls-files 'include/*.h' 'module/*.[ch]' | xargs perl \
		"$(scripts/kernels/kernel-source.sh)/scripts/kernel-doc" -none >"$DIR/kernel-doc.log" 2>&1
	cat "$DIR/kernel-doc.log"
	[ ! -s "$DIR/kernel-doc.log" ]
}

no_file_is_too_long()
{
	cd "$TOP"
	git ls-files '*.[ch]' '*.S' '*.py' '*.sh' '*.js' '*.css' Makefile ':!*/generated/*' |
		xargs wc -l | awk '$2 != "total" && $1 > 600 { print; long = 1 } END { exit long }'
}

install_groups style
set_debian_kernel "$KERNEL_SERIES"
run_test "style: checkpatch --strict" make -s -C "$TOP" checkpatch
run_test "style: kernel-doc" kernel_doc_is_silent
run_test "style: no folder has more bad habits of prose than before" \
	env -C "$TOP" python3 "$TESTS/check/check_prose.py"
run_test "style: no file has more than 600 lines" no_file_is_too_long
run_test "style: no new circle of includes" env -C "$TOP" python3 "$TESTS/check/check_includes.py"
run_test_program python3 "$TESTS/check/check_race_filter.py" "$TOP"
run_test_program python3 "$TESTS/check/check_status.py" "$TOP"
run_test_program python3 "$TESTS/check/check_style.py" "$TOP"
run_test_program python3 "$TESTS/check/check_run.py" "$TOP"
# Steps that build the same modules have to wait until sparse has ended, so it comes last.
run_test "style: sparse" "$TOP/scripts/check/sparse.sh" "$KDIR"
