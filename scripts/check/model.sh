#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# model.sh FILE.pml [BROKEN]: verify a Promela model with spin, under fair scheduling. BROKEN, a
# number, selects a variant with a defect.

. "$(dirname "$0")/../lib.sh"

model=$(realpath "${1:?usage: model.sh FILE.pml [BROKEN]}")
broken=${2:-0}
install_groups model
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# verify_model COMPILE-OPTIONS -- RUN-OPTIONS: options of spin's verifier pan, which must print
# "errors: 0" and search to the end.
verify_model()
{
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	gcc -O2 -w "${options[@]}" -o pan pan.c
	./pan -m1000000 "$@" >pan.log 2>&1
	grep -E 'errors:|states, stored|error: max|pan:' pan.log
	grep -q 'errors: 0' pan.log && ! grep -q 'max search depth' pan.log
}

spin -DBROKEN="$broken" -a "$model" >spin.log || { cat spin.log; exit 1; }
# The first run checks assertions and deadlocks, the second one the model's claim about progress.
verify_model -DNOCLAIM -DSAFETY --
verify_model -DNFAIR=3 -- -a -f
