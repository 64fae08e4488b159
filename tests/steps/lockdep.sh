#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test that lockdep reports misuses of NT's locks. Each misuse has a boot of its own, because
# lockdep turns itself off after a report.

. "$(dirname "$0")/../lib.sh"

fill_shared_directory "$DIR" debug </dev/null

# One CPU boots fastest, and a single thread suffices for each misuse.
lockdep_catches()
{
	local dir=$DIR/$1
	mkdir "$dir"
	cp "$DIR"/{ntklog,lockdep_misuse,stale_code}.ko "$dir/"
	cat >"$dir/guest.sh" <<-END
		insmod ntklog.ko
		O=/sys/kernel/debug/lockdep_misuse
		case $1 in own*) misuse=none ;; *) misuse=$1 ;; esac
		insmod lockdep_misuse.ko misuse=\$misuse || exit 1
		case $1 in own) echo 1 >\$O ;; own_resource) echo 2 >\$O ;; esac
		dmesg >dmesg.log
	END
	"$TOP/scripts/vm/vm.sh" -k "$(print_kernel_image debug)" -c 1 -m 512 "$dir" &&
		log_has_reports "$dir/dmesg.log" "$2"
}

run_test "lockdep: two queued locks in two orders" \
	lockdep_catches abba "possible circular locking dependency detected"
run_test "lockdep: a lock in a hard interrupt and with interrupts on" \
	lockdep_catches irq "inconsistent lock state"
run_test "lockdep: recursive acquisition" \
	lockdep_catches recursive "possible recursive locking detected"
run_test "lockdep: recursive exclusive acquisition" \
	lockdep_catches ex_recursive "possible recursive locking detected"
run_test "lockdep: recursive shared acquisition" \
	lockdep_catches ex_shared_recursive "possible recursive locking detected"
run_test "lockdep: a lock that is owned on return to user space" \
	lockdep_catches own "lock held when returning to user space"
run_test "lockdep: a resource and a mutex in two orders" \
	lockdep_catches resource_abba "possible circular locking dependency detected"
run_test "lockdep: two resources of a class" \
	lockdep_catches resource_recursive "possible recursive locking detected"
run_test "lockdep: a resource that is owned on return to user space" \
	lockdep_catches own_resource "lock held when returning to user space"

# In a kernel with lockdep, mutex_lock() fires contention_begin before it tries to acquire the
# mutex. Test that ntklog does not count that as a wait. With one CPU hardly any mutex is contended.
free_mutexes_are_not_waited_for()
{
	local dir=$DIR/free_mutexes
	mkdir "$dir"
	cp "$DIR"/{ntklog,stale_code}.ko "$dir/"
	cat >"$dir/guest.sh" <<-'END'
		D=/sys/kernel/debug/ntklog
		insmod ntklog.ko
		echo PERF_LINUX_MUTEX >$D/sessions/0/group_mask
		echo start >$D/sessions/0/state
		cat $D/linux
		grep -q '^mutex: on' $D/linux || exit 1
		for turn in 0 1 2 3 4 5 6 7 8 9; do
			find /sys/kernel/debug /proc/sys >/dev/null
		done
		echo stop >$D/sessions/0/state
		cat $D/counters
		awk '$1 == "Processor" { for (i = 1; i <= NF; i++) column[$i] = i; next }
			{ acquired += $column["SleepingAcquired"]; waits += $column["SleepingWaits"] }
			END { print acquired, waits; exit acquired < 1000 || waits * 20 > acquired }' \
			$D/counters
	END
	"$TOP/scripts/vm/vm.sh" -k "$(print_kernel_image debug)" -c 1 -m 512 "$dir"
}

run_test "lockdep: a free mutex is not waited for" free_mutexes_are_not_waited_for
