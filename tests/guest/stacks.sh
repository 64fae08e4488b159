# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# check_stacks.py checks the files.

. ./linux_lib.sh

ALL_GROUPS="PERF_LINUX_SPINLOCK PERF_LINUX_RWLOCK PERF_LINUX_MUTEX PERF_LINUX_RWSEM PERF_SPINLOCK
	PERF_SYNC_OBJECTS PERF_CONTEXT_SWITCH"

insmod ntklog.ko buffers=128
check "stacks: by default no event has a stack" is "$(cat $S/stacks)" none
for text in '' spin 'spinlock,resource' 'none spinlock' 0x0f4b 1 'spinlock all'; do
	check "stacks: '$text' is refused" write_is_refused Invalid $S/stacks "$text\n"
done
check "stacks: names are taken" write_succeeds $S/stacks 'resource  contextswap' "0x0524 contextswap
0x052b resource"
check "stacks: hook ids are taken" write_succeeds $S/stacks '0x0529' "0x0529 spinlock"
check "stacks: none is taken" write_succeeds $S/stacks none
check "stacks: another session keeps its setting" is "$(cat $D/sessions/1/stacks)" none

# run_stack_chain PREFIX: run stack_chain.ko, and save its symbols in PREFIX.kallsyms and its output
# in PREFIX.truth.
run_stack_chain()
{
	lines=$(dmesg | wc -l)
	check "stacks: $1: stack_chain runs" insmod stack_chain.ko
	grep -F '[stack_chain]' /proc/kallsyms >"$1.kallsyms"
	rmmod stack_chain
	dmesg | tail -n +$((lines + 1)) | sed -n 's/.*stack_chain: //p' >"$1.truth"
}

echo 1 >$R/release_sample_rate
for session in 0 1 2; do
	echo "$ALL_GROUPS" | tr -d '\n' >$D/sessions/$session/group_mask
done
echo spinlock resource contextswap >$S/stacks
echo contextswap >$D/sessions/1/stacks
echo 1 >$D/sessions/1/contextswap_version
for session in 0 1 2; do
	echo start >$D/sessions/$session/state
done
run_stack_chain all
# A change of a running session's setting takes effect at once.
echo none >$D/sessions/1/stacks
usleep 100000
echo spinlock >$D/sessions/1/stacks
for session in 0 1 2; do
	echo stop >$D/sessions/$session/state
	cat $D/sessions/$session/header $D/sessions/$session/cpu* >all.$session.etl
	cat $D/sessions/$session/stats >all.$session.stats
done
grep -E ' (mutex_unlock|up_read|_raw_spin_unlock|__schedule)$' /proc/kallsyms >kernel.kallsyms
cat $D/counters >all.counters

# Fill the buffers: lost stacks are counted and reported as lost events.
echo 2 >$S/buffers
echo 4096 >$S/buffer_size
echo PERF_LINUX_SPINLOCK PERF_CONTEXT_SWITCH >$S/group_mask
echo 1000 >$P/acquire_sample_rate
echo start >$S/state
start_load 1000
wait_for session_total_is_at_least 0 lost 100
end_load
echo stop >$S/state
cat $S/header $S/cpu* >full.etl
cat $S/stats >full.stats

# A flight recorder may have overwritten the events of its first stacks.
echo 16 >$S/buffers
echo buffering >$S/mode
echo start >$S/state
start_load 1000
wait_for session_total_is_at_least 0 overwritten 40
cat $S/snapshot >flight.etl
end_load
echo stop >$S/state

echo sequential >$S/mode
echo 64 >$S/buffers
echo 65536 >$S/buffer_size
echo PERF_LINUX_SPINLOCK PERF_LINUX_RWLOCK >$S/group_mask
for mode in sampled waits; do
	check "stacks: mode $mode" write_succeeds $D/linux_mode $mode
	echo start >$S/state
	if [ $mode = sampled ]; then
		start_load 1000
		wait_for session_total_is_at_least 0 written 2000
		end_load
	else
		insmod linux_pairs.ko pairs=1000 queue=1
		rmmod linux_pairs
	fi
	echo stop >$S/state
	cat $S/header $S/cpu* >$mode.etl
	cat $S/stats >$mode.stats
done
check "stacks: the kernel log has no warning" kernel_is_silent
rmmod ntklog
for mode in hashed zero; do
	insmod ntklog.ko buffers=64 addresses=$mode
	echo PERF_LINUX_SPINLOCK >$S/group_mask
	echo spinlock >$S/stacks
	echo start >$S/state
	run_stack_chain $mode
	echo stop >$S/state
	cat $S/header $S/cpu* >$mode.etl
	rmmod ntklog
done
