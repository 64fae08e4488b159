#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# load.sh FILE|DIRECTORY...: load recordings into ClickHouse's database ntklog. The name of a file
# without .etl is its host. $CLICKHOUSE_CLIENT is the client with its options (clickhouse-client),
# $NTKLOG the tool (ntklog).

set -eu
client=${CLICKHOUSE_CLIENT:-clickhouse-client}
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
status=0
# A file that cannot be read is named, and the others are loaded.
${NTKLOG:-ntklog} report --ndjson --table locks --table resources --table blockers "$@" >"$rows" ||
	status=$?
for table in recordings locks resources blockers; do
	# In a text, a quotation mark follows a backslash: this finds no text that looks like a field.
	grep -F "\"table\":\"$table\"" "$rows" | $client --date_time_input_format best_effort \
		--input_format_skip_unknown_fields 1 \
		--query "INSERT INTO ntklog.$table FORMAT JSONEachRow"
done
exit $status
