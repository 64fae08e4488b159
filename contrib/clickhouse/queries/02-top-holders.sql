-- SPDX-License-Identifier: GPL-2.0-only
-- The functions that held locks while others waited.
SELECT lock, holder, uniq(host) AS hosts,
	round(sum(charged_total_ns) / 1e9, 3) AS charged_seconds,
	round(max(charged_max_ns) / 1e6, 3) AS longest_ms
FROM ntklog.blockers FINAL
GROUP BY lock, holder
ORDER BY charged_seconds DESC
LIMIT 20;
