# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Packages of other suites of Debian, for scripts that source lib.sh: apt with lists and a
# cache of its own in $CACHE/apt. The system's sources and packages stay as they are.

# archive: where the system's apt has Debian itself from.
archive()
{
	local codename uri

	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	# shellcheck disable=SC2016 # apt fills these in
	uri=$(apt-get indextargets \
		--format '$(REPO_URI) $(RELEASE) $(ORIGIN) $(LABEL) $(COMPONENT)' \
		"Created-By: Packages" |
		awk -v release="$codename" \
			'$2 == release && $3 == "Debian" && $4 == "Debian" && $5 == "main" {
				print $1; exit }')
	[ -n "$uri" ] || die "no source of apt's has Debian $codename: run apt-get update"
	printf '%s\n' "$uri"
}

# suite_apt SUITE COMMAND...: apt-get or apt-cache with the suite alone, and with what the
# system has installed, so that only what is missing is fetched.
suite_apt()
{
	local dir=$CACHE/apt/$1 command=$2
	shift 2
	LC_ALL=C "$command" -o Dir::Etc::sourcelist="$dir/sources.list" \
		-o Dir::Etc::sourceparts=- -o Dir::State::lists="$dir/lists" \
		-o Dir::Cache="$dir/cache" -o APT::Get::AllowUnauthenticated=false \
		-o Debug::NoLocking=1 -o APT::Sandbox::User= "$@"
}

# suite_reached SUITE [OTHER]...: have the suite's lists (and those of others that it leans
# on), not older than a day. Fails if it cannot be reached and there are none.
suite_reached()
{
	local suite=$1 dir=$CACHE/apt/$1 name
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	exec 8>"$dir.lock"
	flock 8
	if [ -z "$(find "$dir/reached" -mmin -1440 2>/dev/null)" ]; then
		for name; do
			printf 'deb [signed-by=%s] %s %s main\n' \
				/usr/share/keyrings/debian-archive-keyring.gpg "$(archive)" "$name"
		done >"$dir/sources.list"
		say "fetching the lists of $suite (once a day)"
		mkdir -p "$OUT/log"
		if suite_apt "$suite" apt-get update -o APT::Update::Error-Mode=any \
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

# suite_candidate SUITE PACKAGE: the version that the suite has, or nothing.
suite_candidate()
{
	suite_apt "$1" apt-cache madison "$2" 2>/dev/null | awk -F ' *\\| *' 'NR == 1 { print $2 }'
}

# suite_unpack SUITE DIRECTORY PACKAGE...: download them, and unpack them in the directory.
suite_unpack()
{
	local suite=$1 dir=$2 scratch
	shift 2
	scratch=$(mktemp -d "$dir/deb.XXXXXX")
	say "downloading and unpacking $* from $suite"
	quietly "download-$1" env -C "$scratch" bash -c \
		"$(declare -f suite_apt); CACHE=$CACHE; suite_apt \"\$@\"" - "$suite" \
		apt-get download "$@"
	for deb in "$scratch"/*.deb; do
		dpkg-deb -x "$deb" "$dir"
	done
	rm -rf "$scratch"
}
