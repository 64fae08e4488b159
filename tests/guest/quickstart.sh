# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Run the commands of Documentation/guide/quickstart.rst. check_quickstart.py extracts them from the
# page (quickstart.commands).

# print_and_run COMMAND: quickstart.commands calls this function for each command of the page.
print_and_run()
{
	printf '# %s\n' "$1"
	eval "$1" 2>&1 || echo "exit status $?"
}

check "quickstart: the module is loaded" insmod ntklog.ko
mkdir /tmp/quickstart
commands=$PWD/quickstart.commands
(cd /tmp/quickstart && . "$commands") >quickstart.out
check "quickstart: each command succeeds" sh -c '! grep "^exit status" quickstart.out'
rm -r /tmp/quickstart
check "quickstart: the module is unloaded" rmmod ntklog
check "quickstart: the kernel log has no warning" kernel_is_silent
