# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Linux' own locks: other users of ftrace, what must be refused or undone, and the self-test.

. ./linux_lib.sh

insmod ntklog.ko buffers=64
echo "$LINUX" >$S/group_mask
load 50000

# Others on the same functions, before, meanwhile and after.
echo 'p:ntklog_test _raw_spin_lock' >$T/kprobe_events
echo '_raw_spin_*' >$T/set_ftrace_filter
echo start >$S/state
echo function >$T/current_tracer
echo 1 >$T/events/kprobes/ntklog_test/enable
check "linux: on with the function tracer and a kprobe there" is_on
check "linux: then all functions go on calling us" is "$(redirected)" $ALL
mark
check "linux: and what they acquire is counted" wait_for grown SpinLockAcquireCount 100
check "linux: the function tracer sees the functions" wait_for grep -q '_raw_spin_unlock' $T/trace
check "linux: the kprobe is hit" wait_for grep -q 'ntklog_test' $T/trace
echo stop >$S/state
check "linux: off under the function tracer and a kprobe" is_off
echo start >$S/state
check "linux: on again under them" is_on
echo 0 >$T/events/kprobes/ntklog_test/enable
echo nop >$T/current_tracer
echo >$T/set_ftrace_filter
echo >$T/kprobe_events
echo stop >$S/state
check "linux: off after them" is_off
end_load
load 300000

echo start >$S/state
check "linux: ftrace cannot be switched off meanwhile" \
	refused 'busy\|not supported' /proc/sys/kernel/ftrace_enabled 0
echo stop >$S/state
# 7.3 does not let anybody.
if echo 0 2>/dev/null >/proc/sys/kernel/ftrace_enabled; then
	echo start >$S/state
	check "linux: without ftrace nothing is redirected, and it is said" \
		grep 'failed: kernel.ftrace_enabled (-112)' $D/linux
	echo 1 >/proc/sys/kernel/ftrace_enabled
	# One kind at a time: ftrace looks at all functions when its last user goes.
	cat $D/linux_selftest >/tmp/selftest.txt
	check "linux: a self-test that could does not hide that" \
		grep 'failed: kernel.ftrace_enabled (-112)' $D/linux
	check "linux: and leaves ftrace in order" kernel_is_silent
	echo stop >$S/state
else
	echo "ok - linux: without ftrace nothing is redirected # SKIP kernel.ftrace_enabled cannot be 0 here"
fi
echo start >$S/state
check "linux: with it they are" is_on
echo stop >$S/state

# Somebody else's direct call on one function, the last but one of its half: there is room for one.
insmod direct_call.ko function=_raw_write_unlock_irqrestore
echo start >$S/state
cat $D/linux
check "linux: where somebody else redirects a function its kind is refused, by name" \
	grep '^rwlock: failed: _raw_write_unlock_irqrestore (-16)' $D/linux
check "linux: nothing of that kind stays redirected, and all of the other" is "$(redirected)" $SPIN
check "linux: the kernel's log names it" sh -c "dmesg | tail -n 5 |
	grep 'rwlocks are not watched: _raw_write_unlock_irqrestore .*: somebody else has redirected it'"
check "linux: record tells of it" sh -c 'ntklog record -e linux_rwlock --no-names \
	-o /tmp/busy.etl --duration 0.1 2>&1 | tee /dev/stderr | grep -i "nothing will be recorded: failed"'
echo stop >$S/state
rmmod direct_call
ntklog record --no-names -o linux-again.etl --duration 0.1
check "linux: when it is gone, record takes that kind again without being told" \
	grep '^rwlock: off' $D/linux
echo start >$S/state
check "linux: then all are redirected" is_on
check "linux: and somebody else is refused" sh -c \
	'! insmod direct_call.ko function=_raw_write_unlock_irqrestore 2>/tmp/refused &&
	cat /tmp/refused && grep -i busy /tmp/refused'
check "linux: which changes nothing" is "$(redirected)" $ALL
echo stop >$S/state
check "linux: off after somebody else was refused" is_off

# No memory in the middle of redirecting: at the first function, amid the releases and the
# acquisitions of a kind, at the last one; in either of two steps. One kind is undone, by name.
direct=register_ftrace_direct
grep -q " register_ftrace_direct_multi$" /proc/kallsyms && direct=register_ftrace_direct_multi
failures=0
places="$direct:7 ftrace_set_filter_ip:20 $direct:$ALL"
[ -e few ] ||
	places="$places $direct:1 ftrace_set_filter_ip:3 ftrace_set_filter_ip:10 $direct:12"
