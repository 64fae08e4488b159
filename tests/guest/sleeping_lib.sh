# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2034
#
# Functions of the scripts about Linux' sleeping locks, besides linux_lib.sh.

SLEEPING="PERF_LINUX_MUTEX PERF_LINUX_RWSEM PERF_LINUX_SEMAPHORE PERF_LINUX_RT_MUTEX
	PERF_LINUX_PERCPU_RWSEM PERF_LINUX_WW_MUTEX"
SLEEPING_KINDS="mutex rwsem semaphore rt_mutex percpu_rwsem ww_mutex"
# The functions that exist in a stock kernel.
SLEEPING_FUNCTIONS=34

# Print the number of kernel functions that are hooked or redirected.
count_hooked_functions()
{
	grep -cE 'trampoline_(2_)?(acquire|release)_|trampoline_(downgrade|end)_rwsem|trampoline_[a-z_]*trylock' \
		$T/enabled_functions || true
}

sleeping_is_on()
{
	cat $D/linux
	for kind in $SLEEPING_KINDS; do
		grep -q "^$kind: on" $D/linux || return 1
	done
}

sleeping_is_off()
{
	cat $D/linux
	for kind in $SLEEPING_KINDS; do
		! grep -q "^$kind: on" $D/linux || return 1
	done
	is "$(count_hooked_functions)" 0 && is "$(sleeping_now owned)" 0
}

# Lines of the file held about the locks of sleeping_locks block=1.
held_while_blocked()
{
	for kind in mutex percpu_rwsem rt_mutex; do
		printf '%s exclusive held\n%s exclusive waiting\n' $kind $kind
	done
	printf 'rwsem exclusive held\nrwsem shared waiting\n'
	for kind in semaphore ww_mutex; do
		printf '%s exclusive held\n%s exclusive waiting\n' $kind $kind
	done
}

# Lines of the file held about the locks of sleeping_locks: address, task, kind and state.
held_as_open_holds()
{
	sed -n -e 's/ waiting / waits /' -e '/^0x.*\[sleeping_locks\]/p' "$1" |
		while read -r address kind mode state thread _; do
			echo "$address $thread $kind ${state}_$mode"
		done | sort
}

# The same of the output of dump, for the locks that the file held has.
open_holds_of()
{
	held_as_open_holds "$1" | cut -d ' ' -f 1 | sort -u >/tmp/held_addresses
	sed -n 's/.* Lock=\(0x[0-9a-f]*\) .* ThreadId=\([0-9]*\) .*Kind=\([a-z_]*\) State=\([a-z_]*\) .*/\1 \2 \3 \4/p' |
		grep -F -f /tmp/held_addresses | sort
}

# 6.1 has no stacks of other tasks for modules.
held_has_stack()
{
	case $(uname -r) in
	6.1.*) ! grep "^$(printf '\t')" held.txt ;;
	*) grep "^$(printf '\t')own_all+" held.txt ;;
	esac
}

# Tracepoints of the kernel that have a probe, ours or another's.
probed()
{
	lines=$(dmesg | wc -l)
	insmod probed_tracepoints.ko
	rmmod probed_tracepoints
	dmesg | tail -n +$((lines + 1)) | sed -n 's/.*probed_tracepoints: //p'
}

# Succeed if there are no records of tasks, in use or spare.
no_task_records()
{
	cat $D/linux
	grep -q '^task records: 0, spare: 0$' $D/linux
}

# sleeping_now owned|"waited for"|forgotten: print the number over all tasks.
sleeping_now()
{
	sed -n "s/^sleeping locks\(.*,\)\{0,1\} $1: \([0-9]*\).*/\2/p" $D/linux
}

# Each acquisition and each wait has been counted as ended once, and none is in progress.
sleeping_balanced()
{
	cat $D/linux $D/counters
	forgotten=$(sleeping_now forgotten)
	is "$(sum SleepingAcquired)" $(($(sum SleepingReleased) + $(sum SleepingUntracked) +
		$(sum SleepingGivenUp) + $(sum SleepingAgain) + forgotten)) &&
	is "$(sum SleepingWaits)" $(($(sum SleepingWaited) + $(sum SleepingGivenUp) +
		$(sleeping_now "while waited for")))
}
