# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Load the module for the scripts after this one.

# The workload's waits are short, so let waits count as excessive soon.
dmesg -c >boot.log
insmod ntklog.ko excessive_first_ms=2 excessive_next_ms=4 || exit 1
# The warning depends on this machine's TSC.
check "load: one warning if the TSC is unstable" is \
	"$(dmesg | grep -c 'ntklog: the TSC is unstable')" \
	"$(grep -c -m 1 'Marking TSC unstable' boot.log)"
# Disable flushes by the timer, so that results do not depend on a test's duration.
for session in "$D"/sessions/[0-9]*; do
	check "load: flush_timer of ${session#"$D/"} is 1000" is "$(cat "$session/flush_timer")" 1000
	echo 0 >"$session/flush_timer"
done
