# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The guest's part of recorder.sh. The guest's clock counts instructions. The first argument is:
#
#	rate SECONDS	measure the tool while nothing happens, and while NT's locks write events
#	workload	measure linux-workload.sh with a recording and without, on one CPU

. ./workload.sh

D=/sys/kernel/debug/ntklog
S=$D/sessions/7

# print_used_time: print the CPU time of the recorder in ns.
print_used_time()
{
	cut -d ' ' -f 1 "/proc/$recorder/schedstat"
}

print_written_events()
{
	awk '$1 == "total" { print $3 }' $S/stats
}

# begin_recording OPTION...
begin_recording()
{
	ntklog record -o /tmp/recorder.etl "$@" 2>/dev/null &
	recorder=$!
	# The recorder reads the symbols before the start, and writes names after it.
	until grep -q started $S/state; do
		sleep 1
	done
	sleep 1
}

end_recording()
{
	kill -INT $recorder
	wait $recorder
}

# measure_rate STATE SECONDS
measure_rate()
{
	begin_recording -e spinlock,resource,contextswap
	begin="$(print_kernel_time) $(print_used_time) $(print_written_events)"
	sleep "$2"
	echo "recorder $1 $begin $(print_kernel_time) $(print_used_time) $(print_written_events)"
	end_recording
}

# measure_workload STATE OPTION...: the hooks of sleeping locks are detached a second after the end.
measure_workload()
{
	state=$1
	shift
	turn=0
	while [ $turn -lt 4 ]; do
		begin_recording "$@"
		begin="$(print_used_time) $(print_written_events)"
		measure_workload "$state" 1
		echo "recording $state $begin $(print_used_time) $(print_written_events)"
		end_recording
		cat $D/linux >/dev/null
		sleep 2
		measure_workload "without_$state" 1
		turn=$((turn + 1))
	done
}

insmod ntklog.ko || exit 1
case $1 in
rate)
	measure_rate idle "$2"
	insmod ntklog_torture.ko torture_type=resource locks=12 nest=4 hold_us=50 duration=0 ||
		exit 1
	measure_rate busy "$2"
	rmmod ntklog_torture
	;;
workload)
	# The first session makes files, which the workload lists.
	begin_recording
	run_workload
	end_recording
	sleep 2
	measure_workload default
	measure_workload spinning -e linux_spinlock,linux_rwlock
	kinds=linux_mutex,linux_rwsem,linux_rt_mutex
	measure_workload sleeping -e $kinds,linux_semaphore,linux_percpu_rwsem,linux_ww_mutex
	measure_workload sampled --mode sampled
	;;
esac
rmmod ntklog
