#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# own.sh KERNEL: test Linux' own locks on a stock kernel of Debian's other than 6.12, with the tests
# that depend on the kernel. Allocations fail at fewer places (the file "few").

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

: >"$DIR/few"
run_guest "$1" linux linux_others sleeping sleeping_others classes
run_check_program "$1" check_linux.py
run_check_program "$1" check_sleeping.py
run_check_program "$1" check_classes.py Classes.test_usual_load_has_right_classes \
	Classes.test_reused_objects_have_right_classes Classes.test_report_sums_by_class
