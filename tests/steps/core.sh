#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# core.sh KERNEL: the core of e2e.sh - files, sessions, events byte by byte, a short torture of
# every lock, unloading - for before each commit, and for kernels of other suites.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

run_guest "$1" load files information sessions readers events resources torture example unload
check_with "$1" check_e2e.py Session Records Resources Locks
