#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The model of the queued spin lock, and variants of it that are broken.

. "$(dirname "$0")/../lib.sh"

model=$TOP/kunit/model/queued_spin_lock.pml
result "model: the queued spin lock keeps its promises" \
	"$TOP/scripts/check/model.sh" "$model"
for broken in 1 2 3 4; do
	result "model: broken variant $broken does not" sh -c \
		"$TOP/scripts/check/model.sh $model $broken | grep 'errors: 1'"
done
