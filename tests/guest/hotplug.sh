# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# A CPU goes offline and comes back during a session. No event that it has written is lost.

echo start >$S/state
check "hotplug: torture on both CPUs" torture
acquired=$(awk '$1 == "cpu1" { print $2 }' $D/counters)
echo 0 >/sys/devices/system/cpu/cpu1/online
check "hotplug: an offline CPU keeps its counters" \
	is "$(awk '$1 == "cpu1" { print $2 }' $D/counters)" "$acquired"
check "hotplug: torture on one CPU" torture
echo 1 >/sys/devices/system/cpu/cpu1/online
check "hotplug: torture on both CPUs again" torture
echo stop >$S/state
cat $S/header $S/cpu* >hotplug.etl
cat $S/stats >hotplug.stats
check "hotplug: the kernel log has no warning" kernel_is_silent
