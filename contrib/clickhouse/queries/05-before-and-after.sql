-- SPDX-License-Identifier: GPL-2.0-only
-- Locks before and after a change of the fleet, such as a kernel update: replace the time, which
-- stands here twice.
SELECT lock, round(wait_before / seconds_before / 1e9, 6) AS waiters_before,
	round(wait_after / seconds_after / 1e9, 6) AS waiters_after,
	round(waiters_after - waiters_before, 6) AS difference
FROM (
	SELECT lock, 1 AS all,
		sumIf(wait_total_ns, start < toDateTime('2026-11-20 00:00:00')) AS wait_before,
		sum(wait_total_ns) - wait_before AS wait_after
	FROM ntklog.all_locks
	GROUP BY lock
)
ANY INNER JOIN (
	SELECT 1 AS all,
		sumIf(seconds, start < toDateTime('2026-11-20 00:00:00')) AS seconds_before,
		sum(seconds) - seconds_before AS seconds_after
	FROM ntklog.recordings FINAL
) USING all
ORDER BY abs(difference) DESC
LIMIT 20;
