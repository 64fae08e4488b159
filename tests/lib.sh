# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Functions for the steps. A step prints its results as TAP and writes its files to a directory of
# its own, $DIR. It can be run by hand: tests/steps/NAME.sh [ARGUMENT]...

. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"

TESTS=$TOP/tests
TOOL_TESTS=$TOP/tools/ntklog/tests
STEP=${STEP:-$(basename "$0" .sh)${1:+-$1}}
TEST=$OUT/test
DIR=$TEST/$STEP
# Modules for tests in Python: the decoder and the writer of ETL, and TAP.
export PYTHONPATH=$TESTS/lib
export PYTHONDONTWRITEBYTECODE=1

rm -rf "$DIR"
mkdir -p "$DIR"

# result NAME COMMAND...: a test that is one command, or a function, which ends at the first
# command that fails.
result()
{
	local name=$1 log status
	shift
	log=$(mktemp)
	# "if" and "||" would turn set -e off inside of the function.
	set +e
	(set -e; "$@") >"$log" 2>&1
	status=$?
	set -e
	if [ $status = 0 ]; then
		printf 'ok - %s\n' "$name"
	else
		printf 'not ok - %s\n' "$name"
		sed 's/^/# /' "$log"
	fi
	rm -f "$log"
}

# results COMMAND...: run a program that prints results itself. If it fails without a failed result,
# it has not come to its end, which is a failed result too.
results()
{
	local log
	log=$(mktemp)
	"$@" | tee "$log" || grep -q '^not ok' "$log" ||
		printf 'not ok - %s comes to its end\n' "$*"
	rm -f "$log"
}

# skipped NAME REASON: print the result of a test that cannot run here.
skipped()
{
	printf 'ok - %s # SKIP %s\n' "$1" "$2"
}

# known SCRIPT [ARGUMENT]: print the output of the script. A run of run.sh calls the script once,
# because apt takes a second or two.
known()
{
	local answer file=${KNOWN:-}/$1-${2:-}
	if [ -z "${KNOWN:-}" ] || [ ! -s "$file" ]; then
		# set -e is off in $(known ...), so the failure is returned.
		answer=$("$(find "$TOP"/scripts/*/ -name "$1.sh")" "${@:2}") || return
		[ -n "${KNOWN:-}" ] || { printf '%s\n' "$answer"; return; }
		printf '%s\n' "$answer" >"$file.$BASHPID"
		mv "$file.$BASHPID" "$file"
	fi
	cat "$file"
}

# debian_kernel SERIES: set IMAGE, MODULES, KDIR and ABI to a kernel of Debian's.
debian_kernel()
{
	local words
	words=$(known debian-kernel "$1")
	eval "$words"
}

# tool [TARGET]...: build the tool as users have it, and programs of its tests, once in a run.
tool()
{
	tool_in "$OUT/build/tool" "$@"
	NTKLOG=$OUT/build/tool/ntklog
}

# tool_in DIRECTORY [TARGET or VARIABLE=VALUE]...: build the tool in a directory.
tool_in()
{
	local dir=$1 word words=()
	shift
	need tool
	for word; do
		[[ $word == *=* ]] || word=$dir/$word
		words+=("$word")
	done
	mkdir -p "$dir"
	(
		flock 9
		quietly "tool-$STEP" make -s -C "$TOP/tools/ntklog" O="$dir" \
			CFLAGS="-O2 -g -Werror" "$dir/ntklog" "${words[@]}"
	) 9>"$dir/.lock"
}

# foreign ARCHITECTURE: from now on build for virtual machines of an architecture: with guest_cc,
# against the Debian in FOREIGN.
guest_cc=(gcc)
FOREIGN=
foreign()
{
	local cross
	FOREIGN=$(known foreign-root "$1")
	case $1 in
	arm64)
		cross=$(known cross-gcc)
		PATH=$cross/ccache:$cross/usr/bin:$PATH
		export LD_LIBRARY_PATH=$cross/usr/lib/x86_64-linux-gnu
		export STRIP=aarch64-linux-gnu-strip
		guest_cc=(aarch64-linux-gnu-gcc-12 "--sysroot=$FOREIGN")
		;;
	i386)
		need programs32
		# The x87 unit rounds later, which changes the last digit of some numbers.
		guest_cc=(gcc -m32 -msse2 -mfpmath=sse "--sysroot=$FOREIGN")
		;;
	*) die "no compiler for $1 is known here" ;;
	esac
}

