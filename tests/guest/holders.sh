# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Mode holders, which uses the kernel's tracepoint contended_release.

. ./linux_lib.sh

# trace_releases: let the kernel write its event contended_release to its own trace, with time
# stamps of the TSC and unhashed addresses.
trace_releases()
{
	echo >$T/trace
	echo x86-tsc >$T/trace_clock
	echo 0 >$T/options/hash-ptr
	echo 1 >$T/events/lock/contended_release/enable
}

# save_releases FILE: end trace_releases, and save task ID, time and lock of each event.
save_releases()
{
	echo 0 >$T/events/lock/contended_release/enable
	sed -n 's/^.*-\([0-9]*\) *\[.* \([0-9]*\): contended_release: \([0-9a-f]*\)$/\1 \2 \3/p' \
		$T/trace >"$1"
	grep '^# entries-in-buffer' $T/trace
	echo local >$T/trace_clock
}

# print_function_size FUNCTION: print the bytes of a function of the kernel, with the padding behind
# it. The kernel's own symbols are sorted by address.
print_function_size()
{
	grep -A 1 -w "$1" /proc/kallsyms | {
		read -r begin _
		read -r end _
		echo $((0x$end - 0x$begin))
	}
}

# is_at_most MOST NUMBER: test that a number is positive and at most MOST.
is_at_most()
{
	echo "$2"
	[ "$2" -gt 0 ] && [ "$2" -le "$1" ]
}

insmod ntklog.ko buffers=64
check "holders: the mode is taken" write_succeeds $D/linux_mode holders
if [ -e $T/events/lock/contended_release ]; then
	cat $D/linux
	check "holders: the tracepoint is used" grep "^spinlock: off, waits and holders" $D/linux
	check "holders: rwlocks have waits only" grep "^rwlock: off, waits only" $D/linux
	echo 1 >$P/blockers
	echo "$LINUX" >$S/group_mask
	for mode in holders full; do
		echo $mode >$D/linux_mode
		echo start >$S/state
		trace_releases
		insmod linux_pairs.ko queue=1
		grep -w linux_pairs /proc/modules >holders-$mode.module
		dmesg | sed -n 's/.*linux_pairs: //p' | tail -n 3 >holders-$mode.truth
		rmmod linux_pairs
		save_releases holders-$mode.releases
		echo stop >$S/state
		cat $S/header $S/cpu* >holders-$mode.etl
		ntklog report holders-$mode.etl --json --columns all --top 0 >holders-$mode.json
	done
	check "holders: record --mode waits --holders records" ntklog record --mode waits --holders \
		-e linux_spinlock --no-names --duration 0.2 -o /tmp/holders.etl
	check "holders: record has set the mode" is "$(cat $D/linux_mode)" holders
	start_load 1000
	failures=0
	for _ in 1 2 3 4 5; do
		echo start >$S/state
		usleep 100000
		echo stop >$S/state
		wait_for grep -q "^spinlock: off" $D/linux || failures=$((failures + 1))
	done
	end_load
	check "holders: attached and detached under load" is $failures 0
	# A function that is longer than the bound in releases.c would hide its releases.
	for name in native_queued_spin_unlock_traced pv_queued_spin_unlock_traced; do
		check "holders: $name has at most 128 bytes" \
			is_at_most 128 "$(print_function_size $name)"
	done
else
	check "holders: the missing tracepoint is the reason" \
		grep '^spinlock: unavailable: no tracepoint contended_release for spin locks; mode "waits" can be had$' $D/linux
	echo full >$D/linux_mode
	check "holders: record --mode waits --holders is refused" sh -c \
		'! ntklog record --mode waits --holders --no-names --duration 0.2 -o /tmp/holders.etl \
			2>/tmp/refused && cat /tmp/refused &&
		grep "^ntklog: mode holders: spin locks are unavailable: no tracepoint contended_release" /tmp/refused'
	check "holders: the refused record restores the mode" is "$(cat $D/linux_mode)" full
fi

# record_crowd FAMILY GROUPS FUNCTION: record the groups while four tasks call FUNCTION in a loop.
# If the kernel has the event contended_release, record once more while the kernel traces it. The
# event comes after ntklog's test for waiters, so that test misses more waiters then.
record_crowd()
{
	touch /tmp/crowd
	for worker in 1 2 3 4; do
		while [ -e /tmp/crowd ]; do
			$3
		done &
	done
	check "holders: a crowd is recorded: $1" ntklog record -e "$2" -n 256 --duration 6 \
		-o "crowd-$1.etl"
	if [ -e $T/events/lock/contended_release ]; then
		trace_releases
		check "holders: a traced crowd is recorded: $1" ntklog record -e "$2" -n 256 \
			--no-names --duration 6 -o "traced-$1.etl"
		save_releases "traced-$1.releases"
	fi
	rm -f /tmp/crowd
	wait
}

walk_directories()
{
	find /proc/sys/kernel /sys/kernel/slab >/dev/null 2>&1
}

append_to_one_file()
{
	dd if=/dev/zero bs=64k count=20 2>/dev/null >>/tmp/crowd.log
	[ "$worker" != 1 ] || : >/tmp/crowd.log
}

echo full >$D/linux_mode
record_crowd spinning linux_spinlock,linux_rwlock walk_directories
record_crowd sleeping \
	linux_mutex,linux_rwsem,linux_semaphore,linux_rt_mutex,linux_percpu_rwsem,linux_ww_mutex \
	append_to_one_file
for family in spinning sleeping; do
	ntklog report --json crowd-$family.etl >crowd-$family.json
	ntklog report crowd-$family.etl --top 5 >crowd-$family.txt
done
rmmod ntklog
check "holders: the kernel log has no warning" kernel_is_silent
