#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# dkms-post-build.sh DIRECTORY: keep Module.symvers, which drivers need to build. DKMS runs this
# script in the build directory, which it deletes afterwards.

set -e
cp Module.symvers "$1/"
