# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# The example of the documentation, and the benchmark, traced: they run, and leave
# the kernel as it was.

echo start >$S/state
check "example: loads" insmod ntklog_example.ko
check "example: does what its comment says" sh -c \
	"dmesg | grep 'ntklog_example: 1000 requests, 500 found in the table'"
check "example: unloads" rmmod ntklog_example
check "bench: runs" insmod ntklog_bench.ko times=1000 contended_ms=50
check "bench: measures every pair" is \
	"$(dmesg | grep -c 'ntklog_bench: pair off ')" 18
check "bench: unloads" rmmod ntklog_bench
check "bench: bad parameters are refused" sh -c "! insmod ntklog_bench.ko times=1"
echo stop >$S/state
check "example: the kernel has nothing to complain of" kernel_is_silent
