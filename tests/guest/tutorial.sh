# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2154
#
# Run the commands of Documentation/guide/tutorial.rst. check_tutorial.py extracts them from the
# page (tutorial.commands), and compares their output with the page.

# run COMMAND: run it as a user types it.
run()
{
	printf '# %s\n' "$1"
	eval "$1" 2>&1 || echo "exit status $?"
}

check "tutorial: the module is loaded" insmod ntklog.ko
mkdir /tmp/tutorial
cp ntklog_torture.ko /tmp/tutorial/
commands=$PWD/tutorial.commands
(cd /tmp/tutorial && . "$commands") >tutorial.out
check "tutorial: each command succeeds" sh -c '! grep "^exit status" tutorial.out'
rm -r /tmp/tutorial
check "tutorial: the module is unloaded" rmmod ntklog
check "tutorial: the kernel log has no warning" kernel_is_silent
