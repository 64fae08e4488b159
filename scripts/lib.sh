# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Packages of tools are installed. Kernels are only unpacked, so that a test does not change the
# boot menu.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/ntklog
OUT=$TOP/out
KERNEL_SERIES=${KERNEL_SERIES:-6.12}

. "$TOP/scripts/packages/packages.sh"

# /usr/lib/ccache has gcc and clang that run through ccache. /usr/bin comes before PATH, because
# another python3 may be a wrapper that is slow to start. depmod is in /usr/sbin, which only root
# has in PATH.
export PATH=/usr/lib/ccache:/usr/bin:$PATH:/usr/sbin:/sbin CCACHE_DIR=${CCACHE_DIR:-$CACHE/ccache}

# say WORDS: print a message with the seconds since the start. In a step of the tests standard error
# is the step's log, so the message is also printed to descriptor SAY_FD.
say()
{
	local line
	line=$(printf '[%4ds] %s' $((EPOCHSECONDS - NTKLOG_START)) "${STEP:+$STEP: }$*")
	printf '%s\n' "$line" >&2
	set_stage "${line#*] }"
	[ -z "${SAY_FD:-}" ] || printf '%s\n' "$line" >&"$SAY_FD"
}

# set_stage TEXT: print a message only in the line of progress of begin_stages(), which sets
# NTKLOG_STAGE.
set_stage()
{
	[ -z "${NTKLOG_STAGE:-}" ] || printf '%s\n' "$1" >"$NTKLOG_STAGE"
}

die()
{
	printf 'ntklog: %s\n' "$*" >&2
	exit 1
}

# run_as_root COMMAND...: run a command as root, by sudo if the user is not root.
run_as_root()
{
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "need root (or sudo) for: $*"
	fi
}

# run_quietly LABEL COMMAND...: run a command with its output in out/log/LABEL.log.
run_quietly()
{
	local label=$1 log
	shift
	mkdir -p "$OUT/log"
	log=$OUT/log/$label.log
	if ! "$@" >"$log" 2>&1 </dev/null; then
		tail -n 40 "$log" >&2
		die "$label failed; the whole output is in $log"
	fi
}

# apt_update: update apt's lists, unless this shell has done so.
apt_update()
{
	[ -z "${APT_UPDATED:-}" ] || return 0
	say "apt-get update (the package lists are missing or old)"
	run_quietly apt-update run_as_root apt-get update
	APT_UPDATED=1
}

