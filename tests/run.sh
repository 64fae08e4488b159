#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test.sh check|test [STEP...]: run the steps of tests/steps/, side by side as far as this
# machine goes, and say how many results passed and failed. Exit status 0 only if some
# passed and none failed. Each step leaves its results, as TAP, its log and its scratch in
# out/test/. With steps named, or ONLY="STEP...", those alone (and what they need).

. "$(dirname "$0")/../scripts/lib.sh"

TEST=$OUT/test
tier=${1:?usage: test.sh check|test [STEP...]}
shift
[ $# = 0 ] || export ONLY=$*

# The plan: a step in its tier, what it keeps of a processor busy, in percent (its seconds of a
# processor by those that pass; a virtual machine's sleep is not work), the steps that have to be
# done before, and its name. Steps begin in this order as soon as there is room: first those that
# leave none for a second virtual machine, for a torture, whose processors are never idle, takes
# twice as much of a processor beside another one; then virtual machines by their length, two at a
# time, for three make all dearer by a quarter, and beside them one of what needs little. "rest":
# programs of this machine alone, one after the other beside all that, with what it leaves of the
# processors: a virtual machine whose processor has to wait for one of this machine's makes its
# others wait for it, and takes up to twice as many seconds.
plan()
{
	case $1 in
	check)
		cat <<-'END'
			100 - core-6.12
			100 - kunit-6.12
			60 - style
			50 - instructions
			100 - tool
			50 - headers
			100 - model
		END
		;;
	test)
		cat <<-'END'
			160 - kernel-kunit
			160 kernel-kunit kernel-kasan
			160 kernel-kasan kernel-kcsan
			160 kernel-kcsan strain
			rest - builds
			40 kernel-kcsan abuse
			160 kernel-kcsan torture-kcsan
			160 kernel-kasan torture-kasan
			160 kernel-kunit parallel
			160 kernel-kunit crowd
			100 - kunit-6.12
			70 - e2e-6.12
			70 - own-6.1
			70 builds own-newest
			70 - foreign-arm64
			70 - e2e-6.1
			70 - linux-6.12
			70 - sleeping-6.12
			70 - rt
			70 - foreign-i386
			70 - classes-6.12
			70 builds core-newest
			rest - tool
			rest - packages
			60 kernel-kunit lockdep
			60 kernel-kunit cycles
			60 - fuzz
			60 - suspend
			60 - linkage-6.12
			60 - linkage-6.1
			rest - style
			rest - page
			70 builds core-trixie
			70 kernel-kasan kunit-kasan
			70 - modes-6.12
			70 kernel-kcsan kunit-kcsan
			70 - stacks-6.12
			70 - stacks-6.1
			70 builds stacks-newest
			70 kernel-kunit kunit-kunit
			70 kernel-kunit window
			70 - switching
			70 - costs
			rest - model
			rest - litmus
			rest - docs
			rest - instructions
			rest - headers
		END
		;;
	*)
		die "no such tier: $1"
		;;
	esac
}

# command_of STEP: its file and the argument that it has: kunit-kasan is kunit.sh kasan.
command_of()
{
	local file=$TOP/tests/steps/$1.sh
	if [ -x "$file" ]; then
		echo "$file"
	else
		echo "$TOP/tests/steps/${1%%-*}.sh ${1#*-}"
	fi
}

# count PATTERN FILE...: lines that match, in all of them.
count()
{
	local pattern=$1
	shift
	cat "$@" 2>/dev/null | grep -cE "$pattern" || true
}

# begin STEP: in the background.
begin()
{
	local step=$1
	local -a class=()
	[ -z "${is_rest[$step]:-}" ] || class=(chrt --idle 0)
	(
		trap - EXIT
		# Seconds that passed, and those of a processor.
		TIMEFORMAT="%0R %0U %0S $step"
		{
			# shellcheck disable=SC2046 # a command and its argument
			time SAY_FD=3 STEP=$step "${class[@]}" $(command_of "$step") >"$TEST/$step.tap" \
				2>"$TEST/$step.log" </dev/null 6>&- ||
				printf 'not ok - %s came to its end\n' "$step" >>"$TEST/$step.tap"
		} 2>"$TEST/$step.time"
	) &
	running[$!]=$step
	room=$((room - load[$step]))
	resting=$((resting + ${is_rest[$step]:-0}))
	if [ -n "$first" ]; then
		is_beside[$step]=1
		beside=$((beside + load[$step]))
	fi
}

