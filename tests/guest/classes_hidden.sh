# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# Classes of Linux' locks while addresses are hidden, and under lockdown, which cannot be undone.

. ./linux_lib.sh

# With hashed addresses the tool cannot look them up.
insmod ntklog.ko addresses=hashed
ntklog record -o hashed.etl -e $GROUPS_OF_LINUX -- find /sys >/dev/null
check "classes: hashed addresses have classes" grep -q \
	'^lock 0x[0-9a-f]\{1,8\} dentry.d_lockref.lock$' hashed.etl.names
check "classes: hashed: the names file has no address" sh -c "! grep '^lock 0xffff' hashed.etl.names"
exec 3<$D/identities
echo $LINUX >$S/group_mask
echo start >$S/state
find /sys >/dev/null
echo stop >$S/state
# Remove the sizes of symbols: 6.1 prints a wrong size for the last symbol of a module.
sed 's,/0x[0-9a-f]*,,g' <&3 >hashed.notes
exec 3<&-
check "classes: hashed: the identities have no address" sh -c "grep -q slab hashed.notes && ! grep 0xffff hashed.notes"
cat $S/cpu* >/dev/null
# cat, which reads the file held, holds a mutex of that open file meanwhile.
echo PERF_LINUX_MUTEX >$S/group_mask
echo start >$S/state
cat $D/held >hashed.held
echo stop >$S/state
check "classes: hashed: the file held has a lock without its address" sh -c \
	"grep ' mutex exclusive held .* cat$' hashed.held && ! grep 0xffff hashed.held"
cat $S/cpu* >/dev/null
rmmod ntklog
insmod ntklog.ko addresses=zero
check "classes: zero: identities are not supported" sh -c \
	"cat $D/identities 2>&1 | grep 'not supported'"
ntklog record -o zero.etl -e $GROUPS_OF_LINUX -- find /proc/sys >/dev/null 2>zero.log
check "classes: zero: record warns once" is "$(grep -c 'locks have no classes' zero.log)" 1
check "classes: zero: the names file has no lock" sh -c "! grep ^lock zero.etl.names"
check "classes: zero: keep_identities is refused" sh -c "! echo 1 >$D/keep_identities"
rmmod ntklog

insmod ntklog.ko
echo 2 >/proc/sys/kernel/kptr_restrict
ntklog record -o restricted.etl -e $GROUPS_OF_LINUX -- find /sys >/dev/null
check "classes: kptr_restrict: objects have classes" grep -q ' dentry.d_lockref.lock$' restricted.etl.names
check "classes: kptr_restrict: variables have names" grep -qE '^lock .* (runqueues\[\]\.__lock|[a-z_]*_lock)$' \
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
check "classes: hidden: the kernel log has no warning" kernel_is_silent
