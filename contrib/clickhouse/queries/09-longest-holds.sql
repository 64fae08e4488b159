-- SPDX-License-Identifier: GPL-2.0-only
SELECT host, start, lock, kind, round(hold_max_ns / 1e6, 3) AS longest_hold_ms
FROM ntklog.all_locks
ORDER BY hold_max_ns DESC
LIMIT 20;
