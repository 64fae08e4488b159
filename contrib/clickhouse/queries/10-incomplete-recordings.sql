-- SPDX-License-Identifier: GPL-2.0-only
-- Recordings that lost events, whose sums are too small, and those without any.
SELECT host, start, seconds, events, events_lost, buffers_lost
FROM ntklog.recordings FINAL
WHERE events_lost > 0 OR buffers_lost > 0 OR events = 0
ORDER BY events_lost DESC
LIMIT 20;
