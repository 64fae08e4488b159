# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Load the documentation's example and the benchmark while instrumentation is enabled.

echo start >$S/state
check "example: loads" insmod ntklog_example.ko
check "example: finds the key of each second request" sh -c \
	"dmesg | grep 'ntklog_example: 1000 requests, 500 found in the table'"
cat $D/locks >locks.txt
cat $D/locks_information >locks.bin
check "example: its resource is listed with its name" sh -c \
	"grep '^0x[0-9a-f]* 1 0 0 0 0 0 0 0 0 settings_resource+0x0/' locks.txt"
check "example: unloads" rmmod ntklog_example
check "example: its resource is gone" is "$(wc -l <$D/locks) $(wc -c <$D/locks_information)" "1 8"
check "bench: runs" insmod ntklog_bench.ko times=1000 contended_ms=50
check "bench: measures every pair" is \
	"$(dmesg | grep -c 'ntklog_bench: pair off ')" 26
check "bench: unloads" rmmod ntklog_bench
check "bench: bad parameters are refused" sh -c "! insmod ntklog_bench.ko times=1"
echo stop >$S/state
check "example: the kernel log has no warning" kernel_is_silent
