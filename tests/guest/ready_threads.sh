# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# A recording of wake-ups and context switches, which check_ready_threads.py decodes.

cat >/tmp/ready.sh <<'END'
i=0
while [ $i -lt 20 ]; do
	usleep 2000
	i=$((i + 1))
done
# Longer than a host stops a virtual CPU, so that the process sleeps before its timer expires.
sleep 1 &
echo $$ $! >ready.threads
wait
END
check "ready_threads: record succeeds" ntklog record -e readythread,contextswap --no-names \
	-o ready.etl -- sh /tmp/ready.sh
check "ready_threads: no group is enabled at the end" is "$(cat $D/group_mask)" 0x0
