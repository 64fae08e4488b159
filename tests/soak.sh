#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# soak.sh [PART...]: run long tests for hours, a slice of each part in turn. The cache keeps the
# progress, and the next run continues there. A run ends after the slice in which SOAK_HOURS (8)
# have passed. Parts and their goals:
#
#	fuzz		10,000,000 executions of the fuzzer; the corpus is kept and minimised
#	cycles		1,000 times load, trace and unload, with readers busy
#	abuse		1,000,000 random writes under KASAN and lockdep, with ioctls and failing
#			allocations
#	torture-debug	each lock for ten minutes, with processors that come and go
#	torture-kcsan	the same in the kernel with KCSAN
#	torture-rt	the same with PREEMPT_RT and lockdep
#	strain-debug	Linux' own locks for ten minutes: sessions, tracers, modules and a CPU are
#			switched on and off all the time, under the kernel's own torture of nine
#			types of its locks
#	strain-kcsan	the same in the kernel with KCSAN
#	strain-6.12	the same on Debian's stock kernel, which has no such torture
#
# The logs of failed parts are kept.

. "$(dirname "$0")/../scripts/lib.sh"
. "$TOP/scripts/progress.sh"

SOAK=$CACHE/soak
TYPES='in_stack_queued queued spin ex ex_exclusive resource'
end=$((EPOCHSECONDS + $(awk -v hours="${SOAK_HOURS:-8}" 'BEGIN { print int(hours * 3600) }')))
# An amount in the part's unit.
declare -A goal=([fuzz]=10000000 [cycles]=1000 [abuse]=1000000 [torture-debug]=3600
	[torture-kcsan]=3600 [torture-rt]=3600
	[strain-debug]=600 [strain-kcsan]=600 [strain-6.12]=600)
declare -A unit=([fuzz]=executions [cycles]=cycles [abuse]=writes [torture-debug]=seconds
	[torture-kcsan]=seconds [torture-rt]=seconds [strain-debug]=seconds [strain-kcsan]=seconds
	[strain-6.12]=seconds)
parts=("$@")
[ $# -gt 0 ] || parts=(fuzz cycles abuse torture-debug torture-kcsan torture-rt
	strain-debug strain-kcsan strain-6.12)
for part in "${parts[@]}"; do
	[ -n "${goal[$part]:-}" ] || die "soak has no part $part: ${!goal[*]}"
done
passed=0 failed=0
mkdir -p "$SOAK" "$OUT/log"

# In the part's unit.
print_amount_done()
{
	cat "$SOAK/$1.done" 2>/dev/null || echo 0
}

run_slice()
{
	local part=$1 amount=$2 tap=$OUT/log/soak-$1.tap log=$OUT/log/soak-$1.log bad kept
	shift 2
	if ! env STEP="soak-$part" "$@" >"$tap" 2>"$log" </dev/null; then
		echo "not ok - $part came to its end" >>"$tap"
	fi
	passed=$((passed + $(grep -cE '^ *ok ' "$tap" || true)))
	bad=$(grep -cE '^ *not ok ' "$tap" || true)
	failed=$((failed + bad))
	if [ "$bad" != 0 ]; then
		kept=$SOAK/failed-$part-$(date +%Y%m%d-%H%M%S)
		mkdir -p "$kept"
		cp -r "$tap" "$log" "$OUT/test/soak-$part" "$kept/" 2>/dev/null || true
		say "$part: $bad results are not ok; all of it is in $kept"
	fi
	echo $(($(print_amount_done "$part") + amount)) >"$SOAK/$part.done"
}

run_fuzz_slice()
{
	local dir=$SOAK/corpus runs
	mkdir -p "$dir"
	run_slice fuzz 0 env FUZZ_SECONDS="$1" FUZZ_JOBS="$(nproc)" FUZZ_CORPUS="$dir" \
		"$TOP/tests/steps/fuzz.sh"
	runs=$(cat "$OUT/test/soak-fuzz"/fuzz-*.log 2>/dev/null |
		awk '/^stat::number_of_executed_units/ { n += $2 } END { print n + 0 }')
	echo $(($(print_amount_done fuzz) + runs)) >"$SOAK/fuzz.done"
	say "fuzz: $(cat "$OUT/test/soak-fuzz"/fuzz-*.log | grep -o 'cov: [0-9]* ft: [0-9]*' |
		sort -k 2n | tail -n 1), corpus of $(find "$dir" -type f | wc -l) files"
}

# run_torture_slice PART: torture the next type of lock for a minute.
run_torture_slice()
{
	local types=()
	read -ra types <<<"$TYPES"
	run_slice "$1" 60 env TORTURE_TYPES="${types[$(($(print_amount_done "$1") / 60 % ${#types[@]}))]}" \
		TORTURE_ROUNDS=8 "$TOP/tests/steps/torture.sh" "${1#torture-}"
}

# run_strain_slice PART: run the step strain for five minutes, under the torture of each type of
# Linux' locks in turn.
run_strain_slice()
{
	run_slice "$1" 300 env STRAIN_SECONDS=300 STRAIN_PAUSE=0 STRAIN_THREADS=2 STRAIN_STRIDE=150 \
		STRAIN_TYPES="spin_lock mutex_lock rw_lock rwsem_lock spin_lock_irq rtmutex_lock
			rw_lock_irq ww_mutex_lock percpu_rwsem_lock" \
		"$TOP/tests/steps/strain.sh" "${1#strain-}"
}

run_next_slice()
{
	case $1 in
	fuzz) run_fuzz_slice 300 ;;
	cycles) run_slice cycles 100 env CYCLES=100 "$TOP/tests/steps/cycles.sh" ;;
	abuse) run_slice abuse 20000 env ABUSE_WRITES=20000 ABUSE_STRIDE=1 "$TOP/tests/steps/abuse.sh" ;;
	torture-*) run_torture_slice "$1" ;;
	strain-*) run_strain_slice "$1" ;;
	esac
	say "$1: $(print_amount_done "$1") of ${goal[$1]} ${unit[$1]}"
}

begin_stages $((end - EPOCHSECONDS))
say "soaking until $(date -d "@$end" +%H:%M): ${parts[*]}; what has been done is in $SOAK"
left=1
while [ $left = 1 ] && [ $EPOCHSECONDS -lt $end ]; do
	left=0
	for part in "${parts[@]}"; do
		[ "$(print_amount_done "$part")" -lt "${goal[$part]}" ] || continue
		left=1
		[ $EPOCHSECONDS -ge $end ] || run_next_slice "$part"
	done
done
end_progress
for part in "${parts[@]}"; do
	say "$part: $(print_amount_done "$part") of ${goal[$part]} ${unit[$part]}"
done
if [ $left = 0 ]; then
	say "all has been done: the next soak begins anew"
	for part in "${parts[@]}"; do
		rm -f "$SOAK/$part.done"
	done
fi
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
