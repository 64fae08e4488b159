# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Mode holders, which uses the kernel's tracepoint contended_release.

. ./linux_lib.sh

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
		insmod linux_pairs.ko queue=1
		grep -w linux_pairs /proc/modules >holders-$mode.module
		dmesg | sed -n 's/.*linux_pairs: //p' | tail -n 2 >holders-$mode.truth
		rmmod linux_pairs
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

# record_crowd FAMILY GROUPS FUNCTION: while four tasks call the function in a loop.
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
