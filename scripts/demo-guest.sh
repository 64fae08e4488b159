# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The part of the demo that runs in the virtual machine, as root. Each command
# is shown before it runs: what is seen is what one would type.

S=/sys/kernel/debug/ntklog/sessions/0
P=/sys/kernel/debug/ntklog/spinlock
L=/sys/kernel/debug/ntklog/locks
R=/sys/kernel/debug/ntklog/resource

title()
{
	printf '\n== %s\n' "$*"
}

# run COMMAND: show it as typed, and run it.
run()
{
	printf '# %s\n' "$1"
	eval "$1"
}

# workload SECONDS: a contended one, in threads, softirqs and hard interrupts.
workload()
{
	run "insmod ntklog_torture.ko duration=$1 locks=12 nest=10"
	sleep "$(($1 + 1))"
	run "dmesg | grep -o 'ntklog_torture: End.*' | tail -n 1"
	[ -e kallsyms ] || grep '\[ntklog_torture\]' /proc/kallsyms >kallsyms
	run "rmmod ntklog_torture"
}

# resources SECONDS: the same of executive resources; shows who owns them meanwhile.
resources()
{
	run "insmod ntklog_torture.ko torture_type=resource duration=$1 locks=12 nest=4 hold_us=50"
	sleep 0.5
	run "head -n 5 $L | cut -c 1-140"
	sleep "$1"
	run "dmesg | grep -o 'ntklog_torture: End.*' | tail -n 1"
	run "rmmod ntklog_torture"
}

title "Debian's own kernel, and the module"
run "uname -r"
run "insmod ntklog.ko"
title "The parameters of EVENT_TRACE_SPINLOCK_INFORMATION, by default"
run "cd $P && grep . spin_threshold *_rate hold_threshold; cd /host"

title "Those of EVENT_TRACE_EXECUTIVE_RESOURCE_INFORMATION, one of them tuned"
run "cd $R && echo 20 > release_sample_rate && grep . *_rate excessive_timeouts; cd /host"

title "A session of the NT Kernel Logger: spin locks and executive resources"
run "echo 64 > $S/buffers"
run "echo PERF_SPINLOCK PERF_SYNC_OBJECTS > $S/group_mask"
run "echo start > $S/state"
run "cat /sys/kernel/debug/ntklog/group_mask"
workload 2
spin_lock_events=$(awk '$1 == "total" { print $2 }' $S/stats)
resources 2
run "echo stop > $S/state"
run "cat $S/stats"
run "cat $S/header $S/cpu* > trace.etl"

title "One of 100 contended acquisitions instead of each"
run "echo 100 > $P/contention_sample_rate"
run "echo start > $S/state"
workload 2
run "echo stop > $S/state"
run "cat $S/stats"
echo "-> $(awk '$1 == "total" { print $2 }' $S/stats) events instead of $spin_lock_events"
run "cat $S/header $S/cpu* > trace-sampled.etl"

title "A write that is refused: the least acquire_sample_rate is 1000"
run "echo 999 > $P/acquire_sample_rate; echo \"exit status \$?\""
run "cat $P/acquire_sample_rate"

title "The tracepoints, with no session at all"
run "trace-cmd record -q -e ntklog:spinlock -o trace.dat sh -c 'insmod ntklog_torture.ko duration=1; sleep 2' 2>&1 | tail -n 2"
run "trace-cmd report trace.dat 2>/dev/null > trace.txt; sed -n 2,4p trace.txt"
rmmod ntklog_torture
run "trace-cmd record -q -e ntklog:resource -o resource.dat sh -c 'insmod ntklog_torture.ko torture_type=resource duration=1; sleep 2' 2>&1 | tail -n 2"
run "trace-cmd report resource.dat 2>/dev/null > resource.txt; sed -n 2,4p resource.txt"

rmmod ntklog_torture
rmmod ntklog
