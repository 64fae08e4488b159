#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each litmus test has a pair of accesses whose order the code relies on; the wrong result must
# never occur. Its variants (NAME+broken*.litmus) lack the ordering; there it must occur sometimes.

. "$(dirname "$0")/../lib.sh"

herd=$(output_of herd)

# herd_verdict_is TEST Never|Sometimes
herd_verdict_is()
{
	local said
	# shellcheck disable=SC2086 # words
	said=$($herd "$1" 2>&1)
	printf '%s\n' "$said"
	grep -q "^Observation $(basename "$1" .litmus) $2 " <<<"$said"
}

for litmus in "$TESTS"/litmus/*.litmus; do
	name=$(basename "$litmus" .litmus)
	wanted=$(sed -n 's/^ \* Result: //p' "$litmus")
	run_test "litmus: $name: $wanted" herd_verdict_is "$litmus" "$wanted"
done
# A test whose wrong result cannot occur at all proves nothing.
each_test_has_a_broken_variant()
{
	local litmus
	for litmus in "$TESTS"/litmus/*.litmus; do
		[[ $litmus == *+* ]] || compgen -G "${litmus%.litmus}+broken*.litmus" ||
			{ echo "$litmus has no broken variant"; return 1; }
		[[ $litmus == *+* ]] && wanted=Sometimes || wanted=Never
		grep -q "^ \* Result: $wanted\$" "$litmus" ||
			{ echo "$litmus: not $wanted"; return 1; }
	done
}
run_test "litmus: each test has a variant that is broken" each_test_has_a_broken_variant
