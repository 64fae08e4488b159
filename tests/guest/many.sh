# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Eight sessions with different settings at the same time, one of them a flight recorder.

for i in 0 1 2 3 4 5 6 7; do
	s=$D/sessions/$i
	echo 65536 >$s/buffer_size
	echo 40 >$s/buffers
	case $i in
	0 | 1) echo PERF_SPINLOCK >$s/group_mask ;;
	2 | 3) echo PERF_SYNC_OBJECTS >$s/group_mask ;;
	4) echo PERF_CONTEXT_SWITCH >$s/group_mask ;;
	5) echo PERF_CONTEXT_SWITCH >$s/group_mask && echo 1 >$s/contextswap_version ;;
	6) echo PERF_SPINLOCK PERF_SYNC_OBJECTS PERF_CONTEXT_SWITCH >$s/group_mask ;;
	7)
		echo PERF_SPINLOCK >$s/group_mask
		echo 4096 >$s/buffer_size
		echo 4 >$s/buffers
		echo buffering >$s/mode
		;;
	esac
done
echo 100 >$P/contention_sample_rate
echo 5 >$R/release_sample_rate
for i in 0 1 2 3 4 5 6 7; do
	check "many: session $i starts" write_succeeds $D/sessions/$i/state start started
done
check "many: all groups are enabled" is "$(cat $D/group_mask)" "0x20000004 PERF_CONTEXT_SWITCH
0x20010000 PERF_SPINLOCK
0x20020000 PERF_SYNC_OBJECTS"
# overwrite_buffers: run the torture until session 7 has overwritten four buffers of each CPU.
overwrite_buffers()
{
	before=$(cat $D/sessions/7/stats)
	rounds=0
	while [ $rounds -lt 20 ]; do
		run_torture || return 1
		{ echo "$before"; cat $D/sessions/7/stats; } | awk '
			/^cpu/ && $1 in seen { busy += $7 - seen[$1] >= 4 }
			/^cpu/ { rows += !($1 in seen); seen[$1] = $7 }
			END { exit !rows || busy < rows }' && return
		rounds=$((rounds + 1))
	done
	return 1
}

check "many: spin locks overwrite all buffers of the flight recorder" overwrite_buffers
cat $D/sessions/7/snapshot >snapshot1.etl
check "many: a running flight recorder's buffers cannot be read" \
	sh -c "! cat $D/sessions/7/cpu0"
check "many: torture of resources" run_torture_until "session_total_is_at_least 3 generated 500" \
	torture_type=resource locks=12 nest=4
check "many: spin locks overwrite all buffers a second time" overwrite_buffers
cat $D/sessions/7/snapshot >snapshot2.etl
for i in 7 6 5 4 3 2 1 0; do
	s=$D/sessions/$i
	echo stop >$s/state
	cat $s/header $s/cpu* >many$i.etl
	cat $s/stats >many$i.stats
	echo PERF_SPINLOCK >$s/group_mask
	echo 4 >$s/contextswap_version
	echo sequential >$s/mode
	echo 65536 >$s/buffer_size
	echo 16 >$s/buffers
done
echo 1 >$P/contention_sample_rate
echo 1000 >$R/release_sample_rate
check "many: no group is enabled at the end" is "$(cat $D/group_mask)" 0x0

# Context swaps, recorded together with the scheduler's own tracepoint.
echo PERF_CONTEXT_SWITCH >$S/group_mask
cat >/tmp/swaps.sh <<END
. ./lib.sh
echo start >$S/state
i=0
while [ \$i -lt 30 ]; do
	usleep 2000
	i=\$((i + 1))
done
sh -c 'renice -n 19 -p \$\$; i=0; while [ \$i -lt 30 ]; do usleep 500; i=\$((i + 1)); done' &
wait
echo stop >$S/state
END
check "contextswap: trace-cmd records" trace-cmd record -b 8192 -o /tmp/swaps.dat \
	-e ntklog:contextswap -e sched:sched_switch sh /tmp/swaps.sh
mv /tmp/swaps.dat swaps.dat
cat $S/header $S/cpu* >swaps.etl
echo PERF_SPINLOCK >$S/group_mask
# A work item detaches the probe of context switches, that is, some time later.
check "contextswap: the group is disabled at the end" wait_for grep -qx 0x0 $D/group_mask

# A reader that uses poll() while the workload writes. The buffers have space for all events,
# because on a busy host the reader may run late.
echo 500 >$S/buffers
echo 200 >$S/flush_timer
echo start >$S/state
./drain $S realtime >realtime.log &
check "realtime: torture" run_torture_until "session_total_is_at_least 0 generated 12000" locks=12 \
	nest=10
echo stop >$S/state
check "realtime: the reader reaches the end" wait $!
cat $S/header >realtime.header
cat $S/stats >realtime.stats
echo 0 >$S/flush_timer
echo 16 >$S/buffers

./ioctl64
./ioctl32

for addresses in hashed zero; do
	rmmod ntklog
	insmod ntklog.ko addresses=$addresses
	echo start >$S/state
	insmod ntklog_example.ko
	check "addresses: torture with addresses=$addresses" run_torture_until \
		"session_total_is_at_least 0 generated 300"
	cat $D/locks >locks-$addresses.txt
	echo stop >$S/state
	rmmod ntklog_example
	cat $S/header $S/cpu* >$addresses.etl
done
rmmod ntklog
insmod ntklog.ko excessive_first_ms=2 excessive_next_ms=4
for session in "$D"/sessions/[0-9]*; do
	echo 0 >"$session/flush_timer"
done
check "many: the kernel log has no warning" kernel_is_silent
