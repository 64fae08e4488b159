#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh check|test|all [STEP...]: run the steps of a tier as tests/plan has them, and print how
# many results passed and failed. Exit status 0 only if some passed and none failed. Each step
# leaves its results (as TAP), its log and its files in out/test/. With STEP... or ONLY="STEP...",
# only those steps run, and the steps that they need. With TIME_LIMIT=MINUTES no step begins later
# than that; those that have not begun count as skipped, and a line names them.
#
# GNU make schedules: run.sh writes a rule for each step. The locks of step.sh limit the number of
# virtual machines.

. "$(dirname "$0")/../scripts/lib.sh"
. "$TOP/scripts/progress.sh"
. "$TOP/tests/forecast.sh"

TEST=$OUT/test
tier=${1:?usage: run.sh check|test|all [STEP...]}
shift
[ $# = 0 ] || export ONLY=$*

declare -A after=() pool=() seconds=() groups=()
steps=()

read_plan()
{
	local wanted step needs tiers where time packages

	case $tier in
	check | test) wanted=$tier ;;
	all) wanted='test all' ;;
	*) die "no such tier: $tier" ;;
	esac
	for wanted in $wanted; do
		while read -r step needs tiers where time packages; do
			[[ $step != \#* && ,$tiers, == *,$wanted,* ]] || continue
			steps+=("$step")
			after[$step]=$needs pool[$step]=$where groups[$step]=$packages
			read -r "seconds[$step]" 2>/dev/null <"$CACHE/seconds/$step" ||
				seconds[$step]=$time
		done <"$TOP/tests/plan"
	done
}

select_steps()
{
	local step need queue
	local -A wanted=()
	local -a all=("${steps[@]}")

	[[ ${ONLY:-} = *[![:space:]]* ]] || return 0
	read -ra queue <<<"$ONLY"
	while [ ${#queue[@]} -gt 0 ]; do
		step=${queue[0]}
		queue=("${queue[@]:1}")
		[ -n "${pool[$step]:-}" ] ||
			die "make $(print_make_target) has no step $step; it has: ${all[*]}"
		wanted[$step]=1
		for need in ${after[$step]//,/ }; do
			[ "$need" = - ] || queue+=("$need")
		done
	done
	steps=()
	for step in "${all[@]}"; do
		[ -z "${wanted[$step]:-}" ] || steps+=("$step")
	done
}

print_make_target()
{
	case $tier in
	all) echo test-all ;;
	*) echo "$tier" ;;
	esac
}

# print_makefile: it has two goals, hosts (steps of the pools host and beside) and machines
# (steps with a virtual machine), which two processes of make build. With one goal, make would begin
# the next host step only after it has begun all virtual machines that stand before it. The rule
# of a virtual machine has its needs that are virtual machines, that of a host step the host step
# before it, and that of a step beside them none. step.sh waits for all needs.
print_makefile()
{
	local step need host='' hosts=() machines=()
	for step in "${steps[@]}"; do
		printf '%s:' "$step"
		case ${pool[$step]} in
		beside) hosts+=("$step") ;;
		host)
			printf ' %s' "$host"
			host=$step
			hosts+=("$step")
			;;
		*)
			for need in ${after[$step]//,/ }; do
				[[ $need = - || ${pool[$need]} != vm* ]] || printf ' %s' "$need"
			done
			machines+=("$step")
			;;
		esac
		# Others wait for STEP.time. It is empty if step.sh was killed, or if the disk is full.
		printf '\n\t@%s/tests/step.sh %s %s %s %s || : >%s/%s.time\n' "$TOP" "$step" \
			"${pool[$step]}" "${after[$step]}" "${seconds[$step]}" "$TEST" "$step"
	done
	echo "hosts: ${hosts[*]}"
	echo "machines: ${machines[*]}"
}

# print_states: print the input of status.awk.
print_states()
{
	local step began file text
	cat "$TEST/.extra"
	for step in "${steps[@]}"; do
		began=- file=$TEST/$step.begun
		[ ! -e "$file" ] || began=$(<"$file")
		text=''
		if [ -e "$TEST/$step.time" ]; then
			text=$(<"$TEST/$step.time")
			text=${text:-0 0 0}
		elif [ "$began" != - ] && [[ $step == kernel-* ]]; then
			text=$(tail -n 1 "$TEST/$step.log" | sed -n 's/^\[[^]]*\] [^:]*: \(.*\)/(\1)/p')
		fi
		echo "$step ${pool[$step]} ${seconds[$step]} $began $text"
	done
}

