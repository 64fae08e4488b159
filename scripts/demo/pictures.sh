#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# pictures.sh: make the pictures in Documentation/images from the recordings of the demo, which runs
# first if they are missing.

. "$(dirname "$0")/../lib.sh"
. "$TOP/scripts/progress.sh"

DEMO=$OUT/demo
IMAGES=$TOP/Documentation/images

begin_stages 60
install_groups page
[ -e "$DEMO/linux-stacks.etl" ] || "$TOP/scripts/demo/demo.sh"
say "building the tool"
run_quietly tool make -C "$TOP/tools/ntklog"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"; end_progress' EXIT

# draw_picture NAME RECORDING WIDTH HEIGHT: draw the top of the report's page in NAME.png.
draw_picture()
{
	say "drawing the page of $2"
	(cd "$DEMO" && "$TOP/tools/ntklog/ntklog" report "$2" --html "$scratch/$1.html")
	timeout 600 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$scratch/profile" --hide-scrollbars --window-size="$3,$4" \
		--blink-settings=preferredColorScheme=1 --screenshot="$IMAGES/$1.png" \
		"file://$scratch/$1.html" 2>"$scratch/$1.log" || { cat "$scratch/$1.log" >&2; exit 1; }
	say "$IMAGES/$1.png is the top of the page of $DEMO/$2"
}

draw_picture linux linux-stacks.etl 1280 1280
