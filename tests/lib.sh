# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# A step prints its results as TAP and writes its files to a directory of its own, $DIR, which is
# emptied here. It can be run by hand: tests/steps/NAME.sh [ARGUMENT]...

. "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib.sh"

TESTS=$TOP/tests
TOOL_TESTS=$TOP/tools/ntklog/tests
STEP=${STEP:-$(basename "$0" .sh)${1:+-$1}}
TEST=$OUT/test
DIR=$TEST/$STEP
export PYTHONPATH=$TESTS/lib
export PYTHONDONTWRITEBYTECODE=1

rm -rf "$DIR"
mkdir -p "$DIR"

# run_test NAME COMMAND...: run a command as a test, and print its result; if it fails, its output
# too. If COMMAND is a shell function, it ends at the first of its commands that fails.
run_test()
{
	local name=$1 log status
	shift
	log=$(mktemp)
	set_stage "$name"
	# "if" and "||" would turn set -e off inside of the function.
	set +e
	(set -e; "$@") >"$log" 2>&1
	status=$?
	set -e
	if [ $status = 0 ]; then
		printf 'ok - %s\n' "$name"
	else
		printf 'not ok - %s\n' "$name"
		# The last line may have no newline, and "$a\" adds it.
		sed -e 's/^/# /' -e '$a\' "$log"
	fi
	rm -f "$log"
}

# run_test_program COMMAND...: run a program that prints results itself. An exit status that is not
# 0 without a failed result is a failed result, too.
run_test_program()
{
	local log
	log=$(mktemp)
	"$@" | tee "$log" || grep -q '^not ok' "$log" ||
		printf '\nnot ok - %s ends without an error\n' "$*"
	rm -f "$log"
}

# The guest's output may have bytes that are no text.
print_guest_results()
{
	grep -aE '^(not )?ok |^#' "$DIR/guest.log"
}

print_skipped()
{
	printf 'ok - %s # SKIP %s\n' "$1" "$2"
}

# output_of SCRIPT [ARGUMENT]: print the output of scripts/*/SCRIPT.sh. Within a run of run.sh the
# output is kept in the directory SCRIPT_OUTPUTS for the other steps.
output_of()
{
	local answer file=${SCRIPT_OUTPUTS:-}/$1-${2:-}
	if [ -z "${SCRIPT_OUTPUTS:-}" ] || [ ! -s "$file" ]; then
		# set -e is off in $(output_of ...), so return the failure.
		answer=$("$(find "$TOP"/scripts/*/ -name "$1.sh")" "${@:2}") || return
		[ -n "${SCRIPT_OUTPUTS:-}" ] || { printf '%s\n' "$answer"; return; }
		printf '%s\n' "$answer" >"$file.$BASHPID"
		mv "$file.$BASHPID" "$file"
	fi
	cat "$file"
}

# set_debian_kernel KERNEL: set IMAGE, MODULES, KDIR, ABI and SUITE, as debian-kernel.sh prints
# them.
set_debian_kernel()
{
	local assignments
	assignments=$(output_of debian-kernel "$1")
	eval "$assignments"
}

# build_tool [TARGET]...: build the tool without sanitizers, and targets of its makefile, and set
# NTKLOG to its path.
build_tool()
{
	build_tool_in "$OUT/build/tool" "$@"
	NTKLOG=$OUT/build/tool/ntklog
}

# build_tool_in DIRECTORY [TARGET or VARIABLE=VALUE]...
build_tool_in()
{
	local dir=$1 word words=()
	shift
	install_groups tool
	for word; do
		[[ $word == *=* ]] || word=$dir/$word
		words+=("$word")
	done
	mkdir -p "$dir"
	(
		flock 9
		run_quietly "tool-$STEP" make -s -C "$TOP/tools/ntklog" O="$dir" \
			CFLAGS="-O2 -g -Werror" "$dir/ntklog" "${words[@]}"
	) 9>"$dir/.lock"
}

guest_cc=(gcc)
# The directory of a foreign architecture's Debian; empty: virtual machines have this machine's.
FOREIGN=

# use_architecture ARCHITECTURE: from now on build programs and modules for virtual machines of
# another architecture.
use_architecture()
{
	local cross
	FOREIGN=$(output_of foreign-root "$1")
	case $1 in
	arm64)
		cross=$(output_of cross-gcc)
		PATH=$cross/ccache:$cross/usr/bin:$PATH
		export LD_LIBRARY_PATH=$cross/usr/lib/x86_64-linux-gnu
		export STRIP=aarch64-linux-gnu-strip
		guest_cc=(aarch64-linux-gnu-gcc-12 "--sysroot=$FOREIGN")
		;;
	i386)
		install_groups programs32
		# The x87 unit has more bits than x86-64's SSE, which may change the last digit of a
		# number.
		guest_cc=(gcc -m32 -msse2 -mfpmath=sse "--sysroot=$FOREIGN")
		;;
	*) die "no compiler for $1 is known here" ;;
	esac
}

# build_foreign_tool: build the tool for the architecture of use_architecture, and set
# FOREIGN_NTKLOG to its path.
build_foreign_tool()
{
	FOREIGN_NTKLOG=$OUT/build/tool-$(basename "$FOREIGN")/ntklog
	build_tool_in "$(dirname "$FOREIGN_NTKLOG")" CC="${guest_cc[*]}"
}