# foreign_tool: build the tool for the foreign architecture, with the libraries of its Debian.
foreign_tool()
{
	FOREIGN_NTKLOG=$OUT/build/tool-$(basename "$FOREIGN")/ntklog
	tool_in "$(dirname "$FOREIGN_NTKLOG")" CC="${guest_cc[*]}"
}

builds_silently()
{
	local kdir=$1 dir=$2
	"$TOP/scripts/build/build-modules.sh" "$kdir" "$dir" W=1 "${@:3}"
	! grep -E 'warning:|WARNING:' "$OUT/log/modules-$(basename "$dir").log"
}

# guest_programs DIRECTORY NAME...: build programs of tests/programs/ for the virtual machine.
guest_programs()
{
	local dir=$1 name
	shift
	for name; do
		"${guest_cc[@]}" -O2 -Wall -Wextra -Werror -static -I"$TOP/include/uapi" \
			-o "$dir/$name" "$TESTS/programs/$name.c"
	done
}

# Beginnings of the reports of the kernel's detectors.
REPORT='WARNING: |BUG: |INFO: |Oops|KASAN|KCSAN: |UBSAN: |unreferenced object'

# ours LOG: print the log without KCSAN's reports about the kernel itself. These are reports in which
# neither side has a function of the module (the interrupted code below an interrupt or softirq does
# not count), reports of hrtimer_active(), and reports about the counters of kprobes. Two CPUs may
# print at the same time: with PRINTK_CALLER each line begins with its task or CPU.
ours()
{
	awk '
		{ found = match($0, /^\[ *[0-9.]+\]\[ *[TC][0-9]+\]/)
			caller = found ? substr($0, 1, RLENGTH) : ""
			sub(/^[^]]*/, "", caller) }
		/BUG: KCSAN: / {
			report = 1; reporter = caller; text = ""; is_ours = interrupted = 0
		}
		!report || caller != reporter { print; next }
		{ text = text $0 "\n" }
		/ by (task|interrupt) / { interrupted = 0 }
		/(handle_softirqs|(asm_)?(sysvec_[a-z_]*|common_interrupt))\+0x/ { interrupted = 1 }
		/\[ntklog/ && !interrupted { is_ours = 1 }
		/data-race in ([a-z_]+ \/ hrtimer_active|hrtimer_active \/ [a-z_]+)$/ { known = 1 }
		/data-race in kprobe_ftrace_handler \/ kprobe_ftrace_handler$/ { known = 1 }
		/======/ {
			if (is_ours && !known)
				printf "%s", text
			report = known = 0
		}
		END { if (report) printf "%s", text }' "$1"
}

# has_reports LOG EXPECTED: the log has each report of EXPECTED once, or as often as the number before
# it ("3 PATTERN"), and no other. The number of the kernel's own reports is printed.
has_reports()
{
	local log=$1.ours report times count=0 others
	ours "$1" >"$log"
	others=$(grep -c 'BUG: KCSAN: ' "$1" || true)
	others=$((others - $(grep -c 'BUG: KCSAN: ' "$log" || true)))
	[ $others = 0 ] || say "$others reports of KCSAN's name nothing of ours and are left out"
	while read -r report; do
		[ -n "$report" ] || continue
		times=1
		[[ ! $report =~ ^([0-9]+)\ (.*) ]] ||
			times=${BASH_REMATCH[1]} report=${BASH_REMATCH[2]}
		[ "$(grep -cE "$report" "$log" || true)" = "$times" ] ||
			{ echo "not $times times: $report"; return 1; }
		count=$((count + times))
	done <<<"$2"
	grep -E "$REPORT" "$log" || true
	[ "$(grep -cE "$REPORT" "$log" || true)" = $count ] ||
		{ grep -E -m 2 -A 20 "$REPORT" "$log"; return 1; }
}

# share DIRECTORY FLAVOUR: make a directory for the virtual machine, with the modules built for the
# test kernel, and the script on standard input as guest.sh.
share()
{
	mkdir -p "$1"
	"$TOP/scripts/build/build-modules.sh" "$(known test-kernel "$2")" "$OUT/build/$2" W=1
	cp "$OUT/build/$2/ntklog.ko" "$OUT/build/$2"/{kunit,workload,tests/modules}/*.ko "$1/"
	cat >"$1/guest.sh"
}

# image FLAVOUR: print the path of the image of a test kernel that has been built.
image()
{
	printf '%s/arch/x86/boot/bzImage\n' "$(known test-kernel "$1")"
}