is_installed()
{
	# shellcheck disable=SC2016 # the dollar is dpkg-query's
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

print_missing_packages()
{
	local group package
	for group; do
		for package in ${PACKAGES[$group]}; do
			is_installed "$package" || echo "$package"
		done
	done | sort -u
}

# install_groups GROUP...: install the missing packages of groups in packages.sh, one caller at a
# time, because apt works for one process at a time.
install_groups()
{
	local group missing
	for group; do
		[ -n "${PACKAGES[$group]:-}" ] || die "packages.sh has no group $group"
		mapfile -t missing < <(print_missing_packages "$group")
		[ ${#missing[@]} -gt 0 ] || continue
		say "installing ${missing[*]} (${PURPOSE[$group]})"
		mkdir -p "$CACHE"
		(
			flock 7
			install_packages "${missing[@]}"
		) 7>"$CACHE/apt.lock"
	done
}

install_packages()
{
	local options=(-y --no-install-recommends -o DPkg::Lock::Timeout=600)
	export DEBIAN_FRONTEND=noninteractive
	apt-cache show "$@" >/dev/null 2>&1 || apt_update
	if ! run_as_root apt-get install "${options[@]}" "$@" >/dev/null 2>&1 </dev/null; then
		# Old lists name versions that the mirror no longer has.
		apt_update
		run_quietly "install-$1" run_as_root apt-get install "${options[@]}" "$@"
	fi
}

# print_candidate PACKAGE: print the version that apt would install.
print_candidate()
{
	LC_ALL=C apt-cache policy "$1" 2>/dev/null |
		awk '$1 == "Candidate:" && $2 != "(none)" { print $2 }'
}

# print_newest_abi SERIES: print the ABI of the series' newest kernel, such as 6.12.9+deb12-amd64,
# which the series' meta-package depends on; an empty line if apt's lists have none.
print_newest_abi()
{
	local abi

	abi=$(LC_ALL=C apt-cache depends "linux-image-$1-amd64" 2>/dev/null |
		sed -n 's/^ *Depends: linux-image-//p' | head -n 1)
	if [ -z "$abi" ]; then
		# 6.1 is bookworm's own series: its meta-package has no number.
		abi=$(LC_ALL=C apt-cache depends linux-image-amd64 2>/dev/null |
			sed -n "s/^ *Depends: linux-image-\\($1\\.\\)/\\1/p" |
			head -n 1)
	fi
	printf '%s\n' "$abi"
}

# resolve_abi SERIES: print the same as print_newest_abi, but update apt's lists first if they have
# no such kernel.
resolve_abi()
{
	local abi

	abi=$(print_newest_abi "$1")
	if [ -z "$abi" ]; then
		apt_update
		abi=$(print_newest_abi "$1")
	fi
	[ -n "$abi" ] || die "apt knows no Debian kernel of the series $1"
	printf '%s\n' "$abi"
}

# unpack_deb PACKAGE DIRECTORY: download the package and unpack it in the directory.
unpack_deb()
{
	local package=$1 dir=$2 version scratch

	version=$(print_candidate "$package")
	[ -n "$version" ] || die "apt does not know the package $package"
	say "downloading and unpacking $package $version"
	mkdir -p "$dir"
	chmod 0755 "$dir"
	# make_once() removes DIRECTORY after an interruption. The download is outside of it, so
	# that apt can continue it.
	scratch=$CACHE/download/${package/:/_}
	mkdir -p "$scratch"
	if ! (cd "$scratch" && apt-get download "$package=$version") \
	    >/dev/null 2>&1; then
		apt_update
		run_quietly "download-$package" \
			env -C "$scratch" apt-get download "$package"
	fi
	dpkg-deb -x "$scratch"/*.deb "$dir" || die "unpacking $package in $dir failed"
	rm -rf "$scratch"
}

# make_resumably DIRECTORY COMMAND...: as make_once(), but run the command with DIRECTORY.part,
# which stays after an interruption, so that the command can continue its work there.
make_resumably()
{
	local dir=$1
	shift
	[ ! -d "$dir" ] || return 0
	mkdir -p "$(dirname "$dir")"
	exec 9>"$dir.lock"
	flock 9
	if [ ! -d "$dir" ]; then
		mkdir -p "$dir.part"
		"$@" "$dir.part"
		mv -T "$dir.part" "$dir"
	fi
	exec 9>&-
}

# make_once DIRECTORY COMMAND...: make DIRECTORY if it does not exist: run the command with a fresh
# directory as its last argument, and rename that to DIRECTORY when the command has succeeded.
make_once()
{
	local dir=$1 fresh
	shift
	[ ! -d "$dir" ] || return 0
	mkdir -p "$(dirname "$dir")"
	# If two processes make the same directory, the second one waits and finds it finished.
	exec 9>"$dir.lock"
	flock 9
	if [ -d "$dir" ]; then
		exec 9>&-
		return 0
	fi
	# Of runs that were killed.
	rm -rf "$dir".??????
	fresh=$(mktemp -d "$dir.XXXXXX")
	# shellcheck disable=SC2064 # this directory, not a later one
	trap "rm -rf '$fresh'" EXIT
	"$@" "$fresh"
	chmod 0755 "$fresh"
	mv -T "$fresh" "$dir"
	trap - EXIT
	exec 9>&-
}

# list_descendants: print the processes that descend from this script. They are found by their
# parents and, because a parent may have ended, by NTKLOG_TOP in their environment. The subshells
# that list them do not count.
list_descendants()
{
	local own=$BASHPID
	grep -lszxF "NTKLOG_TOP=$$" /proc/[0-9]*/environ | cut -d / -f 3
	cat /proc/[0-9]*/status 2>/dev/null | awk -v top=$$ -v own="$own" '
		$1 == "Pid:" { pid = $2 }
		$1 == "PPid:" { parent[pid] = $2 }
		END {
			while (parent[own] in parent && parent[own] != top)
				own = parent[own]
			for (pid in parent)
				for (at = pid; at in parent && at != own; at = parent[at])
					if (parent[at] == top) {
						print pid
						break
					}
		}'
}

# send_signal SIGNAL PID...: send a signal to processes, also to those of root.
send_signal()
{
	local signal=$1
	shift
	[ $# -gt 0 ] || return 0
	kill -"$signal" "$@" 2>/dev/null || run_as_root kill -"$signal" "$@" 2>/dev/null || true
}

# end_descendants: end the processes of list_descendants by SIGTERM, and after five seconds by
# SIGKILL.
end_descendants()
{
	local alive pid i mount
	mapfile -t alive < <(list_descendants)
	[ ${#alive[@]} -gt 0 ] || return 0
	send_signal TERM "${alive[@]}"
	for ((i = 0; i < 50 && ${#alive[@]} > 0; i++)); do
		sleep 0.1
		# sort has no environment, for it would be found by it.
		mapfile -t alive < <(for pid in "${alive[@]}" $(list_descendants); do
			[ ! -e "/proc/$pid" ] || grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null ||
				echo "$pid"
		done | env -i sort -u)
	done
	send_signal KILL "${alive[@]}"
	# mmdebstrap leaves mounts behind if it is killed.
	while read -r _ mount _; do
		case $mount in
		"$CACHE"/* | "$OUT"/* | /tmp/mmdebstrap.*) run_as_root umount -l "$mount" || true ;;
		esac
	done </proc/mounts
}

# end_by_signal SIGNAL: end the descendants, and then this script by the signal.
end_by_signal()
{
	trap '' INT TERM HUP PIPE
	# The write fails if the terminal is closed.
	printf '\nntklog: interrupted: what was started is ended\n' >&2 2>/dev/null || true
	end_descendants
	trap - "$1"
	kill -"$1" $$
}

# The first script that sources this file runs itself again as a child, and only waits for the child
# and for signals. A shell handles a signal at once in wait, but in a foreground command or pipeline
# only after that has ended.
if [ -z "${NTKLOG_START:-}" ]; then
	export NTKLOG_START=$EPOCHSECONDS NTKLOG_TOP=$$
	for signal in INT TERM HUP; do
		# shellcheck disable=SC2064 # this signal
		trap "end_by_signal $signal" "$signal"
	done
	"$0" "$@" <&0 &
	child=$!
	# A closed terminal sends SIGHUP only to the session's leader. If that is make, it waits for
	# this script.
	if [ -t 2 ]; then
		(while kill -0 $$ && [ -t 3 ]; do sleep 1; done; kill -HUP $$) \
			3>&2 </dev/null >/dev/null 2>&1 &
		disown
	fi
	status=0
	wait $child || status=$?
	end_descendants
	exit $status
fi
