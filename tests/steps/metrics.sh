#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Check the metrics of "ntklog exporter", and the alerts and the dashboard in contrib/prometheus,
# with Debian's own Prometheus.

. "$(dirname "$0")/../lib.sh"

install_groups metrics
build_tool fake_module.so
programs=$("$TOP/scripts/packages/prometheus.sh")
run_test_program python3 "$TESTS/check/check_metrics.py" "$NTKLOG" \
	"$OUT/build/tool/fake_module.so" "$programs"
