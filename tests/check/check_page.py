#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the pages of "ntklog report --html" and "ntklog diff --html" in Chromium. Screenshots are
left in the directory.

Usage: check_page.py NTKLOG DIRECTORY
"""

import json
import os
import subprocess
import sys
import unittest

import browser
import page_sample
import tap

NTKLOG, DIRECTORY = sys.argv[1:3]
CHROMIUM = None


def path_of(name):
    return os.path.join(os.path.abspath(DIRECTORY), name)


def run_ntklog(*arguments):
    return subprocess.run([NTKLOG, *arguments], capture_output=True, text=True, timeout=120,
                          check=True).stdout


def setUpModule():
    global CHROMIUM
    CHROMIUM = browser.Browser(path_of(""))
    page_sample.write_sample(path_of("page.etl"))
    page_sample.write_sample(path_of("after.etl"), seed=2)
    run_ntklog("report", "--html", path_of("page.html"), path_of("page.etl"))
    run_ntklog("diff", "--html", path_of("diff.html"), path_of("page.etl"), path_of("after.etl"))


def tearDownModule():
    CHROMIUM.close()


# Parts that are wider than their place, labels over another, names in short lines, and small texts.
FAULTS_SCRIPT = """(() => {
  const parts = [document.documentElement, ...document.querySelectorAll(
    ".table, td, .row > *, p, li, figcaption, h1, h2, h3, nav a, .tools")];
  const faults = parts.filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth)
    .map((e) => "too wide: " + e.outerHTML.slice(0, 90));
  for (const axis of document.querySelectorAll(".ticks"))
    [...axis.children].map((e) => e.getBoundingClientRect()).filter((at) => at.width)
      .reduce((a, b) => {
        if (a.right + 6 > b.left)
          faults.push("over another: " + b.left);
        return b;
      });
  for (const name of document.querySelectorAll("td.name")) {
    const range = document.createRange();
    range.selectNodeContents(name);
    const tops = [...range.getClientRects()].filter((e) => e.width).map((e) => e.top);
    tops.sort((a, b) => a - b);
    const lines = 1 + tops.filter((top, i) => i && top - tops[i - 1] > 8).length;
    if (lines > 1 && name.textContent.length / lines < 10)
      faults.push("broken: " + name.textContent);
  }
  return faults.concat([...document.querySelectorAll("td, .ticks span, .name, p, li")]
    .filter((e) => parseFloat(getComputedStyle(e).fontSize) < 12)
    .map((e) => "small: " + e.outerHTML.slice(0, 90)));
})()"""


class Page(unittest.TestCase):
    PAGE = "page.html"

    def open_page(self, **options):
        CHROMIUM.open_page(path_of(self.PAGE), **options)
        return CHROMIUM.evaluate

    def tip_text(self):
        return CHROMIUM.evaluate("tip.hidden ? null : tip.innerText")

    def focused_label(self):
        return CHROMIUM.evaluate(
            "document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText")


class Layout(Page):
    def test_nothing_is_cut_off_or_hard_to_read(self):
        for page in "page.html", "diff.html":
            for width in 1280, 1000, 390:
                with self.subTest(page=page, width=width):
                    CHROMIUM.open_page(path_of(page), width=width)
                    CHROMIUM.evaluate(
                        "document.querySelectorAll('details').forEach((e) => { e.open = true; })")
                    self.assertEqual(CHROMIUM.evaluate(FAULTS_SCRIPT), [])
                    self.assertLessEqual(
                        CHROMIUM.evaluate("document.documentElement.scrollWidth"), width)
                    self.assertEqual(CHROMIUM.messages, [])

    def test_pictures_of_the_page_are_light_and_dark(self):
        # A picture of the browser has a limited height.
        self.PAGE = "short.html"
        run_ntklog("report", "--html", path_of(self.PAGE), "--top", "3", path_of("page.etl"))
        for width in 1280, 390:
            for mode in "light", "dark":
                self.open_page(width=width, mode=mode)
                name = path_of("page-%s-%d.png" % (mode, width))
                CHROMIUM.save_screenshot(name)
                result = subprocess.run([sys.executable, os.path.join(
                    os.path.dirname(__file__), "check_picture.py"), name, mode],
                    capture_output=True, text=True, check=False)
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_text_has_contrast(self):
        """Texts have the ratio of contrast that WCAG asks for: 4.5."""
        ratio = """(() => {
          const canvas = document.createElement("canvas").getContext("2d");
          const rgb = (colour) => {
            canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
            return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
          };
          const light = (colour) => rgb(colour).map((c) => c / 255)
            .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
          const style = getComputedStyle(document.documentElement);
          const value = (name) => light(style.getPropertyValue(name).trim());
          const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          return Math.min(...["--text", "--quiet", "--accent"].flatMap((text) =>
            ["--page", "--band", "--raised"].map((ground) => ratio(value(text), value(ground)))));
        })()"""
        for mode in "light", "dark":
            self.open_page(mode=mode)
            self.assertGreaterEqual(CHROMIUM.evaluate(ratio), 4.5, mode)


class Numbers(Page):
    @classmethod
    def setUpClass(cls):
        cls.report = json.loads(run_ntklog("report", "--json", path_of("page.etl")))

    def test_sections_of_locks_have_the_numbers_of_the_tables(self):
        evaluate = self.open_page()
        shown = {lock["lock"]: lock for lock in evaluate("data.locks")}
        for lock in self.report["answer"]["locks"]:
            self.assertAlmostEqual(shown[lock["lock"]]["wait"], lock["wait_total_ns"], delta=1)
            self.assertEqual(shown[lock["lock"]]["waits"], lock["waits"])
            for kind, table, column in (("waiters", "waiters", "wait_total_ns"),
                                        ("holders", "blockers", "charged_total_ns")):
                rows = json.loads(run_ntklog("report", "--json", "--table", table,
                                      path_of("page.etl")))[table]
                name = "waiter" if kind == "waiters" else "holder"
                for who, ns in shown[lock["lock"]][kind][:3]:
                    self.assertAlmostEqual(
                        sum(row[column] for row in rows
                            if (row["lock"], row[name]) == (lock["lock"], who)), ns, delta=2)

    def test_parts_add_up_to_the_waiting(self):
        evaluate = self.open_page()
        parts = {name: ns for name, _, ns in evaluate("data.parts")}
        expected = self.report["answer"]["parts_ns"]
        self.assertAlmostEqual(sum(parts.values()), self.report["answer"]["wait_total_ns"], delta=1)
        self.assertAlmostEqual(parts.pop("held") + parts["holder_ran"], expected["holder_ran"],
                               delta=1)

    def test_flame_graphs_have_the_times_of_the_stacks(self):
        evaluate = self.open_page()
        for name, option in ("waits", "wait"), ("holds", "hold"):
            lines = run_ntklog("report", "--folded=" + option, path_of("page.etl")).splitlines()
            total = sum(int(line.rsplit(" ", 1)[1]) for line in lines)
            self.assertAlmostEqual(evaluate("data.flames.%s.total" % name), total, delta=len(lines))
            functions = evaluate("data.flames.%s.functions" % name)
            self.assertAlmostEqual(sum(own for _, _, _, own, _ in functions), total,
                                   delta=total / 50)

    def test_a_locks_flame_graphs_have_its_waiting_time(self):
        evaluate = self.open_page()
        lock = evaluate("data.locks[0]")
        for stacks in "waiter_stacks", "holder_stacks":
            self.assertAlmostEqual(lock[stacks]["total"], lock["wait"], delta=lock["wait"] / 1000)

    def test_times_are_written_as_the_tables_write_them(self):
        evaluate = self.open_page()
        self.assertEqual(evaluate("""[...document.querySelectorAll("td[data-value]")]
            .filter((cell) => /s$/.test(cell.textContent) &&
                    formatTime(Number(cell.dataset.value)) !== cell.textContent)
            .map((cell) => cell.outerHTML)"""), [])
        self.assertEqual(
            evaluate("[999.5, 999.4, 9.9949e3, 9.9951e3, 0].map(formatTime)"),
            ["1.00us", "999ns", "9.99us", "10.0us", "0ns"])


class Pointer(Page):
    def test_hover_shows_numbers_of_each_kind_of_mark(self):
        self.open_page()
        for selector, pattern in (
                ("td[data-value]", r"lock|records"),
                (".parts .part", r"[\d.]+m?s, [\d.]+%"),
                (".bar-list li", r"waited [\d.]+m?s, [\d.]+%"),
                (".flame [role=treeitem]:nth-child(2)", r"of all; itself .*records"),
                (".chart .mark", r"of the waits\s+from"),
                (".timeline .drawing .mark:nth-child(2)", r"waited for it"),
                (".timeline:last-child .drawing .part:nth-child(2)", r"held by ")):
            with self.subTest(selector=selector):
                CHROMIUM.hover("document.querySelector(%s)" % json.dumps(selector))
                self.assertRegex(self.tip_text() or "", pattern)

    def test_click_keeps_the_numbers_until_escape(self):
        self.open_page()
        CHROMIUM.click("document.querySelector('td[data-value]')")
        kept = self.tip_text()
        CHROMIUM.hover("document.querySelectorAll('td[data-value]')[3]")
        self.assertEqual(self.tip_text(), kept)
        CHROMIUM.press_key("Escape")
        self.assertIsNone(self.tip_text())

    def test_headings_sort_and_a_button_shows_more_rows(self):
        evaluate = self.open_page()
        table = "document.querySelector('#table-blockers table')"
        rows = "[...%s.tBodies].map((body) => body.hidden ? 0 : body.rows.length)" % table
        self.assertEqual(evaluate(rows), [10, 0])
        CHROMIUM.click("document.querySelector('#table-blockers .more')")
        self.assertEqual(evaluate(rows), [10, 190])
        values = "[...%s.rows].slice(1).map((row) => Number(row.cells[5].dataset.value))" % table
        head = table + ".tHead.rows[0].cells[5]"
        for order, sign in ("descending", -1), ("ascending", 1):
            CHROMIUM.click(head + ".firstChild")
            found = evaluate(values)
            self.assertEqual(found, sorted(found, key=lambda value, sign=sign: sign * value))
            self.assertEqual(evaluate(head + ".ariaSort"), order)
        names = "[...%s.rows].slice(1).map((row) => row.cells[1].textContent)" % table
        CHROMIUM.click(table + ".tHead.rows[0].cells[1].firstChild")
        found = evaluate(names)
        self.assertEqual(found[0], min(found))

    def test_a_name_in_a_table_opens_the_section_of_its_lock(self):
        evaluate = self.open_page()
        link = "document.querySelector('#table-locks td a')"
        name = evaluate(link + ".textContent")
        evaluate("opened = new Promise((done) => addEventListener('hashchange', done)); 0")
        CHROMIUM.click(link)
        self.assertIs(evaluate("opened.then(() => document.querySelector('details:target').open)"),
                      True)
        self.assertIn(name, evaluate("document.querySelector('details:target summary').innerText"))
        self.assertGreater(evaluate("document.querySelectorAll('details:target .flame').length"), 1)

    def test_flame_graph_widens_and_finds_a_function(self):
        evaluate = self.open_page()
        flame = "document.querySelector('#flames .flame')"
        item = "[...%s.children].find((e) => e.node.name === 'do_vmi_munmap')" % flame
        self.assertEqual(evaluate("[...document.querySelectorAll('.flame > div')]"
                                  ".filter((e) => e.hidden && e.node.ns > e.parentNode.firstChild"
                                  ".node.ns / 1000).length"), 0)
        share = "(%s).getBoundingClientRect().width / %s.clientWidth" % (item, flame)
        before = evaluate(share)
        self.assertAlmostEqual(
            before, evaluate("(%s).node.ns / data.flames.waits.total" % item), delta=.01)
        CHROMIUM.click(item)
        self.assertAlmostEqual(evaluate(share), 1, delta=.01)
        self.assertLess(evaluate("[...%s.children].filter((e) => !e.hidden).length" % flame),
                        evaluate("%s.children.length" % flame))
        CHROMIUM.click(item)
        self.assertAlmostEqual(evaluate(share), before, delta=.01)
        CHROMIUM.click("document.querySelector('#flames input')")
        for character in "vmi":
            CHROMIUM.press_key(character)
        found = evaluate("document.querySelector('#flames output').textContent")
        self.assertRegex(found,
                         r"Time waited: 1 functions, .*; Time that locks were held: 1 functions")
        self.assertEqual(evaluate("[...%s.querySelectorAll('.found')]"
                                  ".map((e) => e.node.name)" % flame), ["do_vmi_munmap"])
        CHROMIUM.press_key("Enter")
        self.assertIn("do_vmi_munmap", self.focused_label())
        CHROMIUM.click("document.querySelector('#flames input')")
        CHROMIUM.press_key("Backspace", 3)
        for character in "unm":
            CHROMIUM.press_key(character)
        CHROMIUM.press_key("Enter")
        seen = [self.focused_label().split("\n")[0]]
        for _ in range(4):
            CHROMIUM.press_key("n")
            seen.append(self.focused_label().split("\n")[0])
        names = ["__x64_sys_munmap", "__munmap", "do_vmi_munmap", "unmap_region"]
        self.assertEqual(seen, names + names[:1])

    def test_the_time_line_is_zoomed_by_the_pointer_and_buttons(self):
        evaluate = self.open_page()
        row = "document.querySelector('#time .drawing')"
        length = "(view.to - view.from) / (view.end - view.begin)"
        CHROMIUM.centre_of(row)
        at = evaluate("[%s.getBoundingClientRect()].map((r) => [r.x, r.y, r.width])[0]" % row)
        CHROMIUM.drag((at[0] + at[2] / 2, at[1] + 5), (at[0] + at[2] * 3 / 4, at[1] + 5))
        self.assertAlmostEqual(evaluate(length), .25, delta=.01)
        self.assertAlmostEqual(evaluate("(view.from - view.begin) / (view.end - view.begin)"), .5,
                               delta=.01)
        buttons = "document.querySelectorAll('#time .tools button')"
        for number, expected in (0, .125), (1, .25), (2, .25), (4, 1):
            CHROMIUM.click("%s[%d]" % (buttons, number))
            self.assertAlmostEqual(evaluate(length), expected, delta=.01)


class Keyboard(Page):
    def tab_to(self, condition, most=400):
        for _ in range(most):
            CHROMIUM.press_key("Tab")
            if CHROMIUM.evaluate("[document.activeElement].some((e) => %s)" % condition):
                return
        self.fail("Tab does not lead to " + condition)

    def test_tab_leads_through_the_page_in_its_order(self):
        evaluate = self.open_page()
        evaluate("window.stops = []; document.addEventListener('focusin', "
                 "(event) => stops.push(event.target))")
        for _ in range(60):
            CHROMIUM.press_key("Tab")
        # Each stop is behind the one before it in the document, and is seen.
        self.assertEqual(evaluate("""stops.slice(1).filter((stop, i) =>
            !(stops[i].compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_FOLLOWING))
            .length"""), 0)
        self.assertEqual(
            evaluate("stops.filter((stop) => !stop.getClientRects().length).length"), 0)
        self.assertGreater(evaluate("stops.length"), 50)
        self.assertNotEqual(
            evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none")

    def test_a_table_is_one_stop_and_the_arrow_keys_move_in_it(self):
        evaluate = self.open_page()
        self.tab_to("e.matches('#table-locks td.mark')")
        self.assertRegex(self.tip_text(), "records: ")
        CHROMIUM.press_key("ArrowRight")
        CHROMIUM.press_key("ArrowDown")
        self.assertEqual(evaluate("[document.activeElement.cellIndex, "
                                  "document.activeElement.parentNode.rowIndex]"), [2, 2])
        CHROMIUM.press_key("Tab")
        self.assertFalse(evaluate("document.activeElement.matches('#table-locks td.mark')"))

    def test_flame_graph_is_walked_and_widened(self):
        evaluate = self.open_page()
        evaluate("document.querySelector('#flames input').focus()")
        self.tab_to("e.matches('#flames [role=treeitem]')")
        self.assertIn("all\n", self.focused_label())
        CHROMIUM.press_key("ArrowDown", 3)
        self.assertRegex(self.focused_label(), r"^__x64_sys_munmap\n.* of all; itself")
        CHROMIUM.press_key("Enter")
        self.assertGreater(evaluate("document.activeElement.offsetWidth / "
                                    "document.activeElement.parentNode.clientWidth"), .99)
        CHROMIUM.press_key("Escape")
        self.assertLess(evaluate("document.activeElement.offsetWidth / "
                                 "document.activeElement.parentNode.clientWidth"), .9)
        CHROMIUM.press_key("ArrowUp")
        self.assertIn("do_syscall_64", self.focused_label())

    def test_time_line_is_walked_and_zoomed(self):
        evaluate = self.open_page()
        evaluate("document.querySelector('#time .tools button').focus()")
        self.tab_to("e.matches('#time g')")
        first = self.focused_label()
        CHROMIUM.press_key("ArrowRight")
        self.assertNotEqual(self.focused_label(), first)
        self.assertRegex(self.tip_text(), r"from [\d.]+ s on")
        CHROMIUM.press_key("+", 2)
        zoom = "(view.end - view.begin) / (view.to - view.from)"
        self.assertAlmostEqual(evaluate(zoom), 4, delta=.01)
        CHROMIUM.press_key("0")
        self.assertAlmostEqual(evaluate(zoom), 1, delta=.01)


class ScreenReader(Page):
    def accessibility_nodes(self):
        CHROMIUM.call("Accessibility.enable")
        nodes = CHROMIUM.call("Accessibility.getFullAXTree")["nodes"]
        return [(node.get("role", {}).get("value"), node.get("name", {}).get("value"))
                for node in nodes if not node["ignored"]]

    def test_marks_and_controls_have_names(self):
        for self.PAGE in "page.html", "diff.html":
            self.open_page()
            nodes = self.accessibility_nodes()
            self.assertEqual([node for node in nodes if node[0] in
                              ("image", "button", "link", "tree", "treeitem", "searchbox",
                               "navigation") and not node[1]], [])
            self.assertEqual(CHROMIUM.evaluate(
                "document.querySelectorAll('[role=group]:not([aria-label])').length"), 0)
            roles = {role for role, _ in nodes}
            self.assertLessEqual({"main", "navigation", "heading", "table", "columnheader"}, roles)
        self.PAGE = "page.html"
        self.open_page()
        self.assertLessEqual({"tree", "treeitem", "searchbox"},
                             {role for role, _ in self.accessibility_nodes()})


class WithoutScript(Page):
    def test_page_without_script_shows_all_rows(self):
        for width in 1280, 390:
            self.open_page(width=width, script=False)
            CHROMIUM.save_screenshot(path_of("plain-%d.png" % width))
            layout = CHROMIUM.call("Page.getLayoutMetrics")["cssContentSize"]
            self.assertLessEqual(layout["width"], width)
        with open(path_of("page.html"), encoding="utf-8") as stream:
            text = stream.read().split("<noscript>")[0]
        self.assertNotIn(" hidden", text.split("</style>")[1])
        self.assertGreater(text.count("<tr><td"), 400)
        for words in "Tasks waited", "Who held the lock", "Stacks of locks", "Longest":
            self.assertIn(words, text)


class Difference(Page):
    PAGE = "diff.html"

    def test_changes_are_those_of_the_table(self):
        evaluate = self.open_page()
        rows = json.loads(run_ntklog("diff", "--json", path_of("page.etl"),
                                     path_of("after.etl")))["changes"]
        self.assertEqual(evaluate("data.changes"), rows[:30])
        CHROMIUM.hover("document.querySelector('#changes g')")
        self.assertRegex(self.tip_text(), r"before, .* after\s+[+-].*\+-")
        self.assertEqual(evaluate("document.querySelectorAll('#changes g').length"),
                         min(30, len(rows)))
        self.assertEqual(evaluate("document.querySelectorAll('tbody tr').length"), len(rows))


if __name__ == "__main__":
    tap.main()
