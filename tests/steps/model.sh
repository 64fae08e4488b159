#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Verify the Promela model of the queued spin lock with spin, and test that spin finds the error in
# each broken variant of it.

. "$(dirname "$0")/../lib.sh"

model=$TOP/kunit/model/queued_spin_lock.pml
run_test "model: the queued spin lock keeps its promises" \
	"$TOP/scripts/check/model.sh" "$model"
for broken in 1 2 3 4; do
	run_test "model: broken variant $broken does not" sh -c \
		"$TOP/scripts/check/model.sh $model $broken | grep 'errors: 1'"
done
