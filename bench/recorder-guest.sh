# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The guest's clock counts instructions. $1: duration of each measurement, in seconds.

S=/sys/kernel/debug/ntklog/sessions/7

print_kernel_time()
{
	awk '$1 == "now" { print $3 }' /proc/timer_list
}

# print_used_time: print the CPU time of the recorder in ns.
print_used_time()
{
	cut -d ' ' -f 1 "/proc/$recorder/schedstat"
}

print_written_events()
{
	awk '$1 == "total" { print $3 }' $S/stats
}

measure_state()
{
	ntklog record -o /tmp/recorder.etl -e spinlock,resource,contextswap 2>/dev/null &
	recorder=$!
	# Leave the recorder time to read the symbols.
	sleep 3
	begin="$(print_kernel_time) $(print_used_time) $(print_written_events)"
	sleep "$2"
	echo "recorder $1 $begin $(print_kernel_time) $(print_used_time) $(print_written_events)"
	kill -INT $recorder
	wait $recorder
}

insmod ntklog.ko || exit 1
measure_state idle "$1"
insmod ntklog_torture.ko torture_type=resource locks=12 nest=4 hold_us=50 duration=0 || exit 1
measure_state busy "$1"
rmmod ntklog_torture
rmmod ntklog
