-- SPDX-License-Identifier: GPL-2.0-only
-- Tables for the lines of "ntklog report --ndjson", and views that the queries read.
--
-- A recording is known by its host and its begin. Loading it again replaces its rows, by their
-- numbers: locks of one name have a row each.

CREATE DATABASE IF NOT EXISTS ntklog;

CREATE TABLE IF NOT EXISTS ntklog.recordings (
	host String,
	start DateTime,
	seconds Float64,
	events UInt64,
	events_lost UInt64,
	buffers_lost UInt64,
	buffers_missing UInt64,
	damage Nullable(String)
) ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(start) ORDER BY (start, host);

CREATE TABLE IF NOT EXISTS ntklog.locks (
	host String,
	start DateTime,
	seconds Float64,
	row UInt64,
	lock String,
	mode String,
	sampled UInt64,
	acquisitions Nullable(Float64),
	wait_total_ns Nullable(Float64),
	wait_p95_ns Nullable(Float64),
	wait_max_ns Nullable(Float64),
	hold_total_ns Nullable(Float64),
	hold_max_ns Nullable(Float64)
) ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(start) ORDER BY (start, host, row);

CREATE TABLE IF NOT EXISTS ntklog.resources (
	host String,
	start DateTime,
	seconds Float64,
	row UInt64,
	resource String,
	kind String,
	class String,
	sampled UInt64,
	releases Nullable(Float64),
	wait_total_ns Nullable(Float64),
	wait_p95_ns Nullable(Float64),
	wait_max_ns Nullable(Float64),
	hold_total_ns Nullable(Float64),
	hold_max_ns Nullable(Float64)
) ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(start) ORDER BY (start, host, row);

CREATE TABLE IF NOT EXISTS ntklog.blockers (
	host String,
	start DateTime,
	seconds Float64,
	row UInt64,
	lock String,
	waiter String,
	holder String,
	charged_total_ns Float64,
	charged_max_ns Float64
) ENGINE = ReplacingMergeTree PARTITION BY toYYYYMM(start) ORDER BY (start, host, row);

-- Spin locks and locks that sleep, one row for each lock of each recording.
CREATE VIEW IF NOT EXISTS ntklog.all_locks AS
SELECT host, start, any(seconds) AS seconds, lock, kind,
	sum(acquired) AS acquisitions, sum(waited) AS wait_total_ns, max(longest_wait) AS wait_max_ns,
	sum(held) AS hold_total_ns, max(longest_hold) AS hold_max_ns
FROM (
	SELECT host, start, seconds, lock, 'spin lock' AS kind,
		ifNull(acquisitions, 0) AS acquired, ifNull(wait_total_ns, 0) AS waited,
		ifNull(wait_max_ns, 0) AS longest_wait, ifNull(hold_total_ns, 0) AS held,
		ifNull(hold_max_ns, 0) AS longest_hold
	FROM ntklog.locks FINAL
	UNION ALL
	SELECT host, start, seconds, resource AS lock, kind,
		ifNull(releases, 0) AS acquired, ifNull(wait_total_ns, 0) AS waited,
		ifNull(wait_max_ns, 0) AS longest_wait, ifNull(hold_total_ns, 0) AS held,
		ifNull(hold_max_ns, 0) AS longest_hold
	FROM ntklog.resources FINAL
) GROUP BY host, start, lock, kind;
