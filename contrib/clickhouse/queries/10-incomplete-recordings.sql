-- SPDX-License-Identifier: GPL-2.0-only
-- Recordings that lost events or buffers, or are damaged, whose sums are too small, and those without
-- any event.
SELECT host, start, seconds, events, events_lost, buffers_lost, buffers_missing,
	isNotNull(damage) AS is_damaged
FROM ntklog.recordings FINAL
WHERE events_lost > 0 OR buffers_lost > 0 OR buffers_missing > 0 OR is_damaged
	OR events = 0
ORDER BY events_lost DESC
LIMIT 20;
