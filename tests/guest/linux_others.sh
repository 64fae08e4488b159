# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Linux' locks: other users of ftrace, failures that must be undone, and the self-test.

. ./linux_lib.sh

insmod ntklog.ko buffers=64
echo "$LINUX" >$S/group_mask
start_load 50000

# Before, during and after the redirection.
echo 'p:ntklog_test _raw_spin_lock' >$T/kprobe_events
echo '_raw_spin_*' >$T/set_ftrace_filter
echo start >$S/state
echo function >$T/current_tracer
echo 1 >$T/events/kprobes/ntklog_test/enable
check "linux: function tracer and kprobe: redirection is enabled" spinning_hooks_are_on
check "linux: function tracer and kprobe: all functions are redirected" is "$(count_redirected_functions)" $ALL_FUNCTIONS
save_counters
check "linux: function tracer and kprobe: acquisitions are counted" wait_for counter_has_grown SpinLockAcquireCount 100
check "linux: function tracer and kprobe: the tracer has the functions" wait_for grep -q '_raw_spin_unlock' $T/trace
check "linux: function tracer and kprobe: the kprobe is hit" wait_for grep -q 'ntklog_test' $T/trace
echo stop >$S/state
check "linux: function tracer and kprobe: redirection is disabled" spinning_hooks_are_off
echo start >$S/state
check "linux: function tracer and kprobe: redirection is enabled again" spinning_hooks_are_on
echo 0 >$T/events/kprobes/ntklog_test/enable
echo nop >$T/current_tracer
echo >$T/set_ftrace_filter
echo >$T/kprobe_events
echo stop >$S/state
check "linux: after function tracer and kprobe: redirection is disabled" spinning_hooks_are_off
end_load
start_load 300000

echo start >$S/state
check "linux: redirected: ftrace_enabled cannot be 0" \
	write_is_refused 'busy\|not supported' /proc/sys/kernel/ftrace_enabled 0
echo stop >$S/state
# On 7.3 ftrace_enabled cannot be set to 0.
if echo 0 2>/dev/null >/proc/sys/kernel/ftrace_enabled; then
	echo start >$S/state
	check "linux: ftrace disabled: no function is redirected, with the reason" \
		grep 'failed: kernel.ftrace_enabled (-112)' $D/linux
	echo 1 >/proc/sys/kernel/ftrace_enabled
	# Detach one kind after the other: ftrace checks all functions when its last user goes.
	cat $D/linux_selftest >/tmp/selftest.txt
	check "linux: ftrace disabled: the self-test keeps the reason" \
		grep 'failed: kernel.ftrace_enabled (-112)' $D/linux
	check "linux: ftrace disabled: the kernel log has no warning" kernel_is_silent
	echo stop >$S/state
else
	echo "ok - linux: ftrace disabled: no function is redirected # SKIP kernel.ftrace_enabled cannot be 0 here"
fi
echo start >$S/state
check "linux: ftrace enabled again: functions are redirected" spinning_hooks_are_on
echo stop >$S/state

# ftrace allows one direct call per function.
insmod direct_call.ko function=_raw_write_unlock_irqrestore
echo start >$S/state
cat $D/linux
check "linux: foreign direct call: its kind is refused, with the function's name" \
	grep '^rwlock: failed: _raw_write_unlock_irqrestore (-16)' $D/linux
check "linux: foreign direct call: only the other kind is redirected" is "$(count_redirected_functions)" $SPIN
check "linux: foreign direct call: the kernel log has the function's name" sh -c "dmesg |
	grep 'locks of kind rwlock are not watched: _raw_write_unlock_irqrestore .*: somebody else has redirected it'"
check "linux: foreign direct call: record reports the kind" sh -c 'ntklog record -e linux_rwlock --no-names \
	-o /tmp/busy.etl --duration 0.1 2>&1 | tee /dev/stderr | grep -i "nothing will be recorded: failed"'
echo stop >$S/state
rmmod direct_call
ntklog record --no-names -o linux-again.etl --duration 0.1
check "linux: foreign direct call removed: record enables the kind by default" \
	grep '^rwlock: off' $D/linux
echo start >$S/state
check "linux: foreign direct call removed: all functions are redirected" spinning_hooks_are_on
check "linux: redirected: a foreign direct call is refused" sh -c \
	'! insmod direct_call.ko function=_raw_write_unlock_irqrestore 2>/tmp/refused &&
	cat /tmp/refused && grep -i busy /tmp/refused'
check "linux: a refused foreign direct call leaves all functions redirected" is "$(count_redirected_functions)" $ALL_FUNCTIONS
echo stop >$S/state
check "linux: after a refused foreign direct call redirection is disabled" spinning_hooks_are_off

# FUNCTION:N makes the Nth call of FUNCTION fail. That kind must be restored and reported, and the
# other one redirected.
direct=register_ftrace_direct
grep -q " register_ftrace_direct_multi$" /proc/kallsyms && direct=register_ftrace_direct_multi
failures=0
places="$direct:7 ftrace_set_filter_ip:20 $direct:$ALL_FUNCTIONS"
[ -e few ] ||
	places="$places $direct:1 ftrace_set_filter_ip:3 ftrace_set_filter_ip:10 $direct:12"
