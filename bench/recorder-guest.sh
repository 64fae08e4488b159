# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The part of the benchmark of the recorder that runs in the virtual machine, where time is
# the number of instructions: what ntklog record takes of them to begin, while nothing happens,
# and while much is recorded. $1: seconds of each.

S=/sys/kernel/debug/ntklog/sessions/7

# The kernel's clock, ns.
now()
{
	awk '$1 == "now" { print $3 }' /proc/timer_list
}

# What the recorder has run, ns.
used()
{
	cut -d ' ' -f 1 "/proc/$recorder/schedstat"
}

written()
{
	awk '$1 == "total" { print $3 }' $S/stats
}

# bench STATE SECONDS: of a recording that goes on.
bench()
{
	ntklog record -o /tmp/recorder.etl -e spinlock,resource,contextswap 2>/dev/null &
	recorder=$!
	# Its start, which reads all symbols, is none of its rate.
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
