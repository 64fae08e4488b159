# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Progress of a long command, for scripts that source lib.sh: on a terminal one line that is updated
# every two seconds, below the messages; in a log one line a minute. A command whose output goes to the
# terminal prints a new line every ten seconds instead.

# begin_progress STATUS: from now on messages go through a process that prints them, and between
# them the line that the function STATUS prints. Descriptor 3 (SAY_FD) leads to it too.
begin_progress()
{
	exec 4>&2 3> >(trap '' INT; exec 2>&4; show_progress "$1")
	progress=$!
	exec 2>&3
	trap end_progress EXIT
}

# begin_stages SECONDS: progress of a command that takes about so long, whose stages are its messages.
begin_stages()
{
	expected=$1
	mkdir -p "$OUT"
	NTKLOG_STAGE=$(mktemp "$OUT/stage.XXXXXX")
	export NTKLOG_STAGE
	progress_every=10
	begin_progress status_of_stage
}

status_of_stage()
{
	local left=$((expected - EPOCHSECONDS + NTKLOG_START)) text='longer than usual'
	[ $left -le 0 ] || text="about $left s left"
	[ $left -lt 120 ] || text="about $((left / 60)) min left"
	printf '[%4ds] %s; %s\n' $((EPOCHSECONDS - NTKLOG_START)) "$(cat "$NTKLOG_STAGE")" "$text"
}

# end_progress: wait until all messages are printed. Standard error is the terminal's again.
end_progress()
{
	[ -n "${progress:-}" ] || return 0
	exec 2>&4 3>&- 4>&-
	# A process that outlives its step must not hold up the end.
	timeout 5 tail --pid="$progress" -f /dev/null || kill "$progress" 2>/dev/null || true
	progress=
	[ -z "${NTKLOG_STAGE:-}" ] || rm -f "$NTKLOG_STAGE"
	unset NTKLOG_STAGE
}

show_progress()
{
	local status=$1 line='' shown=$EPOCHSECONDS every=60 code=0
	[ ! -t 2 ] || every=${progress_every:-2}
	while :; do
		code=0
		IFS= read -r -t 1 line || code=$?
		if [ $code = 0 ]; then
			[ $every != 2 ] || printf '\r\033[K' >&2
			printf '%s\n' "$line" >&2
		elif [ $code -le 128 ]; then
			break
		fi
		[ $((EPOCHSECONDS - shown)) -ge $every ] || continue
		shown=$EPOCHSECONDS
		line=$("$status") || continue
		if [ $every != 2 ]; then
			printf '%s\n' "$line" >&2
		else
			printf '\r\033[K%s' "${line:0:$(($(tput cols 2>/dev/null || echo 80) - 1))}" >&2
		fi
	done
	[ $every != 2 ] || printf '\r\033[K' >&2
}
