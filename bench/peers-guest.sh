# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The other tools are in a Debian of their own, root/. WHICH is "usual", or "stopping" for tools
# that may hang the machine. Prints for bench/peers.py:
#
#	begin NAME
#	workload NAME INSTRUCTIONS
#	said NAME WORDS		(a line of the tool's output)
#	failed NAME STATUS	(the tool ended before it was stopped)
#	end NAME

D=/sys/kernel/debug/ntklog
S=$D/sessions/0
SLEEPING="mutex_lock mutex_unlock down_read up_read down_write up_write"
LOCKS="_raw_spin_lock _raw_spin_lock_irq _raw_spin_lock_irqsave _raw_spin_lock_bh"
UNLOCKS="_raw_spin_unlock _raw_spin_unlock_irq _raw_spin_unlock_irqrestore _raw_spin_unlock_bh"

. ./workload.sh

measure_state()
{
	measure_pairs "$1" raw_spin_lock mutex down_read
	measure_workload "$1" 2
	dmesg -c | grep -o 'ntklog_bench: .*'
}

measure_without_tool()
{
	echo "begin $1"
	measure_state "$1"
	echo "end $1"
}

print_last_output()
{
	tr -s '\r\b' '\n' <"/tmp/said" | grep . | tail -n 12 | sed "s/^/said $1 /"
	rm -f /tmp/said
}

# A zombie has ended.
is_alive()
{
	grep -qs '^State:.[^ZX]' "/proc/$1/status"
}

# wait_until_ready PID: three times in a row the tool must sleep in a system call that waits for
# time or events. A fixed delay does not do, because the guest's clock counts instructions and jumps
# while the CPU is idle.
wait_until_ready()
{
	ready=0
	turn=0
	while [ $turn -lt 300 ]; do
		is_alive "$1" || return
		case $(cat "/proc/$1/wchan" 2>/dev/null) in
		*poll* | *select* | *nanosleep* | do_wait* | *sigtimedwait* | *sigsuspend*)
			ready=$((ready + 1))
			[ $ready -lt 3 ] || return
			;;
		*)
			ready=0
			;;
		esac
		sleep 1
		turn=$((turn + 1))
	done
}

# As Ctrl-C does; terminate or kill the tool if it does not end.
stop_tool()
{
	for signal in INT TERM KILL; do
		kill -$signal "$1"
		turn=0
		while is_alive "$1" && [ $turn -lt 120 ]; do
			sleep 1
			turn=$((turn + 1))
		done
		is_alive "$1" || break
	done
	wait "$1"
}

# measure_peer NAME COMMAND...
measure_peer()
{
	name=$1
	shift
	echo "begin $name"
	chroot root "$@" >/tmp/said 2>&1 &
	tool=$!
	wait_until_ready $tool
	if is_alive $tool; then
		measure_state "$name"
		stop_tool $tool
	else
		wait $tool
		echo "failed $name $?"
	fi
	print_last_output "$name"
	rm -f /tmp/peer.dat* /tmp/perf.data*
	echo "end $name"
}

# measure_fprobe NAME EXIT FUNCTION...: EXIT 1: also the return of the functions.
measure_fprobe()
{
	name=$1
	exit=$2
	shift 2
	echo "begin $name"
	if insmod empty_fprobe.ko functions="$(echo "$@" | tr ' ' ,)" exit="$exit" 2>/tmp/said; then
		measure_state "$name"
		rmmod empty_fprobe
		dmesg -c | grep -o 'empty_fprobe: .*' >/tmp/said
	else
		echo "failed $name $?"
	fi
	print_last_output "$name"
	echo "end $name"
}

# measure_ntklog NAME MODE GROUPS
measure_ntklog()
{
	echo "begin $1"
	echo "$2" >$D/linux_mode
	echo "$3" >$S/group_mask
	echo start >$S/state
	measure_state "$1"
	echo stop >$S/state
	echo "end $1"
}

# print_hold_script ACQUIRE RELEASE: a bpftrace script. With probes at the entry of the acquiring
# functions, these include the wait.
print_hold_script()
{
	echo "$1 { @at[arg0] = nsecs; }
		$2 /@at[arg0]/ { @held = hist(nsecs - @at[arg0]); delete(@at[arg0]); }"
}

