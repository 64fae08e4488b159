#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# python.sh [CASE...]: build the Python package and test it, also under ASan. CASE, such as
# Class.test: only these cases.

. "$(dirname "$0")/../lib.sh"

install_groups tool python
build_tool

# make_package NAME CFLAGS: build the package in out/build/NAME.
make_package()
{
	make -s -C "$TOP/tools/ntklog" O="$OUT/build/$1" CFLAGS="$2" python
}

# make_without_python_headers ARGUMENT...: run make with a pkg-config that does not know Python.
make_without_python_headers()
{
	mkdir -p "$DIR/bin"
	printf '#!/bin/sh\ncase "$*" in *python3*) exit 1 ;; esac\nexec %s "$@"\n' \
		"$(command -v pkg-config)" >"$DIR/bin/pkg-config"
	chmod +x "$DIR/bin/pkg-config"
	PATH=$DIR/bin:$PATH make -s -C "$TOP/tools/ntklog" O="$DIR/empty" "$@"
}

make_names_missing_package()
{
	! make_without_python_headers python >"$DIR/message" 2>&1
	cat "$DIR/message"
	grep -q 'the Python package needs python3-dev' "$DIR/message"
}

# run_cases PROGRAM BUILD [CASE...]: run those of the cases that the program has; without any, all.
run_cases()
{
	local case cases=()
	for case in "${@:3}"; do
		! grep -q "^class ${case%%.*}(" "$TOOL_TESTS/$1.py" || cases+=("$case")
	done
	[ $# = 2 ] || [ ${#cases[@]} != 0 ] || return 0
	CASES=${cases[*]} run_test_program python3 "$TOOL_TESTS/$1.py" "$NTKLOG" \
		"$OUT/build/$2/package"
}

run_test "python: builds without a warning" make_package tool "-O2 -g -Werror"
run_test "python: builds with ASan" make_package python-asan \
	"-O1 -g -fsanitize=address -fno-sanitize-recover"
run_test "python: the tool needs no headers of Python" make_without_python_headers -n all
run_test "python: make names the package with the headers" make_names_missing_package
run_cases test_python tool "$@"
run_cases test_python_pipes tool "$@"
[ $# != 0 ] || set -- Events Columns Damage
# The interpreter itself keeps memory until its end.
export LD_PRELOAD ASAN_OPTIONS=detect_leaks=0
LD_PRELOAD=$(gcc -print-file-name=libasan.so)
run_cases test_python python-asan "$@" |
	sed 's/ok - /ok - with ASan: /'
