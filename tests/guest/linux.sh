# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Linux' own locks: a module that knows the truth, attaching and detaching under load, and what
# users do first. check_linux.py looks at what was written; linux_others.sh goes on.

. ./linux_lib.sh

insmod ntklog.ko buffers=64
cat $D/linux
if grep unavailable $D/linux; then
	echo "not ok - linux: this kernel's locks can be watched"
	exit 1
fi
check "linux: nothing is redirected while nobody wants it" is_off

echo "$LINUX" >$S/group_mask
check "linux: the groups have names" is "$(cat $S/group_mask)" "0xa0000001 PERF_LINUX_SPINLOCK
0xa0000002 PERF_LINUX_RWLOCK"
cat $D/counters >linux.before
echo start >$S/state
check "linux: a session redirects" is_on
check "linux: all $ALL functions have a direct call" is "$(redirected)" $ALL
check "linux: what is on are those groups alone" is "$(cat $D/group_mask)" \
	"0xa0000001 PERF_LINUX_SPINLOCK
0xa0000002 PERF_LINUX_RWLOCK"
check "linux: the module with the truth runs" insmod linux_locks.ko
rmmod linux_locks
sleep 1
echo stop >$S/state
cat $D/counters >linux.after
cat $S/header $S/cpu* >linux.etl
cat $S/stats >linux.stats
dmesg | sed -n 's/.*linux_locks: //p' >linux.truth
cat $D/linux
check "linux: the end of the session restores" is_off

# While NT's are tracked too, before and after.
echo PERF_SPINLOCK >$D/sessions/1/group_mask
echo start >$D/sessions/1/state
echo start >$S/state
echo stop >$D/sessions/1/state
check "linux: the end of another session leaves them on" is_on
echo stop >$S/state
check "linux: off again" is_off

load 10000
times=0
left=0
turns=$([ -e few ] && echo 2 || echo 4)
unmatched=$(sum Unmatched)
untracked=$(sum Untracked)
while [ $times -lt $turns ]; do
	echo start >$S/state
	usleep 100000
	echo stop >$S/state
	is_off >/dev/null || left=$((left + 1))
	times=$((times + 1))
done
check "linux: on and off some times under load leaves nothing behind" is $left 0
check "linux: each release had its acquisition" is "$(sum Unmatched)" "$unmatched"
check "linux: each acquisition had room" is "$(sum Untracked)" "$untracked"
cat $D/linux $D/counters
end_load
load 300000

# The tracepoint turns them on by itself, a moment later.
echo 1 >$T/events/ntklog/linux_spinlock/enable
check "linux: the tracepoint redirects" wait_for is_on
wait_for grep -q ' linux_spinlock: ' $T/trace
check "linux: the tracepoint tells callers as symbols" \
	grep -E ' linux_spinlock: .* caller=[a-z_].*acquire_mode=' $T/trace
echo 0 >$T/events/ntklog/linux_spinlock/enable
check "linux: the tracepoint's end restores" wait_for is_off

# What a user gets who says nothing.
check "linux: record takes them without being told" ntklog record --no-names \
	-o linux-default.etl -- find /sys/kernel /proc/sys -name none
ntklog report linux-default.etl --json >linux-default.json
check "linux: and all is off again" is_off
ntklog list >list.txt
check "linux: list has no trouble with them" \
	grep -E "linux_spinlock .* a sample of the releases of Linux' own spin locks\$" list.txt

# Unload while they are redirected.
echo 1 >$T/events/ntklog/linux_spinlock/enable
wait_for is_on
echo start >$S/state
check "linux: unloading restores" rmmod ntklog
check "linux: and nothing is left" is "$(redirected)" 0
check "linux: it loads without them" insmod ntklog.ko linux_locks=0
check "linux: and says so" grep 'spinlock: unavailable: linux_locks=0' $D/linux
ntklog list >list.txt
check "linux: list tells why not" grep 'linux_spinlock.*: unavailable: linux_locks=0' list.txt
rmmod ntklog
end_load
check "linux: the kernel has nothing to complain of" kernel_is_silent
dmesg >linux.dmesg
