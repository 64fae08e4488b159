#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test that Go's pprof reads the profiles of "ntklog convert --pprof", and computes the sums of the
# report.

. "$(dirname "$0")/../lib.sh"

# print_pprof_sum FIELD: the sum of a field of all samples.
print_pprof_sum()
{
	"$PPROF" -raw "$DIR/sample.pb.gz" | awk -v at="$1" '/^Locations/ { exit }
		/^ *[0-9]/ && /:/ { gsub(":", ""); sum += $at } END { printf "%d\n", sum }'
}

# print_report_sum TABLE FIELD: the sum of a field of all rows, without those that have no holder.
print_report_sum()
{
	"$NTKLOG" report --json --stacks --table "$1" "$SAMPLE" | python3 -c "
import json, sys
rows = json.load(sys.stdin)['$1']
print(round(sum(row['$2'] or 0 for row in rows if not row.get('holder', '').startswith('('))))"
}

# pprof_sum_equals_report FIELD TABLE FIELD_OF_REPORT
pprof_sum_equals_report()
{
	local of_pprof of_report
	of_pprof=$(print_pprof_sum "$1")
	of_report=$(print_report_sum "$2" "$3")
	echo "pprof: $of_pprof, report: $of_report"
	# The report rounds each row to nanoseconds.
	[ "$of_pprof" -gt 0 ] && [ $((of_pprof - of_report)) -le 50 ] && [ $((of_report - of_pprof)) -le 50 ]
}

pprof_shows_functions()
{
	"$PPROF" -top -sample_index=delay "$DIR/sample.pb.gz" | tee "$DIR/top"
	grep -q '^Type: delay' "$DIR/top"
	grep -q ' some_function$' "$DIR/top"
}

pprof_shows_labels()
{
	"$PPROF" -tags -sample_index=hold "$DIR/sample.pb.gz" | tee "$DIR/tags"
	grep -q '^ class: Total' "$DIR/tags"
	grep -q '^ tid: Total' "$DIR/tags"
	grep -q '^ process: Total' "$DIR/tags"
	grep -q ': some_server$' "$DIR/tags"
	grep -q '^ pid: Total' "$DIR/tags"
}

install_groups tool
build_tool
PPROF=$("$TOP/scripts/build/pprof.sh")
SAMPLE=$TOP/Documentation/examples/sample-stacks.etl
# Give addresses, a task and its process in the sample names.
printf '%s\n' 'ffffffffaafb2c00 T some_function' $'thread 244 worker\t243' \
	$'thread 243 some_server\t243' >"$DIR/names"
run_test "pprof: ntklog converts the sample" \
	"$NTKLOG" convert --pprof "$DIR/sample.pb.gz" --names "$DIR/names" "$SAMPLE"
run_test "pprof: Go's pprof shows the functions" pprof_shows_functions
run_test "pprof: Go's pprof has the labels of class, task and process" pprof_shows_labels
run_test "pprof: the delay is the wait of the report" pprof_sum_equals_report 2 stacks wait_total_ns
run_test "pprof: the hold is the hold of the report" pprof_sum_equals_report 4 stacks hold_total_ns
run_test "pprof: the charged waits are those of the report" \
	pprof_sum_equals_report 5 blockers charged_total_ns