for failure in $places; do
	insmod no_memory.ko function=${failure%:*} nth=${failure#*:} || break
	echo start >$S/state
	cat $D/linux
	left=$(redirected)
	echo "$failure: $left redirected"
	case $left in
	"$SPIN") grep -q '^rwlock: failed: _raw_.* (-12)' $D/linux && grep -q '^spinlock: on' $D/linux ;;
	"$RW") grep -q '^spinlock: failed: _raw_.* (-12)' $D/linux && grep -q '^rwlock: on' $D/linux ;;
	*) false ;;
	esac || break
	echo stop >$S/state
	[ "$(redirected)" = 0 ] && [ "$(in_use)" = 0 ] || break
	rmmod no_memory
	failures=$((failures + 1))
done
check "linux: without memory in the middle of it the one kind is undone" \
	is $failures "$(echo $places | wc -w)"
echo start >$S/state
check "linux: with memory both are redirected" is_on
echo stop >$S/state
check "linux: and restored" is_off

# A recording that is killed leaves its session, and with it the redirection, to whoever stops it.
ntklog record --session 5 --no-names -o /tmp/linux-killed.etl &
recorder=$!
wait_for is_on
kill -9 $recorder
wait $recorder
check "linux: they stay redirected when the recording is killed" is_on
check "linux: stop ends what the killed one has begun" ntklog stop 5
check "linux: and restores" is_off

# The self-test, alone and with a session; with a function that is wrong.
same()
{
	awk -v all="$ALL" 'NR == 1 { wide = NF; next }
		/: / { kinds += /: [0-9]+ functions do what/; next }
		{ rows++; bad += NF != wide || $NF != "same" || /\(/; seen[$1] = 1; in_context[$2] = 1 }
		END { for (name in seen) functions++; for (name in in_context) contexts++
			print rows, functions, contexts, kinds
			exit bad || functions != all || contexts != 8 || kinds != 2 }' "$1"
}
cat $D/linux_selftest >selftest-off.txt
check "linux: the self-test finds each function as the kernel's own" same selftest-off.txt
check "linux: it leaves nothing redirected" is_off
echo start >$S/state
cat $D/linux_selftest >selftest-on.txt
check "linux: the self-test while a session is on" same selftest-on.txt
check "linux: it leaves them on" is_on
insmod wrong_trylock.ko
cat $D/linux_selftest >selftest-wrong.txt
check "linux: the self-test finds a function that is wrong" \
	grep -E '^_raw_write_trylock thread 0x0\(0x[0-9a-f]+\) 0\(1\) 0 0 0\(1\) differs$' selftest-wrong.txt
check "linux: and names it" grep '^rwlock: _raw_write_trylock differs$' selftest-wrong.txt
check "linux: and no other" sh -c '! grep -v "^_raw_write_\(trylock\|unlock\) " selftest-wrong.txt |
	grep differs$ | grep -v ^rwlock'
check "linux: its kind is restored, the other one is not" is "$(redirected)" $SPIN
check "linux: which is said" grep '^rwlock: failed: _raw_write_trylock (-71)' $D/linux
echo stop >$S/state
echo start >$S/state
check "linux: nor is a kind redirected that is wrong" is "$(redirected)" $SPIN
echo stop >$S/state
cat $D/linux_selftest >selftest-wrong.txt
check "linux: the self-test while off finds it too" \
	grep '^rwlock: _raw_write_trylock differs$' selftest-wrong.txt
check "linux: then nothing is redirected" is "$(redirected)" 0
check "linux: the tool fails then" sh -c 'ntklog selftest >/tmp/selftest.txt; status=$?
	cat /tmp/selftest.txt; [ $status = 1 ] && grep "_raw_write_trylock.*differs" /tmp/selftest.txt'
rmmod wrong_trylock
check "linux: the tool succeeds when it is right again" ntklog selftest
check "linux: off after the self-tests" is_off

rmmod ntklog

# The file is there before the load is done.
until cat $D/linux_selftest >selftest-early.txt 2>/dev/null; do
	:
done &
reader=$!
insmod ntklog.ko
wait $reader
cat $D/linux_selftest >selftest-late.txt
check "linux: a self-test in the middle of the load does no harm" same selftest-late.txt
check "linux: nor does it find anything wrong" sh -c '! grep differs selftest-early.txt'
check "linux: off after it" is_off
rmmod ntklog
end_load
check "linux: the kernel has nothing to complain of after that" kernel_is_silent
