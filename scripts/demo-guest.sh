# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The part of the demo that runs in the virtual machine, as root. Each command
# is shown before it runs: what is seen is what one would type.

S=/sys/kernel/debug/ntklog/sessions/0
P=/sys/kernel/debug/ntklog/spinlock

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

title "Debian's own kernel, and the module"
run "uname -r"
run "insmod ntklog.ko"
title "The parameters of EVENT_TRACE_SPINLOCK_INFORMATION, by default"
run "cd $P && grep . spin_threshold *_rate hold_threshold; cd /host"

title "A session of the NT Kernel Logger"
run "echo 64 > $S/buffers"
run "echo start > $S/state"
run "cat /sys/kernel/debug/ntklog/group_mask"
workload 2
run "echo stop > $S/state"
run "cat $S/stats"
generated=$(awk '$1 == "total" { print $2 }' $S/stats)
run "cat $S/header $S/cpu* > trace.etl"

title "One of 100 contended acquisitions instead of each"
run "echo 100 > $P/contention_sample_rate"
run "echo start > $S/state"
workload 2
run "echo stop > $S/state"
run "cat $S/stats"
echo "-> $(awk '$1 == "total" { print $2 }' $S/stats) events instead of $generated"
run "cat $S/header $S/cpu* > trace-sampled.etl"

title "A write that is refused: the least acquire_sample_rate is 1000"
run "echo 999 > $P/acquire_sample_rate; echo \"exit status \$?\""
run "cat $P/acquire_sample_rate"

title "The tracepoint, with no session at all"
run "trace-cmd record -q -e ntklog:spinlock -o trace.dat sh -c 'insmod ntklog_torture.ko duration=1; sleep 2' 2>&1 | tail -n 2"
run "trace-cmd report trace.dat 2>/dev/null > trace.txt; sed -n 2,4p trace.txt"

rmmod ntklog_torture
rmmod ntklog
