#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Write to the files of ntklog's tracepoints before the module's init function and after its exit
# function, where they exist too. hold_load.ko stops a load and an unload there.

. "$(dirname "$0")/../lib.sh"

cp "$TESTS/guest/lib.sh" "$DIR/"
fill_shared_directory "$DIR" debug <<-'END'
	. ./lib.sh
	H=/sys/module/hold_load/parameters/held
	T=/sys/kernel/tracing

	# begin_load PARAMETER..., begin_unload: wait until hold_load.ko stops the load or unload.
	begin_load()
	{
		insmod ntklog.ko "$@" 2>/tmp/insmod.log & loader=$!
		wait_for_hold coming
	}
	begin_unload()
	{
		rmmod ntklog & loader=$!
		wait_for_hold going
	}

	# wait_for_hold coming|going
	wait_for_hold()
	{
		tries=6000
		until is "$(cat $H)" "$1" >/tmp/is; do
			[ $((tries -= 1)) -gt 0 ] || return 1
			usleep 5000
		done
	}

	release_hold()
	{
		echo 1 >$H && wait $loader
	}

	# set_enable EVENT 0|1
	set_enable()
	{
		echo "$2" >$T/events/ntklog/$1/enable && is "$(cat $T/events/ntklog/$1/enable)" "$2"
	}

	# A work item attaches and detaches the probe of context switches, so this may take a while.
	wait_for_group_mask()
	{
		tries=6000
		until is "$(cat $D/group_mask)" "$1" >/tmp/is; do
			[ $((tries -= 1)) -gt 0 ] || { cat /tmp/is; return 1; }
			usleep 5000
		done
	}

	enable_is_refused()
	{
		! echo 1 >$T/events/ntklog/$1/enable 2>/tmp/error &&
			grep 'No such device' /tmp/error && is "$(cat $T/events/ntklog/$1/enable)" 0
	}

	torture_makes_events()
	{
		insmod ntklog_torture.ko threads=2 duration=0 hardirqs=0 \
			torture_type=$([ $1 = resource ] && echo resource || echo in_stack_queued) &&
			wait_for grep -q " $1: " $T/trace && rmmod ntklog_torture
	}

	enable_and_disable()
	{
		set_enable $1 1 && set_enable $1 0
	}

	load_has_failed()
	{
		while kill -0 $loader 2>/dev/null; do
			echo 1 >$H
			usleep 5000
		done
		! wait $loader && ! grep '^ntklog ' /proc/modules
	}

	print_group()
	{
		case $1 in
		spinlock) echo '0x20010000 PERF_SPINLOCK' ;;
		resource) echo '0x20020000 PERF_SYNC_OBJECTS' ;;
		contextswap) echo '0x20000004 PERF_CONTEXT_SWITCH' ;;
		esac
	}

	insmod hold_load.ko || exit 1
	for event in spinlock resource contextswap; do
		begin_load resource=1
		check "window: $event is enabled before init" set_enable $event 1
		check "window: $event: the load goes on" release_hold
		check "window: $event is on after init" wait_for_group_mask "$(print_group $event)"
		check "window: $event: there are events" torture_makes_events $event
		check "window: $event is disabled" set_enable $event 0
		check "window: $event is off" wait_for_group_mask 0x0
		begin_unload
		check "window: $event cannot be enabled after exit" enable_is_refused $event
		check "window: $event: the unload goes on" release_hold

		begin_load
		check "window: $event is enabled and disabled before init" enable_and_disable $event
		release_hold
		check "window: $event is off after init" wait_for_group_mask 0x0
		set_enable $event 1
		wait_for_group_mask "$(print_group $event)"
		begin_unload
		check "window: $event is disabled after exit" set_enable $event 0
		check "window: $event cannot be enabled again" enable_is_refused $event
		release_hold

		# The init function fails because of a wrong parameter.
		for wrong in buffers=0 excessive_first_ms=0; do
			begin_load $wrong
			set_enable $event 1
			echo 1 >$H
			check "window: $event: a load with $wrong fails" wait_for_hold going
			check "window: $event is disabled after that" set_enable $event 0
			check "window: $event: nothing is loaded" load_has_failed
		done
	done
	dmesg >dmesg.log
END
run_test "window: the virtual machine runs to its end" \
	"$TOP/scripts/vm/vm.sh" -k "$(print_kernel_image debug)" "$DIR"
print_guest_results
run_test "window: the kernel log has no report" log_has_reports "$DIR/dmesg.log" ''
