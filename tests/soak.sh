#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# soak.sh [PART...]: run long tests for hours, a slice of each part in turn. The cache keeps the
# progress and the turn, and the next run continues there. A run ends after the slice in which
# SOAK_HOURS (8) have passed. Parts and their goals:
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
# The logs of failed parts are kept. The file log in the cache has a line for each slice of all
# runs: its end, part, seconds, amount, and numbers of results that are ok and not ok. A test kernel
# is built before the part's slice, which would otherwise count the time of the build.

. "$(dirname "$0")/../scripts/lib.sh"
. "$TOP/scripts/progress.sh"

SOAK=$CACHE/soak
TYPES='in_stack_queued queued spin ex ex_exclusive resource'
[[ ${SOAK_HOURS:=8} =~ ^[0-9]{1,4}(\.[0-9]+)?$ ]] ||
	die "SOAK_HOURS is a number of hours, not \"$SOAK_HOURS\""
end=$((EPOCHSECONDS + $(awk -v hours="$SOAK_HOURS" 'BEGIN { print int(hours * 3600) }')))
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
	[ -n "${goal[$part]:-}" ] || die "soak has no part $part; it has: ${!goal[*]}"
done
passed=0 failed=0
# Parts that this run does not try again, for their command ended with an error or failed at once.
declare -A given_up=()
mkdir -p "$SOAK" "$OUT/log"
# run.sh removes the files of a slice, and so does a slice of the same part, which also writes the
# part's files in the cache.
exec 6>"$OUT/test.lock"
flock -n -s 6 || die "a run of the tests uses $OUT"
declare -A lock=()
for part in "${parts[@]}"; do
	[ -z "${lock[$part]:-}" ] || continue
	exec {fd}>"$SOAK/$part.lock"
	flock -n "$fd" || die "another soak has the part $part"
	lock[$part]=$fd
done
touch "$SOAK/log"

# print_amount_done PART: print how much of the part's goal has been reached, in its unit.
print_amount_done()
{
	cat "$SOAK/$1.done" 2>/dev/null || echo 0
}

part_is_done()
{
	[ "$(print_amount_done "$1")" -ge "${goal[$1]}" ]
}

# set_next_part: set next to the part that has waited longest since its last slice of all runs; to
# nothing if no part is left.
set_next_part()
{
	local part line oldest=0
	next=
	for part in "${parts[@]}"; do
		[ -z "${given_up[$part]:-}" ] || continue
		! part_is_done "$part" || continue
		line=$(awk -v part="$part" '$2 == part { line = NR } END { print line + 0 }' "$SOAK/log")
		if [ -z "$next" ] || [ "$line" -lt "$oldest" ]; then
			next=$part oldest=$line
		fi
	done
}

# print_soak_total: print slices, hours and results of all runs.
print_soak_total()
{
	awk '{ seconds += $3; good += $5; bad += $6 }
		NR == 1 { first = $1 }
		END { if (NR) printf "since %s: %d slices, %.1f hours; %d passed, %d failed\n", first, NR,
			seconds / 3600, good, bad }' "$SOAK/log"
}

# print_part_total PART: print amount and hours of all runs of the part.
print_part_total()
{
	awk -v part="$1" '$2 == part { seconds += $3; amount += $4 }
		END { printf "%d in %.1f hours of all runs\n", amount, seconds / 3600 }' "$SOAK/log"
}

# print_fuzz_executions: print the executions of the last slice of the fuzzer, even if it found an
# error.
print_fuzz_executions()
{
	cat "$OUT/test/soak-fuzz"/fuzz-*.log 2>/dev/null |
		awk '/^stat::number_of_executed_units/ { n += $2 } END { print n + 0 }'
}

