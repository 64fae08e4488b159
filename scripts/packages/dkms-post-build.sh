#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# dkms-post-build.sh DIRECTORY: copy Module.symvers, which drivers that use NT's locks need to
# build, to the directory in which DKMS keeps the modules of this kernel. DKMS runs this script in
# the build directory, which it deletes afterwards. DKMS removes the copy together with the modules.

set -e
cp Module.symvers "$1/"
