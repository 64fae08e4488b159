#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kernel.sh FLAVOUR: have the test kernel built.

. "$(dirname "$0")/../lib.sh"

result "$1: the test kernel is built" known test-kernel "$1"
