# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Functions for the steps that run scripts of tests/guest/ on a stock kernel of Debian's in a
# virtual machine.

vm_options=()

# run_guest KERNEL SCRIPT...: build the modules, the example, the tool and the test programs for a
# kernel, boot it, run these scripts of tests/guest/ in one shell, and print their results. For a
# kernel whose compiler is not this machine's, the step builds has built the modules.
run_guest()
{
	local kernel=$1 built recording program name
	shift
	install_groups programs
	build_tool
	program=$NTKLOG
	if [ -n "$FOREIGN" ]; then
		build_foreign_tool
		program=$FOREIGN_NTKLOG
		vm_options+=(-A "$FOREIGN")
	fi
	set_debian_kernel "$kernel"
	if [ -z "$SUITE" ]; then
		built=$OUT/build/$ABI
		run_test "$kernel: the modules build with W=1 and no warning" \
			build_modules_silently "$KDIR" "$built"
		mkdir -p "$DIR/example"
		cp "$TOP"/Documentation/examples/* "$DIR/example/"
		run_test "$kernel: the example builds as another module would" \
			make -s -C "$DIR/example" KDIR="$KDIR" NTKLOG="$built"
		cp "$DIR/example/ntklog_example.ko" "$DIR/"
	else
		built=$OUT/build/$kernel
		cp "$built/Documentation/examples/ntklog_example.ko" "$DIR/"
	fi
	cp "$built/ntklog.ko" "$built"/{workload,tests/modules}/*.ko "$TESTS"/guest/*.sh "$DIR/"
	cat >"$DIR/guest.sh" <<-END
		. ./lib.sh
		print_times()
		{
			awk 'FNR == NR { busy = \$2 + \$3 + \$4 + \$7 + \$8; nextfile }
				{ print int(\$1), int(busy / 100) }' /proc/stat /proc/uptime
		}
		for script in $*; do
			since=\$(print_times)
			. "./\$script.sh"
			echo "\$since \$(print_times)" | awk -v script=\$script \
				'{ print "took " \$3 - \$1 " s, " \$4 - \$2 " of a processor:", script }'
		done
	END
	build_guest_programs "$DIR" claim drain follow ioctl terminal
	mv "$DIR/claim" "$DIR/claim64"
	mv "$DIR/ioctl" "$DIR/ioctl64"
	if [ -z "$FOREIGN" ]; then
		install_groups programs32
		for name in claim ioctl; do
			gcc -m32 -O2 -static -I"$TOP/include/uapi" -o "$DIR/${name}32" \
				"$TESTS/programs/$name.c"
		done
	fi
	run_test "$kernel: the virtual machine runs to its end" \
		"$TOP/scripts/vm/vm.sh" -k "$IMAGE" -M "$MODULES" -P "$program" \
		"${vm_options[@]}" "$DIR"
	grep '^took ' "$DIR/guest.log" >&2
	# Decode on the host, which is faster. -N: without the host's plugins.
	for recording in "$DIR"/*.dat; do
		[ ! -e "$recording" ] || trace-cmd report -N "$recording" \
			>"${recording%.dat}.report" 2>>"$DIR/trace-cmd.log"
	done
	print_guest_results | sed "s/ok - /ok - $kernel /"
}

# run_check_program KERNEL PROGRAM [CASE...]: run a program of tests/check/ on the files that the
# guest has left; with CASE (Class or Class.test) only those cases.
run_check_program()
{
	local kernel=$1 program=$2
	shift 2
	run_test_program python3 "$TESTS/check/$program" "$NTKLOG" "$DIR" "$@" | sed "s/ok - /ok - $kernel /"
}
