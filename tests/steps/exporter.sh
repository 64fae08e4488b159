#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# exporter.sh KERNEL: test ntklog exporter on a stock kernel of Debian's, with Debian's own
# Prometheus.

. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../e2e.sh"

install_groups metrics
PROMETHEUS=$("$TOP/scripts/packages/prometheus.sh")
export PROMETHEUS
library=$(PATH=$PATH:/sbin ldconfig -p | sed -n 's,.*libmicrohttpd\.so\.12 .*x86-64.* => ,,p')
vm_options=(-P setpriv -P "$library")
run_guest "$1" exporter
run_check_program "$1" check_exporter.py
