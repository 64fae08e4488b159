# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Linux' own locks: a module that knows the truth, attaching and detaching under load, other
# users of ftrace, and what must be refused. check_linux.py looks at what was written.

. ./linux_lib.sh

insmod ntklog.ko buffers=64
cat $D/linux
if grep unavailable $D/linux; then
	echo "not ok - linux: this kernel's locks can be watched"
	exit 1
fi
check "linux: nothing is redirected while nobody wants it" is_off

echo "$LINUX" >$S/group_mask
check "linux: the groups have names" is "$(cat $S/group_mask)" "0xa0000001 PERF_LINUX_SPINLOCK
0xa0000002 PERF_LINUX_RWLOCK"
cat $D/counters >linux.before
echo start >$S/state
check "linux: a session redirects" is_on
check "linux: all $ALL functions have a direct call" is "$(redirected)" $ALL
check "linux: what is on are those groups alone" is "$(cat $D/group_mask)" \
	"0xa0000001 PERF_LINUX_SPINLOCK
0xa0000002 PERF_LINUX_RWLOCK"
check "linux: the module with the truth runs" insmod linux_locks.ko
rmmod linux_locks
sleep 1
echo stop >$S/state
cat $D/counters >linux.after
cat $S/header $S/cpu* >linux.etl
cat $S/stats >linux.stats
dmesg | sed -n 's/.*linux_locks: //p' >linux.truth
cat $D/linux
check "linux: the end of the session restores" is_off

# While NT's are tracked too, before and after.
echo PERF_SPINLOCK >$D/sessions/1/group_mask
echo start >$D/sessions/1/state
echo start >$S/state
echo stop >$D/sessions/1/state
check "linux: the end of another session leaves them on" is_on
echo stop >$S/state
check "linux: off again" is_off

load 0
times=0
left=0
unmatched=$(sum Unmatched)
untracked=$(sum Untracked)
while [ $times -lt 4 ]; do
	echo start >$S/state
	usleep 100000
	echo stop >$S/state
	is_off >/dev/null || left=$((left + 1))
	times=$((times + 1))
done
check "linux: on and off four times under load leaves nothing behind" is $left 0
check "linux: each release had its acquisition" is "$(sum Unmatched)" "$unmatched"
check "linux: each acquisition had room" is "$(sum Untracked)" "$untracked"
cat $D/linux $D/counters

# Others on the same functions, before, meanwhile and after.
echo 'p:ntklog_test _raw_spin_lock' >$T/kprobe_events
echo '_raw_spin_*' >$T/set_ftrace_filter
echo start >$S/state
echo function >$T/current_tracer
echo 1 >$T/events/kprobes/ntklog_test/enable
check "linux: on with the function tracer and a kprobe there" is_on
check "linux: then all functions go on calling us" is "$(redirected)" $ALL
mark
sleep 2
check "linux: and what they acquire is counted" grown SpinLockAcquireCount 100
check "linux: the function tracer sees the functions" grep -q '_raw_spin_unlock' $T/trace
check "linux: the kprobe is hit" grep -q 'ntklog_test' $T/trace
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
load 1000000

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
	grep 'rwlocks are not watched: _raw_write_unlock_irqrestore .*: somebody else does'"
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
for failure in $direct:1 ftrace_set_filter_ip:3 $direct:7 ftrace_set_filter_ip:10 $direct:12 \
    ftrace_set_filter_ip:20 $direct:$ALL; do
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
check "linux: without memory in the middle of it the one kind is undone" is $failures 7
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

# The tracepoint turns them on by itself, a moment later.
echo 1 >$T/events/ntklog/linux_spinlock/enable
check "linux: the tracepoint redirects" wait_for is_on
wait_for grep -q ' linux_spinlock: ' $T/trace
check "linux: the tracepoint tells callers as symbols" \
	grep -E ' linux_spinlock: .* caller=[a-z_].*acquire_mode=' $T/trace
echo 0 >$T/events/ntklog/linux_spinlock/enable
check "linux: the tracepoint's end restores" wait_for is_off

# What a user gets who says nothing.
check "linux: record takes them without being told" ntklog record --no-names \
	-o linux-default.etl --duration 1
ntklog report linux-default.etl --json >linux-default.json
check "linux: and all is off again" is_off
ntklog list >list.txt
check "linux: list has no trouble with them" \
	grep -E "linux_spinlock .* releases of Linux' own spin locks, sampled\$" list.txt

# Unload while they are redirected.
echo 1 >$T/events/ntklog/linux_spinlock/enable
wait_for is_on
echo start >$S/state
check "linux: unloading restores" rmmod ntklog
check "linux: and nothing is left" is "$(redirected)" 0
check "linux: it loads without them" insmod ntklog.ko linux_locks=0
check "linux: and says so" grep 'spinlock: unavailable: linux_locks=0' $D/linux
ntklog list >list.txt
check "linux: list tells why not" grep 'linux_spinlock.*: unavailable: linux_locks=0' list.txt
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
check "linux: the kernel has nothing to complain of" kernel_is_silent
dmesg >linux.dmesg
