# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154

. ./linux_lib.sh

check "modes: an unknown mode is refused at load" sh -c \
	'! insmod ntklog.ko linux_mode=most 2>/tmp/refused && dmesg |
	grep "linux_mode=most is not full, sampled, waits or holders"'
insmod ntklog.ko linux_mode=sampled
check "modes: the module's parameter sets the mode" is "$(cat $D/linux_mode)" sampled
rmmod ntklog
insmod ntklog.ko buffers=64
check "modes: full is the default" is "$(cat $D/linux_mode)" full
check "modes: an unknown mode is refused" write_is_refused 'Invalid' $D/linux_mode most
check "modes: two modes are refused" write_is_refused 'Invalid' $D/linux_mode 'full sampled'
echo "$LINUX" >$S/group_mask

record_mode sampled sampled pairs=100000 long_pairs=10000
record_mode full full pairs=20000 queue=1
record_mode sampled sampled-queue queue=1
record_mode waits waits pairs=20000 queue=1
echo PERF_LINUX_SPINLOCK >$S/group_mask
echo start >$S/state
insmod linux_pairs.ko queue=1
rmmod linux_pairs
echo stop >$S/state
cat $S/header $S/cpu* >waits-spin.etl
dmesg | sed -n 's/.*linux_pairs: //p' | tail -n 2 >waits-spin.truth
echo "$LINUX" >$S/group_mask
check "modes: a blocker rate that is no number is refused" write_is_refused Invalid $P/blockers all
check "modes: the default blocker rate is 0" is "$(cat $P/blockers)" 0
check "modes: a blocker rate is set" write_succeeds $P/blockers 1
record_mode sampled sampled-blockers pairs=2000 queue=1
record_mode full blockers pairs=2000 queue=1
echo start >$S/state
check "modes: session on: blocker rate 0 is set" write_succeeds $P/blockers 0
check "modes: session on: another blocker rate is set" write_succeeds $P/blockers 2
echo stop >$S/state
echo PERF_SPINLOCK >$D/sessions/1/group_mask
echo start >$D/sessions/1/state
echo stop >$D/sessions/1/state
cat $D/sessions/1/header $D/sessions/1/cpu* >blockers-nt.etl
check "modes: session off: blocker rate 0 is set" write_succeeds $P/blockers 0
echo start >$D/sessions/1/state
check "modes: a session of NT's locks reports no blockers" \
	write_is_refused busy $P/blockers 5
echo waits >$D/linux_mode
echo stop >$D/sessions/1/state
check "modes: after the session blocker rate 5 is set" write_succeeds $P/blockers 5
echo start >$D/sessions/1/state
check "modes: a session with blockers keeps them until its end" write_is_refused busy $P/blockers 0
echo stop >$D/sessions/1/state
cat $D/sessions/1/header $D/sessions/1/cpu* >blockers-waits.etl
check "modes: blocker rate 0 is set at the end" write_succeeds $P/blockers 0
for prefix in sampled full sampled-queue waits blockers sampled-blockers; do
	ntklog report $prefix.etl --json --columns all --top 0 >$prefix.json
	ntklog report $prefix.etl >$prefix.report.txt
	ntklog info $prefix.etl --json >$prefix.info.json
done

# The self-test in mode sampled runs each context twice: with no acquisition sampled, and with each
# (",chosen").
echo sampled >$D/linux_mode
cat $D/linux_selftest >selftest-sampled.txt
sampled_selftest_is_right()
{
	awk 'NR == 1 { next }
		/: / { kinds += /: [0-9]+ functions do what/; next }
		{ rows++; bad += $NF != "same" || /\(/; contexts[$2] = 1
			# A held lock has a slot only if its acquisition was sampled.
			slots[$2 ~ /,chosen$/] += $7 }
		END { for (name in contexts) count++
			print rows, count, slots[0], slots[1], kinds
			exit bad || count != 16 || slots[0] || !slots[1] || kinds != 2 }' "$1"
}
check "modes: the self-test covers sampled and unsampled acquisitions" \
	sampled_selftest_is_right selftest-sampled.txt
insmod wrong_trylock.ko function=sampled__raw_write_trylock
cat $D/linux_selftest >selftest-wrong.txt
check "modes: the self-test finds a sampled function that is wrong" \
	grep '^rwlock: _raw_write_trylock differs$' selftest-wrong.txt
rmmod wrong_trylock
echo waits >$D/linux_mode
cat $D/linux_selftest >selftest-waits.txt
check "modes: waits: the self-test reports that it has nothing to test" \
	is "$(grep -c 'no functions, in mode "waits"' selftest-waits.txt)" 2
check "modes: waits: ntklog selftest reports that it has nothing to test" sh -c '! ntklog selftest >/tmp/selftest.txt &&
	grep "^rwlock: no functions, in mode .waits.$" /tmp/selftest.txt'

start_load 300000
unmatched=$(print_counter_sum Unmatched)
failures=0
for mode in sampled waits sampled waits sampled waits sampled full; do
	echo $mode >$D/linux_mode || failures=9
	echo start >$S/state
	usleep 100000
	echo stop >$S/state
	spinning_hooks_are_off >/dev/null || failures=$((failures + 1))
done
check "modes: attached and detached under load: no slot stays in use" is $failures 0
check "modes: no release is unmatched" is "$(print_counter_sum Unmatched)" "$unmatched"
end_load

# NT's locks are tracked beside sampled locks of Linux.
echo sampled >$D/linux_mode
echo PERF_SPINLOCK >$D/sessions/1/group_mask
echo start >$D/sessions/1/state
echo start >$S/state
check "modes: NT's locks and sampled locks are both enabled" is "$(cat $D/group_mask)" \
	"0x20010000 PERF_SPINLOCK
0xa0000001 PERF_LINUX_SPINLOCK
0xa0000002 PERF_LINUX_RWLOCK"
echo stop >$D/sessions/1/state
check "modes: sampled locks alone do not enable NT's tracking" is "$(cat $D/group_mask)" \
	"0xa0000001 PERF_LINUX_SPINLOCK
0xa0000002 PERF_LINUX_RWLOCK"
echo stop >$S/state

check "modes: record sets a mode" ntklog record --mode waits --no-names -o /tmp/waits.etl \
	--duration 0.2
check "modes: the mode stays after record" is "$(cat $D/linux_mode)" waits
echo start >$S/state
check "modes: record refuses a mode other than the active one" sh -c \
	'! ntklog record --mode full -o /tmp/full.etl --duration 0.2 2>/tmp/refused &&
	cat /tmp/refused && grep "are being recorded in another mode" /tmp/refused'
echo stop >$S/state
echo 1 >$T/events/ntklog/linux_spinlock/enable
wait_for grep -q '^spinlock: on' $D/linux
check "modes: the tracepoint has waits" sh -c "
	insmod linux_pairs.ko queue=1
	grep -E ' linux_spinlock: .* caller=queued_waiter_thread.*mode=executive_shared.*rule=wait' $T/trace
	found=\$?
	echo 0 >$T/events/ntklog/linux_spinlock/enable
	rmmod linux_pairs && exit \$found"
check "modes: the tracepoint's end restores the functions" wait_for spinning_hooks_are_off
rmmod ntklog
insmod ntklog.ko linux_locks=0 linux_mode=waits blockers=7
check "modes: the module's parameter sets blockers" is "$(cat $P/blockers)" 7
check "modes: linux_locks=0 is reported as the reason" grep 'spinlock: unavailable: linux_locks=0$' $D/linux
rmmod ntklog
check "modes: the kernel log has no warning" kernel_is_silent
