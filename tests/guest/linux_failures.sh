# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# There is no memory in the middle of redirecting Linux' lock functions, at one place after
# the other: a session begins without the kind that fails, of which nothing stays redirected.
# $stride and $seed: see fail.c.

. ./linux_lib.sh

F=/sys/kernel/debug/failslab

echo N >$F/ignore-gfp-wait
echo 0 >$F/verbose
insmod ntklog.ko buffers=2 buffer_size=4096
echo "$LINUX" >$S/group_mask
./fail start $S "$stride" "$seed" $D/linux
check "linux: nothing stays redirected after failures" is_off
echo start >$S/state
check "linux: and they can be redirected" is_on
echo stop >$S/state
check "linux: and restored" is_off
rmmod ntklog
