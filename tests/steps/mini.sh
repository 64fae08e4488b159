#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# e2e.sh KERNEL: all that users see, on a stock kernel of Debian's (debian-kernel.sh says
# which there are); what the guest leaves is decoded byte by byte.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

run_guest "$1" load tool example
check_with "$1" check_e2e.py Locks
check_with "$1" check_tool.py
