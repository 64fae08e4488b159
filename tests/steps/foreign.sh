#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# foreign.sh arm64|i386: test on an emulated kernel of Debian's for another architecture, with
# modules and tool built for it here.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

# A queue of waiters needs three CPUs.
export PROCESSORS=3
vm_options=(-c "$PROCESSORS")
case $1 in
arm64)
	kernel=6.12-arm64 sleeping="sleeping planted"
	export CLOCK_TYPE=1
	;;
i386)
	kernel=6.1-686-pae sleeping=
	# The lowest address of the kernel, for etl_decoder.py.
	export KERNEL=$((3 << 30))
	# Clear the feature "hypervisor" of the CPU, so that the kernel uses real queued spin locks.
	vm_options+=(-a clearcpuid=159)
	;;
esac
use_architecture "$1"
# A recording as x86-64's module writes it.
build_tool generate
"$OUT/build/tool/generate" 1 >"$DIR/other.etl"
# If there is a file "few", the guest's scripts repeat less, and let fewer allocations fail.
: >"$DIR/few"
# shellcheck disable=SC2086 # words
run_guest "$kernel" loaded sessions records resources torture foreign $sleeping
run_check_program "$kernel" check_e2e.py Resources Session.test_idle_session_has_its_rundown \
	Records.test_{spin_lock_fields_have_possible_values,ntklog_dump_prints_the_decoded_records} \
	Records.test_every_event_is_counted \
	Records.test_contended_acquisitions_are_sampled_by_the_rate
run_check_program "$kernel" check_modes.py WaitsAlone
if [ -n "$sleeping" ]; then
	run_check_program "$kernel" check_sleeping.py
	run_check_program "$kernel" check_planted.py
fi
# The tool prints the same about a recording here and in the virtual machine.
tool_prints_same_as_in_guest()
{
	"$NTKLOG" dump "$DIR/$1.etl" | cmp - "$DIR/$1.dump"
	"$NTKLOG" report "$DIR/$1.etl" --json --columns all --top 0 | cmp - "$DIR/$1.json"
	"$NTKLOG" info "$DIR/$1.etl" --json | cmp - "$DIR/$1.info"
	[ "$(wc -l <"$DIR/$1.dump")" -gt 20 ]
}
run_test "$1: the tool prints the same there and here about a recording of that kernel" \
	tool_prints_same_as_in_guest recorded
run_test "$1: the tool prints the same there and here about a recording of x86-64" \
	tool_prints_same_as_in_guest other
