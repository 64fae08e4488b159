#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kernel.sh FLAVOUR: build the test kernel of scripts/kernels/FLAVOUR.config, unless the cache has
# it.

. "$(dirname "$0")/../lib.sh"

run_test "$1: the test kernel is built" output_of test-kernel "$1"
