#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test contrib/clickhouse with Debian's ClickHouse and recordings of 1,000 made-up machines.

. "$(dirname "$0")/../lib.sh"

install_groups tool
install_groups clickhouse
build_tool
PYTHONPATH=$TOP/tests/lib python3 "$TOP/tests/check/check_clickhouse.py" "$NTKLOG" "$DIR"
