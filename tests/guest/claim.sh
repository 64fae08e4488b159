# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Recordings through sessions/claim, in programs of 64 and of 32 bits.

# said TEXT COMMAND...: the command's output is the text.
said()
{
	text=$1
	shift
	is "$("$@")" "$text"
}

settings_of()
{
	for file in name group_mask buffer_size buffers mode flush_timer stacks contextswap_version; do
		cat "$1/$file"
	done
}

# hold FILE WORD...: a claim in the background, in $owner, that has come as far as the words.
hold()
{
	rm -f claimed
	"./$claim" "$@" hold >claim.log 2>&1 &
	owner=$!
	while [ ! -e claimed ]; do
		kill -0 $owner 2>/dev/null || { cat claim.log; return 1; }
		sleep 0.05
	done
}

end_owner()
{
	kill -9 $owner
	wait $owner 2>/dev/null
}

for claim in claim64 claim32; do
	[ -e ./$claim ] || continue
	T=$D/sessions/5
	defaults=$(settings_of $T)
	check "$claim: nobody owns a session" is "$(cat $T/owner)" none
	check "$claim: a start with a wrong setting is refused" \
		said 'wrong: Invalid argument' ./$claim $T/claim wrong
	check "$claim: and changes nothing" is "$(settings_of $T)" "$defaults"

	check "$claim: a claim that runs" hold $T/claim start
	check "$claim: the owner is known" is "$(cat $T/owner)" "$owner $claim"
	check "$claim: it has started" is "$(cat $T/state $T/name $T/buffers | tr '\n' ' ')" \
		"started claim 4 "
	check "$claim: a second claim is refused" \
		said 'open: Device or resource busy' ./$claim $T/claim
	check "$claim: so is an adoption" said 'open: Device or resource busy' ./$claim $T/adopt
	for file in "state stop" "state start" "name other" "group_mask PERF_SPINLOCK" \
	    "buffer_size 8192" "buffers 8" "mode buffering" "flush_timer 7" "stacks spinlock" \
	    "contextswap_version 1" "flush 1"; do
		check "$claim: by hand, $file is refused" \
			refused 'busy' "$T/${file%% *}" "${file#* }"
	done
	check "$claim: any other claim is of another session" \
		said 'session 7 state 0 failures 0
info: ok' ./$claim $D/sessions/claim info
	end_owner
	check "$claim: the death of the owner stops the session" is "$(cat $T/state)" stopped
	check "$claim: and frees it" is "$(cat $T/owner)" none
	check "$claim: its settings are as before" is "$(settings_of $T)" "$defaults"
	check "$claim: its buffers are gone" sh -c "! cat $T/header 2>/dev/null"
	check "$claim: nothing is on" is "$(cat $D/group_mask)" 0x0

	check "$claim: a recording" sh -c "./$claim $T/claim start flush stop counts cpus header \
		counts >record.claim; cat record.claim; ! grep -v -e ': ok' -e generated record.claim"
	cat header.claim cpus.claim >$claim.etl
	check "$claim: nothing is unread" grep -q ' unread 0 ' record.claim
	check "$claim: nothing is lost" grep -q ' lost 0 ' record.claim

	check "$claim: a session that is kept" said 'start: ok
keep: ok
stop: File descriptor in bad state' ./$claim $T/claim start keep stop
	check "$claim: goes on" is "$(cat $T/state $T/owner | tr '\n' ' ')" "started none "
	check "$claim: cannot be claimed" said 'open: Device or resource busy' ./$claim $T/claim
	check "$claim: can be adopted" said 'stop: ok
keep: ok' ./$claim $T/adopt stop keep
	check "$claim: and read by hand" sh -c "[ \$(cat $T/header $T/cpu* | wc -c) -gt 16384 ]"
	printf '%s\n' "$defaults" | head -n 1 >$T/name
	echo 65536 >$T/buffer_size
	echo 16 >$T/buffers
	echo 0 >$T/flush_timer
	check "$claim: the settings are the user's own again" is "$(settings_of $T)" "$defaults"
done
