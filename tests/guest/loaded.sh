# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# The module as the scripts after this one find it.

# Waits of the workload are over soon: it shall not take long to see excessive ones.
dmesg -c >boot.log
insmod ntklog.ko excessive_first_ms=2 excessive_next_ms=4 || exit 1
# Whichever it is here.
check "load: one warning if the TSC is unstable" is \
	"$(dmesg | grep -c 'ntklog: the TSC is unstable')" \
	"$(grep -c -m 1 'Marking TSC unstable' boot.log)"
# What is flushed is not to depend on how long a test takes.
for session in "$D"/sessions/[0-9]*; do
	check "load: flush_timer of ${session#"$D/"} is 1000" is "$(cat "$session/flush_timer")" 1000
	echo 0 >"$session/flush_timer"
done
