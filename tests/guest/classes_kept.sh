# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# The module keeps the identities of a session's locks, or by the file keep_identities.

. ./linux_lib.sh

insmod ntklog.ko
echo 1000 >$R/release_sample_rate
check "classes: start enables a session" ntklog start -e $GROUPS_OF_LINUX
check "classes: identities are kept for a session" is "$(cat $D/keep_identities)" 1
find /sys >/dev/null
check "classes: stop saves the session" ntklog stop -o stopped.etl
check "classes: identities are not kept after the session" is "$(cat $D/keep_identities)" 0
check "classes: the names file has the kept identities" grep -q '^lock .* dentry.d_lockref.lock$' \
	stopped.etl.names
touch /tmp/load
(while [ -e /tmp/load ]; do find /proc/sys >/dev/null; done) &
top_shows_load()
{
	file=$1
	shift
	ntklog top --once --json -d 2 -e $GROUPS_OF_LINUX "$@" >"$file" &&
		grep -q 'dentry.d_lockref.lock' "$file"
}
check "classes: top shows classes" wait_for top_shows_load top.json
check "classes: top --addresses shows each lock" wait_for top_shows_load addresses.json --addresses
rm /tmp/load
wait

for text in x 2 10 ' 1'; do
	check "classes: keep_identities refuses '$text'" write_is_refused "Invalid argument" \
		$D/keep_identities "$text"
done
check "classes: keep_identities takes 1" write_succeeds $D/keep_identities 1
check "classes: the module unloads while identities are kept" rmmod ntklog
