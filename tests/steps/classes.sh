#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# classes.sh KERNEL: compare the classes (TYPE.MEMBER) that ntklog gives to Linux' own locks, on a
# stock kernel of Debian's, with those of class_truth.ko.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

run_guest "$1" tasks classes classes_kept classes_hidden
run_check_program "$1" check_classes.py