for failure in $places; do
	insmod no_memory.ko function=${failure%:*} nth=${failure#*:} || break
	echo start >$S/state
	cat $D/linux
	redirected=$(count_redirected_functions)
	echo "$failure: $redirected redirected"
	case $redirected in
	"$SPIN") grep -q '^rwlock: failed: _raw_.* (-12)' $D/linux && grep -q '^spinlock: on' $D/linux ;;
	"$RW") grep -q '^spinlock: failed: _raw_.* (-12)' $D/linux && grep -q '^rwlock: on' $D/linux ;;
	*) false ;;
	esac || break
	echo stop >$S/state
	[ "$(count_redirected_functions)" = 0 ] && [ "$(print_slots_in_use)" = 0 ] || break
	rmmod no_memory
	failures=$((failures + 1))
done
check "linux: no memory during redirection: the kind is restored" \
	is $failures "$(echo $places | wc -w)"
echo start >$S/state
check "linux: memory again: both kinds are redirected" spinning_hooks_are_on
echo stop >$S/state
check "linux: memory again: both kinds are restored" spinning_hooks_are_off

ntklog record --session 5 --no-names -o /tmp/linux-killed.etl &
recorder=$!
wait_for spinning_hooks_are_on
kill -9 $recorder
wait $recorder
check "linux: recording killed: functions are restored" wait_for spinning_hooks_are_off

# selftest_is_right FILE: test that the self-test finds all functions the same in all eight
# contexts.
selftest_is_right()
{
	awk -v all="$ALL_FUNCTIONS" 'NR == 1 { wide = NF; next }
		/: / { kinds += /: [0-9]+ functions do what/; next }
		{ rows++; bad += NF != wide || $NF != "same" || /\(/; seen[$1] = 1; in_context[$2] = 1 }
		END { for (name in seen) functions++; for (name in in_context) contexts++
			print rows, functions, contexts, kinds
			exit bad || functions != all || contexts != 8 || kinds != 2 }' "$1"
}
cat $D/linux_selftest >selftest-off.txt
check "linux: the self-test finds no difference" selftest_is_right selftest-off.txt
check "linux: the self-test leaves no function redirected" spinning_hooks_are_off
echo start >$S/state
cat $D/linux_selftest >selftest-on.txt
check "linux: the self-test during a session finds no difference" selftest_is_right selftest-on.txt
check "linux: the self-test during a session keeps the redirection" spinning_hooks_are_on
insmod wrong_trylock.ko
cat $D/linux_selftest >selftest-wrong.txt
check "linux: the self-test finds a function that is wrong" \
	grep -E '^_raw_write_trylock thread 0x0\(0x[0-9a-f]+\) 0\(1\) 0 0 0\(1\) differs$' selftest-wrong.txt
check "linux: the self-test reports the wrong function" grep '^rwlock: _raw_write_trylock differs$' selftest-wrong.txt
check "linux: the self-test reports no other function" sh -c '! grep -v "^_raw_write_\(trylock\|unlock\) " selftest-wrong.txt |
	grep differs$ | grep -v ^rwlock'
check "linux: wrong function: its kind is restored, the other kind stays redirected" is "$(count_redirected_functions)" $SPIN
check "linux: wrong function: the file linux has the reason" grep '^rwlock: failed: _raw_write_trylock (-71)' $D/linux
echo stop >$S/state
echo start >$S/state
check "linux: wrong function: its kind is not redirected again" is "$(count_redirected_functions)" $SPIN
echo stop >$S/state
cat $D/linux_selftest >selftest-wrong.txt
check "linux: wrong function: the self-test without a session finds it" \
	grep '^rwlock: _raw_write_trylock differs$' selftest-wrong.txt
check "linux: wrong function: the self-test leaves no function redirected" is "$(count_redirected_functions)" 0
check "linux: wrong function: ntklog selftest fails" sh -c 'ntklog selftest >/tmp/selftest.txt; status=$?
	cat /tmp/selftest.txt; [ $status = 1 ] && grep "_raw_write_trylock.*differs" /tmp/selftest.txt'
rmmod wrong_trylock
check "linux: function correct again: ntklog selftest succeeds" ntklog selftest
check "linux: off after the self-tests" spinning_hooks_are_off

rmmod ntklog

# Read the self-test as soon as its file exists, which is before the module's load has ended.
until cat $D/linux_selftest >selftest-early.txt 2>/dev/null; do
	:
done &
reader=$!
insmod ntklog.ko
wait $reader
cat $D/linux_selftest >selftest-late.txt
check "linux: a self-test during the load of the module finds no difference later" selftest_is_right selftest-late.txt
check "linux: a self-test during the load of the module finds no difference" sh -c '! grep differs selftest-early.txt'
check "linux: after the self-test during the load redirection is disabled" spinning_hooks_are_off
rmmod ntklog
end_load
check "linux: the kernel log has no warning after other users" kernel_is_silent
