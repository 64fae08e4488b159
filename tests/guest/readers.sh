# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# The end of a session's data is announced in time, and a reader that ends early leaves the files to
# the next one.

# The program follow reads the first run of each session after a load of the module, while both CPUs
# write. Half of the sessions are flight recorders (mode buffering).
rmmod ntklog
insmod ntklog.ko excessive_first_ms=2 excessive_next_ms=4
for session in "$D"/sessions/[0-9]*; do
	echo 0 >"$session/flush_timer"
done
F=/tmp/follow
insmod ntklog_torture.ko duration=0 locks=12 nest=10
for i in 0 1 2 3 4 5 6 7; do
	s=$D/sessions/$i
	how=poll
	[ $((i & 2)) = 0 ] || how=state
	[ $((i & 1)) = 0 ] || echo buffering >$s/mode
	rm -rf $F && mkdir $F
	# The program prints TAP.
	./follow $s $how $F &
	echo start >$s/state
	while [ ! -e $F/opened ] && kill -0 $! 2>/dev/null; do
		usleep 1000
	done
	usleep 200000
	touch $F/stopping
	echo stop >$s/state
	touch $F/over
	wait $!
	echo sequential >$s/mode
done
rmmod ntklog_torture

# A reader that ends in the middle of a buffer, and then one that reads single bytes.
echo 4096 >$S/buffer_size
echo start >$S/state
echo 1 >$S/flush
echo stop >$S/state
# cpu1 has the two rundown events.
dd if=$S/cpu1 of=/tmp/part bs=1000 count=1 2>/dev/null
dd if=$S/cpu1 of=/tmp/bytes bs=1 count=4096 2>/dev/null
check "readers: the next reader begins at the start of the buffer" sh -c \
	"head -c 1000 /tmp/bytes | cmp - /tmp/part"
check "readers: the next reader gets the whole buffer" is "$(cat $S/cpu1 | wc -c)" 4096
echo 65536 >$S/buffer_size
check "readers: the kernel log has no warning" kernel_is_silent
