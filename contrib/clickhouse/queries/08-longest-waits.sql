-- SPDX-License-Identifier: GPL-2.0-only
-- The longest waits, with the machine and the recording to look at with ntklog report.
SELECT host, start, lock, kind, round(wait_max_ns / 1e6, 3) AS longest_wait_ms
FROM ntklog.all_locks
ORDER BY wait_max_ns DESC
LIMIT 20;
