# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Record the session of events.sh without trace-cmd, which takes minutes on slow emulated machines.

sh both.sh
check "records: torture in thread, softirq and hard interrupt" torture_has_succeeded
cat $S/header $S/cpu* >both.etl
cat $S/stats >both.stats
echo 1 >$P/contention_sample_rate
echo 16 >$S/buffers
