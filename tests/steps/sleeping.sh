#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# sleeping.sh KERNEL: test the events of Linux' own locks that sleep, on a stock kernel of Debian's,
# against sleeping_locks.ko.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

run_guest "$1" sleeping sleeping_others stalled
run_check_program "$1" check_sleeping.py
