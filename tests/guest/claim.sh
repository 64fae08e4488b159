# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Sessions that a program claims by opening claim or adopt, in programs of 64 and of 32 bits.

output_is()
{
	text=$1
	shift
	is "$("$@")" "$text"
}

print_settings()
{
	for file in name group_mask buffer_size buffers mode flush_timer stacks contextswap_version; do
		cat "$1/$file"
	done
}

# claim_in_background FILE WORD...: start the program, which claims a session by FILE, set owner to
# its process id, and wait until it has done the operations WORD... and holds the claim.
claim_in_background()
{
	rm -f claimed
	"./$claim" "$@" hold >claim.log 2>&1 &
	owner=$!
	while [ ! -e claimed ]; do
		kill -0 $owner 2>/dev/null || { cat claim.log; return 1; }
		sleep 0.05
	done
}

kill_owner()
{
	kill -9 $owner
	wait $owner 2>/dev/null
}

for claim in claim64 claim32; do
	[ -e ./$claim ] || continue
	T=$D/sessions/5
	defaults=$(print_settings $T)
	check "$claim: an unclaimed session has no owner" is "$(cat $T/owner)" none
	check "$claim: a start with a wrong setting is refused" \
		output_is 'wrong: Invalid argument' ./$claim $T/claim wrong
	check "$claim: a refused start changes no setting" is "$(print_settings $T)" "$defaults"

	check "$claim: a claim starts its session" claim_in_background $T/claim start
	check "$claim: a claimed session shows its owner" is "$(cat $T/owner)" "$owner $claim"
	check "$claim: a claimed session shows state, name and buffers" is "$(cat $T/state $T/name $T/buffers | tr '\n' ' ')" \
		"started claim 4 "
	check "$claim: a second claim is refused" \
		output_is 'open: Device or resource busy' ./$claim $T/claim
	check "$claim: an adoption of a claimed session is refused" output_is 'open: Device or resource busy' ./$claim $T/adopt
	for file in "state stop" "state start" "name other" "group_mask PERF_SPINLOCK" \
	    "buffer_size 8192" "buffers 8" "mode buffering" "flush_timer 7" "stacks spinlock" \
	    "contextswap_version 1" "flush 1"; do
		check "$claim: a claimed session refuses a write to $file" \
			write_is_refused 'busy' "$T/${file%% *}" "${file#* }"
	done
	check "$claim: a claim of any session gets another one" \
		output_is 'session 7 state 0 failures 0
info: ok' ./$claim $D/sessions/claim info
	kill_owner
	check "$claim: the death of the owner stops the session" is "$(cat $T/state)" stopped
	check "$claim: the death of the owner frees the session" is "$(cat $T/owner)" none
	check "$claim: the death of the owner restores the settings" is "$(print_settings $T)" "$defaults"
	check "$claim: the death of the owner frees the buffers" sh -c "! cat $T/header 2>/dev/null"
	check "$claim: the death of the owner disables all groups" is "$(cat $D/group_mask)" 0x0

	check "$claim: a recording starts, flushes, stops and is read" sh -c "./$claim $T/claim start flush stop counts cpus header \
		counts >record.claim; cat record.claim; ! grep -v -e ': ok' -e generated record.claim"
	cat header.claim cpus.claim >$claim.etl
	check "$claim: a recording has no unread buffer" grep -q ' unread 0 ' record.claim
	check "$claim: a recording has no lost event" grep -q ' lost 0 ' record.claim

	check "$claim: a kept session cannot be stopped by the former owner" output_is 'start: ok
keep: ok
stop: File descriptor in bad state' ./$claim $T/claim start keep stop
	check "$claim: a kept session stays started without an owner" is "$(cat $T/state $T/owner | tr '\n' ' ')" "started none "
	check "$claim: a kept session cannot be claimed" output_is 'open: Device or resource busy' ./$claim $T/claim
	check "$claim: a kept session can be adopted" output_is 'stop: ok
keep: ok' ./$claim $T/adopt stop keep
	check "$claim: an adopted session can be read through its files" sh -c "[ \$(cat $T/header $T/cpu* | wc -c) -gt 16384 ]"
	printf '%s\n' "$defaults" | head -n 1 >$T/name
	echo 65536 >$T/buffer_size
	echo 16 >$T/buffers
	echo 0 >$T/flush_timer
	check "$claim: the settings can be restored by writes" is "$(print_settings $T)" "$defaults"
done
