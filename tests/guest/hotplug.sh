# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# A processor goes while a session runs, and comes back: nothing is lost of what
# it has written.

echo start >$S/state
check "hotplug: torture on both processors" torture
acquired=$(awk '$1 == "cpu1" { print $2 }' $D/counters)
echo 0 >/sys/devices/system/cpu/cpu1/online
check "hotplug: a processor that is gone keeps its counters" \
	is "$(awk '$1 == "cpu1" { print $2 }' $D/counters)" "$acquired"
check "hotplug: torture on one processor" torture
echo 1 >/sys/devices/system/cpu/cpu1/online
check "hotplug: torture on both again" torture
echo stop >$S/state
cat $S/header $S/cpu* >hotplug.etl
cat $S/stats >hotplug.stats
check "hotplug: the kernel has nothing to complain of" kernel_is_silent
