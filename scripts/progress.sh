# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Progress of a long command: on a terminal one line below the messages; in a log one line a minute.
# begin_stages() is for a command that prints other output, too: there a terminal gets a line every
# ten seconds.

# begin_progress STATUS: a process prints the messages and, between them, the line that the function
# STATUS prints. From now on standard error and descriptor 3 (SAY_FD of a step) lead to it.
begin_progress()
{
	exec 4>&2 3> >(trap '' INT; exec 2>&4; show_progress "$1")
	progress=$!
	exec 2>&3
	trap end_progress EXIT
}

# begin_stages SECONDS: the line has the latest message, which say() writes to the file
# NTKLOG_STAGE. A step of the tests has the progress of run.sh.
begin_stages()
{
	[ -z "${STEP:-}" ] || return 0
	expected=$1
	mkdir -p "$OUT"
	NTKLOG_STAGE=$(mktemp "$OUT/stage.XXXXXX")
	export NTKLOG_STAGE
	progress_every=10
	begin_progress print_stage_status
}

print_stage_status()
{
	local seconds_left=$((expected - EPOCHSECONDS + NTKLOG_START)) text='longer than usual'
	[ $seconds_left -le 0 ] || text="about $seconds_left s left"
	[ $seconds_left -lt 120 ] || text="about $((seconds_left / 60)) min left"
	printf '[%4ds] %s; %s\n' $((EPOCHSECONDS - NTKLOG_START)) "$(cat "$NTKLOG_STAGE")" "$text"
}

end_progress()
{
	[ -n "${progress:-}" ] || return 0
	exec 2>&4 3>&- 4>&-
	# The process ends when its input is closed. A process that outlives its step keeps it open,
	# so wait for five seconds at most.
	timeout 5 tail --pid="$progress" -f /dev/null || kill "$progress" 2>/dev/null || true
	progress=
	[ -z "${NTKLOG_STAGE:-}" ] || rm -f "$NTKLOG_STAGE"
	unset NTKLOG_STAGE
}

show_progress()
{
	local status=$1 line='' last_time=$EPOCHSECONDS interval=60 code=0
	[ ! -t 2 ] || interval=${progress_every:-2}
	while :; do
		code=0
		IFS= read -r -t 1 line || code=$?
		if [ $code = 0 ]; then
			[ $interval != 2 ] || printf '\r\033[K' >&2
			printf '%s\n' "$line" >&2
		elif [ $code -le 128 ]; then
			break
		fi
		[ $((EPOCHSECONDS - last_time)) -ge $interval ] || continue
		last_time=$EPOCHSECONDS
		line=$("$status") || continue
		if [ $interval != 2 ]; then
			printf '%s\n' "$line" >&2
		else
			printf '\r\033[K%s' "${line:0:$(($(tput cols 2>/dev/null || echo 80) - 1))}" >&2
		fi
	done
	[ $interval != 2 ] || printf '\r\033[K' >&2
}