# run_slice PART AMOUNT COMMAND...: run a slice of the part. If all results are ok, AMOUNT is
# done; of fuzz, always what the fuzzer has executed.
run_slice()
{
	local part=$1 amount=$2 tap=$OUT/log/soak-$1.tap log=$OUT/log/soak-$1.log good bad kept
	local begin=$EPOCHSECONDS
	shift 2
	if ! env STEP="soak-$part" "$@" >"$tap" 2>"$log" </dev/null; then
		printf '\nnot ok - %s ends without an error\n' "$part" >>"$tap"
		given_up[$part]=1
	fi
	grep -qE '^ *(not )?ok ' "$tap" || printf '\nnot ok - %s has a result\n' "$part" >>"$tap"
	good=$(grep -E '^ *ok ' "$tap" | grep -cv '# SKIP' || true)
	bad=$(grep -cE '^ *not ok ' "$tap" || true)
	passed=$((passed + good))
	failed=$((failed + bad))
	if [ "$bad" != 0 ]; then
		[ $((EPOCHSECONDS - begin)) -ge 30 ] || given_up[$part]=1
		kept=$(mktemp -d "$SOAK/failed-$part-$(date +%Y%m%d-%H%M%S)-XXX")
		cp -r "$tap" "$log" "$OUT/test/soak-$part" "$kept/" 2>/dev/null || true
		say "$part: $bad results are not ok; all of it is in $kept"
		amount=0
	fi
	[ "$part" != fuzz ] || amount=$(print_fuzz_executions)
	echo $(($(print_amount_done "$part") + amount)) >"$SOAK/$part.done"
	echo "$(date +%Y-%m-%dT%H:%M) $part $((EPOCHSECONDS - begin)) $amount $good $bad" >>"$SOAK/log"
}

run_fuzz_slice()
{
	local dir=$SOAK/corpus
	mkdir -p "$dir"
	run_slice fuzz 0 env FUZZ_SECONDS="$1" FUZZ_JOBS="$(nproc)" FUZZ_CORPUS="$dir" \
		"$TOP/tests/steps/fuzz.sh"
	say "fuzz: $(cat "$OUT/test/soak-fuzz"/fuzz-*.log | grep -o 'cov: [0-9]* ft: [0-9]*' |
		sort -k 2n | tail -n 1), corpus of $(find "$dir" -type f | wc -l) files"
}

# run_abuse_slice: let one in eight allocations fail, and begin with another one in each slice.
run_abuse_slice()
{
	local seed=$((EPOCHSECONDS / 8 * 8 + $(print_amount_done abuse) / 20000 % 8))
	run_slice abuse 20000 env SEED=$seed ABUSE_WRITES=20000 ABUSE_STRIDE=8 \
		"$TOP/tests/steps/abuse.sh"
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

# build_test_kernel PART: build the test kernel of the part, unless the cache has it.
build_test_kernel()
{
	local flavour=${1#*-}
	case $1 in
	fuzz | strain-6.12) return ;;
	cycles | abuse) flavour=debug ;;
	esac
	"$TOP/scripts/kernels/test-kernel.sh" "$flavour" >/dev/null
}

run_next_slice()
{
	# If that fails, so does the slice.
	build_test_kernel "$1" || true
	set_stage "$1: a slice runs"
	case $1 in
	fuzz) run_fuzz_slice 300 ;;
	cycles) run_slice cycles 100 env CYCLES=100 "$TOP/tests/steps/cycles.sh" ;;
	abuse) run_abuse_slice ;;
	torture-*) run_torture_slice "$1" ;;
	strain-*) run_strain_slice "$1" ;;
	esac
	say "$1: $(print_amount_done "$1") of ${goal[$1]} ${unit[$1]}"
}

begin_stages $((end - EPOCHSECONDS))
say "soaking until $(date -d "@$end" +%H:%M): ${parts[*]}; what has been done is in $SOAK"
set_next_part
if [ -z "$next" ]; then
	say "all has been done before, and begins anew"
	for part in "${parts[@]}"; do
		rm -f "$SOAK/$part.done"
	done
	set_next_part
fi
while [ -n "$next" ]; do
	run_next_slice "$next"
	[ $EPOCHSECONDS -lt $end ] || break
	set_next_part
done
end_progress
for part in "${parts[@]}"; do
	say \
		"$part: $(print_amount_done "$part") of ${goal[$part]} ${unit[$part]};" \
		"$(print_part_total "$part")"
done
say "$(print_soak_total); $SOAK/log"
echo "$passed passed, $failed failed"
[ $failed = 0 ] && [ $passed -gt 0 ]
