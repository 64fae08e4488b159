-- SPDX-License-Identifier: GPL-2.0-only
-- The locks that the fleet waited for longest.
SELECT lock, kind, uniq(host) AS hosts,
	round(sum(wait_total_ns) / 1e9, 3) AS wait_seconds,
	round(sum(wait_total_ns) / sum(seconds) / 1e9, 6) AS waiters_on_average,
	round(max(wait_max_ns) / 1e6, 3) AS longest_wait_ms
FROM ntklog.all_locks
GROUP BY lock, kind
ORDER BY wait_seconds DESC
LIMIT 20;
