# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# Record while class_truth.ko lists the objects in memory; check_classes.py compares the classes.

. ./linux_lib.sh

# collect_truth FILE: append the module's list again and again until /tmp/truth is removed.
# /tmp/walks has the number of lists.
collect_truth()
{
	walks=0
	: >"$1"
	while [ -e /tmp/truth ]; do
		cat /sys/kernel/debug/class_truth >>"$1"
		walks=$((walks + 1))
		echo $walks >/tmp/walks
		usleep 300000
	done
}

make_usual_load()
{
	round=0
	while [ $round -lt 3 ]; do
		find /sys /proc/sys /proc/irq >/dev/null 2>&1
		dd if=/dev/zero of=/tmp/classes.data bs=64k count=64 2>/dev/null
		cat /proc/self/maps >/dev/null
		round=$((round + 1))
	done
}

churn_objects()
{
	mkdir -p /tmp/churn
	round=0
	while [ $round -lt "$([ -e few ] && echo 3 || echo 6)" ]; do
		for name in 1 2 3 4 5 6 7 8 9; do
			echo $round >/tmp/churn/$name
			(/bin/true | /bin/cat >/dev/null)
			rm /tmp/churn/$name
		done
		find /proc/sys /sys/kernel >/dev/null 2>&1
		echo 2 >/proc/sys/vm/drop_caches
		round=$((round + 1))
	done
}

# run_load_across_walks LOAD: repeat LOAD until the module has made four more lists. The class of an
# object is known between two lists in which it is the same.
run_load_across_walks()
{
	least=$(($(cat /tmp/walks) + 4))
	$1
	while [ "$(cat /tmp/walks)" -lt $least ]; do
		$1
	done
}

# record_with_truth NAME LOAD: record LOAD in NAME.etl, and save the module's lists in NAME.truth.
record_with_truth()
{
	rm -f /tmp/walks
	touch /tmp/truth
	collect_truth "$1.truth" &
	truth_reader=$!
	(
		wait_for [ -s /tmp/walks ]
		wait_for grep -q started $D/sessions/*/state
		run_load_across_walks $2
	) &
	loader=$!
	ntklog record -b 256K -n 64 -o "$1.etl" -e $GROUPS_OF_LINUX --duration 600 2>"$1.log" &
	recorder=$!
	wait $loader
	rm /tmp/truth
	wait $truth_reader
	kill -INT $recorder
	wait $recorder
}

insmod ntklog.ko
insmod class_truth.ko
echo 50 >$R/release_sample_rate
check "classes: no session: identities are not kept" is "$(cat $D/keep_identities)" 0
check "classes: record under the usual load" record_with_truth normal make_usual_load
check "classes: record while objects come and go" record_with_truth churn churn_objects
for recording in normal churn; do
	cat $recording.log
	ntklog report --json $recording.etl >$recording.json
	ntklog report $recording.etl | head -n 40 | cut -c 1-150
done
sed -i 's/^boot \([^ ]*\) .*/boot \1 12345/' churn.etl.names
check "classes: names of another boot are refused" sh -c "! ntklog report churn.etl 2>boot.log &&
	grep 'another boot' boot.log"
rmmod class_truth
rmmod ntklog
check "classes: the kernel log has no warning" kernel_is_silent
