-- SPDX-License-Identifier: GPL-2.0-only
-- Machines that wait for a lock more than ten times as long as the median machine that has it.
SELECT lock, host, round(share, 6) AS waiters_on_average, round(median, 6) AS fleet_median,
	round(share / median, 1) AS times
FROM (
	SELECT lock, host, sum(wait_total_ns) / sum(seconds) / 1e9 AS share
	FROM ntklog.all_locks
	GROUP BY lock, host
)
ANY INNER JOIN (
	SELECT lock, quantileExact(0.5)(share) AS median
	FROM (
		SELECT lock, host, sum(wait_total_ns) / sum(seconds) / 1e9 AS share
		FROM ntklog.all_locks
		GROUP BY lock, host
	)
	GROUP BY lock
	HAVING count() >= 10 AND median > 0
) USING lock
WHERE share > 10 * median
ORDER BY times DESC
LIMIT 20;
