# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Lockdown cannot be undone, and forbids loading the module again, so this script is the last.

mount -t securityfs security /sys/kernel/security
insmod ntklog.ko
echo start >$S/state
L=/sys/kernel/security/lockdown
check "lockdown: integrity is enabled" sh -c "echo integrity >$L"
check "lockdown: integrity: parameters cannot be changed" sh -c "! echo 5 >$P/contention_sample_rate"
check "lockdown: integrity: locks can be read" cat $D/locks
# This program drops its capabilities at the end.
./ioctl64 >lockdown.log
check "lockdown: integrity: ioctls cannot set" \
	grep "^not ok - ioctl of 64 bits: sets parameters of spin locks" lockdown.log
check "lockdown: integrity: ioctls can query" grep "^ok - ioctl of 64 bits: queries locks" lockdown.log
check "lockdown: confidentiality is enabled" sh -c "echo confidentiality >$L"
for file in $D/held $D/locks $D/locks_information $S/cpu0; do
	check "lockdown: ${file#"$D/"} is not read" sh -c "! cat $file >/dev/null"
done
./ioctl64 >lockdown.log
check "lockdown: confidentiality: ioctls cannot query locks" \
	grep "^not ok - ioctl of 64 bits: queries locks" lockdown.log
check "lockdown: confidentiality: ioctls can query parameters" \
	grep "^ok - ioctl of 64 bits: queries defaults of spin locks" lockdown.log
check "lockdown: confidentiality: the header can be read" cat $S/header
