# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# ntklog exporter with the capabilities that its service has.

URL=http://127.0.0.1:10529/metrics

# The setpriv of BusyBox lacks these options.
start_exporter()
{
	LD_LIBRARY_PATH=/bin /bin/setpriv --bounding-set -all,+syslog,+perfmon --inh-caps -all \
		ntklog exporter --interval 1 "$@" 2>exporter-$count.log &
	exporter=$!
	count=$((count + 1))
}

metrics_match()
{
	wget -q -O /tmp/metrics $URL && grep -q "$1" /tmp/metrics
}

print_update_count()
{
	wget -q -O - $URL | sed -n 's/^ntklog_updates_total //p'
}

update_count_reaches()
{
	[ "$(print_update_count)" -ge "$1" ]
}

# contend_for_an_inode: let four writers append to one file.
contend_for_an_inode()
{
	writers=
	for _ in 1 2 3 4; do
		dd if=/dev/zero of=/tmp/one bs=1M count=24 oflag=append conv=notrunc 2>/dev/null &
		writers="$writers $!"
	done
	# shellcheck disable=SC2086 # words
	wait $writers
	rm -f /tmp/one
}

# inode_lock_is_waited_for_longest: contend for the lock of an inode, and test that no lock has a
# longer wait in the metrics.
inode_lock_is_waited_for_longest()
{
	contend_for_an_inode
	updates=$(print_update_count)
	wait_for update_count_reaches $((updates + 2))
	wget -q -O exporter-after.prom $URL
	sed -n 's/^ntklog_lock_wait_seconds_sum{\(.*\)} /\1 /p' exporter-after.prom | awk '
		$NF > most { most = $NF; first = $0 }
		END { print first; exit first !~ /inode.i_rwsem/ }'
}

nothing_is_attached()
{
	! grep -E '^[a-z_]+: on' $D/linux && is "$(cat $D/sessions/*/state | sort -u)" stopped
}

ifconfig lo 127.0.0.1 up
insmod ntklog.ko
count=1
start_exporter --mode full --budget 100%
check "exporter: it offers metrics" wait_for metrics_match '^ntklog_updates_total [2-9]'
wget -q -O exporter-before.prom $URL
check "exporter: it sums up the load" repeat_until inode_lock_is_waited_for_longest
wget -q -O exporter-after.openmetrics --header 'Accept: application/openmetrics-text' $URL
check "exporter: another one is refused" sh -c \
	"! LD_LIBRARY_PATH=/bin ntklog exporter 2>/tmp/said && grep 'another ntklog exporter' /tmp/said"
kill $exporter
check "exporter: SIGTERM ends it" wait $exporter
check "exporter: nothing stays attached" wait_for nothing_is_attached

# An emulated machine exceeds this budget in each mode.
start_exporter --mode full --budget 0.01%
check "exporter: a small budget leaves out locks that sleep" \
	wait_for metrics_match 'ntklog_recording_group{group="linux_mutex"} 0'
check "exporter: a small budget chooses the cheapest mode" \
	metrics_match 'ntklog_recording_mode{mode="waits"} 1'
wget -q -O exporter-budget.prom $URL
kill $exporter
check "exporter: it ends in another mode" wait $exporter
check "exporter: it restores the mode" is "$(cat $D/linux_mode)" full
check "exporter: it restores the rates" is "$(cat $P/acquire_sample_rate) $(cat $P/contention_sample_rate) \
$(cat $P/blockers) $(cat $R/release_sample_rate) $(cat $R/contention_sample_rate)" "1000 1 0 1000 1"
check "exporter: nothing stays attached after changes of the mode" wait_for nothing_is_attached
rmmod ntklog
check "exporter: the kernel log has no warning" kernel_is_silent
