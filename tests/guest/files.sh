# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# The text files: permissions, defaults, accepted and refused values.

for file in $P/spin_threshold $P/acquire_sample_rate $P/contention_sample_rate \
    $P/hold_threshold $P/information $R/release_sample_rate $R/contention_sample_rate \
    $R/excessive_timeouts $R/information $S/state $S/name $S/group_mask $S/buffer_size \
    $S/buffers $S/mode $S/flush_timer $S/contextswap_version $S/stacks $S/flush \
    $S/claim $S/adopt $D/sessions/claim \
    $D/keep_identities /dev/ntklog; do
	check "files: ${file#"$D/"} can be written" file_mode_is "$file" 600
done
check "files: other users cannot enter the directory" file_mode_is ${D%/*} 700
for file in $D/group_mask $D/counters $D/held $D/identities $D/tasks $D/locks $D/locks_information $D/linux_selftest $S/stats $S/header $S/snapshot $S/owner $S/failures \
    $S/cpu0 $S/cpu1; do
	check "files: ${file#"$D/"} can be read only" file_mode_is "$file" 400
done

# refusal_is_logged FILE TEXT MESSAGE: test that FILE refuses TEXT, and the kernel log has MESSAGE.
# Only the first refused write of each file is logged.
refusal_is_logged()
{
	dmesg -c >/dev/null
	write_is_refused 'Invalid argument' "$1" "$2" || return 1
	dmesg | grep -qF "$3" || { dmesg; return 1; }
}
check "files: one newline is ignored, two are not" write_is_refused 'Invalid argument' $S/flush_timer '7\n\n'
check "files: a refused number of buffers logs the valid range" refusal_is_logged $S/buffers 1025 \
	'sessions/0/buffers: "1025" is refused: the file takes 2 to 1024'
check "files: a refused parameter logs the valid range" refusal_is_logged \
	$P/acquire_sample_rate 999 \
	'ntklog/spinlock/acquire_sample_rate: "999" is refused: the file takes 1000 to 4294967295'
check "files: a newline in a refused text is escaped" refusal_is_logged $D/linux_mode 'a\nb' \
	'linux_mode: "a\nb" is refused: the file takes full, sampled, waits or holders'
check "files: no group of session 0 has failed" is "$(cat $S/failures)" none

check "files: default spin_threshold" is "$(cat $P/spin_threshold)" 1
check "files: default acquire_sample_rate" is "$(cat $P/acquire_sample_rate)" 1000
check "files: default contention_sample_rate" is "$(cat $P/contention_sample_rate)" 1
check "files: default hold_threshold" is "$(cat $P/hold_threshold)" 1000000
check "files: default release_sample_rate" is "$(cat $R/release_sample_rate)" 1000
check "files: default contention_sample_rate of resources" is "$(cat $R/contention_sample_rate)" 1
check "files: default excessive_timeouts" is "$(cat $R/excessive_timeouts)" 1
check "files: no resource is live" is "$(wc -l <$D/locks)" 1
check "files: the binary list has no resource" is "$(print_32bit_words $D/locks_information)" "0 0 "
check "files: there are eight sessions" is "$(echo $D/sessions/[0-9]*)" \
	"$(for i in 0 1 2 3 4 5 6 7; do printf '%s ' $D/sessions/$i; done | sed 's/ $//')"
check "files: name of session 7" is "$(cat $D/sessions/7/name)" "System Logger 7"
check "files: name takes a name" write_succeeds $D/sessions/7/name "my own locks"
check "files: name refuses another session's" \
	write_is_refused 'File exists' $D/sessions/6/name "my own locks"
check "files: name refuses a line feed" write_is_refused 'Invalid argument' $D/sessions/6/name 'a\nb'
check "files: name refuses 64 characters" \
	write_is_refused 'Invalid argument' $D/sessions/6/name "$(printf '%064d' 0)"
check "files: name takes its default" write_succeeds $D/sessions/7/name "System Logger 7"
check "files: default contextswap_version" is "$(cat $S/contextswap_version)" 4
for text in 0 5 04x; do
	check "files: contextswap_version refuses $text" \
		write_is_refused 'Invalid argument' $S/contextswap_version $text
done
check "files: contextswap_version takes 1" write_succeeds $S/contextswap_version 1
check "files: contextswap_version takes 4" write_succeeds $S/contextswap_version 4
for text in circular SEQUENTIAL 0; do
	check "files: mode refuses $text" write_is_refused 'Invalid argument' $S/mode $text
done
check "files: mode takes buffering" write_succeeds $S/mode buffering
check "files: mode takes sequential" write_succeeds $S/mode sequential
check "files: flush_timer refuses 3600001" write_is_refused 'Invalid argument' $S/flush_timer 3600001
check "files: flush_timer takes 3600000" write_succeeds $S/flush_timer 3600000
check "files: flush_timer takes 0" write_succeeds $S/flush_timer 0
check "files: name of session 0" is "$(cat $S/name)" "NT Kernel Logger"
check "files: session 0 is stopped" is "$(cat $S/state)" stopped
check "files: default buffer_size" is "$(cat $S/buffer_size)" 65536
check "files: default buffers" is "$(cat $S/buffers)" 16
check "files: default mode" is "$(cat $S/mode)" sequential
check "files: default group mask" is "$(cat $S/group_mask)" "0x20010000 PERF_SPINLOCK"
check "files: no group is enabled" is "$(cat $D/group_mask)" 0x0

for file in $P/spin_threshold $P/acquire_sample_rate $P/contention_sample_rate \
    $P/hold_threshold $R/release_sample_rate $R/contention_sample_rate \
    $R/excessive_timeouts $S/buffer_size $S/buffers; do
	for text in -1 +70000 ' 70000' '70000 ' 0x11000 7e4 4294967296 \
	    99999999999999999999 many '70000\\n80000' '70000 80000' '\\n' \
	    '70000\\0' '0070000.0' 70000,; do
		check "files: ${file#"$D/"} refuses '$text'" \
			write_is_refused 'Invalid argument' "$file" "$text"
	done
done
for text in 0; do
	check "files: spin_threshold refuses $text" \
		write_is_refused 'Invalid argument' $P/spin_threshold $text
	check "files: contention_sample_rate refuses $text" \
		write_is_refused 'Invalid argument' $P/contention_sample_rate $text
	for file in release_sample_rate contention_sample_rate excessive_timeouts; do
		check "files: resource/$file refuses $text" \
			write_is_refused 'Invalid argument' $R/$file $text
	done
done
for text in 0 1 999; do
	check "files: acquire_sample_rate refuses $text" \
		write_is_refused 'Invalid argument' $P/acquire_sample_rate $text
done
for text in 1 999999; do
	check "files: hold_threshold refuses $text" \
		write_is_refused 'Invalid argument' $P/hold_threshold $text
done
for text in 0 4095 4097 6144 1048577 1052672; do
	check "files: buffer_size refuses $text" \
		write_is_refused 'Invalid argument' $S/buffer_size $text
done
for text in 0 1 1025; do
	check "files: buffers refuses $text" write_is_refused 'Invalid argument' $S/buffers $text
done
for text in '' on START 'start stop' start2 1; do
	[ -z "$text" ] || check "files: state refuses '$text'" \
		write_is_refused 'Invalid argument' $S/state "$text"
done
for text in 0 2 on 01 '1 1'; do
	check "files: flush refuses '$text'" write_is_refused 'Invalid argument' $S/flush "$text"
done
for text in PERF_NOTHING 0x1 0x20010001 536936448 'PERF_SPINLOCK PERF_NOTHING' + - \
    'PERF_SPINLOCK +PERF_SYNC_OBJECTS' '+PERF_SPINLOCK -PERF_SPINLOCK'; do
	check "files: group_mask refuses '$text'" \
		write_is_refused 'Invalid argument' $S/group_mask "$text"
done
long=$(printf '%0600d' 1000)
check "files: a text that is too long is refused" \
	write_is_refused 'Invalid argument' $P/acquire_sample_rate "$long"

check "files: spin_threshold takes 4294967295" write_succeeds $P/spin_threshold 4294967295
check "files: acquire_sample_rate takes 1001" write_succeeds $P/acquire_sample_rate 1001
check "files: hold_threshold takes 0" write_succeeds $P/hold_threshold 0
check "files: hold_threshold takes 1000000" write_succeeds $P/hold_threshold 1000000
check "files: acquire_sample_rate takes 1000" write_succeeds $P/acquire_sample_rate 1000
check "files: spin_threshold takes 1" write_succeeds $P/spin_threshold 1
for file in release_sample_rate contention_sample_rate excessive_timeouts; do
	default=$(cat $R/$file)
	check "files: resource/$file takes 4294967295" write_succeeds $R/$file 4294967295
	check "files: resource/$file takes $default" write_succeeds $R/$file "$default"
done
check "files: buffer_size takes 1048576" write_succeeds $S/buffer_size 1048576
check "files: buffer_size takes 65536" write_succeeds $S/buffer_size 65536
check "files: group_mask takes two names" write_succeeds $S/group_mask \
	"PERF_SPINLOCK_CNTRS PERF_SPINLOCK" "0x20010000 PERF_SPINLOCK
0x20200000 PERF_SPINLOCK_CNTRS"
check "files: group_mask takes PERF_SPININSTR" write_succeeds $S/group_mask 0x20210000 \
	"0x20010000 PERF_SPINLOCK
0x20200000 PERF_SPINLOCK_CNTRS"
check "files: group_mask takes PERF_SYNC_OBJECTS" write_succeeds $S/group_mask \
	"0x20020000 PERF_SPINLOCK" "0x20010000 PERF_SPINLOCK
0x20020000 PERF_SYNC_OBJECTS"
check "files: group_mask takes + and -" write_succeeds $S/group_mask \
	"+EVENT_TRACE_FLAG_CSWITCH -PERF_SPINLOCK" "0x00000010 EVENT_TRACE_FLAG_CSWITCH
0x20000004 PERF_CONTEXT_SWITCH
0x20020000 PERF_SYNC_OBJECTS"
check "files: group_mask takes PERF_SPINLOCK" write_succeeds $S/group_mask PERF_SPINLOCK \
	"0x20010000 PERF_SPINLOCK"
