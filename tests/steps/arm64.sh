#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Debian's arm64, emulated: cross-built, every lock under torture, events byte by byte, the waits
# for Linux' own locks, and the tool there, which reads x86's files as x86's reads its.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

# Three processors, for a queue of waiters.
export CLOCK_TYPE=1 PROCESSORS=3
foreign arm64
# Any of x86's: of the tool's own tests.
tool generate
"$OUT/build/tool/generate" 1 >"$DIR/other.etl"
vm_options=(-c $PROCESSORS)
run_guest 6.12-arm64 loaded sessions records resources torture arm64
check_with 6.12-arm64 check_e2e.py Resources Session.test_idle_session_has_its_rundown \
	Records.test_{fields_are_real,ntklog_dump_prints_the_same,every_event_is_counted} \
	Records.test_contended_ones_are_sampled_by_the_rate
check_with 6.12-arm64 check_modes.py WaitsAlone
# same FILE: what the tool says of the file here and there.
same()
{
	"$NTKLOG" dump "$DIR/$1.etl" | cmp - "$DIR/$1.dump"
	"$NTKLOG" report "$DIR/$1.etl" --json --columns all --top 0 | cmp - "$DIR/$1.json"
	"$NTKLOG" info "$DIR/$1.etl" --json | cmp - "$DIR/$1.info"
	[ "$(wc -l <"$DIR/$1.dump")" -gt 100 ]
}
result "arm64: the tool reads arm64's file there as here" same recorded
result "arm64: and x86's" same other
