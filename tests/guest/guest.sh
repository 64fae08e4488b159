# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# All that is tried on a stock kernel, in its virtual machine. What needs a
# decoder is left in files for check_e2e.py.

. ./lib.sh
for script in load files information sessions readers events resources hung races hotplug many tool example unload lockdown; do
	. "./$script.sh"
done