# build_modules_silently KDIR DIRECTORY [ARGUMENT]...: fail if the build has a warning.
build_modules_silently()
{
	local kdir=$1 dir=$2
	"$TOP/scripts/build/build-modules.sh" "$kdir" "$dir" "${@:3}"
	[ -s "$dir/modules.log" ]
	! grep -E 'warning:|WARNING:' "$dir/modules.log"
}

build_guest_programs()
{
	local dir=$1 name
	shift
	for name; do
		"${guest_cc[@]}" -O2 -Wall -Wextra -Werror -static -I"$TOP/include/uapi" \
			-o "$dir/$name" "$TESTS/programs/$name.c"
	done
}

# Pattern of the first lines of the reports of the kernel's detectors.
REPORT='WARNING: |BUG: |INFO: |Oops|KASAN|KCSAN: |UBSAN: |unreferenced object'

# drop_kernel_races LOG: leave out the reports of KCSAN in which neither stack has a function of
# the modules (functions that an interrupt or a softirq interrupted do not count), and reports about
# data of the kernel that it does not mark, if both accesses are in functions of the kernel: of
# hrtimer_active(), of hrtimer_wakeup() (a task that sleeps, and its timer), the clock that
# ktime_get() reads, the counts of kprobes, and those of relay if a writer and a reader race, not two
# of a kind. Two CPUs may print at the same time. CONFIG_PRINTK_CALLER prefixes each line with its
# task or CPU, by which the lines of a report are found.
drop_kernel_races()
{
	awk '
		{ found = match($0, /^\[ *[0-9.]+\]\[ *[TC][0-9]+\]/)
			caller = found ? substr($0, 1, RLENGTH) : ""
			sub(/^[^]]*/, "", caller) }
		/BUG: KCSAN: / {
			report = 1; reporter = caller; text = ""
			is_ours = own_access = interrupted = known = is_top = 0
		}
		!report || caller != reporter { print; next }
		{ text = text $0 "\n" }
		is_top && /\[ntklog/ { own_access = 1 }
		{ is_top = 0 }
		/ by (task|interrupt) / { interrupted = 0; is_top = 1 }
		/(handle_softirqs|(asm_)?(sysvec_[a-z_]*|common_interrupt))\+0x/ { interrupted = 1 }
		/\[ntklog/ && !interrupted { is_ours = 1 }
		/data-race in [a-z_]+ \/ hrtimer_(active|wakeup)$/ { known = 1 }
		/data-race in hrtimer_(active|wakeup) \/ [a-z_]+$/ { known = 1 }
		/data-race in (ktime_get \/ timekeeping_advance|timekeeping_advance \/ ktime_get)$/ { known = 1 }
		/data-race in relay_[a-z_]+ \/ relay_[a-z_]+$/ { known = $NF != $(NF - 2) }
		/data-race in kprobe_ftrace_handler \/ kprobe_ftrace_handler$/ { known = 1 }
		/======/ {
			if (is_ours && (own_access || !known))
				printf "%s", text
			report = 0
		}
		END { if (report) printf "%s", text }' "$1"
}

# log_has_reports LOG EXPECTED: test that the log has each report of EXPECTED (a pattern on each
# line) once, or as often as the number before the pattern says ("3 PATTERN"), and no other. Reports
# that drop_kernel_races() leaves out do not count; their number is printed. The line before
# "WARNING:" has the text that a pattern describes.
log_has_reports()
{
	local log=$1.ours report times count=0 others
	drop_kernel_races "$1" >"$log"
	others=$(grep -c 'BUG: KCSAN: ' "$1" || true)
	others=$((others - $(grep -c 'BUG: KCSAN: ' "$log" || true)))
	[ $others = 0 ] || say "$others reports of KCSAN's are about data of the kernel, and left out"
	while read -r report; do
		[ -n "$report" ] || continue
		times=1
		[[ ! $report =~ ^([0-9]+)\ (.*) ]] ||
			times=${BASH_REMATCH[1]} report=${BASH_REMATCH[2]}
		[ "$(grep -cE "$report" "$log" || true)" = "$times" ] ||
			{ echo "not $times times: $report"; return 1; }
		count=$((count + times))
	done <<<"$2"
	[ "$(grep -cE "$REPORT" "$log" || true)" = $count ] || {
		echo 'reports that are not expected:'
		REPORT=$REPORT EXPECTED=$(sed -E '/^$/d; s/^[0-9]+ //' <<<"$2" | paste -sd '|') awk '
			$0 ~ ENVIRON["REPORT"] && $0 !~ ENVIRON["EXPECTED"] &&
				before !~ ENVIRON["EXPECTED"] { left = 20 }
			left-- > 0
			{ before = $0 }' "$log"
		return 1
	}
}

# fill_shared_directory DIRECTORY FLAVOUR: the standard input becomes guest.sh.
fill_shared_directory()
{
	mkdir -p "$1"
	"$TOP/scripts/build/build-modules.sh" "$(output_of test-kernel "$2")" "$OUT/build/$2"
	cp "$OUT/build/$2/ntklog.ko" "$OUT/build/$2"/{kunit,workload,tests/modules}/*.ko "$1/"
	cat >"$1/guest.sh"
}

print_kernel_image()
{
	printf '%s/arch/x86/boot/bzImage\n' "$(output_of test-kernel "$1")"
}
