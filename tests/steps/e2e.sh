#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# e2e.sh KERNEL: test what users see, on a stock kernel of Debian. Tests that do not depend on the
# kernel run on that of KERNEL_SERIES (6.12) only.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

on_each_kernel=(sessions claim readers events ready_threads resources hung races hotplug many)
if [ "$1" = "$KERNEL_SERIES" ]; then
	python3 "$TESTS/check/check_quickstart.py" --script >"$DIR/quickstart.commands"
	run_guest "$1" loaded files information "${on_each_kernel[@]}" recordings tool example unload \
		load quickstart lockdown
else
	run_guest "$1" loaded "${on_each_kernel[@]}" example unload lockdown
fi
run_check_program "$1" check_e2e.py
run_check_program "$1" check_ready_threads.py
if [ "$1" = "$KERNEL_SERIES" ]; then
	run_check_program "$1" check_tool.py
	run_check_program "$1" check_quickstart.py
fi
