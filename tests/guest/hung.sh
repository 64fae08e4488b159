# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Who waits for a resource for long sleeps in one piece: what the kernel has against
# tasks that hang sees it, as it would with a mutex.

T=/proc/sys/kernel/hung_task_timeout_secs
check "hung: the kernel looks for tasks that hang" [ -w $T ]
timeout_before=$(cat $T)
echo 2 >$T
dmesg -c >/dev/null
insmod ntklog_torture.ko torture_type=resource stall_ms=7000 locks=1 nest=1 threads=4 \
	softirqs=0 duration=9
sleep 9.5
rmmod ntklog_torture
check "hung: torture with a stall" succeeded
dmesg >hung.dmesg
check "hung: the kernel tells who waits" \
	grep -E 'INFO: task ntklog_torture.* blocked for more than' hung.dmesg
check "hung: and for what" grep ' ex_acquire_resource.*\[ntklog\]' hung.dmesg
check "hung: nothing else is wrong" sh -c "! grep -E 'BUG|WARNING|Oops|FAILURE' hung.dmesg"
echo "$timeout_before" >$T
dmesg -c >/dev/null
