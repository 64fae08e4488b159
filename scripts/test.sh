#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test.sh: set up all that is needed and run every test. The last line says how
# many passed and failed; the exit status is 0 only if none failed. Each step
# leaves its results, as TAP, and its logs in out/test/.

. "$(dirname "$0")/lib.sh"

TEST=$OUT/test
E2E=$TOP/tools/ntklog/tests
rm -rf "$TEST"
mkdir -p "$TEST"

# result NAME COMMAND...: a test that is one command.
result()
{
	local name=$1 log
	shift
	log=$(mktemp)
	if "$@" >"$log" 2>&1; then
		printf 'ok - %s\n' "$name"
	else
		printf 'not ok - %s\n' "$name"
		sed 's/^/# /' "$log"
	fi
	rm -f "$log"
}

# step NAME FUNCTION...: run it with its results in out/test/NAME.tap; show what
# failed at once.
step()
{
	local name=$1 passed
	shift
	# Not in a condition: there, set -e would be off inside the function.
	set +e
	(set -e; "$@") >"$TEST/$name.tap" 2>"$TEST/$name.log"
	local status=$?
	set -e
	if [ $status != 0 ]; then
		printf 'not ok - %s came to its end\n' "$name" >>"$TEST/$name.tap"
		tail -n 20 "$TEST/$name.log" >&2
	fi
	passed=$(grep -cE '^ *ok ' "$TEST/$name.tap" || true)
	say "$name: $passed ok, $(grep -cE '^ *not ok ' "$TEST/$name.tap" || true) not"
	grep -E -A 30 '^ *not ok ' "$TEST/$name.tap" | grep -E '^ *(not ok|#)' >&2 || true
}

