# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# Classes of Linux' own locks: recorded under a usual load and while objects come and go all the
# time, with a module that tells what is where; with addresses that are hidden; by start and stop,
# and by top. check_classes.py looks at what was written.

. ./linux_lib.sh

GROUPS_OF_LINUX=linux_spinlock,linux_rwlock,linux_mutex,linux_rwsem

# What is there in two readings one after the other is the truth in between.
tell_truth()
{
	: >"$1"
	while [ -e /tmp/truth ]; do
		cat /sys/kernel/debug/class_truth >>"$1"
		usleep 300000
	done
}

usual_load()
{
	round=0
	while [ $round -lt 3 ]; do
		find /sys /proc/sys /proc/irq >/dev/null 2>&1
		dd if=/dev/zero of=/tmp/classes.data bs=64k count=64 2>/dev/null
		cat /proc/self/maps >/dev/null
		round=$((round + 1))
	done
}

# Objects come and go: threads, inodes, dentries, and what is in caches.
churn()
{
	mkdir -p /tmp/churn
	round=0
	while [ $round -lt 6 ]; do
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

# record_with_truth NAME LOAD
record_with_truth()
{
	touch /tmp/truth
	tell_truth "$1.truth" &
	telling=$!
	(
		wait_for [ -s "$1.truth" ]
		$2
	) &
	loading=$!
	ntklog record -b 256K -n 64 -o "$1.etl" -e $GROUPS_OF_LINUX --duration 600 2>"$1.log" &
	recording=$!
	wait $loading
	rm /tmp/truth
	wait $telling
	kill -INT $recording
	wait $recording
}

insmod ntklog.ko
insmod class_truth.ko
echo 50 >$R/release_sample_rate
check "classes: nothing is kept without anybody" is "$(cat $D/keep_identities)" 0
check "classes: usual load" record_with_truth normal usual_load
check "classes: churn" record_with_truth churn churn
for recording in normal churn; do
	cat $recording.log
	ntklog report --json $recording.etl >$recording.json
	ntklog report $recording.etl | head -n 40 | cut -c 1-150
done
sed -i 's/^boot \([^ ]*\) .*/boot \1 12345/' churn.etl.names
check "classes: names of another boot are refused" sh -c "! ntklog report churn.etl 2>boot.log &&
	grep 'another boot' boot.log"
rmmod class_truth

echo 1000 >$R/release_sample_rate
check "classes: a session is started" ntklog start -e $GROUPS_OF_LINUX
check "classes: notes are kept for it" is "$(cat $D/keep_identities)" 1
find /sys >/dev/null
check "classes: it is stopped and saved" ntklog stop -o stopped.etl
check "classes: notes are kept no longer" is "$(cat $D/keep_identities)" 0
check "classes: what was kept is in the names" grep -q '^lock .* dentry.d_lockref.lock$' \
	stopped.etl.names
touch /tmp/load
(while [ -e /tmp/load ]; do find /proc/sys >/dev/null; done) &
ntklog top --once --json -d 2 -e $GROUPS_OF_LINUX >top.json
ntklog top --once --json -d 2 -e $GROUPS_OF_LINUX --addresses >addresses.json
rm /tmp/load
wait

for text in x 2 10 ' 1'; do
	check "classes: keep_identities refuses '$text'" refused "Invalid argument" \
		$D/keep_identities "$text"
done
check "classes: keep_identities" taken $D/keep_identities 1
check "classes: the module goes with what it keeps" rmmod ntklog

# Where addresses are hidden the names come from the module alone.
insmod ntklog.ko addresses=hashed
ntklog record -o hashed.etl -e $GROUPS_OF_LINUX -- find /sys >/dev/null
check "classes: hashed addresses have classes" grep -q \
	'^lock 0x[0-9a-f]\{1,8\} dentry.d_lockref.lock$' hashed.etl.names
check "classes: and no address is told" sh -c "! grep '^lock 0xffff' hashed.etl.names"
exec 3<$D/identities
echo $LINUX >$S/group_mask
echo start >$S/state
find /sys >/dev/null
echo stop >$S/state
# But for sizes of symbols: of the last one of a module's the kernel on 6.1 makes nonsense.
sed 's,/0x[0-9a-f]*,,g' <&3 >hashed.notes
exec 3<&-
check "classes: nor by the module" sh -c "grep -q slab hashed.notes && ! grep 0xffff hashed.notes"
cat $S/cpu* >/dev/null
rmmod ntklog
insmod ntklog.ko addresses=zero
check "classes: nothing is noted without addresses" sh -c \
	"cat $D/identities 2>&1 | grep 'not supported'"
ntklog record -o zero.etl -e $GROUPS_OF_LINUX -- find /proc/sys >/dev/null 2>zero.log
check "classes: that is said once" is "$(grep -c 'there are no classes' zero.log)" 1
check "classes: and there are none" sh -c "! grep ^lock zero.etl.names"
check "classes: not kept either" sh -c "! echo 1 >$D/keep_identities"
rmmod ntklog

# Without symbols for anybody, and locked down for integrity; classes come from the module.
insmod ntklog.ko
echo 2 >/proc/sys/kernel/kptr_restrict
ntklog record -o restricted.etl -e $GROUPS_OF_LINUX -- find /sys >/dev/null
check "classes: kptr_restrict leaves them" grep -q ' dentry.d_lockref.lock$' restricted.etl.names
check "classes: and those of variables" grep -qE '^lock .* (runqueues\[\]\.__lock|[a-z_]*_lock)$' \
	restricted.etl.names
echo 0 >/proc/sys/kernel/kptr_restrict
mount -t securityfs security /sys/kernel/security 2>/dev/null
ntklog start -e $GROUPS_OF_LINUX
find /sys >/dev/null
if [ -e /sys/kernel/security/lockdown ]; then
	L=/sys/kernel/security/lockdown
	echo integrity >$L
	check "classes: read under lockdown for integrity" cat $D/identities
	echo confidentiality >$L
	check "classes: not read under lockdown for confidentiality" sh -c "! cat $D/identities"
fi
check "classes: the kernel has nothing to say" kernel_is_silent
