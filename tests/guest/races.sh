# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154

echo 8192 >$S/buffer_size
echo 4 >$S/buffers
echo 5 >$P/contention_sample_rate
rm -f /tmp/stop drained.cpu*
insmod ntklog_torture.ko duration=0
echo start >$S/state
for cpu in 0 1; do
	(while [ ! -e /tmp/stop ]; do
		cat $S/cpu$cpu
		usleep 2000
	done) >drained.cpu$cpu &
done
(while [ ! -e /tmp/stop ]; do
	echo 1 >$S/flush
	usleep 50000
done) &
# Prepared texts, because a shell that forks for each byte is too slow beside the workload.
print_le32 5 1 1000 4 0 >/tmp/information0
print_le32 5 1 1000 4 1000000 >/tmp/information1
rounds=0
while [ $rounds -lt 40 ]; do
	echo $((rounds % 7 + 1)) >$P/spin_threshold
	echo $((rounds % 5 + 3)) >$P/contention_sample_rate
	dd if=/tmp/information$((rounds % 2)) of=$P/information bs=64 2>/dev/null
	rounds=$((rounds + 1))
done
check "races: buffers are drained" wait_for session_total_is_at_least 0 buffers 30
touch /tmp/stop
wait
echo stop >$S/state
cat $S/cpu0 >>drained.cpu0
cat $S/cpu1 >>drained.cpu1
cat $S/header >drained.header
cat $S/stats >drained.stats
rmmod ntklog_torture
check "races: torture with readers and changing parameters" torture_has_succeeded
print_le32 5 1 1000 1 1000000 >/tmp/information
dd if=/tmp/information of=$P/information bs=64 2>/dev/null

E=/sys/kernel/tracing/events/ntklog/spinlock/enable
insmod ntklog_torture.ko duration=0
rounds=0
while [ $rounds -lt 6 ]; do
	echo start >$S/state
	echo 1 >$E
	echo stop >$S/state
	echo 0 >$E
	rounds=$((rounds + 1))
done
rmmod ntklog_torture
check "races: torture with tracing on and off" torture_has_succeeded
check "races: no group is enabled at the end" is "$(cat $D/group_mask)" 0x0
check "races: the kernel log has no warning" kernel_is_silent
