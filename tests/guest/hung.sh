# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# A waiter for a resource sleeps without waking up in between, so khungtaskd reports it.

T=/proc/sys/kernel/hung_task_timeout_secs
check "hung: khungtaskd is enabled" [ -w $T ]
timeout_before=$(cat $T)
echo 2 >$T
dmesg -c >/dev/null
insmod ntklog_torture.ko torture_type=resource stall_ms=7000 locks=1 nest=1 threads=4 \
	softirqs=0 duration=0
check "hung: khungtaskd reports the waiting task" wait_for sh -c \
	"dmesg | grep -E 'INFO: task ntklog_torture.* blocked for more than'"
# The torture succeeds only if all operations have come after the stall.
sleep 10
rmmod ntklog_torture
check "hung: torture with a stall" torture_has_succeeded
dmesg >hung.dmesg
check "hung: the report's stack has the resource's function" grep ' ex_acquire_resource.*\[ntklog\]' hung.dmesg
check "hung: the kernel log has no other warning" sh -c "! grep -E 'BUG|WARNING|Oops|FAILURE' hung.dmesg"
echo "$timeout_before" >$T
dmesg -c >/dev/null
