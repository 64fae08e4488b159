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
# failed at once. ONLY="NAME..." leaves the others out, while one works on a part.
step()
{
	local name=$1 passed
	shift
	[[ -z ${ONLY:-} || " $ONLY " == *" $name "* ]] || return 0
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

kernel_doc_is_silent()
{
	cd "$TOP"
	git ls-files 'include/*.h' 'module/*.[ch]' | xargs perl \
		"$(scripts/kernel-source.sh)/scripts/kernel-doc" -none >"$TEST/kernel-doc.log" 2>&1
	cat "$TEST/kernel-doc.log"
	[ ! -s "$TEST/kernel-doc.log" ]
}

style()
{
	result "style: checkpatch --strict" make -s -C "$TOP" checkpatch
	result "style: sparse" "$TOP/scripts/sparse.sh" "$KDIR"
	result "style: kernel-doc" kernel_doc_is_silent
}

tool()
{
	local test
	result "tool: builds without a warning" make -s -C "$E2E/.." \
		O="$TEST/tool" CFLAGS="-O2 -g -Werror"
	result "tool: builds with ASan and UBSan" make -s -C "$E2E/.." \
		O="$TEST/tool-asan" \
		CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover"
	result "tool: the fuzzer is built" make -s -C "$E2E/.." O="$TEST/tool" fuzz
	result "tool: the generator is built" make -s -C "$E2E/.." \
		O="$TEST/tool" "$TEST/tool/generate"
	for test in dump report convert control manual; do
		python3 "$E2E/test_$test.py" "$TEST/tool-asan/ntklog" || true
	done
	# Memory that the sanitizers take is not the tool's.
	python3 "$E2E/test_large.py" "$TEST/tool/ntklog" "$TEST/tool/generate" || true
	fuzz
}

# fuzz: half a minute of files of strangers', under ASan and UBSan.
fuzz()
{
	local dir=$TEST/fuzz
	mkdir -p "$dir"
	python3 "$E2E/make_corpus.py" "$dir/corpus"
	result "fuzz: files of strangers do no harm" env -C "$dir" "$TEST/tool/fuzz" \
		-max_total_time="${FUZZ_SECONDS:-30}" -max_len=8192 -close_fd_mask=3 \
		-print_final_stats=1 corpus
}

# in_root ROOT COMMAND...: as in a machine of its own.
in_root()
{
	local root=$1
	shift
	as_root env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C DEBIAN_FRONTEND=noninteractive \
		chroot "$root" "$@"
}

# dkms_builds SERIES: from what the package installs, for the kernel of the series.
dkms_builds()
{
	local dir=$TEST/packages/dkms IMAGE MODULES KDIR ABI
	eval "$("$TOP/scripts/debian-kernel.sh" "$1")"
	as_root dkms build --dkmstree "$dir/var" --sourcetree "$dir/root/usr/src" \
		-m ntklog -v "$VERSION" -k "$ABI" --kernelsourcedir "$KDIR" || {
		cat "$dir"/var/ntklog/"$VERSION"/build/make.log
		return 1
	}
	find "$dir/var/ntklog/$VERSION/$ABI" -name 'ntklog.ko*' | grep .
}

# The Debian packages: built, and what is in them builds by DKMS and runs in a fresh
# Debian that has only what they depend on.
packages()
{
	local dir=$TEST/packages root=$TEST/packages/root series
	mkdir -p "$dir/dkms/var"
	result "packages: make deb" make -s -C "$TOP" deb
	VERSION=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$TOP/dkms.conf")
	result "packages: the changelog has the version of dkms.conf" \
		grep -q "^ntklog ($VERSION) " "$TOP/debian/changelog"
	dpkg-deb -x "$OUT/deb/ntklog-dkms_${VERSION}_all.deb" "$dir/dkms/root"
	result "packages: dkms add" as_root dkms add --dkmstree "$dir/dkms/var" \
		--sourcetree "$dir/dkms/root/usr/src" -m ntklog -v "$VERSION"
	for series in 6.12 6.1; do
		result "packages: DKMS builds for $series" dkms_builds "$series"
	done
	"$TOP/scripts/clean-root.sh" "$root" dkms libjansson4 libbabeltrace2-0
	as_root cp "$OUT/deb/ntklog_${VERSION}_amd64.deb" \
		"$OUT/deb/ntklog-dkms_${VERSION}_all.deb" "$root/"
	result "packages: installed in a fresh Debian" \
		in_root "$root" sh -c 'dpkg -i /ntklog_*.deb /ntklog-dkms_*.deb'
	result "packages: the tool runs there" sh -c "$(declare -f in_root as_root die);
		in_root $root ntklog --version | grep -x 'ntklog $VERSION'"
	result "packages: DKMS has the module there" sh -c "$(declare -f in_root as_root die);
		in_root $root dkms status | grep '^ntklog/$VERSION: added'"
	result "packages: man pages and completion are there" ls \
		"$root/usr/share/man/man1/ntklog.1.gz" "$root/usr/share/man/man5/ntklog-etl.5.gz" \
		"$root/usr/share/bash-completion/completions/ntklog"
	result "packages: and can be removed" in_root "$root" dpkg -P ntklog ntklog-dkms
	result "packages: nothing is left" sh -c "! find $root -mindepth 2 -name '*ntklog*' | grep ."
	as_root rm -rf "$root"
}

# page: the report's page in a browser, light and dark. Pictures end in out/test/page.
page()
{
	local dir=$TEST/page mode
	mkdir -p "$dir"
	"$TEST/tool/generate" 4 >"$dir/trace.etl"
	"$TEST/tool/ntklog" report "$dir/trace.etl" --html "$dir/report.html"
	for mode in light dark; do
		result "page: Chromium draws it, $mode" browser "$dir" \
			--screenshot="$dir/report-$mode.png" --hide-scrollbars \
			--blink-settings="preferredColorScheme=$([ $mode = dark ]; echo $?)"
		result "page: the $mode picture is one" \
			python3 "$E2E/check_picture.py" "$dir/report-$mode.png" $mode
	done
	result "page: the browser has nothing to complain of" sh -c "! grep CONSOLE $dir/*.log"
	browser "$dir" --dump-dom >"$dir/dom.html" 2>"$dir/dom.log"
	result "page: its pictures are there" sh -c "[ \$(grep -c '<svg' $dir/dom.html) -ge 8 ]"
}

# browser DIRECTORY OPTION...: show its report.html.
browser()
{
	local dir=$1
	shift
	timeout 120 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$dir/profile" --enable-logging=stderr --window-size=1100,2400 \
		"$@" "file://$dir/report.html" 2>>"$dir/browser.log"
}

# guest_programs DIRECTORY NAME...: what the virtual machine has no program for.
guest_programs()
{
	local dir=$1 name
	shift
	for name; do
		gcc -O2 -Wall -Wextra -Werror -static -I"$TOP/include/uapi" \
			-o "$dir/$name" "$E2E/guest/$name.c"
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
	mkdir -p "$dir/example"
	cp "$TOP"/Documentation/examples/* "$dir/example/"
	result "$1: the example builds as another module would" make -s -C "$dir/example" \
		KDIR="$KDIR" NTKLOG="$OUT/build/$ABI"
	cp "$OUT/build/$ABI/ntklog.ko" "$OUT/build/$ABI/workload"/*.ko \
		"$dir/example/ntklog_example.ko" "$E2E"/e2e/*.sh "$dir/"
	guest_programs "$dir" drain ioctl terminal
	gcc -m32 -O2 -static -I"$TOP/include/uapi" -o "$dir/ioctl32" "$E2E/guest/ioctl.c"
	mv "$dir/ioctl" "$dir/ioctl64"
	result "$1: the virtual machine runs to its end" \
		"$TOP/scripts/vm.sh" -k "$IMAGE" -M "$MODULES" -P "$TEST/tool/ntklog" -t 600 "$dir"
	grep -E '^(not )?ok |^#' "$dir/guest.log" | sed "s/ok - /ok - $1 /"
	python3 "$E2E/check_e2e.py" "$TEST/tool/ntklog" "$dir" |
		sed "s/ok - /ok - $1 /" || true
	python3 "$E2E/check_tool.py" "$TEST/tool/ntklog" "$dir" |
		sed "s/ok - /ok - $1 /" || true
}

# What a kernel calls a report when one of its detectors has found something.
REPORT='WARNING: |BUG: |INFO: |Oops|KASAN|KCSAN: |UBSAN: |unreferenced object'

# The suites provoke these reports on purpose, each once, and no others. Those of
# sleeping only where DEBUG_ATOMIC_SLEEP is.
EXPECTED_REPORTS='ExReleaseSpinLock: lock .* is not owned shared
KeAcquireQueuedSpinLock: no queued spin lock has the number 0x11
KeReleaseQueuedSpinLock: .* does not own lock
KeReleaseSpinLock: lock .* is not owned
KeRaiseIrql: from IRQL 2 to 1
KeLowerIrql: from IRQL 0 to 2
KeLeaveCriticalRegion: thread [0-9]+ is in none
ExInitializeResource: resource .* is live already
ExReinitializeResource: 1 wait for resource
ExDeleteResource: resource .* is owned, called from deletion_of
ExAcquireResource: resource .*, wait 1, at IRQL 2 from
ExReleaseResource: resource .* is owned by 0, not by
ExConvertExclusiveToShared: resource .* is not owned exclusively by
ExSetResourceOwnerPointer: resource .* is not owned by
ExSetResourceOwnerPointerEx: resource .*, flags 2 from'
EXPECTED_SLEEP='BUG: sleeping function called from invalid context at .*/ke_irql_test\.c
BUG: sleeping function called from invalid context at .*/eresource\.c'

# ours LOG: without what is the kernel's own. KCSAN at its strictest finds races
# in it too: reports in which no function of ours appears on either side - what an
# interrupt or softirq has interrupted is not part of it - and one inside
# hrtimer_cancel(), whoever calls it.
ours()
{
	awk '
		/BUG: KCSAN: / { report = 1; text = ""; is_ours = 0 }
		!report { print; next }
		{ text = text $0 "\n" }
		/ by (task|interrupt) / { interrupted = 0 }
		/ (handle_softirqs|(asm_)?sysvec_[a-z_]*)\+0x/ { interrupted = 1 }
		/\[ntklog/ && !interrupted { is_ours = 1 }
		/data-race in __hrtimer_run_queues \/ hrtimer_active$/ { known = 1 }
		/======/ {
			if (is_ours && !known)
				printf "%s", text
			report = known = 0
		}
		END { if (report) printf "%s", text }' "$1"
}

# has_reports LOG EXPECTED: the log has each of these once, and no other.
has_reports()
{
	local log=$1.ours report count=0
	ours "$1" >"$log"
	while read -r report; do
		[ -n "$report" ] || continue
		[ "$(grep -cE "$report" "$log")" = 1 ] ||
			{ echo "not once: $report"; return 1; }
		count=$((count + 1))
	done <<<"$2"
	grep -E "$REPORT" "$log"
	[ "$(grep -cE "$REPORT" "$log")" = $count ]
}

# share DIRECTORY FLAVOUR: a directory for the virtual machine, with the modules
# built for the test kernel and the script on standard input.
share()
{
	mkdir -p "$1"
	"$TOP/scripts/build-modules.sh" "$("$TOP/scripts/test-kernel.sh" "$2")" \
		"$OUT/build/$2" W=1
	cp "$OUT/build/$2/ntklog.ko" "$OUT/build/$2"/{kunit,workload}/*.ko "$1/"
	cat >"$1/guest.sh"
}

# image FLAVOUR: of a test kernel that has been built.
image()
{
	printf '%s/arch/x86/boot/bzImage\n' "$("$TOP/scripts/test-kernel.sh" "$1")"
}

# kunit FLAVOUR: all suites in a test kernel.
kunit()
{
	local dir=$TEST/kunit-$1 suite expected=$EXPECTED_REPORTS
	[ "$1" = kcsan ] || expected+=$'\n'$EXPECTED_SLEEP
	result "$1: the modules build with W=1 and no warning" \
		builds_silently "$("$TOP/scripts/test-kernel.sh" "$1")" "$OUT/build/$1"
	share "$dir" "$1" <<-'END'
		# Also allocations that could wait for memory fail when a test says so.
		F=/sys/kernel/debug/failslab/ignore-gfp-wait
		[ ! -e $F ] || echo N >$F
		insmod ntklog.ko excessive_first_ms=40 excessive_next_ms=80 || exit 1
		insmod ntklog_kunit.ko || exit 1
		cat /sys/kernel/debug/kunit/*/results
		rmmod ntklog_kunit && rmmod ntklog || exit 1
		dmesg >dmesg.log
	END
	result "$1: the suites' virtual machine runs to its end" \
		"$TOP/scripts/vm.sh" -t 600 -k "$(image "$1")" -c 4 -m 2048 "$dir"
	grep -E '^ +(not )?ok |^ +# ' "$dir/guest.log"
	for suite in ke ke_irql ke_spin_lock ex eresource perf perf_resource context_swap information \
	    system_information etw session nt; do
		result "$1: the suite ntklog_$suite passed" \
			grep -qE "^ok [0-9]+ ntklog_$suite\$" "$dir/guest.log"
	done
	result "$1: the reports are those that the suites provoke" \
		has_reports "$dir/dmesg.log" "$expected"
}

TORTURE_TYPES='in_stack_queued queued spin ex ex_exclusive resource'

# torture FLAVOUR: every type of lock in a test kernel, more than a minute in all, in
# mixed contexts, traced by a session that comes and goes, while processors come
# and go and somebody reads. Few locks: lockdep has room for so many chains of them.
torture()
{
	local dir=$TEST/torture-$1 type
	share "$dir" "$1" <<-END
		S=/sys/kernel/debug/ntklog/sessions/0
		insmod ntklog.ko excessive_first_ms=5 excessive_next_ms=20 || exit 1
		echo PERF_SPINLOCK PERF_SYNC_OBJECTS >\$S/group_mask
		for type in $TORTURE_TYPES; do
			[ \$type = resource ] && size="locks=12 nest=3" || size="locks=6 nest=6"
			insmod ntklog_torture.ko torture_type=\$type duration=12 \$size || exit 1
			for round in 1 2 3 4 5 6; do
				echo 0 >/sys/devices/system/cpu/cpu1/online
				echo start >\$S/state
				cat \$S/../../locks >locks.txt
				sleep 1
				cat \$S/../../locks_information >locks.bin
				echo 1 >/sys/devices/system/cpu/cpu1/online
				echo stop >\$S/state
				usleep 500000
			done
			sleep 5
			rmmod ntklog_torture
		done
		cat \$S/stats
		rmmod ntklog
		K=/sys/kernel/debug/kmemleak
		# It reports what two scans, and five seconds, have found no use of.
		[ ! -e \$K ] || { echo scan >\$K; sleep 6; echo scan >\$K; cat \$K >kmemleak.log; }
		dmesg >dmesg.log
	END
	result "$1: the torture's virtual machine runs to its end" \
		"$TOP/scripts/vm.sh" -t 600 -k "$(image "$1")" -c 3 -m 2048 "$dir"
	for type in $TORTURE_TYPES; do
		result "$1: torture of $type succeeds" \
			grep "End of test: SUCCESS: $type: " "$dir/dmesg.log"
	done
	result "$1: events generated are written or lost" awk \
		'$1 == "total" { seen = 1; bad = $2 != $3 + $4 } END { exit !seen || bad }' \
		"$dir/guest.log"
	result "$1: the kernel has nothing to complain of" has_reports "$dir/dmesg.log" ''
	[ "$1" != kasan ] || result "kasan: nothing leaks" \
		sh -c "cat $dir/kmemleak.log; [ ! -s $dir/kmemleak.log ]"
}

# crowd: 32 threads that want resources, on 8 processors of two of the host's.
crowd()
{
	local dir=$TEST/crowd
	share "$dir" kunit <<-'END'
		S=/sys/kernel/debug/ntklog/sessions/0
		insmod ntklog.ko excessive_first_ms=5 excessive_next_ms=20 || exit 1
		echo PERF_SYNC_OBJECTS >$S/group_mask
		echo start >$S/state
		insmod ntklog_torture.ko torture_type=resource duration=15 locks=12 nest=3 \
			threads=32 || exit 1
		sleep 16
		rmmod ntklog_torture
		echo stop >$S/state
		cat $S/stats
		rmmod ntklog
		dmesg >dmesg.log
	END
	result "crowd: the virtual machine runs to its end" \
		"$TOP/scripts/vm.sh" -c 8 -m 1024 -t 300 -k "$(image kunit)" "$dir"
	result "crowd: 32 threads on 8 processors are all served" \
		grep "Start of test: .* threads=32 .*" "$dir/dmesg.log"
	result "crowd: no resource is owned by two" \
		grep "End of test: SUCCESS: resource: " "$dir/dmesg.log"
	result "crowd: events generated are written or lost" awk \
		'$1 == "total" { seen = 1; bad = !$2 || $2 != $3 + $4 } END { exit !seen || bad }' \
		"$dir/guest.log"
	result "crowd: the kernel has nothing to complain of" has_reports "$dir/dmesg.log" ''
}

# Two processors really at once. Tracing is on from before to after: see vm.sh
# for why nothing may be switched meanwhile.
parallel()
{
	local dir=$TEST/parallel
	share "$dir" kunit <<-'END'
		S=/sys/kernel/debug/ntklog/sessions/0
		insmod ntklog.ko || exit 1
		echo 20 >/sys/kernel/debug/ntklog/spinlock/contention_sample_rate
		echo PERF_SPINLOCK PERF_SYNC_OBJECTS >$S/group_mask
		echo start >$S/state
		for type in in_stack_queued queued spin ex resource; do
			insmod ntklog_torture.ko torture_type=$type duration=4 locks=6 nest=3 threads=6
			sleep 5
			rmmod ntklog_torture
			insmod ntklog_torture.ko torture_type=$type duration=3 locks=1 nest=1 hold_us=0 threads=8
			sleep 4
			rmmod ntklog_torture
		done
		echo stop >$S/state
		cat $S/stats
		rmmod ntklog
		dmesg >dmesg.log
	END
	result "parallel: the virtual machine runs to its end" \
		"$TOP/scripts/vm.sh" -p -k "$(image kunit)" "$dir"
	result "parallel: torture succeeds ten times" sh -c \
		"grep 'End of test' $dir/dmesg.log; [ \$(grep -c 'End of test: SUCCESS' $dir/dmesg.log) = 10 ]"
	result "parallel: events generated are written or lost" awk \
		'$1 == "total" { seen = 1; bad = !$2 || $2 != $3 + $4 } END { exit !seen || bad }' \
		"$dir/guest.log"
	result "parallel: the kernel has nothing to complain of" \
		has_reports "$dir/dmesg.log" ''
}

# lockdep MISUSE REPORT: lockdep must catch this, and turns itself off by it.
lockdep_catches()
{
	local dir=$TEST/lockdep-$1
	share "$dir" kunit <<-END
		insmod ntklog.ko
		O=/sys/module/lockdep_misuse/parameters/own
		case $1 in own*) misuse=none ;; *) misuse=$1 ;; esac
		insmod lockdep_misuse.ko misuse=\$misuse || exit 1
		case $1 in own) echo 1 >\$O ;; own_resource) echo 2 >\$O ;; esac
		dmesg >dmesg.log
	END
	"$TOP/scripts/vm.sh" -k "$(image kunit)" "$dir" &&
		has_reports "$dir/dmesg.log" "$2"
}

