# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The part of the demo that runs in the virtual machine, as root.

D=/sys/kernel/debug/ntklog
S=$D/sessions/0
P=$D/spinlock

print_title()
{
	printf '\n== %s\n' "$*"
}

print_and_run()
{
	printf '# %s\n' "$1"
	eval "$1"
}

# run_workload SECONDS
run_workload()
{
	print_and_run "insmod ntklog_torture.ko duration=$1 locks=12 nest=10"
	sleep "$(($1 + 1))"
	print_and_run "dmesg | grep -o 'ntklog_torture: End.*' | tail -n 1"
	print_and_run "rmmod ntklog_torture"
}

print_title "Debian's own kernel, and the module"
print_and_run "uname -r"
print_and_run "insmod ntklog.ko"
print_title "Linux' own locks: every spin lock and rwlock of this kernel, held and waited for"
cat >load.sh <<'END'
for worker in 1 2; do
	(for round in 1 2 3; do
		find /sys /proc/sys >/dev/null 2>&1
		dd if=/dev/zero of=/tmp/load.$worker bs=64k count=64 2>/dev/null
	done) &
done
wait
END
print_and_run "cat load.sh"
print_and_run "ntklog record -o linux.etl -e linux_spinlock,linux_rwlock -- sh load.sh"
print_and_run "ntklog report linux.etl --top 6 --table locks --table callers"
print_and_run "cat $D/linux"

print_title "Those that sleep: who held the lock while others waited, and why"
cat >crowd.sh <<'END'
for worker in 1 2 3 4; do
	dd if=/dev/zero bs=64k count=200 2>/dev/null >>/tmp/crowd.log &
done
wait
rm /tmp/crowd.log
END
print_and_run "cat crowd.sh"
print_and_run "ntklog set resource 100 1 1"
print_and_run "ntklog record -o sleeping.etl --stacks -e linux_mutex,linux_rwsem,contextswap -- sh crowd.sh"
print_and_run "ntklog report sleeping.etl --top 6"
print_and_run "trace-cmd record -q -e ntklog:linux_resource -o sleeping.dat sh load.sh 2>&1 | tail -n 2"
print_and_run "trace-cmd report -q sleeping.dat 2>/dev/null | sed -n 's/.* \\(kind=[a-z_]*\\) .*\\(caller=[a-z_0-9]*\\).*/\\1 \\2/p' | sort | uniq -c | sort -rn | head -n 8"
print_and_run "ntklog set resource 1000 1 1"

print_title "How they were come to: the kernel's stack of each event, summed up by waits"
print_and_run "ntklog record --stacks -o linux-stacks.etl -- sh load.sh"
print_and_run "ntklog report linux-stacks.etl --stacks --top 2 | cut -c 1-150"

print_title "The parameters of EVENT_TRACE_SPINLOCK_INFORMATION, by default"
print_and_run "cd $P && grep . spin_threshold *_rate hold_threshold; cd /host"

print_title "What the module offers"
print_and_run "ntklog list"

print_title "A session of the NT Kernel Logger: spin locks, executive resources, context swaps"
print_and_run "ntklog set resource 20 1 1"
cat >workload.sh <<'END'
insmod ntklog_torture.ko duration=2 locks=12 nest=10
sleep 3
rmmod ntklog_torture
insmod ntklog_torture.ko torture_type=resource duration=2 locks=12 nest=4 hold_us=50
sleep 0.5
head -n 5 /sys/kernel/debug/ntklog/locks | cut -c 1-140
sleep 2.5
rmmod ntklog_torture
END
print_and_run "cat workload.sh"
print_and_run "ntklog record -o trace.etl -e spinlock,resource,contextswap -- sh workload.sh"
print_and_run "dmesg | grep -o 'ntklog_torture: End.*'"
print_and_run "ntklog status 7"

print_title "The locks that are waited for most, now"
insmod ntklog_torture.ko duration=4 locks=6 nest=4
print_and_run "ntklog top --once -n 6"
sleep 2
rmmod ntklog_torture

print_title "One of 100 contended acquisitions instead of each"
print_and_run "ntklog set spinlock 1 1000 100"
print_and_run "ntklog record -o trace-sampled.etl -e spinlock -- sh -c 'insmod ntklog_torture.ko duration=2 locks=12 nest=10; sleep 3; rmmod ntklog_torture'"

print_title "The same with debugfs alone"
print_and_run "echo start > $S/state"
run_workload 1
print_and_run "echo stop > $S/state"
print_and_run "cat $S/stats"
print_and_run "cat $S/header $S/cpu* > trace-debugfs.etl"

print_title "A write that is refused: the least acquire_sample_rate is 1000"
print_and_run "echo 999 > $P/acquire_sample_rate; echo \"exit status \$?\""
print_and_run "ntklog set spinlock 1 999 1; echo \"exit status \$?\""
print_and_run "cat $P/acquire_sample_rate"

print_title "The tracepoints, with no session at all"
print_and_run "trace-cmd record -q -e ntklog:spinlock -o trace.dat sh -c 'insmod ntklog_torture.ko duration=1; sleep 2' 2>&1 | tail -n 2"
print_and_run "trace-cmd report trace.dat 2>/dev/null > trace.txt; sed -n 2,4p trace.txt"
rmmod ntklog_torture
print_and_run "trace-cmd record -q -e ntklog:resource -o resource.dat sh -c 'insmod ntklog_torture.ko torture_type=resource duration=1; sleep 2' 2>&1 | tail -n 2"
print_and_run "trace-cmd report resource.dat 2>/dev/null > resource.txt; sed -n 2,4p resource.txt"

rmmod ntklog_torture
rmmod ntklog
