# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# A kernel that is locked down, first for integrity, then for confidentiality. There is
# no way back, nor a way to load the module anew: this is last.

mount -t securityfs security /sys/kernel/security
insmod ntklog.ko
echo start >$S/state
L=/sys/kernel/security/lockdown
check "lockdown: for integrity" sh -c "echo integrity >$L"
check "lockdown: no parameter is changed" sh -c "! echo 5 >$P/contention_sample_rate"
check "lockdown: locks can be read" cat $D/locks
# Not in an own process: it gives up its rights.
./ioctl64 >lockdown.log
check "lockdown: nothing is set by ioctl" \
	grep "^not ok - ioctl of 64 bits: sets spin locks" lockdown.log
check "lockdown: it is queried" grep "^ok - ioctl of 64 bits: queries locks" lockdown.log
check "lockdown: for confidentiality" sh -c "echo confidentiality >$L"
for file in $D/locks $D/locks_information $S/cpu0; do
	check "lockdown: ${file#"$D/"} is not read" sh -c "! cat $file >/dev/null"
done
./ioctl64 >lockdown.log
check "lockdown: locks are not queried" \
	grep "^not ok - ioctl of 64 bits: queries locks" lockdown.log
check "lockdown: parameters are" grep "^ok - ioctl of 64 bits: queries spin locks" lockdown.log
check "lockdown: the header has no address, and is read" cat $S/header
