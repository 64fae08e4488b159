# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Module parameters: invalid values are refused with a message.

loading_fails_with()
{
	message=$1
	shift
	dmesg -c >/dev/null
	if insmod ntklog.ko "$@" 2>/dev/null; then
		rmmod ntklog
		echo "loaded with $*"
		return 1
	fi
	dmesg | grep -q "$message" || { dmesg; return 1; }
	[ ! -e $D ] && ! grep -q '^ntklog ' /proc/modules
}

for size in 0 1 4095 5000 1052672 4294967295; do
	check "load: buffer_size=$size is refused" \
		loading_fails_with "ntklog: buffer_size=$size is not" "buffer_size=$size"
done
for number in 0 1 1025; do
	check "load: buffers=$number is refused" \
		loading_fails_with "ntklog: buffers=$number is not" "buffers=$number"
done
check "load: spin_threshold 0 is refused" \
	loading_fails_with "spin_threshold=0 is less than 1" spinlock=0
check "load: acquire_sample_rate 999 is refused" \
	loading_fails_with "acquire_sample_rate=999 is less than 1000" spinlock=1,999
check "load: contention_sample_rate 0 is refused" \
	loading_fails_with "contention_sample_rate=0 is less than 1" spinlock=1,1000,0
check "load: hold_threshold 999999 is refused" \
	loading_fails_with "hold_threshold=999999 is less than 1000000 and not 0" \
	spinlock=1,1000,1,999999
check "load: five spin lock parameters are refused" \
	loading_fails_with "spinlock" spinlock=1,1000,1,1000000,1
check "load: release_sample_rate 0 is refused" \
	loading_fails_with "resource: release_sample_rate=0 is less than 1" resource=0
check "load: excessive_timeouts 0 is refused" \
	loading_fails_with "resource: excessive_timeouts=0 is less than 1" resource=1,1,0
for time in 0 3600001; do
	check "load: excessive_first_ms=$time is refused" \
		loading_fails_with "excessive_first_ms=$time " excessive_first_ms=$time
	check "load: excessive_next_ms=$time is refused" \
		loading_fails_with "excessive_next_ms=$time " excessive_next_ms=$time
done
check "load: addresses=half is refused" \
	loading_fails_with "addresses=half is not raw, hashed or zero" addresses=half
check "load: buffers=many is refused" loading_fails_with "buffers" buffers=many

load_takes_parameters()
{
	insmod ntklog.ko buffer_size=8192 buffers=4 spinlock=2,2000,3,0 \
		resource=4,5,6 excessive_first_ms=1 excessive_next_ms=3600000 &&
		is "$(cat $S/buffer_size $S/buffers $P/spin_threshold \
			$P/acquire_sample_rate $P/contention_sample_rate \
			$P/hold_threshold $R/release_sample_rate \
			$R/contention_sample_rate $R/excessive_timeouts |
			tr '\n' ' ')" "8192 4 2 2000 3 0 4 5 6 " &&
		rmmod ntklog && [ ! -e $D ]
}
check "load: valid parameters are applied" load_takes_parameters

# When a load fails, the kernel frees the module even if a file of it is open. So a load that fails
# must not make a file that can be opened.
failed_load_makes_no_file()
{
	rm -f /tmp/end /tmp/opened
	while [ ! -e /tmp/end ]; do
		{ : <$D/group_mask; } 2>/dev/null && echo group_mask >/tmp/opened
		{ : </dev/ntklog; } 2>/dev/null && echo device >/tmp/opened
	done &
	opener=$!
	for try in 1 2 3 4 5 6 7 8 9 10; do
		if insmod ntklog.ko linux_mode=bad 2>/dev/null; then
			echo "loaded in try $try"
			rmmod ntklog
			break
		fi
	done
	echo >/tmp/end
	wait $opener
	! cat /tmp/opened 2>/dev/null
}
check "load: linux_mode=bad is refused" \
	loading_fails_with "linux_mode=bad is not full, sampled, waits or holders" linux_mode=bad
check "load: a load that fails has no file to open" failed_load_makes_no_file
