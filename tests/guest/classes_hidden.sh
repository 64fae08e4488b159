# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154,SC2086
#
# Classes of Linux' own locks where addresses are hidden, and under lockdown, which stays.

. ./linux_lib.sh

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
check "classes: that is said once" is "$(grep -c 'locks have no classes' zero.log)" 1
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
check "classes: hidden ones: the kernel has nothing to say" kernel_is_silent
