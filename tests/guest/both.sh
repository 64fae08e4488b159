# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Record a session of a contended workload, and the counters before and after it, in the files
# both.*.

. ./lib.sh

echo 100 >$S/buffers
echo 20 >$P/contention_sample_rate
cat $D/counters >both.before
echo start >$S/state
run_torture_until "counter_has_grown SpinLockContentionCount 5000" locks=12 nest=10
echo stop >$S/state
cat $D/counters >both.after