# end STEP: tell what came of it.
end()
{
	local step=$1 seconds user system
	read -r seconds user system _ <"$TEST/$step.time"
	done_steps+=" $step "
	room=$((room + load[$step]))
	resting=$((resting - ${is_rest[$step]:-0}))
	[ -z "${is_beside[$step]:-}" ] || beside=$((beside - load[$step]))
	say "$step: $(count '^ *ok ' "$TEST/$step.tap") ok," \
		"$(count '^ *not ok ' "$TEST/$step.tap") not, in $seconds s" \
		"($((user + system)) of a processor)"
	grep -E -A 30 '^ *not ok ' "$TEST/$step.tap" | grep -E '^ *(not ok|#)' >&2 || true
	! grep -q 'came to its end' "$TEST/$step.tap" || tail -n 20 "$TEST/$step.log" >&2
}

# ready STEP: all that it waits for is done, and there is room for it. The first one that waits for
# room alone is the next to begin: what begins meanwhile leaves room for it.
ready()
{
	local need
	for need in ${needs[$1]//,/ }; do
		[ "$need" = - ] || [[ $done_steps == *" $need "* ]] || return 1
	done
	if [ -n "${is_rest[$1]:-}" ]; then
		[ $resting = 0 ] || { [ ${#running[@]} = "$resting" ] && [ "$resting" -lt "$(nproc)" ]; }
		return
	fi
	[ ${#running[@]} -gt "$resting" ] || return 0
	if [ "${load[$1]}" -le "$room" ]; then
		[ -n "$first" ] || return 0
		[ $((load[$1] + load[$first] + beside)) -gt $(($(nproc) * 100)) ] || return 0
	fi
	[ -z "$first" ] || return 1
	first=$1
	[ "$waiting" = "$1" ] || { waiting=$1 beside=0 is_beside=(); }
	return 1
}

# select_steps: what of the plan is to run: all, or ONLY and what that waits for.
select_steps()
{
	local -A known=() wanted=()
	local -a names=()
	local percent need step before
	while read -r percent need step; do
		[ "$percent" != rest ] || is_rest[$step]=1
		load[$step]=${percent/rest/0}
		needs[$step]=$need
		known[$step]=1
		names+=("$step")
	done < <(plan "$tier")
	for step in ${ONLY:-${names[*]}}; do
		[ -n "${known[$step]:-}" ] ||
			die "no step $step in make $tier; there are: ${names[*]}"
		wanted[$step]=1
		before=${needs[$step]}
		while [ "$before" != - ]; do
			wanted[$before]=1
			before=${needs[$before]}
		done
	done
	for step in "${names[@]}"; do
		[ -z "${wanted[$step]:-}" ] || pending+=("$step")
	done
}

declare -A load=() needs=() running=() is_beside=() is_rest=()
pending=()
done_steps=
# Who is the first to wait for room alone, now and in the pass before, and what has begun since, in
# percent.
first=
waiting=
beside=0
# How many of those are running that are content with the rest.
resting=0
room=$(($(nproc) * 100))

# All of it is read before it runs: somebody may edit this file meanwhile.
main()
{
	select_steps

	mkdir -p "$OUT"
	exec 6>"$OUT/test.lock"
	flock -n 6 || die "another run of the tests is going on in this tree: $OUT is its"
	# What was made as root goes as root.
	rm -rf "$TEST" 2>/dev/null || as_root rm -rf "$TEST"
	export KNOWN=$TEST/known
	mkdir -p "$KNOWN"
	exec 3>&2
	# Each step with all that it has started.
	set -m
	trap 'for job in $(jobs -p); do kill -- -"$job" 2>/dev/null; done' EXIT
	"$TOP/tests/forecast.sh" "$tier" "${pending[@]}" 6>&-

	while [ ${#pending[@]} -gt 0 ] || [ ${#running[@]} -gt 0 ]; do
		later=()
		first=
		for step in "${pending[@]}"; do
			if ready "$step"; then
				begin "$step"
			else
				later+=("$step")
			fi
		done
		pending=("${later[@]}")
		wait -n -p finished || true
		end "${running[$finished]}"
		unset "running[$finished]"
	done
	trap - EXIT

	cd "$TEST"
	say "the slowest: $(sort -rn ./*.time | head -n 5 | awk '{ printf "%s%s %d s", sep, $4, $1; sep = ", " }')"
	failed=$(count '^ *not ok ' ./*.tap)
	skipped=$(count '^ *ok .*# SKIP' ./*.tap)
	passed=$(($(count '^ *ok ' ./*.tap) - skipped))
	say "results and logs are in $TEST"
	line="$passed passed, $failed failed"
	[ "$skipped" = 0 ] || line="$line, $skipped skipped"
	echo "$line"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}

main; exit
