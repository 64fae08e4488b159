#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# prometheus.sh: unpack Debian's Prometheus in the cache, and print the directory. The package
# itself would start a server when it is installed.

. "$(dirname "$0")/../lib.sh"

PACKAGE=prometheus

unpack_prometheus()
{
	unpack_deb "$PACKAGE" "$1/all"
	mv "$1/all/usr/bin/prometheus" "$1/all/usr/bin/promtool" "$1/"
	rm -r "$1/all"
}

dir=$CACHE/prometheus/$(print_candidate "$PACKAGE")
make_once "$dir" unpack_prometheus
printf '%s\n' "$dir"
