#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check that acquisitions, releases, events and probes do not take more instructions than before, as
# QEMU counts instructions.

. "$(dirname "$0")/../lib.sh"

set_debian_kernel 6.12
"$TOP/scripts/build/build-modules.sh" "$KDIR" "$OUT/build/$ABI"
cp "$OUT/build/$ABI"/{ntklog,workload/ntklog_bench,tests/modules/stale_code}.ko "$DIR/"
cp "$TOP/bench/linux-workload.sh" "$DIR/workload.sh"
cat >"$DIR/guest.sh" <<-'END'
	D=/sys/kernel/debug/ntklog
	S=$D/sessions

	. ./workload.sh

	# start_sessions COUNT GROUP
	start_sessions()
	{
		i=0
		while [ $i -lt "$1" ]; do
			echo 16 >$S/$i/buffers
			echo "$2" >$S/$i/group_mask
			echo start >$S/$i/state || exit 1
			i=$((i + 1))
		done
	}

	stop_sessions()
	{
		while [ $i -gt 0 ]; do
			i=$((i - 1))
			echo stop >$S/$i/state
		done
	}

	set_sample_rates()
	{
		echo "$1" >$D/spinlock/acquire_sample_rate
		echo "$1" >$D/resource/release_sample_rate
	}

	insmod ntklog.ko || exit 1
	echo 0 >$D/spinlock/hold_threshold
	echo 4294967295 >$D/resource/contention_sample_rate
	measure_pairs off in_stack_at_dpc_level ordinary_at_dpc_level resource_exclusive down_write
	start_sessions 1 PERF_SPINLOCK_CNTRS
	measure_pairs counters in_stack_at_dpc_level ordinary_at_dpc_level
	stop_sessions
	set_sample_rates 4294967295
	start_sessions 1 "PERF_SPINLOCK PERF_SYNC_OBJECTS"
	measure_pairs tracked in_stack_at_dpc_level ordinary_at_dpc_level ex_shared_at_dpc_level \
		ex_exclusive_at_dpc_level resource_exclusive resource_shared
	stop_sessions
	set_sample_rates 1000
	start_sessions 1 "PERF_SPINLOCK PERF_SYNC_OBJECTS"
	measure_pairs written in_stack_at_dpc_level resource_exclusive
	stop_sessions
	echo spinlock >$S/0/stacks
	start_sessions 1 "PERF_SPINLOCK PERF_SYNC_OBJECTS"
	measure_pairs stacks in_stack_at_dpc_level
	stop_sessions
	echo none >$S/0/stacks
	start_sessions 8 PERF_SPINLOCK
	measure_pairs written_8 in_stack_at_dpc_level
	stop_sessions
	start_sessions 2 PERF_SPINLOCK
	measure_pairs written_2 in_stack_at_dpc_level
	stop_sessions
	for version in 1 4; do
		echo $version >$S/0/contextswap_version
		start_sessions 1 PERF_CONTEXT_SWITCH
		measure_pairs version_$version context_swap
		stop_sessions
	done
	start_sessions 1 PERF_DISPATCHER
	measure_pairs written ready_thread
	stop_sessions
	echo 1000000 >$D/spinlock/hold_threshold
	measure_pairs plain raw_spin_lock spin_lock_irqsave spin_lock_bh read_lock write_lock \
		mutex mutex_trylock down_read down_write rt_mutex semaphore
	for mode in full sampled waits; do
		echo $mode >$D/linux_mode
		start_sessions 1 "PERF_LINUX_SPINLOCK PERF_LINUX_RWLOCK"
		measure_pairs $mode raw_spin_lock spin_lock_irqsave spin_lock_bh read_lock write_lock
		stop_sessions
	done
	start_sessions 1 "PERF_LINUX_MUTEX PERF_LINUX_RWSEM PERF_LINUX_RT_MUTEX PERF_LINUX_SEMAPHORE"
	measure_pairs sleeping mutex mutex_trylock down_read down_write rt_mutex semaphore
	stop_sessions
	dmesg | grep -o 'ntklog_bench: .*'
END
run_test "costs: the virtual machine runs to its end" \
	"$TOP/scripts/vm/vm.sh" -i -t 1200 -k "$IMAGE" -M "$MODULES" "$DIR"
run_test_program python3 "$TESTS/check/check_costs.py" "$DIR/guest.log" | sed "s/ok - /ok - costs: /"
