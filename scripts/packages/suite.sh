# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Packages of other suites of Debian, for scripts that source lib.sh: apt with lists and a
# cache of its own in $CACHE/apt. The system's sources and packages stay as they are.
#
# A suite's name may end in +ARCHITECTURE (bookworm+arm64). Packages are then for that architecture,
# unless they are named with :amd64. dpkg need not have the architecture added, because nothing is
# installed.

# print_archive SUITE: print the mirror of the system's own Debian; if SUITE ends in -security, that
# of the security updates.
print_archive()
{
	local codename label=Debian uri

	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	case $1 in
	*-security) codename=$1 label=Debian-Security ;;
	esac
	# shellcheck disable=SC2016 # apt fills these in
	uri=$(apt-get indextargets \
		--format '$(REPO_URI) $(RELEASE) $(ORIGIN) $(LABEL) $(COMPONENT)' \
		"Created-By: Packages" |
		awk -v release="$codename" -v label="$label" \
			'$2 == release && $3 == "Debian" && $4 == label && $5 == "main" {
				print $1; exit }')
	[ -n "$uri" ] || die "no source of apt's has Debian $codename: run apt-get update"
	printf '%s\n' "$uri"
}

# run_suite_apt SUITE COMMAND...: run a command of apt's with the lists of a suite alone. For this
# machine's architecture apt knows the installed packages, and downloads only missing ones.
run_suite_apt()
{
	local dir=$CACHE/apt/$1 command=$2 foreign=()
	case $1 in
	*+*)
		foreign=(-o APT::Architecture="${1#*+}" -o APT::Architectures::="${1#*+}"
			-o APT::Architectures::="$(dpkg --print-architecture)"
			-o Dir::State::status=/dev/null)
		;;
	esac
	shift 2
	LC_ALL=C "$command" "${foreign[@]}" -o Dir::Etc::sourcelist="$dir/sources.list" \
		-o Dir::Etc::sourceparts=- -o Dir::State::lists="$dir/lists" \
		-o Dir::Cache="$dir/cache" -o APT::Get::AllowUnauthenticated=false \
		-o Debug::NoLocking=1 -o APT::Sandbox::User= "$@"
}

# update_suite_lists SUITE [OTHER]...: update the lists of the suite, and of other suites that it
# depends on, if they are older than a day. If no mirror can be reached, older lists are used.
update_suite_lists()
{
	local suite=$1 dir=$CACHE/apt/$1 name
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	exec 8>"$dir.lock"
	flock 8
	if [ -z "$(find "$dir/reached" -mmin -1440 2>/dev/null)" ]; then
		for name; do
			printf 'deb [signed-by=%s] %s %s main\n' \
				/usr/share/keyrings/debian-archive-keyring.gpg \
				"$(print_archive "${name%+*}")" "${name%+*}"
		done >"$dir/sources.list"
		say "fetching the lists of $suite (once a day)"
		mkdir -p "$OUT/log"
		if run_suite_apt "$suite" apt-get update -o APT::Update::Error-Mode=any \
		    >"$OUT/log/suite-$suite.log" 2>&1; then
			touch "$dir/reached"
		elif [ ! -e "$dir/reached" ]; then
			exec 8>&-
			say "Debian's suite $suite cannot be reached; apt's words are in $OUT/log/suite-$suite.log"
			return 1
		else
			say "Debian's suite $suite cannot be reached now: its lists of before are used"
		fi
	fi
	exec 8>&-
}

# update_foreign_suite ARCHITECTURE: update the lists of this Debian for the architecture, and print
# the suite's name. arm64's kernel is taken from the security updates.
update_foreign_suite()
{
	local codename
	codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
	case $1 in
	i386) update_suite_lists "$codename+$1" ;;
	*) update_suite_lists "$codename+$1" "$codename-security" ;;
	esac || die "Debian's packages for $1 cannot be reached"
	echo "$codename+$1"
}

# print_suite_candidate SUITE PACKAGE: print the version that the suite has.
print_suite_candidate()
{
	run_suite_apt "$1" apt-cache madison "$2" 2>/dev/null | awk -F ' *\\| *' 'NR == 1 { print $2 }'
}

# fetch_from_suite SUITE PACKAGE...: download packages, with those dependencies that are not
# installed.
fetch_from_suite()
{
	local suite=$1
	shift
	run_quietly "download-$suite" run_suite_apt "$suite" apt-get install -y --download-only \
		--no-install-recommends -t "${suite%+*}" "$@"
}

# unpack_fetched_from_suite SUITE DIRECTORY PACKAGE...: unpack in DIRECTORY what fetch_from_suite
# downloads.
unpack_fetched_from_suite()
{
	local suite=$1 dir=$2 deb archives=$CACHE/apt/$1/cache/archives
	shift 2
	say "fetching $* of $suite into the cache"
	fetch_from_suite "$suite" "$@"
	for deb in "$archives"/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -f "$archives"/*.deb
}

# unpack_from_suite SUITE DIRECTORY PACKAGE...: download packages and unpack them, without
# dependencies.
unpack_from_suite()
{
	local suite=$1 dir=$2 scratch
	shift 2
	scratch=$(mktemp -d "$dir/deb.XXXXXX")
	say "downloading and unpacking $* from $suite"
	run_quietly "download-$1" env -C "$scratch" bash -c \
		"$(declare -f run_suite_apt); CACHE=$CACHE; run_suite_apt \"\$@\"" - "$suite" \
		apt-get download "$@"
	for deb in "$scratch"/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -rf "$scratch"
}
