# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Unload the module while it is in use: the unload is refused or safe.

check "unload: refused while the torture uses it" sh -c \
	'insmod ntklog_torture.ko duration=0 && ! rmmod ntklog && rmmod ntklog_torture'
echo start >$S/state
for file in cpu0 stats header; do
	check "unload: refused while $file is open" sh -c \
		"exec 5<$S/$file && ! rmmod ntklog"
done
check "unload: refused while a parameter is open" sh -c \
	"exec 5<$P/spin_threshold && ! rmmod ntklog"
check "unload: succeeds while a session runs" rmmod ntklog
check "unload: unloading removes the files" [ ! -e $D ]

check "unload: loading after unloading succeeds" insmod ntklog.ko
echo 1 >/sys/kernel/tracing/events/ntklog/spinlock/enable
check "unload: unloading with the tracepoint enabled succeeds or is refused" sh -c 'rmmod ntklog || true'
[ ! -e /sys/kernel/tracing/events/ntklog/spinlock/enable ] ||
	echo 0 >/sys/kernel/tracing/events/ntklog/spinlock/enable
grep -q '^ntklog ' /proc/modules || insmod ntklog.ko
check "unload: a session works after loading again" sh -c ". ./lib.sh
	echo 0 >$S/flush_timer && echo start >$S/state && echo stop >$S/state &&
	[ \$(cat $S/header $S/cpu* | wc -c) = 131072 ]"
# make_task_records: let living tasks acquire mutexes while a session records mutexes, so that they
# get records.
make_task_records()
{
	echo PERF_LINUX_MUTEX >$S/group_mask
	echo start >$S/state
	cat /proc/modules | wc -l >modules
	echo stop >$S/state
}

insmod ntklog_torture.ko duration=0
insmod symbol_user.ko
make_task_records
rmmod ntklog_torture
check "unload: records stay for a user by symbol_get when the last other user goes" \
	grep '^task records: [1-9]' $D/linux
rmmod symbol_user
rmmod ntklog
insmod ntklog.ko
insmod symbol_user.ko
check "unload: refused while a module has functions by symbol_get" sh -c '! rmmod ntklog'
check "unload: a task that used such a function and exited has no record" grep '^task records: 0,' $D/linux
make_task_records
check "unload: records of living tasks stay for the user of such a function" \
	grep '^task records: [1-9]' $D/linux
rmmod symbol_user
rounds=0
while [ $rounds -lt 5 ]; do
	rmmod ntklog && insmod ntklog.ko && echo start >$S/state || break
	rounds=$((rounds + 1))
done
check "unload: unloading succeeds five times with a session" is $rounds 5
rmmod ntklog

torture_is_refused()
{
	before=$(dmesg | grep -c ntklog_torture:)
	! insmod ntklog_torture.ko "$@" && [ "$(dmesg | grep -c ntklog_torture:)" -gt "$before" ]
}
insmod ntklog.ko
check "torture: unknown type is refused" torture_is_refused torture_type=none
check "torture: no users are refused" torture_is_refused threads=0 softirqs=0 hardirqs=0
check "torture: a nest of more than all locks is refused" torture_is_refused locks=4 nest=5
check "torture: 17 locks are refused" torture_is_refused locks=17
check "torture: a negative hold time is refused" torture_is_refused hold_us=-1
rmmod ntklog
check "unload: the kernel log has no warning" kernel_is_silent
