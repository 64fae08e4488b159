# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Start, stop, flush: what is allowed when.

check "sessions: no header before the first start" sh -c "! cat $S/header"
check "sessions: stop of a stopped session" refused 'Invalid argument' $S/state stop
check "sessions: flush of a stopped session" refused 'Invalid argument' $S/flush 1
check "sessions: start" taken $S/state start started
check "sessions: PERF_SPINLOCK is on" is "$(cat $D/group_mask)" "0x20010000 PERF_SPINLOCK"
check "sessions: start of a started session" refused 'busy' $S/state start
check "sessions: buffer_size while started" refused 'busy' $S/buffer_size 8192
check "sessions: buffers while started" refused 'busy' $S/buffers 4
check "sessions: group_mask while started" refused 'busy' $S/group_mask PERF_SPINLOCK
check "sessions: cpu files are root's alone" mode_is $S/cpu0 400
check "sessions: stop" taken $S/state stop stopped
check "sessions: nothing is on" is "$(cat $D/group_mask)" 0x0

# An idle session's file: header and the buffer with the two rundown events.
cat $S/header $S/cpu* >idle.etl
cat $S/stats >idle.stats
