#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The report's page in a browser, light and dark. Pictures end in out/test/page.

. "$(dirname "$0")/../lib.sh"

# browser OPTION...: show the page.
browser()
{
	timeout 120 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$DIR/profile" --enable-logging=stderr --window-size=1100,2400 \
		"$@" "file://$DIR/report.html" 2>>"$DIR/browser.log"
}

need tool
need page
tool generate
"$OUT/build/tool/generate" 4 >"$DIR/trace.etl"
"$NTKLOG" report "$DIR/trace.etl" --html "$DIR/report.html"
for mode in light dark; do
	result "page: Chromium draws it, $mode" browser \
		--screenshot="$DIR/report-$mode.png" --hide-scrollbars \
		--blink-settings="preferredColorScheme=$([ $mode = dark ]; echo $?)"
	result "page: the $mode picture is one" \
		python3 "$TESTS/check/check_picture.py" "$DIR/report-$mode.png" $mode
done
result "page: the browser has nothing to complain of" sh -c "! grep CONSOLE $DIR/*.log"
browser --dump-dom >"$DIR/dom.html" 2>"$DIR/dom.log"
result "page: its pictures are there" sh -c "[ \$(grep -c '<svg' $DIR/dom.html) -ge 8 ]"
