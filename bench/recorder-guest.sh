# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The guest's part of recorder.sh: measure the instructions of ntklog record while it starts, while
# hardly any event is generated (idle), and while many are (busy). The guest's clock counts
# instructions. $1: duration of each measurement, in seconds.

S=/sys/kernel/debug/ntklog/sessions/7

# now: print the kernel's clock in ns.
now()
{
	awk '$1 == "now" { print $3 }' /proc/timer_list
}

# used: print the CPU time of the recorder in ns.
used()
{
	cut -d ' ' -f 1 "/proc/$recorder/schedstat"
}

# written: print the number of events that the session has written.
written()
{
	awk '$1 == "total" { print $3 }' $S/stats
}

# bench STATE SECONDS: measure a recording, after its start, for SECONDS.
bench()
{
	ntklog record -o /tmp/recorder.etl -e spinlock,resource,contextswap 2>/dev/null &
	recorder=$!
	# Wait until the recorder has read all symbols.
	sleep 3
	begin="$(now) $(used) $(written)"
	sleep "$2"
	echo "recorder $1 $begin $(now) $(used) $(written)"
	kill -INT $recorder
	wait $recorder
}

insmod ntklog.ko || exit 1
bench idle "$1"
insmod ntklog_torture.ko torture_type=resource locks=12 nest=4 hold_us=50 duration=0 || exit 1
bench busy "$1"
rmmod ntklog_torture
rmmod ntklog
