# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# A CPU goes offline and comes back during a session. The events that it has written must be kept.

echo start >$S/state
check "hotplug: torture on both CPUs" run_torture
acquired=$(awk '$1 == "cpu1" { print $2 }' $D/counters)
echo 0 >/sys/devices/system/cpu/cpu1/online
check "hotplug: an offline CPU keeps its counters" \
	is "$(awk '$1 == "cpu1" { print $2 }' $D/counters)" "$acquired"
check "hotplug: torture on one CPU" run_torture
echo 1 >/sys/devices/system/cpu/cpu1/online
check "hotplug: torture on both CPUs again" run_torture
echo stop >$S/state
cat $S/header $S/cpu* >hotplug.etl
cat $S/stats >hotplug.stats

# start_during_hotplug MICROSECONDS: start a session so long after CPU 1 has begun to come online.
# When it is online, CPU 1 must have buffers, which the file stats shows as a line of cpu1.
start_during_hotplug()
{
	echo 0 >/sys/devices/system/cpu/cpu1/online
	echo 1 >/sys/devices/system/cpu/cpu1/online &
	usleep "$1"
	echo start >$S/state
	wait $!
	grep -q '^cpu1 ' $S/stats || echo "no buffers after $1 us" >>/tmp/without
	echo stop >$S/state
}
new_cpu_always_has_buffers()
{
	delay=0
	while [ $delay -lt 200000 ]; do
		start_during_hotplug $delay
		delay=$((delay + 8000))
	done
	! cat /tmp/without 2>/dev/null
}
check "hotplug: a CPU that comes online while a session starts has buffers" \
	new_cpu_always_has_buffers
check "hotplug: the kernel log has no warning" kernel_is_silent
