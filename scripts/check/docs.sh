#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# docs.sh: build the pages of Documentation/ as HTML, in out/docs/. A warning of Sphinx is an error.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/progress.sh"

begin_stages 20
install_groups docs
say "building the pages"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"; end_progress' EXIT
rm -rf "$OUT/docs"
mkdir -p "$OUT/docs"
# Sphinx must not write the compiled conf.py into Documentation/.
PYTHONDONTWRITEBYTECODE=1 sphinx-build -W --keep-going -q -b html -d "$scratch" \
	"$TOP/Documentation" "$OUT/docs"
rm -f "$OUT/docs/.buildinfo"
say "the pages are in $OUT/docs: begin with index.html"
