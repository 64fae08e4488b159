-- SPDX-License-Identifier: GPL-2.0-only
-- The machines that waited most for locks, for each second that was recorded.
SELECT host, count() AS recordings, round(sum(wait_ns) / sum(seconds) / 1e9, 6) AS waiters_on_average
FROM (
	SELECT host, start, any(seconds) AS seconds, sum(wait_total_ns) AS wait_ns
	FROM ntklog.all_locks
	GROUP BY host, start
)
GROUP BY host
ORDER BY waiters_on_average DESC
LIMIT 20;
