# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# PREEMPT_RT: of Linux' own locks only waits for raw spin locks can be recorded.

. ./linux_lib.sh

check "rt: the kernel log has no warning before the test" kernel_is_silent
dmesg -c >/tmp/before.log
insmod rt_levels.ko && rmmod rt_levels
dmesg | sed -n 's/.*rt_levels: //p' >levels.txt
check "rt: each context's IRQL is that of nt/locks.rst" is "$(grep -v owners levels.txt)" \
	"thread 0
local_bh_disable 0
spin_lock 0
preempt_disable 2
raw_spin_lock 2
raised 2
apc 1
synch 12
lowered 0
softirq 0
softirq,for_dpc 2
softirq,released 0
hardirq 3"
check "rt: a resource gets its owner table below DISPATCH_LEVEL only" \
	sh -c '[ "$(sed -n "s/owners //p" levels.txt | tr "\n" " ")" = "1 64 " ]'
check "rt: a softirq that does not raise IRQL is reported once" is \
	"$(dmesg | grep -c 'an ...AtDpcLevel function at IRQL 0: a softirq raises with PREEMPT_RT')" 1
check "rt: the kernel log has no other warning" is "$(dmesg | grep -cE 'BUG|WARNING|Oops|INFO:')" 1
dmesg -c >>/tmp/before.log

rmmod ntklog
insmod ntklog.ko buffers=64
for kind in spinlock rwlock mutex rwsem semaphore rt_mutex percpu_rwsem ww_mutex; do
	check "rt: ${kind}es are reported as unavailable in mode full" \
		grep "^$kind: unavailable: CONFIG_PREEMPT_RT has other locks" $D/linux
done
check "rt: waits for raw spin locks are available" \
	grep '^spinlock: .*; mode "waits" can be had$' $D/linux
check "rt: waits for rwlocks are unavailable" sh -c "! grep '^rwlock: .*can be had' $D/linux"
echo waits >$D/linux_mode
check "rt: rwlocks are unavailable in mode waits too" \
	grep '^rwlock: unavailable: CONFIG_PREEMPT_RT has other locks$' $D/linux
echo PERF_LINUX_SPINLOCK >$S/group_mask
echo start >$S/state
insmod linux_pairs.ko queue=1
grep -w linux_pairs /proc/modules >waits.module
rmmod linux_pairs
echo stop >$S/state
cat $S/header $S/cpu* >waits.etl
dmesg | sed -n 's/.*linux_pairs: //p' >waits.truth
ntklog report waits.etl --json --columns all --top 0 >waits.json
check "rt: the wait in the queue of a raw spin lock is in the report" sh -c '
	address=$(sed -n "s/^wait queued_spin \(0x[0-9a-f]*\) .*/\1/p" waits.truth)
	[ -n "$address" ] && grep "$address" waits.json'
echo PERF_SPINLOCK >$S/group_mask
rmmod ntklog
check "rt: the kernel log has no warning" kernel_is_silent