headers()
{
	local header dir
	dir=$(mktemp -d)
	(cd "$TOP/include/uapi" && ls ntklog/*.h) | while read -r header; do
		printf '#include <%s>\n' "$header"
	done >"$dir/all.c"
	cp "$dir/all.c" "$dir/all.cc"
	result "headers: C11" gcc -std=c11 -pedantic -Wall -Werror -fsyntax-only \
		-I"$TOP/include/uapi" "$dir/all.c"
	result "headers: C++11" g++ -std=c++11 -Wall -Werror -fsyntax-only \
		-I"$TOP/include/uapi" "$dir/all.cc"
	# A wrong layout must not compile: the asserts assert.
	cat >"$dir/wrong.c" <<-'END'
		#include <ntklog/layout.h>
		struct wrong { __u32 a; __u64 b; };
		NTKLOG_ASSERT_OFFSET(struct wrong, b, 4);
	END
	result "headers: a wrong offset does not compile" \
		sh -c "! gcc -fsyntax-only -I$TOP/include/uapi $dir/wrong.c"
	rm -rf "$dir"
}

builds_silently()
{
	local kdir=$1 dir=$2
	"$TOP/scripts/build-modules.sh" "$kdir" "$dir" W=1
	! grep -E 'warning:|WARNING:' "$OUT/log/modules-$(basename "$dir").log"
}

style()
{
	result "style: checkpatch --strict" make -s -C "$TOP" checkpatch
	result "style: sparse" "$TOP/scripts/sparse.sh" "$KDIR"
}

tool()
{
	local test
	result "tool: builds without a warning" make -s -C "$E2E/.." \
		O="$TEST/tool" CFLAGS="-O2 -g -Werror"
	result "tool: builds with ASan and UBSan" make -s -C "$E2E/.." \
		O="$TEST/tool-asan" \
		CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover"
	for test in "$E2E"/test_*.py; do
		python3 "$test" "$TEST/tool-asan/ntklog" || true
	done
}

# e2e SERIES: on Debian's stock kernel of the series.
e2e()
{
	local dir=$TEST/e2e-$1
	local IMAGE MODULES KDIR ABI
	eval "$("$TOP/scripts/debian-kernel.sh" "$1")"
	result "$1: the modules build with W=1 and no warning" \
		builds_silently "$KDIR" "$OUT/build/$ABI"
	mkdir -p "$dir"
	cp "$OUT/build/$ABI/ntklog.ko" "$OUT/build/$ABI/workload/ntklog_torture.ko" \
		"$E2E"/e2e/*.sh "$dir/"
	result "$1: the virtual machine runs to its end" \
		"$TOP/scripts/vm.sh" -k "$IMAGE" -M "$MODULES" -t 600 "$dir"
	grep -E '^(not )?ok |^#' "$dir/guest.log" | sed "s/ok - /ok - $1 /"
	python3 "$E2E/check_e2e.py" "$TEST/tool/ntklog" "$dir" |
		sed "s/ok - /ok - $1 /" || true
}

# The suites provoke these reports on purpose, each once, and no others.
EXPECTED_REPORTS='ExReleaseSpinLock: lock .* is not owned shared
KeAcquireQueuedSpinLock: no queued spin lock has the number 0x11
KeReleaseQueuedSpinLock: .* does not own lock
KeReleaseSpinLock: lock .* is not owned
KeRaiseIrql: from IRQL 2 to 1
KeLowerIrql: from IRQL 0 to 2
BUG: sleeping function called from invalid context at .*/ke_irql_test\.c'

# What a kernel calls a report when one of its detectors has found something.
REPORT='WARNING: |BUG: |INFO: |Oops|KASAN|KCSAN: |UBSAN: |unreferenced object'

has_expected_reports()
{
	local log=$1 report count=0
	while read -r report; do
		[ "$(grep -cE "$report" "$log")" = 1 ] ||
			{ echo "not once: $report"; return 1; }
		count=$((count + 1))
	done <<<"$EXPECTED_REPORTS"
	grep -E "$REPORT" "$log"
	[ "$(grep -cE "$REPORT" "$log")" = $count ]
}

kunit()
{
	local dir=$TEST/kunit kernel suite
	kernel=$("$TOP/scripts/test-kernel.sh" kunit)
	result "kunit: the modules build with W=1 and no warning" \
		builds_silently "$kernel" "$OUT/build/kunit"
	mkdir -p "$dir"
	cp "$OUT"/build/kunit/{ntklog.ko,kunit/ntklog_kunit.ko,workload/ntklog_torture.ko} \
		"$dir/"
	cat >"$dir/guest.sh" <<-'END'
		insmod ntklog.ko && insmod ntklog_kunit.ko || exit 1
		cat /sys/kernel/debug/kunit/*/results
		rmmod ntklog_kunit && rmmod ntklog || exit 1
		dmesg >dmesg.log
	END
	result "kunit: the virtual machine runs to its end" \
		"$TOP/scripts/vm.sh" -k "$kernel/arch/x86/boot/bzImage" -c 4 "$dir"
	grep -E '^ +(not )?ok |^ +# ' "$dir/guest.log"
	for suite in ke ke_irql ke_spin_lock ex perf etw nt; do
		result "kunit: the suite ntklog_$suite passed" \
			grep -qE "^ok [0-9]+ ntklog_$suite" "$dir/guest.log"
	done
	result "kunit: the reports are those that the suites provoke" \
		has_expected_reports "$dir/dmesg.log"
}

# Two processors really at once, in the kernel with lockdep. Tracing is on from
# before to after: see vm.sh for why nothing may be switched meanwhile.
parallel()
{
	local dir=$TEST/parallel kernel
	kernel=$("$TOP/scripts/test-kernel.sh" kunit)
	mkdir -p "$dir"
	cp "$OUT"/build/kunit/{ntklog.ko,workload/ntklog_torture.ko} "$dir/"
	cat >"$dir/guest.sh" <<-'END'
		S=/sys/kernel/debug/ntklog/sessions/0
		insmod ntklog.ko || exit 1
		echo 20 >/sys/kernel/debug/ntklog/spinlock/contention_sample_rate
		echo start >$S/state
		insmod ntklog_torture.ko duration=10 locks=12 nest=10 threads=6
		sleep 12
		rmmod ntklog_torture
		insmod ntklog_torture.ko duration=5 locks=1 nest=1 hold_us=0 threads=8
		sleep 6
		rmmod ntklog_torture
		echo stop >$S/state
		cat $S/stats
		rmmod ntklog
		dmesg >dmesg.log
	END
	result "parallel: the virtual machine runs to its end" \
		"$TOP/scripts/vm.sh" -p -k "$kernel/arch/x86/boot/bzImage" "$dir"
	result "parallel: torture succeeds twice" sh -c \
		"grep 'End of test' $dir/dmesg.log; [ \$(grep -c 'End of test: SUCCESS' $dir/dmesg.log) = 2 ]"
	result "parallel: events generated are written or lost" awk \
		'$1 == "total" { exit $2 == 0 || $2 != $3 + $4 }' "$dir/guest.log"
	result "parallel: the kernel has nothing to complain of" sh -c \
		"! grep -E '$REPORT' $dir/dmesg.log"
}

say "setting up: packages (tools only), Debian's kernels and a test kernel (unpacked and cached in $CACHE)"
need "to build and test the tool" gcc g++ make libc6-dev python3 git
eval "$("$TOP/scripts/debian-kernel.sh")"
"$TOP/scripts/debian-kernel.sh" 6.1 >/dev/null
"$TOP/scripts/test-kernel.sh" kunit >/dev/null

say "headers, style, tool"
step headers headers
step style style
step tool tool
say "KUnit suites, then two stock kernels at once, one host thread each (about 2 minutes)"
step kunit kunit
step e2e-6.12 e2e 6.12 &
step e2e-6.1 e2e 6.1 &
wait
say "torture on parallel processors (about half a minute)"
step parallel parallel

cd "$TEST"
failed=$(cat ./*.tap | grep -cE '^ *not ok ' || true)
skipped=$(cat ./*.tap | grep -cE '^ *ok .*# SKIP' || true)
passed=$(($(cat ./*.tap | grep -cE '^ *ok ' || true) - skipped))
say "results and logs are in $TEST"
line="$passed passed, $failed failed"
[ "$skipped" = 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