print_status()
{
	print_states | awk -v now="$EPOCHSECONDS" -v start="$NTKLOG_START" -v slots="$(nproc)" \
		-f "$TOP/tests/status.awk"
}

count_results()
{
	{ grep -hE "$1" "$TEST"/*.tap || true; } | wc -l
}

# Print each failed case with the command that runs it alone, and the first lines of its output.
explain_failures()
{
	local step
	for step in "${steps[@]}"; do
		grep -qE '^ *not ok ' "$TEST/$step.tap" || continue
		echo "failed in $step; log: $TEST/$step.log, more in $TEST/$step/"
		awk -v step="$step" -v target="$(print_make_target)" '
			function print_case(i) {
				if (name != "") {
					print "    " name "\n      alone: " \
						(command != "" ? command : "make " target " ONLY=" step)
					for (i = 0; i < said && i < 8; i++)
						print "      " substr(line[i], 1, 160)
				}
				name = command = ""
				said = 0
			}
			/^ *not ok / { print_case(); name = $0; sub(/^ *not ok (- )?/, "", name); next }
			/^# alone: / { command = substr($0, 10); next }
			/^#/ { line[said++] = $0 }
			/^ *ok / { print_case() }
			END { print_case() }' "$TEST/$step.tap"
	done >&2
}

print_skipped_steps()
{
	local step
	for step in "${steps[@]}"; do
		! grep -q '# SKIP TIME_LIMIT' "$TEST/$step.tap" || echo "$step"
	done
}

# bash reads a number that begins with 0 as octal.
[[ ${TIME_LIMIT:-0} =~ ^(0|[1-9][0-9]{0,5})$ ]] ||
	die "TIME_LIMIT is a number of minutes, not \"$TIME_LIMIT\""
read_plan
select_steps

mkdir -p "$OUT"
exec 6>"$OUT/test.lock"
flock -n 6 || die "a soak or another run of the tests uses $OUT"
# Steps of earlier runs may have left files that belong to root.
rm -rf "$TEST" 2>/dev/null || run_as_root rm -rf "$TEST"
export SCRIPT_OUTPUTS=$TEST/script-outputs NTKLOG_STEPS=${#steps[@]}
mkdir -p "$SCRIPT_OUTPUTS"
[ -t 2 ] || export NTKLOG_IS_LOGGED=1
: >"$TEST/.extra"
begin_progress print_status
print_forecast "${steps[@]}"
print_makefile >"$TEST/rules.mk"
unset MAKEFLAGS MFLAGS MAKELEVEL
# The rules let one step of the pool host run at a time, and all of the pool beside together with
# it.
{
	make -s -r -k -j -f "$TEST/rules.mk" hosts >&2 || true
	# Virtual machines wait for those that a killed make did not begin.
	for step in "${steps[@]}"; do
		[[ ${pool[$step]} = vm* || -e $TEST/$step.time ]] || : >"$TEST/$step.time"
	done
} 6>&- &
# One job more than virtual machines can run: the next step then waits in take_vm_slots() of step.sh
# and begins as soon as a slot is free.
make -s -r -k -j$(($(nproc) + 1)) -f "$TEST/rules.mk" machines >&2 6>&- || true
wait $! || true
for step in "${steps[@]}"; do
	[ ! -s "$TEST/$step.time" ] || continue
	# A killed program may have left a part of a line.
	printf '\nnot ok - %s: step.sh ends\n' "$step" >>"$TEST/$step.tap" ||
		die "the results of $step cannot be written to $TEST"
done
say "the slowest: $(for step in "${steps[@]}"; do
	[ ! -s "$TEST/$step.time" ] || echo "$(<"$TEST/$step.time") $step"
done | sort -rn | head -n 5 | awk '{ printf "%s%s %d s", sep, $4, $1; sep = ", " }')"
end_progress
failed=$(count_results '^ *not ok ')
skipped=$(count_results '^ *ok .*# SKIP')
passed=$(($(count_results '^ *ok ') - skipped))
say "results and logs are in $TEST"
explain_failures
mapfile -t late < <(print_skipped_steps)
[ ${#late[@]} = 0 ] || say "NOT RUN, because $TIME_LIMIT minutes (TIME_LIMIT) had passed: ${late[*]}"
line="$passed passed, $failed failed"
[ "$skipped" = 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
