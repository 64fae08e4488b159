#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# dkms-post-build.sh DIRECTORY: DKMS runs this where it has built the modules, and deletes all of
# that afterwards. Drivers that use the locks need Module.symvers: it is kept where DKMS keeps the
# modules of this kernel, and goes when they go.

set -e
cp Module.symvers "$1/"
