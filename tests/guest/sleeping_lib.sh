# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2034

SLEEPING="PERF_LINUX_MUTEX PERF_LINUX_RWSEM PERF_LINUX_SEMAPHORE PERF_LINUX_RT_MUTEX
	PERF_LINUX_PERCPU_RWSEM PERF_LINUX_WW_MUTEX"
SLEEPING_KINDS="mutex rwsem semaphore rt_mutex percpu_rwsem ww_mutex"
SLEEPING_FUNCTIONS=34

count_hooked_functions()
{
	grep -cE 'trampoline_(3args_)?(acquire|release)_|trampoline_(downgrade|end)_rwsem|trampoline_[a-z_]*trylock' \
		$T/enabled_functions || true
}

sleeping_hooks_are_on()
{
	cat $D/linux
	for kind in $SLEEPING_KINDS; do
		grep -q "^$kind: on" $D/linux || return 1
	done
}

# sleeping_hooks_are_off: no kind is on, no function is hooked, and no lock is recorded as held.
sleeping_hooks_are_off()
{
	cat $D/linux
	for kind in $SLEEPING_KINDS; do
		! grep -q "^$kind: on" $D/linux || return 1
	done
	is "$(count_hooked_functions)" 0 && is "$(print_sleeping_number owned)" 0
}

# print_expected_held: print the lines that the file held must have while sleeping_locks block=1
# runs.
print_expected_held()
{
	for kind in mutex percpu_rwsem rt_mutex; do
		printf '%s exclusive held\n%s exclusive waiting\n' $kind $kind
	done
	printf 'rwsem exclusive held\nrwsem shared waiting\n'
	for kind in semaphore ww_mutex; do
		printf '%s exclusive held\n%s exclusive waiting\n' $kind $kind
	done
}

# open_holds_of_held FILE: print address, task, kind and state of the locks of sleeping_locks.
open_holds_of_held()
{
	sed -n -e 's/ waiting / waits /' -e '/^0x.*\[sleeping_locks\]/p' "$1" |
		while read -r address kind mode state thread _; do
			echo "$address $thread $kind ${state}_$mode"
		done | sort
}

# open_holds_of_dump FILE: print the same from a dump on standard input, for the locks that are in
# FILE.
open_holds_of_dump()
{
	open_holds_of_held "$1" | cut -d ' ' -f 1 | sort -u >/tmp/held_addresses
	sed -n 's/.* Lock=\(0x[0-9a-f]*\) .* ThreadId=\([0-9]*\) .*Kind=\([a-z_]*\) State=\([a-z_]*\) .*/\1 \2 \3 \4/p' |
		grep -F -f /tmp/held_addresses | sort
}

# held_has_stack: test that the file held has the stack of the holder. Kernel 6.1 does not let
# modules read the stacks of other tasks, so there must be none.
held_has_stack()
{
	case $(uname -r) in
	6.1.*) ! grep "^$(printf '\t')" held.txt ;;
	*) grep "^$(printf '\t')own_all+" held.txt ;;
	esac
}

# reading_held_takes_no_lock: test, by the function graph tracer, that the function that prints the
# file held calls none that acquires a lock. Its caller does: that is the lock of the open file. If
# the reader is preempted, it seems to acquire the run queue's lock, so it has several attempts.
reading_held_takes_no_lock()
{
	echo '_raw_*lock* mutex_*lock* rt_mutex_*lock* down* seq_read_iter ntklog_held_show' \
		>$T/set_ftrace_filter
	echo seq_read_iter >$T/set_graph_function
	echo function_graph >$T/current_tracer
	echo 0 >$T/options/funcgraph-irqs
	for _ in 1 2 3 4 5; do
		echo >$T/trace
		echo 1 >$T/tracing_on
		cat $D/held >/dev/null
		echo 0 >$T/tracing_on
		cat $T/trace >/tmp/graph
		! grep -qE ' ntklog_held_show( \[ntklog\])?\(\);' /tmp/graph || break
	done
	echo nop >$T/current_tracer
	echo 1 >$T/tracing_on
	echo >$T/set_graph_function
	echo >$T/set_ftrace_filter
	cat /tmp/graph
	grep -q ' mutex_lock();' /tmp/graph &&
		grep -qE ' ntklog_held_show( \[ntklog\])?\(\);' /tmp/graph
}

print_probed_tracepoints()
{
	lines=$(dmesg | wc -l)
	insmod probed_tracepoints.ko
	rmmod probed_tracepoints
	dmesg | tail -n +$((lines + 1)) | sed -n 's/.*probed_tracepoints: //p'
}

task_records_are_gone()
{
	cat $D/linux
	grep -q '^task records: 0, spare: 0$' $D/linux
}

# print_sleeping_number NAME: print the number NAME of the line "sleeping locks" of the file linux.
print_sleeping_number()
{
	sed -n "s/^sleeping locks\(.*,\)\{0,1\} $1: \([0-9]*\).*/\2/p" $D/linux
}

# sleeping_counts_are_balanced: test that each acquisition and each wait was counted as ended once.
sleeping_counts_are_balanced()
{
	cat $D/linux $D/counters
	forgotten=$(print_sleeping_number forgotten)
	is "$(print_counter_sum SleepingAcquired)" $(($(print_counter_sum SleepingReleased) + $(print_counter_sum SleepingUntracked) +
		$(print_counter_sum SleepingGivenUp) + $(print_counter_sum SleepingAgain) + forgotten)) &&
	is "$(print_counter_sum SleepingWaits)" $(($(print_counter_sum SleepingWaited) + $(print_counter_sum SleepingGivenUp) +
		$(print_sleeping_number "while waited for")))
}