lockdep()
{
	result "lockdep: two queued locks in two orders" \
		lockdep_catches abba "possible circular locking dependency detected"
	result "lockdep: a lock in a hard interrupt and with interrupts on" \
		lockdep_catches irq "inconsistent lock state"
	result "lockdep: recursive acquisition" \
		lockdep_catches recursive "possible recursive locking detected"
	result "lockdep: recursive exclusive acquisition" \
		lockdep_catches ex_recursive "possible recursive locking detected"
	result "lockdep: recursive shared acquisition" \
		lockdep_catches ex_shared_recursive "possible recursive locking detected"
	result "lockdep: a lock that is owned on return to user space" \
		lockdep_catches own "lock held when returning to user space"
	result "lockdep: a resource and a mutex in two orders" \
		lockdep_catches resource_abba "possible circular locking dependency detected"
	result "lockdep: two resources of a class" \
		lockdep_catches resource_recursive "possible recursive locking detected"
	result "lockdep: a resource that is owned on return to user space" \
		lockdep_catches own_resource "lock held when returning to user space"
}

# abuse: nonsense for all files and ioctls, by itself and with sessions, locks and
# resources in full use; then each allocation of load and start fails once.
abuse()
{
	local dir=$TEST/abuse seed=${SEED:-$(date +%s)}
	say "abuse: SEED=$seed"
	share "$dir" kasan <<-END
		D=/sys/kernel/debug/ntklog
		insmod ntklog.ko || exit 1
		./abuse \$D $seed 80000
		for s in \$D/sessions/*; do echo stop >\$s/state 2>/dev/null; done
		./abuse \$D $((seed + 3)) 12000 quiet
		rmmod ntklog && insmod ntklog.ko || exit 1
		for type in in_stack_queued resource; do
			insmod ntklog_torture.ko torture_type=\$type duration=0 locks=6 nest=3 \
				threads=1 hardirqs=0 interval_us=5000 || exit 1
			./abuse \$D $((seed + 1)) 2500 & one=\$!
			./abuse \$D $((seed + 2)) 2500 & two=\$!
			n=0
			while kill -0 \$one 2>/dev/null; do
				s=\$D/sessions/\$((n % 8))
				echo 0 >\$s/state 2>/dev/null
				echo start >\$s/state 2>/dev/null
				usleep 20000
				echo stop >\$s/state 2>/dev/null
				n=\$((n + 1))
			done
			wait \$one \$two
			rmmod ntklog_torture || exit 1
		done
		rmmod ntklog || exit 1
		# Before memory fails: the kernel's own sysfs_slab_add() leaks then.
		K=/sys/kernel/debug/kmemleak
		echo scan >\$K; sleep 6; echo scan >\$K; cat \$K >kmemleak.log
		F=/sys/kernel/debug/failslab
		echo N >\$F/ignore-gfp-wait
		echo 0 >\$F/verbose
		# Many messages: those of before would be gone.
		dmesg -c >dmesg.log
		./fail load ntklog.ko
		insmod ntklog.ko buffers=2 buffer_size=4096 || exit 1
		./fail start \$D/sessions/3
		rmmod ntklog || exit 1
		dmesg >>dmesg.log
	END
	guest_programs "$dir" abuse fail
	result "abuse: the virtual machine runs to its end" \
		"$TOP/scripts/vm.sh" -t 1500 -k "$(image kasan)" -c 3 -m 2048 "$dir"
	grep -E '^(not )?ok |^#' "$dir/guest.log"
	result "abuse: the torture succeeds meanwhile" sh -c \
		"[ \$(grep -c 'End of test: SUCCESS' $dir/dmesg.log) = 2 ]"
	result "abuse: the kernel has nothing to complain of" has_reports "$dir/dmesg.log" ''
	result "abuse: nothing leaks" sh -c "cat $dir/kmemleak.log; [ ! -s $dir/kmemleak.log ]"
}

# cycles: load, trace, unload, with readers that have files open, 200 times.
cycles()
{
	local dir=$TEST/cycles
	share "$dir" kunit <<-'END'
		D=/sys/kernel/debug/ntklog
		refused=0
		n=0
		while [ $n -lt 200 ]; do
			insmod ntklog.ko buffer_size=4096 buffers=8 || exit 1
			s=$D/sessions/$((n % 8))
			echo PERF_SPINLOCK PERF_SYNC_OBJECTS PERF_CONTEXT_SWITCH >$s/group_mask
			echo $((n % 3 * 10)) >$s/flush_timer
			echo start >$s/state
			echo 1 >/sys/kernel/tracing/events/ntklog/enable
			exec 5<$s/cpu0 6<$D/locks
			cat <&5 >/dev/null &
			insmod ntklog_torture.ko threads=2 duration=0 \
				torture_type=$([ $((n % 2)) = 0 ] && echo resource || echo ex) || exit 1
			usleep 15000
			rmmod ntklog_torture || exit 1
			echo 0 >/sys/kernel/tracing/events/ntklog/enable
			rmmod ntklog 2>/dev/null || refused=$((refused + 1))
			wait
			exec 5<&- 6<&-
			rmmod ntklog || exit 1
			n=$((n + 1))
		done
		echo "$n cycles, $refused times a reader was in the way"
		dmesg >dmesg.log
	END
	result "cycles: the virtual machine runs to its end" 		"$TOP/scripts/vm.sh" -t 600 -k "$(image kunit)" -c 2 "$dir"
	result "cycles: 200, and readers were in the way" 		grep -E '^200 cycles, 200 times' "$dir/guest.log"
	result "cycles: the kernel has nothing to complain of" has_reports "$dir/dmesg.log" ''
}

model()
{
	local model=$TOP/kunit/model/queued_spin_lock.pml broken
	result "model: the queued spin lock keeps its promises" \
		"$TOP/scripts/model.sh" "$model"
	for broken in 1 2 3 4; do
		result "model: broken variant $broken does not" sh -c \
			"$TOP/scripts/model.sh $model $broken | grep 'errors: 1'"
	done
}

say "setting up: packages (tools only), Debian's kernels and a test kernel (unpacked and cached in $CACHE)"
need_tool
need "to test the tool" g++ python3 git time bash-completion mandoc
need "to build programs of 32 bits, for the ioctls" gcc-multilib
need "to fuzz the tool: libFuzzer" clang libclang-rt-dev
need "to see the report's page as people do" chromium
need "to build the packages, and by DKMS" build-essential debhelper dkms dh-dkms
eval "$("$TOP/scripts/debian-kernel.sh")"
"$TOP/scripts/debian-kernel.sh" 6.1 >/dev/null
for flavour in ${FLAVOURS:-kunit kasan kcsan}; do
	"$TOP/scripts/test-kernel.sh" "$flavour" >/dev/null
done

say "headers, style, tool, page, packages, model"
step headers headers
step style style
step tool tool
step page page
step packages packages
step model model
say "KUnit suites in the test kernels"
for flavour in ${FLAVOURS:-kunit kasan kcsan}; do
	step "kunit-$flavour" kunit "$flavour"
done
# From here on two virtual machines at once, one host thread each.
say "stock kernels, end to end (about 2 minutes)"
step e2e-6.12 e2e 6.12 &
step e2e-6.1 e2e 6.1 &
wait
say "torture under the detectors, with processors that come and go (about 2 minutes)"
step torture-kasan torture kasan &
step torture-kcsan torture kcsan &
wait
say "torture on parallel processors (about a minute)"
step parallel parallel
say "torture of a crowd (half a minute)"
step crowd crowd
say "abuse and failing memory under KASAN, and 200 loads and unloads (about 5 minutes)"
step abuse abuse &
step cycles cycles &
wait
say "what lockdep must catch, a boot each"
step lockdep lockdep

cd "$TEST"
failed=$(cat ./*.tap | grep -cE '^ *not ok ' || true)
skipped=$(cat ./*.tap | grep -cE '^ *ok .*# SKIP' || true)
passed=$(($(cat ./*.tap | grep -cE '^ *ok ' || true) - skipped))
say "results and logs are in $TEST"
line="$passed passed, $failed failed"
[ "$skipped" = 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
