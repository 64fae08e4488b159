-- SPDX-License-Identifier: GPL-2.0-only
-- Locks that were waited for after a change and not before: replace the time.
WITH toDateTime('2026-11-20 00:00:00') AS change
SELECT lock, kind, uniq(host) AS hosts, round(sum(wait_total_ns) / 1e9, 3) AS wait_seconds
FROM ntklog.all_locks
WHERE wait_total_ns > 0
GROUP BY lock, kind
HAVING min(start) >= change
ORDER BY wait_seconds DESC
LIMIT 20;
