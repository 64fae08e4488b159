# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# Classes of Linux' own locks by start and stop, and by top; and who may have notes kept.

. ./linux_lib.sh

insmod ntklog.ko
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
# shown FILE OPTION...: what top shows, as soon as a lock of the load's is in it.
shown()
{
	file=$1
	shift
	ntklog top --once --json -d 2 -e $GROUPS_OF_LINUX "$@" >"$file" &&
		grep -q 'dentry.d_lockref.lock' "$file"
}
check "classes: top has them" wait_for shown top.json
check "classes: and each lock by itself" wait_for shown addresses.json --addresses
rm /tmp/load
wait

for text in x 2 10 ' 1'; do
	check "classes: keep_identities refuses '$text'" refused "Invalid argument" \
		$D/keep_identities "$text"
done
check "classes: keep_identities" taken $D/keep_identities 1
check "classes: the module goes with what it keeps" rmmod ntklog
