#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# linux.sh KERNEL: test the events of Linux' own spin locks and rwlocks, on a stock kernel of
# Debian's, against linux_locks.ko.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

run_guest "$1" linux linux_others
run_check_program "$1" check_linux.py
