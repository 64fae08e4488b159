#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Former path of scripts/kernels/debian-kernel.sh, for work in progress; to be removed.
exec "$(dirname "$0")/kernels/debian-kernel.sh" "$@"
