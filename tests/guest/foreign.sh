# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Architectures other than x86-64, where the functions of spinning locks cannot be redirected.
# other.etl is from x86-64; the step compares the output with the host's.

. ./linux_lib.sh

rmmod ntklog
insmod ntklog.ko buffers=64
for kind in spinlock rwlock; do
	check "foreign: ${kind}s are reported as unavailable in mode full, with the modes that work" \
		grep "^$kind: unavailable: this architecture is not x86-64; mode \"waits\" can be had$" \
		$D/linux
done
# arm64 supports the locks that sleep; sleeping.sh tests them.
if [ "$(uname -m)" != aarch64 ]; then
	for kind in mutex rwsem semaphore rt_mutex percpu_rwsem ww_mutex; do
		check "foreign: ${kind}es are reported as unavailable in mode full" grep \
			"^$kind: unavailable: this architecture is neither x86-64 nor arm64$" $D/linux
	done
fi
check "foreign: record of unavailable locks is refused and names mode waits" sh -c \
	'! ntklog record -e linux_spinlock --no-names -o /tmp/refused.etl --duration 0.1 2>/tmp/refused
	cat /tmp/refused; grep "waits" /tmp/refused'
echo "$LINUX" >$S/group_mask
record_mode waits waits pairs=20000 queue=1
echo PERF_LINUX_SPINLOCK >$S/group_mask
echo start >$S/state
insmod linux_pairs.ko queue=1
rmmod linux_pairs
echo stop >$S/state
cat $S/header $S/cpu* >waits-spin.etl
dmesg | sed -n 's/.*linux_pairs: //p' | tail -n 2 >waits-spin.truth
ntklog report waits.etl --json --columns all --top 0 >waits.json
echo PERF_SPINLOCK >$S/group_mask

check "foreign: the tool records" ntklog record -e spinlock -o recorded.etl --mode waits -- sh -c \
	'. ./lib.sh
	insmod ntklog_torture.ko torture_type=spin duration=0 &&
	wait_for session_total_is_at_least 7 generated 100'
rmmod ntklog_torture
for file in recorded other; do
	ntklog dump $file.etl >$file.dump
	ntklog report $file.etl --json --columns all --top 0 >$file.json
	ntklog info $file.etl --json >$file.info
done
rmmod ntklog
check "foreign: the kernel log has no warning" kernel_is_silent
