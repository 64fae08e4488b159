#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test the page that "ntklog report --html" writes in a browser: light and dark, as wide as a screen
# and as a telephone, with its script and without. Pictures are left in out/test/page.

. "$(dirname "$0")/../lib.sh"

# open_page WIDTH PAGE OPTION...: open $DIR/PAGE.html in a browser of WIDTH pixels.
open_page()
{
	local width=$1 page=$2
	shift 2
	timeout 600 chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--user-data-dir="$DIR/profile" --enable-logging=stderr --hide-scrollbars \
		--window-size="$width,$((width < 700 ? 6000 : 3600))" \
		"$@" "file://$DIR/$page.html" 2>>"$DIR/browser.log"
}

# add_script NAME [PAGE]: copy a page (report) to NAME.html, with the script on standard input at
# its end.
add_script()
{
	{ sed '/^<\/body>/,$d' "$DIR/${2:-report}.html"; echo '<script>'; cat; echo '</script></body></html>'; } \
		>"$DIR/$1.html"
}

# page_says WIDTH PAGE TEXT...: test that the script of a page has set data-found of the body to a
# text.
page_says()
{
	local width=$1 page=$2
	shift 2
	open_page "$width" "$page" --virtual-time-budget=10000 --dump-dom >"$DIR/$page-$width.dom" || return
	sed -n 's/.*data-found="\([^"]*\)".*/\1/p' "$DIR/$page-$width.dom" | tee "$DIR/$page-$width.found"
	[ "$(cat "$DIR/$page-$width.found")" = "$*" ]
}

need page
build_tool generate
"$OUT/build/tool/generate" 4 >"$DIR/trace.etl"
# Names of locks, callers and threads that are as long as a kernel's.
awk 'BEGIN {
	for (i = 0; i < 200; i++)
		printf "ffffffff8200%04x b some_subsystem_lock_%d\n", 64 * i, i
	for (i = 0; i < 1600; i++)
		printf "ffffffff81%06x T a_function_of_some_driver_%d\t[some_driver]\n", 256 * i, i
	for (i = 1; i < 100; i++)
		printf "thread %d kworker/u8:%d\n", i, i
}' >"$DIR/trace.etl.names"
"$NTKLOG" report "$DIR/trace.etl" --html "$DIR/report.html"
for width in 1280 390; do
	for mode in light dark; do
		run_test "page: Chromium draws it, $mode, $width pixels wide" open_page $width report \
			--screenshot="$DIR/report-$mode-$width.png" \
			--blink-settings="preferredColorScheme=$([ $mode = dark ]; echo $?)"
		run_test "page: the $mode picture of $width pixels is one" python3 \
			"$TESTS/check/check_picture.py" "$DIR/report-$mode-$width.png" $mode
	done
done
run_test "page: the console of the browser has no message" sh -c "! grep CONSOLE $DIR/*.log"
open_page 1280 report --dump-dom >"$DIR/dom.html" 2>"$DIR/dom.log"
run_test "page: its pictures are there" sh -c "[ \$(grep -c '<svg' $DIR/dom.html) -ge 8 ]"

# A recording in which one of six locks was waited for, and held for 1 us to 1 s.
python3 - "$DIR/lanes.etl" <<'END'
import sys
import etl_writer as etl
start, events = etl.START_CLOCK + etl.PERF_FREQ, []
for i in range(42):
    acquire = start + 9000 * i
    waited = {"spins": 9, "wait": 700} if i % 6 == 0 else {"spins": 0, "wait": 0}
    events.append(etl.perfinfo(0x0529, etl.spin_lock(
        address=0xFFFFFFFF82000000 + i % 6, acquire=acquire, release=acquire + 2 * 10 ** (i // 6),
        **waited), time_stamp=acquire))
with open(sys.argv[1], "wb") as stream:
    stream.write(etl.file(*events))
END
"$NTKLOG" report "$DIR/lanes.etl" --html "$DIR/lanes.html"
run_test "page: a lock that was not waited for has no lane" \
	sh -c "[ \$(grep -c '<svg class=\"bars\"' $DIR/lanes.html) = 1 ]"

# The script reports the window's width, the number of parts that are wider than their place, labels
# that overlap and names that are broken into short pieces, the number of texts in a small font, and
# the parts themselves.
for page in report lanes; do
add_script wide-$page $page <<'END'
const wide = [document.documentElement, ...document.querySelectorAll(".table, td, .row > *, p, li")]
  .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth).map((e) => e.outerHTML.slice(0, 60));
for (const axis of document.querySelectorAll(".ticks"))
  [...axis.children].map((e) => e.getBoundingClientRect()).filter((at) => at.width)
    .reduce((a, b) => { if (a.right + 8 > b.left) wide.push("over another: " + b.left); return b; });
