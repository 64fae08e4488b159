# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154

# Waits for resources count as excessive after 2 and 4 ms.
dmesg -c >boot.log
insmod ntklog.ko excessive_first_ms=2 excessive_next_ms=4 || exit 1
# ntklog must warn once if the kernel has marked the TSC unstable, which depends on the host; else
# never.
check "load: one warning if the TSC is unstable" is \
	"$(dmesg | grep -c 'ntklog: the TSC is unstable')" \
	"$(grep -c -m 1 'Marking TSC unstable' boot.log)"
# Disable flushes by the timer, so that results do not depend on a test's duration.
for session in "$D"/sessions/[0-9]*; do
	check "load: flush_timer of ${session#"$D/"} is 1000" is "$(cat "$session/flush_timer")" 1000
	echo 0 >"$session/flush_timer"
done