print_probes()
{
	kind=$1
	comma=
	shift
	for function; do
		printf '%s%s:%s' "$comma" "$kind" "$function"
		comma=,
	done
}

for dir in proc sys dev tmp; do
	mount --rbind /$dir root/$dir || exit 1
done
export TMPDIR=/tmp HOME=/tmp
insmod ntklog.ko || exit 1
echo 256 >$S/buffers
run_workload
measure_without_tool plain

if [ "$WHICH" = usual ]; then
	spin_groups="PERF_LINUX_SPINLOCK PERF_LINUX_RWLOCK"
	measure_ntklog ntklog-full full "$spin_groups"
	measure_ntklog ntklog-sampled sampled "$spin_groups"
	measure_ntklog ntklog-waits waits "$spin_groups"
	measure_ntklog ntklog-sleeping full "PERF_LINUX_MUTEX PERF_LINUX_RWSEM PERF_LINUX_SEMAPHORE
		PERF_LINUX_RT_MUTEX PERF_LINUX_PERCPU_RWSEM PERF_LINUX_WW_MUTEX"
	measure_peer trace-cmd-function-spin trace-cmd record -o /tmp/peer.dat -p function \
		-l '_raw_spin_*'
	# shellcheck disable=SC2046,SC2086 # words
	measure_peer trace-cmd-function-sleeping trace-cmd record -o /tmp/peer.dat -p function \
		$(printf -- '-l %s ' $SLEEPING)
	measure_peer trace-cmd-contention trace-cmd record -o /tmp/peer.dat \
		-e lock:contention_begin -e lock:contention_end
	measure_peer perf-contention perf record -a -o /tmp/perf.data -e lock:contention_begin \
		-e lock:contention_end
	measure_peer perf-lock-record perf lock record -a -o /tmp/perf.data
	measure_peer perf-lock-contention-bpf perf lock contention -a -b
	# shellcheck disable=SC2086 # words
	measure_peer bpftrace-kprobe-spin bpftrace -e \
		"$(print_hold_script "$(print_probes kprobe $LOCKS)" \
			"$(print_probes kprobe $UNLOCKS)")"
	measure_peer bpftrace-kprobe-sleeping bpftrace -e \
		"$(print_hold_script "$(print_probes kprobe mutex_lock down_write)" \
			"$(print_probes kprobe mutex_unlock up_write)")"
	measure_peer klockstat klockstat-libbpf
	# shellcheck disable=SC2086
	measure_fprobe fprobe-entry-spin 0 $LOCKS $UNLOCKS
	# shellcheck disable=SC2086
	measure_fprobe fprobe-exit-spin 1 $LOCKS $UNLOCKS
	# shellcheck disable=SC2086
	measure_fprobe fprobe-entry-sleeping 0 $SLEEPING
	# shellcheck disable=SC2086
	measure_fprobe fprobe-exit-sleeping 1 $SLEEPING
	echo "begin lock_stat"
	if echo 1 >/proc/sys/kernel/lock_stat && [ -e /proc/lock_stat ]; then
		measure_state lock_stat
	else
		echo "failed lock_stat 1"
	fi 2>/tmp/said
	print_last_output lock_stat
	echo "end lock_stat"
	measure_without_tool restored
else
	measure_peer bpftrace-fentry-sleeping bpftrace -e \
		'kretfunc:mutex_lock { @at[args->lock] = nsecs; }
		kfunc:mutex_unlock /@at[args->lock]/ {
			@held = hist(nsecs - @at[args->lock]); delete(@at[args->lock]); }'
	measure_without_tool restored
	measure_peer bpftrace-fentry-spin bpftrace -e \
		'kretfunc:_raw_spin_lock { @at[args->lock] = nsecs; }
		kfunc:_raw_spin_unlock /@at[args->lock]/ {
			@held = hist(nsecs - @at[args->lock]); delete(@at[args->lock]); }'
fi
rmmod ntklog
