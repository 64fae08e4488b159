#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# herd7 tries all executions that the kernel's memory model allows of each litmus test, one for each
# pair of ordered accesses. A wrong result never occurs, and occurs in the variant whose order is
# broken. Each test says which of the two it is.

. "$(dirname "$0")/../lib.sh"

herd=$(known herd)

# verdict TEST WANTED: test that herd7 comes to a verdict.
verdict()
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
	result "litmus: $name: $wanted" verdict "$litmus" "$wanted"
done
# every_order_is_broken: test that each litmus test has a variant that fails. Without it a test
# proves nothing.
every_order_is_broken()
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
result "litmus: each has a variant that is broken" every_order_is_broken
