# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Run the lines of Documentation/guide/recipes.rst for trace-cmd, perf and bpftrace
# (recipes.commands), which are in the Debian root/.

# run_in_debian COMMAND: run a command of the page in root/.
run_in_debian()
{
	chroot root sh -c "cd /tmp; $1"
}

# trace_cmd_records COMMAND: run COMMAND during a load, and test that its recording has the last
# event that COMMAND names.
trace_cmd_records()
{
	event=${1##*ntklog:}
	touch /tmp/recording
	while [ -e /tmp/recording ]; do
		/tmp/workload
	done &
	run_in_debian "$1"
	status=$?
	rm /tmp/recording
	wait $!
	[ $status = 0 ] || return 1
	run_in_debian "trace-cmd report" >/tmp/report || return 1
	grep -c " ${event%% *}: " /tmp/report || { head -n 20 /tmp/report; return 1; }
	! grep 'FAILED TO PARSE' /tmp/report
}

# bpftrace_prints_its_map COMMAND: start COMMAND, run the workload when the tracepoint is in use,
# end COMMAND as Ctrl-C does, and test that it prints its map.
bpftrace_prints_its_map()
{
	chroot root sh -c "exec $1" >/tmp/said 2>&1 &
	tool=$!
	wait_for grep PERF_LINUX $D/group_mask && /tmp/workload
	kill -INT $tool
	wait $tool
	tail -n 20 /tmp/said
	grep -q '^@\[[a-z_]' /tmp/said
}

perf_reports_both_events()
{
	run_in_debian "$1" >/tmp/said 2>&1 || { cat /tmp/said; return 1; }
	grep "of event 'ntklog:linux_spinlock'" /tmp/said &&
		grep "of event 'ntklog:linux_resource'" /tmp/said
}

nothing_is_enabled()
{
	is "$(cat $D/group_mask)" 0x0
}

for dir in proc sys dev tmp; do
	mount --rbind /$dir root/$dir
done
export TMPDIR=/tmp HOME=/tmp
# Contend for the lock of an inode.
cat >/tmp/workload <<'END'
#!/bin/sh
for _ in 1 2 3 4; do
	dd if=/dev/zero of=/tmp/one bs=1M count=24 oflag=append conv=notrunc 2>/dev/null &
done
wait
rm /tmp/one
END
chmod +x /tmp/workload
insmod ntklog.ko
check "recipes: the page has lines for other tools" [ -s recipes.commands ]
# Commands of the page leave the list on descriptor 3 alone.
while IFS= read -r line <&3; do
	case $line in
	trace-cmd*)
		check "recipes: $line" trace_cmd_records "$line"
		;;
	bpftrace*)
		check "recipes: $line" bpftrace_prints_its_map "$line"
		;;
	"perf report"*)
		check "recipes: $line" perf_reports_both_events "$line"
		;;
	*)
		check "recipes: $line" run_in_debian "$line"
		;;
	esac
	check "recipes: the line before leaves nothing enabled" wait_for nothing_is_enabled
done 3<recipes.commands
for dir in proc sys dev tmp; do
	umount -l root/$dir
done
check "recipes: the module is unloaded" rmmod ntklog
check "recipes: the kernel log has no warning" kernel_is_silent
