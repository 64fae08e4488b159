# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Start, stop and flush: the states in which each is allowed.

check "sessions: no header before the first start" sh -c "! cat $S/header"
check "sessions: no buffers before the first start" sh -c "! cat $S/cpu0"
check "sessions: stop of a stopped session is refused" write_is_refused 'Invalid argument' $S/state stop
check "sessions: flush of a stopped session is refused" write_is_refused 'Invalid argument' $S/flush 1
check "sessions: start of a stopped session succeeds" write_succeeds $S/state start started
check "sessions: PERF_SPINLOCK is enabled" is "$(cat $D/group_mask)" "0x20010000 PERF_SPINLOCK"
check "sessions: start of a started session is refused" write_is_refused 'busy' $S/state start
check "sessions: a started session refuses buffer_size" write_is_refused 'busy' $S/buffer_size 8192
check "sessions: a started session refuses buffers" write_is_refused 'busy' $S/buffers 4
check "sessions: a started session refuses a name" write_is_refused 'busy' $S/name other
check "sessions: a started session refuses a mode" write_is_refused 'busy' $S/mode buffering
check "sessions: a sequential session refuses a snapshot" sh -c "! cat $S/snapshot"
check "sessions: only root can read the cpu files" file_mode_is $S/cpu0 400
check "sessions: stop of a started session succeeds" write_succeeds $S/state stop stopped
check "sessions: no group is enabled after stop" is "$(cat $D/group_mask)" 0x0

# Save the file of an idle session: the header, and a buffer with two rundown events (the parameters
# at start and stop).
cat $S/header $S/cpu* >idle.etl
cat $S/stats >idle.stats

echo start >$S/state
check "sessions: a started session takes + in its group mask" write_succeeds $S/group_mask +PERF_SYNC_OBJECTS \
	"0x20010000 PERF_SPINLOCK
0x20020000 PERF_SYNC_OBJECTS"
check "sessions: the group mask follows a running session's" is "$(cat $D/group_mask)" "0x20010000 PERF_SPINLOCK
0x20020000 PERF_SYNC_OBJECTS"
check "sessions: a started session takes - in its group mask" write_succeeds $S/group_mask -PERF_SYNC_OBJECTS \
	"0x20010000 PERF_SPINLOCK"
echo stop >$S/state
cat $S/header $S/cpu* >changed.etl

# A start with more buffers than fit into memory fails, and keeps the unread events of the last run.
echo start >$S/state
echo stop >$S/state
cat $S/stats >/tmp/unread
echo 1048576 >$S/buffer_size
echo 1024 >$S/buffers
check "sessions: start without memory for the buffers is refused" write_is_refused 'Cannot allocate memory' $S/state start
check "sessions: start without memory: the session is stopped" is "$(cat $S/state)" stopped
check "sessions: start without memory: the unread events are kept" cmp $S/stats /tmp/unread
check "sessions: start without memory: the unread events can be read" is "$(cat $S/header $S/cpu* | wc -c)" 131072
echo 65536 >$S/buffer_size
echo 16 >$S/buffers
