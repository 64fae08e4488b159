#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# own.sh KERNEL: test Linux' own locks on a stock kernel of Debian's other than 6.12, on which the
# steps linux, sleeping, classes and modes run. This step runs their tests that depend on the
# kernel, in one virtual machine, and lets allocations fail at fewer places (the file "few"). Stacks
# need a virtual machine with other options: see stacks.sh.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

: >"$DIR/few"
run_guest "$1" linux linux_others sleeping sleeping_others classes
check_with "$1" check_linux.py
check_with "$1" check_sleeping.py
check_with "$1" check_classes.py Classes.test_usual_load_has_right_classes \
	Classes.test_reused_objects_have_right_classes Classes.test_report_sums_by_class
