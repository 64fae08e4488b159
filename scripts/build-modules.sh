#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Former path of scripts/build/build-modules.sh, for work in progress; to be removed.
exec "$(dirname "$0")/build/build-modules.sh" "$@"
