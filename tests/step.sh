#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# step.sh STEP POOL AFTER SECONDS: run one step, which was to take SECONDS, for run.sh, by a rule of
# GNU make's. It waits for the steps of AFTER and, for a virtual machine, for a slot, and leaves
# out/test/STEP.begun (the time of the begin), STEP.tap (results), STEP.log (messages) and STEP.time
# (seconds that passed, CPU seconds of the user and of the system).
#
# TIME_LIMIT=MINUTES: a step that would begin later than that after the start of the tests is
# skipped: its one result says so. Without TIME_LIMIT every step runs.

. "$(dirname "$0")/../scripts/lib.sh"

# A make that the step calls must not join the jobs of the make that called this script.
unset MAKEFLAGS MFLAGS MAKELEVEL
step=$1 pool=$2 after=$3 planned=$4
TEST=$OUT/test

# take_vm_slots COUNT: wait for COUNT of the slots for virtual machines (there is one for each CPU),
# and hold them until exit. A slot is a locked file. Only the holder of the lock .gate waits for
# slots. Therefore two steps cannot each hold a slot that the other needs, and a step that needs two
# is not overtaken for ever.
take_vm_slots()
{
	local count=$1 slots slot gate lock
	local -A held=()

	slots=$(nproc)
	[ "$count" -le "$slots" ] || count=$slots
	exec {gate}>"$TEST/.gate"
	flock "$gate"
	while :; do
		for ((slot = 0; slot < slots && ${#held[@]} < count; slot++)); do
			[ -z "${held[$slot]:-}" ] || continue
			exec {lock}>"$TEST/.slot$slot"
			if flock -n "$lock"; then
				held[$slot]=1
			else
				exec {lock}>&-
			fi
		done
		[ ${#held[@]} -lt "$count" ] || break
		sleep 0.5
	done
	exec {gate}>&-
}

print_step_command()
{
	local file=$TOP/tests/steps/$step.sh
	if [ -x "$file" ]; then
		echo "$file"
	else
		echo "$TOP/tests/steps/${step%%-*}.sh ${step#*-}"
	fi
}

# The rules have only some of the needs (see print_makefile() in run.sh).
wait_for_needed_steps()
{
	local need

	for need in ${after//,/ }; do
		until [ "$need" = - ] || [ -e "$TEST/$need.time" ]; do
			sleep 0.5
		done
	done
}

print_failed_needed_step()
{
	local need
	for need in ${after//,/ }; do
		[ "$need" != - ] || continue
		if [ ! -s "$TEST/$need.time" ] || ! grep -q '^ *ok ' "$TEST/$need.tap" ||
		   grep -q '^ *not ok ' "$TEST/$need.tap"; then
			echo "$need"
			return
		fi
	done
}

is_too_late()
{
	[ -n "${TIME_LIMIT:-}" ] && [ $((EPOCHSECONDS - NTKLOG_START)) -gt $((TIME_LIMIT * 60)) ]
}

run_step()
{
	local need priority=()

	if is_too_late; then
		echo "ok - $step # SKIP TIME_LIMIT of $TIME_LIMIT minutes" >"$TEST/$step.tap"
		return
	fi
	need=$(print_failed_needed_step)
	if [ -n "$need" ]; then
		echo "not ok - $step runs: its need $need has failed" >"$TEST/$step.tap"
		return
	fi
	[[ $pool = vm* ]] || priority=(nice -n 5)
	# Results are appended, so that a step that outlives this script overwrites none. A killed one may
	# have left a part of a line.
	# shellcheck disable=SC2046 # a command and its argument
	SAY_FD=3 STEP=$step "${priority[@]}" $(print_step_command) >>"$TEST/$step.tap" \
		2>"$TEST/$step.log" </dev/null ||
		printf '\nnot ok - %s ends without an error\n' "$step" >>"$TEST/$step.tap"
	grep -qE '^ *(not )?ok ' "$TEST/$step.tap" ||
		printf '\nnot ok - %s has a result\n' "$step" >>"$TEST/$step.tap"
}

: >"$TEST/$step.log"
wait_for_needed_steps
case $pool in
vm) take_vm_slots 1 ;;
vm2) take_vm_slots 2 ;;
esac
echo "$EPOCHSECONDS" >"$TEST/$step.begun"
[ -z "${NTKLOG_IS_LOGGED:-}" ] || say "$step begins" 2>&3
TIMEFORMAT="%0R %0U %0S"
# bash names a signal that has ended the step on standard error, which must not be in STEP.time.
{ time run_step 2>>"$TEST/$step.log"; } 2>"$TEST/$step.time.new"
mv "$TEST/$step.time.new" "$TEST/$step.time"
read -r seconds user system <"$TEST/$step.time"
failed=$(grep -cE '^ *not ok ' "$TEST/$step.tap" || true)
if grep -q '# SKIP TIME_LIMIT' "$TEST/$step.tap"; then
	say "$step: skipped, because TIME_LIMIT has passed" 2>&3
	exit
fi
say "$step: $(grep -cE '^ *ok ' "$TEST/$step.tap" || true) passed, $failed failed, in $seconds s" \
	"($((user + system)) s of CPU time); $(find "$TEST" -maxdepth 1 -name '*.time' | wc -l) of" \
	"$NTKLOG_STEPS steps are done" 2>&3
# A step that had to download or build something first tells nothing about the next run. One that
# was slower than planned tells less, because the machine may have been busy.
if [ "$failed" = 0 ] && ! grep -qx "$step" "$TEST/.fetching" 2>/dev/null; then
	mkdir -p "$CACHE/seconds"
	[ "$seconds" -le "$planned" ] || seconds=$(((seconds + planned) / 2))
	echo "$seconds" >"$CACHE/seconds/$step"
fi
[ "$failed" = 0 ] || grep -E -A 30 '^ *not ok ' "$TEST/$step.tap" |
	grep -E '^ *(not ok|#)' | head -n 60 >&3 || true
