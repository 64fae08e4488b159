# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# For run.sh: print the downloads and builds that a run needs first, and a forecast of its time.

# add_preparation STEP SECONDS MEGABYTES TEXT: add a preparation, such as a download, to the
# forecast. TEXT describes it; its SECONDS are added to those of STEP.
add_preparation()
{
	echo "$1 $2" >>"$TEST/.extra"
	megabytes=$((megabytes + $3))
	lines+=("$4")
}

# print_first_step_with GROUP: print the first step that needs the group of packages.
print_first_step_with()
{
	local step
	for step in "${steps[@]}"; do
		if [[ ,${groups[$step]}, == *,$1,* ]]; then
			echo "$step"
			return
		fi
	done
}

kernel_is_unpacked()
{
	"$TOP/scripts/kernels/debian-kernel.sh" -n "$1" >/dev/null 2>&1
}

require_space()
{
	local free
	mkdir -p "$1"
	free=$(df -Pm "$1" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$2" ] ||
		die "this run needs $2 MB of room in $1, where $free MB are free"
}

# print_minutes_of_steps: print how long the steps take, with the preparations added so far.
print_minutes_of_steps()
{
	print_states | awk -v only_minutes=1 -v slots="$(nproc)" -f "$TOP/tests/status.awk"
}

# print_forecast STEP...: install the packages of all steps too, because apt works for one process
# at a time.
print_forecast()
{
	local step kernel line minutes megabytes=500 wanted=() missing=() lines=()
	local -A seen=()

	: >"$TEST/.extra"
	minutes=$(print_minutes_of_steps)
	mapfile -t wanted < <(for step; do tr , '\n' <<<"${groups[$step]}"; done | sort -u)
	mapfile -t missing < <(print_missing_packages "${wanted[@]}")
	if [ ${#missing[@]} -gt 0 ]; then
		add_preparation "$1" $((30 + ${#missing[@]})) $((${#missing[@]} * 40)) \
			"install packages of Debian's: ${missing[*]}"
	fi
	step=$(print_first_step_with vm)
	[ -z "$step" ] || "$TOP/scripts/vm/qemu.sh" -n >/dev/null ||
		add_preparation "$step" 30 100 "fetch a QEMU of 8.1 or later (13 MB)"
	step=$(print_first_step_with source)
	[ -z "$step" ] || "$TOP/scripts/kernels/kernel-source.sh" -n >/dev/null ||
		add_preparation "$step" 30 300 "fetch the kernel's source (140 MB)"
	[ -d "$CACHE/build" ] || add_preparation "$1" 120 300 "compile the modules and the tool"
	step=$(print_first_step_with style)
	[ -z "$step" ] || [ -d "$CACHE/checkpatch" ] ||
		add_preparation "$step" 120 1 "check the style of all files, later of changed ones"
	for step; do
		case $step in
		kernel-*)
			"$TOP/scripts/kernels/test-kernel.sh" -n "${step#kernel-}" >/dev/null ||
				add_preparation "$step" 420 700 "build the test kernel ${step#kernel-}"
			continue
			;;
		foreign-arm64) kernel=6.12-arm64 ;;
		foreign-i386) kernel=6.1-686-pae ;;
		rt) kernel=6.12-rt ;;
		*-6.12 | *-6.1 | *-newest | *-trixie) kernel=${step#*-} ;;
		costs | suspend | switching | style | instructions) kernel=6.12 ;;
		builds)
			compgen -G "$CACHE/root/trixie-*/root.tar" >/dev/null ||
				add_preparation "$step" 120 1500 "make a Debian 13 with compilers"
			continue
			;;
		packages)
			compgen -G "$CACHE/root/bookworm-*/root.tar" >/dev/null ||
				add_preparation "$step" 60 400 \
					"make a fresh Debian 12, to try the packages in"
			continue
			;;
		*) continue ;;
		esac
		[ -z "${seen[$kernel]:-}" ] || continue
		seen[$kernel]=1
		kernel_is_unpacked "$kernel" ||
			add_preparation "$step" 40 900 \
				"fetch Debian's kernel $kernel and its headers (120 MB)"
	done
	cut -d ' ' -f 1 "$TEST/.extra" | sort -u >"$TEST/.fetching"
	if [ ${#lines[@]} -gt 0 ]; then
		say "this run will first, or meanwhile,"
		for line in "${lines[@]}"; do
			say "  $line"
		done
		say "which takes up to $megabytes MB below $CACHE," \
			"and $(($(print_minutes_of_steps) - minutes)) minutes more, once"
	fi
	say "$# step$([ $# = 1 ] || echo s), about $minutes min when everything is there and no other" \
		"work is done on this machine"
	require_space "$CACHE" "$megabytes"
	require_space "$OUT" 1500
	install_groups "${wanted[@]}"
}