for (const name of document.querySelectorAll("td.name")) {
  const range = document.createRange();
  range.selectNodeContents(name);
  const lines = new Set([...range.getClientRects()].filter((e) => e.width).map((e) => e.top)).size;
  if (lines > 1 && name.textContent.length / lines < 16)
    wide.push("broken: " + name.textContent);
}
const small = [...document.querySelectorAll("td, .ticks span, .name, p")]
  .filter((e) => parseFloat(getComputedStyle(e).fontSize) < 12).length;
parent.postMessage([innerWidth, wide.length, small, wide.join().replaceAll("\"", "'")].join(" "), "*");
END
# A headless browser makes no window narrower than 500 pixels, but a frame in it can be narrower.
for width in 1280 1000 390; do
	cat >"$DIR/frame-$page-$width.html" <<-END
		<!DOCTYPE html>
		<body style="margin: 0"><script>
		onmessage = (event) => { document.body.dataset.found = event.data; };
		</script>
		<iframe src="wide-$page.html" style="border: 0; width: ${width}px; height: 3000px"></iframe>
	END
	run_test "page: nothing of $page is cut off or hard to read at $width pixels" \
		page_says 1280 frame-$page-$width "$width 0 0 "
done
done

add_script sort <<'END'
const table = document.querySelector("table"), heads = [...table.tHead.rows[0].cells];
const column = (i) => [...table.rows].slice(1).map((row) => row.cells[i].dataset.value ?? row.cells[i].textContent);
const found = [], [shown, more] = table.tBodies, lock = 0, sampled = 1;
const names = [...column(lock)].sort((a, b) => a.localeCompare(b)).join(), numbers = column(sampled).map(Number);
found.push(shown.rows.length, more.rows.length, more.hidden);
heads[lock].firstChild.click();
found.push(column(lock).join() === names, heads[lock].ariaSort, shown.rows.length);
heads[sampled].firstChild.click();
found.push(column(sampled).join() === [...numbers].sort((a, b) => b - a).join(), heads[sampled].ariaSort, heads[lock].ariaSort);
heads[sampled].firstChild.click();
found.push(column(sampled).join() === [...numbers].sort((a, b) => a - b).join(), heads[sampled].ariaSort);
table.parentNode.nextSibling.click();
found.push(more.hidden, table.parentNode.nextSibling.textContent);
document.body.dataset.found = found.join(" ");
END
run_test "page: its tables are sorted and get longer" page_says 1280 sort \
	"20 180 true true ascending 20 true descending  true ascending false Show less"

# A flame graph: function 1 calls 2 (a quarter of the waits) and 3 (three quarters), and 3 calls 4.
python3 - "$DIR/flames.etl" <<'END'
import sys
import etl_writer as etl
start, events = etl.START_CLOCK + etl.PERF_FREQ, []
for i, (wait, stack) in enumerate(((100, [2, 1]), (300, [4, 3, 1]))):
    events += [etl.perfinfo(0x0529, etl.spin_lock(spins=1, wait=wait), time_stamp=start + 9 * i),
               etl.stack(start + 9 * i, [0xFFFFFFFF81000000 + 0x1000 * at for at in stack])]
with open(sys.argv[1], "wb") as stream:
    stream.write(etl.file(*events))
END
"$NTKLOG" report "$DIR/flames.etl" --html "$DIR/flames.html" --table stacks
add_script flame flames <<'END'
const flame = document.querySelector(".flame.wait"), said = flame.nextElementSibling;
const spans = [...flame.querySelectorAll("span")], found = [spans.length];
const width = (span) => Math.round(span.getBoundingClientRect().width / flame.clientWidth * 100);
const shown = () => spans.map((span) => span.offsetParent ? width(span) : "-").join();
found.push(shown());
spans[2].dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
found.push(said.textContent === spans[2].title, /75.0 %/.test(said.textContent));
spans[2].click();
found.push(shown());
spans[2].click();
found.push(shown());
spans[1].dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
found.push(shown());
document.body.dataset.found = found.join(" ");
END
run_test "page: a flame graph shows its numbers, and zooms by a click and a key" page_says 1280 flame \
	"4 100,25,75,75 true true 100,-,100,100 100,25,75,75 100,100,-,-"
run_test "page: a flame graph is as wide as a telephone" open_page 390 flames \
	--screenshot="$DIR/flames-390.png"

# Without its script the page shows all rows.
sed '/^<script>$/,/^<\/script>$/d' "$DIR/report.html" >"$DIR/plain.html"
open_page 390 plain --screenshot="$DIR/plain-390.png"
run_test "page: without its script all rows are there" sh -c "page=$DIR/plain.html
	! grep -q '<script' \$page && ! grep -q hidden= \$page &&
	[ \$(grep -c '^<tr><td' \$page) -gt 400 ]"
