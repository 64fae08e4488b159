-- SPDX-License-Identifier: GPL-2.0-only
-- How a lock developed: replace its name.
SELECT toDate(start) AS day, uniq(host) AS hosts,
	round(sum(wait_total_ns) / sum(seconds) / 1e9, 6) AS waiters_on_average,
	round(max(wait_max_ns) / 1e6, 3) AS longest_wait_ms
FROM ntklog.all_locks
WHERE lock = 'dentry.d_lockref.lock'
GROUP BY day
ORDER BY day;
