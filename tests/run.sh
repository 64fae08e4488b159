#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# run.sh check|test|all [STEP...]: run the steps of a tier as tests/plan has them, and print how many
# results passed and failed. Exit status 0 only if some passed and none failed. Each step leaves its
# results, as TAP, its log and its scratch in out/test/. With steps named, or ONLY="STEP...", only
# those run, and the steps that they need.
#
# GNU make schedules: run.sh writes a rule for each step. Virtual machines get their turn by the locks
# of step.sh. Programs of this machine are a chain of their own, so that one runs at a time.

. "$(dirname "$0")/../scripts/lib.sh"
. "$TOP/scripts/progress.sh"
. "$TOP/tests/forecast.sh"

TEST=$OUT/test
tier=${1:?usage: run.sh check|test|all [STEP...]}
shift
[ $# = 0 ] || export ONLY=$*

declare -A after=() pool=() seconds=() groups=()
steps=()

# read_plan: the steps of the tier, in the order in which they begin.
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
			seconds[$step]=$(cat "$CACHE/seconds/$step" 2>/dev/null || echo "$time")
		done <"$TOP/tests/plan"
	done
}

# select_steps: with ONLY, keep those steps and the steps that they need.
select_steps()
{
	local step need queue
	local -A wanted=()
	local -a all=("${steps[@]}")

	[ -n "${ONLY:-}" ] || return 0
	read -ra queue <<<"$ONLY"
	while [ ${#queue[@]} -gt 0 ]; do
		step=${queue[0]}
		queue=("${queue[@]:1}")
		[ -n "${pool[$step]:-}" ] ||
			die "make $(target) has no step $step; it has: ${all[*]}"
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

target()
{
	case $tier in
	all) echo test-all ;;
	*) echo "$tier" ;;
	esac
}

# write_rules: print the makefile. It has a goal for each kind of pool, because make looks for the next
# step behind the last one that it began: with one goal, the chain of the host would go on only when
# the last virtual machine has begun. A need in the other goal is no rule: step.sh waits for it.
write_rules()
{
	local step need hosts=() machines=()
	for step in "${steps[@]}"; do
		printf '%s:' "$step"
		if [ "${pool[$step]}" = host ]; then
			printf ' %s' "${hosts[@]: -1}"
			hosts+=("$step")
		else
			for need in ${after[$step]//,/ }; do
				[[ $need = - || ${pool[$need]} = host ]] || printf ' %s' "$need"
			done
			machines+=("$step")
		fi
		printf '\n\t@%s/tests/step.sh %s %s %s\n' "$TOP" "$step" "${pool[$step]}" \
			"${after[$step]}"
	done
	echo "hosts: ${hosts[*]}"
	echo "machines: ${machines[*]}"
}

# status: print the running steps, the number of finished steps, and the time that has passed and is
# left.
status()
{
	local step began file text
	for step in "${steps[@]}"; do
		began=- file=$TEST/$step.begun
		[ ! -e "$file" ] || began=$(<"$file")
		text=''
		if [ -e "$TEST/$step.time" ]; then
			text=$(<"$TEST/$step.time")
		elif [ "$began" != - ] && [[ $step == kernel-* ]]; then
			# The last line of the log of a kernel's build tells how many files are
			# built.
			text=$(tail -n 1 "$TEST/$step.log" | sed 's/^\[[^]]*\] [^:]*: \(.*\)/(\1)/')
		fi
		echo "$step ${pool[$step]} ${seconds[$step]} $began $text"
	done | cat "$TEST/.extra" - | awk -v now="$EPOCHSECONDS" -v start="$NTKLOG_START" -v slots="$(nproc)" '
		function left_of(seconds, passed, l) {
			l = seconds * factor - passed
			return l > 0 ? l : 0
		}
		NF == 2 { extra[$1] += $2; next }
		{
			$3 += extra[$1]
			step[++steps] = $1; pool[steps] = $2; planned[steps] = $3; began[steps] = $4
		}
		$5 ~ /^[0-9]/ { done[steps] = 1; count++; was += $5; should += $3; next }
		$4 != "-" {
			text = ""; for (i = 5; i <= NF; i++) text = text " " $i
			running = running (running ? ", " : "") $1 text
			if (now - $4 > $3) { was += now - $4; should += $3 }
		}
		END {
			# Estimate how much slower this machine is than the forecast. A minute of
			# forecast time counts as kept at first, so that one short step does not
			# change the estimate much.
			factor = (was + 60) / (should + 60)
			for (i = 1; i <= steps; i++) {
				if (done[i])
					continue
				l = left_of(planned[i], began[i] == "-" ? 0 : now - began[i])
				if (pool[i] == "host")
					host += l
				else
					vm += l * (pool[i] == "vm2" && slots > 1 ? 2 : 1) / slots
				if (l > longest)
					longest = l
			}
			left = vm > host ? vm : host
			if (longest > left)
				left = longest
			if (left < 90)
				text = int(left) " s"
			else
				text = int(left / 60 + 0.5) " min"
			printf("[%4ds] %d of %d steps done, about %s left; running: %s\n", now - start,
				count, steps, text, running)
		}'
}

# count PATTERN: print the number of lines of all results that match.
count()
{
	cat "$TEST"/*.tap 2>/dev/null | grep -cE "$1" || true
}

# explain_failures: print each failed case, the beginning of its output, its log, and the command
# that runs it alone.
explain_failures()
{
	local step
	for step in "${steps[@]}"; do
		grep -qE '^ *not ok ' "$TEST/$step.tap" || continue
		echo "failed in $step; log: $TEST/$step.log, more in $TEST/$step/"
		awk -v step="$step" -v target="$(target)" '
			function alone(i) {
				if (name != "") {
					print "    " name "\n      alone: " \
						(command != "" ? command : "make " target " ONLY=" step)
					for (i = 0; i < said && i < 8; i++)
						print "      " substr(line[i], 1, 160)
				}
				name = command = ""
				said = 0
			}
			/^ *not ok / { alone(); name = $0; sub(/^ *not ok (- )?/, "", name); next }
			/^# alone: / { command = substr($0, 10); next }
			/^#/ { line[said++] = $0 }
			/^ *ok / { alone() }
			END { alone() }' "$TEST/$step.tap"
	done >&2
}

read_plan
select_steps

mkdir -p "$OUT"
exec 6>"$OUT/test.lock"
flock -n 6 || die "another run of the tests is going on in this tree: $OUT is its"
# Files of root can only be removed by root.
rm -rf "$TEST" 2>/dev/null || as_root rm -rf "$TEST"
export KNOWN=$TEST/known NTKLOG_STEPS=${#steps[@]}
mkdir -p "$KNOWN"
[ -t 2 ] || export NTKLOG_IS_LOGGED=1
: >"$TEST/.extra"
begin_progress status
forecast "${steps[@]}"
write_rules >"$TEST/rules.mk"
unset MAKEFLAGS MFLAGS MAKELEVEL
make -s -r -k -f "$TEST/rules.mk" hosts >&2 6>&- &
# One job more than virtual machines can run, so that the next step already waits for its turn.
make -s -r -k -j$(($(nproc) + 1)) -f "$TEST/rules.mk" machines >&2 6>&-
wait $!
for step in "${steps[@]}"; do
	[ -e "$TEST/$step.tap" ] || echo "not ok - $step runs" >"$TEST/$step.tap"
done
say "the slowest: $(for step in "${steps[@]}"; do echo "$(cat "$TEST/$step.time") $step"; done |
	sort -rn | head -n 5 | awk '{ printf "%s%s %d s", sep, $4, $1; sep = ", " }')"
end_progress
failed=$(count '^ *not ok ')
skipped=$(count '^ *ok .*# SKIP')
passed=$(($(count '^ *ok ') - skipped))
say "results and logs are in $TEST"
explain_failures
line="$passed passed, $failed failed"
[ "$skipped" = 0 ] || line="$line, $skipped skipped"
echo "$line"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
