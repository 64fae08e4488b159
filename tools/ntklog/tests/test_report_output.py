#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog report: text, CSV, JSON and the page."""

import csv
import fcntl
import html.parser
import io
import json
import os
import pty
import re
import struct
import subprocess
import termios

import etl_writer as etl
import tap
import tool
from report_case import Mixed, NS, lock
from tool import NTKLOG, least_cpu_seconds, run_tool, join_wrapped_lines


class Output(Mixed):
    def test_filter_and_times_select_events(self):
        for options, events, locks in (
                (("--filter", "lock == 0x300"), 1, ["0x300"]),
                (("--filter", "hold > 4ms || Event == Resource"), 2, ["0x300"]),
                (("--from", "1"), 9, ["0x100", "0x200", "0x300"]), (("--to", "0.5"), 0, []),
                (("--from", "0.5", "--to", "1"), 9, ["0x100", "0x200", "0x300"])):
            report = json.loads(self.report("--json", *options).stdout)
            self.assertEqual((report["events"], sorted(row["lock"] for row in report["locks"])),
                             (events, locks), options)
        self.assertIn("(character 9)", self.report("--filter", "lock == x", status=2).stderr)

    def test_long_table_is_fitted_in_little_time(self):
        """The time to fit it does not grow with the number of widths that are tried."""
        path = os.path.join(self.directory.name, "long.etl")
        with open(path, "wb") as stream:
            stream.write(etl.long_file([
                etl.perfinfo(0x0529, etl.spin_lock(address=0x1000 + 16 * number, wait=5))
                for number in range(16000)]))
        with open(path + ".names", "w", encoding="ascii") as stream:
            stream.write("1000 d a_lock_with_a_name_that_is_%s\n" % ("longer_" * 20))

        report = "report", "--top", "0", path
        self.assertLess(least_cpu_seconds(*report), 5 * least_cpu_seconds(*report, "--wide"))

    def test_impossible_start_times_are_unknown(self):
        with open(self.path, "rb") as stream:
            data = bytearray(stream.read())
        for time in (0, -1, -2 ** 63, 2 ** 63 - 1, 116444736000000000 - 1):
            struct.pack_into("<q", data, 0x48 + 0x20 + 0x108, time)
            self.write(data)
            text = self.report().stdout
            self.assertIn(" processors, at an unknown time\n" if time < 2 ** 62 else
                          ", from 30828-09-14 02:48:05 UTC on\n", text)

    def test_lost_events_and_buffers_are_reported(self):
        whole = etl.buffer([lock()])
        self.assertNotIn("LOST", self.report().stdout)
        self.write(etl.header_buffer(3) + whole + etl.buffer([lock()], flags=0x22, sequence=2))
        self.assertIn("LOST: events after 1 buffers", self.report().stdout)
        self.assertEqual(json.loads(self.report("--json").stdout)["lossy_buffers"], 1)
        data = bytearray(etl.header_buffer(2) + whole)
        struct.pack_into("<I", data, 0x48 + 0x20 + 0x30, 7)
        self.write(data)
        self.assertIn("LOST: 7 events, 0 buffers", self.report().stdout)

    def test_session_that_has_not_ended_is_reported(self):
        self.write(etl.header_buffer(9, end_time=0) + etl.buffer([lock()]))
        self.assertIn("the session had not ended", self.report().stdout)
        self.assertFalse(json.loads(self.report("--json").stdout)["ended"])

    def test_unknown_events_are_counted(self):
        report = json.loads(self.report("--json").stdout)
        self.assertEqual(report["unknown"], [{"event": "HookId 0x1234", "count": 2},
                                             {"event": "HookId 0x1235", "count": 1}])

    def test_named_table_without_rows_says_which_events_it_needs(self):
        self.write(etl.file(lock()))
        for options, text in (
                (("threads",), "no events of context switches (record -e contextswap)."),
                (("resources",), "no events of locks that sleep (record -e linux_mutex)."),
                (("locks", "--filter", "cpu == 77"), "no selected events of spin locks or rwlocks.")):
            for paths in (), (self.path,):
                self.assertIn("The table %s has no rows: %s" % (options[0], text),
                              tool.join_wrapped_lines(self.report("--table", *options,
                                                                  *paths).stdout))
        self.assertNotIn("no rows", self.report("--csv", "--table", "threads").stdout)
        self.assertNotIn("no rows", self.report().stdout)

    def test_events_of_newer_versions_are_named(self):
        newer = etl.perfinfo(0x0529, etl.spin_lock(), version=9)
        for events in (newer,), (newer, lock()):
            self.write(etl.file(*events))
            result = self.report()
            self.assertIn("left out: 1 event of versions that this ntklog does not "
                          "know, such as SpinLock of version 9: use a newer ntklog", result.stderr)
            self.assertEqual("no events of locks of versions that this ntklog knows." in
                             result.stdout, len(events) == 1)
            self.assertEqual(run_tool("diff", self.path, self.path).stderr.count("of version 9"), 2)
        self.write(etl.file(lock()))
        self.assertNotIn("version", self.report().stderr)

    def test_wpp_messages_are_counted(self):
        report = self.json_of(lock(), etl.wpp_event(7), lock(), etl.wpp_event(8, data=bytes(3)))
        self.assertEqual(report["unknown"], [{"event": "WPP message", "count": 2}])
        self.assertEqual(report["events"], 4)

    def test_unknown_events_extend_the_duration(self):
        """Events of unknown providers count, except those without a time."""
        event = struct.pack("<HBBIIIq", 0x50, 0x13, 0xC0, 0, 1, 2,
                            etl.START_CLOCK + 5 * etl.PERF_FREQ).ljust(0x50, b"\0")
        for events, seconds in (([event], 5), ([etl.perfinfo(0x1234, b"")], 1),
                                ([lock(), event], 5), ([etl.wpp_event(7)], 0)):
            report = self.json_of(*events)
            self.assertAlmostEqual(report["seconds"], seconds)

    def test_text_has_the_tables(self):
        text = self.report().stdout
        for words in ("Spin locks, by wait_total", "Callers", "Executive resources",
                      "Threads", "Events that are not known", "~"):
            self.assertIn(words, text)

    def rows_of_csv(self, *options):
        text = self.report("--table", "locks", "--csv", *options).stdout
        return list(csv.DictReader(io.StringIO(text)))

    def test_csv_has_rows_of_the_table(self):
        rows = self.rows_of_csv()
        self.assertEqual([row["lock"] for row in rows][0], "0x100")
        self.assertEqual({row["table"] for row in rows}, {"locks"})
        self.assertEqual(float(rows[0]["wait_total_ns"]), 1000 * NS)

    def test_sort_top_and_columns_select_rows_and_columns(self):
        rows = self.rows_of_csv("--sort", "hold_max", "--top", "1", "--columns", "lock,spins")
        self.assertEqual(rows, [{"table": "locks", "lock": "0x300", "spins": "2"}])

    def test_columns_are_in_the_order_that_they_are_given_in(self):
        text = self.report("--table", "locks", "--csv", "--columns", "spins,lock,hold_max").stdout
        self.assertEqual(text.splitlines()[0], "table,spins,lock,hold_max_ns")
        (row, *_) = json.loads(self.report("--table", "locks", "--json", "--columns",
                                           "spins,lock,hold_max").stdout)["locks"]
        self.assertEqual(list(row), ["spins", "lock", "hold_max_ns"])
        text = self.report("--table", "locks", "--columns", "hold_max,lock").stdout
        self.assertRegex(text, r"\n *hold max +lock *\n")

    def test_csv_and_json_have_every_column(self):
        rows = json.loads(self.report("--json").stdout)["locks"]
        self.assertEqual(rows, json.loads(self.report("--json", "--columns", "all").stdout)["locks"])
        self.assertLess({"wait_p50_ns", "wait_p99_ns", "hold_p50_ns", "hold_p99_ns"}, set(rows[0]))
        self.assertEqual(set(self.rows_of_csv()[0]) - {"table"}, set(rows[0]))

    def test_chosen_columns_keep_the_key_of_a_row(self):
        report = json.loads(self.report("--json", "--columns", "lock,wait_total").stdout)
        self.assertEqual(list(report["callers"][0]), ["caller", "lock", "wait_total_ns"])
        self.assertEqual(list(report["locks"][0]), ["lock", "wait_total_ns"])
        self.assertEqual(report["threads"][0], {})
        report = json.loads(self.report("--json", "--columns", "wait_total,caller").stdout)
        self.assertEqual(list(report["callers"][0]), ["wait_total_ns", "caller"])
        report = json.loads(self.report("--json", "--columns", "wait_total", "--table", "callers")
                            .stdout)
        self.assertEqual(list(report["callers"][0]), ["wait_total_ns"])

    def test_small_share_is_not_shown_as_zero(self):
        self.write(etl.file(etl.spinlock_rundown(1, 1, 4000, 0), lock(5), lock()))
        self.assertIn(" <0.1% ", self.report("--table", "locks").stdout)
        self.assertNotIn("<0.1%", self.report("--table", "callers", "--filter", "lock == 1").stdout)

    def test_no_blockers_hint_names_the_option(self):
        self.assertIn("record without --no-blockers, and not in mode waits", self.report("--table", "blockers").stderr)
        self.assertEqual(self.report().stderr, "")
        self.write(etl.file(etl.spinlock_rundown(), etl.ntklog_rundown(blockers=1), lock(rule=12)))
        self.assertEqual(self.report("--table", "blockers").stderr, "")

    def test_unknown_holders_of_locks_that_sleep_give_no_hint(self):
        """--blockers records holders of spin locks alone."""
        acquire = etl.START_CLOCK + 2 * etl.PERF_FREQ
        self.write(etl.file(etl.resource_rundown(), etl.perfinfo(
            0x052B, etl.resource_data(acquire=acquire, wait=10**6, hold=1),
            time_stamp=acquire + 1)))
        report = self.report("--table", "blockers")
        self.assertIn("(unknown)", report.stdout)
        self.assertEqual(report.stderr, "")

    def test_limits_in_the_wrong_order_are_refused(self):
        for command in "report", "dump":
            result = run_tool(command, "--from", "2", "--to", "1", self.path)
            self.assertEqual(result.returncode, 2)
            self.assertIn("--from is later than --to", result.stderr)
        self.report("--from", "1", "--to", "1")

    def test_selection_that_would_replace_another_one_is_refused(self):
        for option, value in (("--lock", "0x100"), ("--from", "1"), ("--to", "1"),
                              ("--filter", "Cpu == 0"), ("--names", "x"), ("--by", "cpu")):
            result = self.report(option, value, option, value, status=2)
            self.assertIn("%s is given twice" % option, result.stderr)

    def test_no_two_columns_have_one_title(self):
        for line in self.report("--columns", "all").stdout.splitlines():
            titles = re.split("  +", line.strip())
            if "hold p95" in titles or "run p95" in titles:
                self.assertEqual(len(titles), len(set(titles)))

    def test_csv_and_json_have_all_rows(self):
        self.write(etl.file(*(lock(address=0x100 + i) for i in range(35))))
        self.assertEqual(len(json.loads(self.report("--json").stdout)["locks"]), 35)
        self.assertEqual(len(self.rows_of_csv()), 35)
        self.assertEqual(len(json.loads(self.report("--json", "--top", "3").stdout)["locks"]), 3)
        self.assertIn("(20 of 35)", self.report().stdout)

    def test_names_from_the_standard_input_are_refused(self):
        self.assertIn("for the trace", self.report("--names", "-", status=2).stderr)

    def test_wrong_options_are_refused(self):
        for options, words in (
                (["--sort", "frobs"], '--sort: no printed table has a column "frobs"'),
                (["--columns", "lock,frobs"], '--columns: no printed table has a column "frobs'),
                (["--table", "frobs"], 'no table "frobs"'),
                (["--table", "threads", "--sort", "spins"], 'printed table has a column "spins"'),
                (["--top", "x"], "is no number"), (["--top", " -3"], "is no number"),
                (["--json", "--csv"], "one of --json")):
            with self.subTest(options):
                self.assertIn(words, self.report(*options, status=2).stderr)

    def test_damage_is_reported_after_what_is_before(self):
        with open(self.path, "rb") as stream:
            data = bytearray(stream.read())
        data[etl.SIZE + 0x48 + 0x20 + 0x48 + 2] = 0x77
        self.write(data)
        result = self.report("--json", status=1)
        self.assertIn("offset 0x%x: no event" % (etl.SIZE + 0x48 + 0x20 + 0x48),
                      result.stderr)
        self.assertEqual(len(json.loads(result.stdout)["locks"]), 1)

    def test_locks_and_threads_have_names(self):
        with open(self.path + ".names", "w") as stream:
            stream.write("0000000000000100 b big_lock\t[driver]\n0000000000000200 b small_lock\n"
                         "thread 11 worker\n")
        report = json.loads(self.report("--json").stdout)
        self.assertEqual(report["locks"][0]["lock"], "big_lock [driver]")
        self.assertEqual({row["thread"]: row["name"] for row in report["threads"]},
                         {11: "worker", 22: ""})

    def run_on_terminal(self, *options, **environment):
        try:
            master, slave = pty.openpty()
        except OSError:
            self.skipTest("this machine has no pseudo terminals")
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        process = subprocess.Popen([NTKLOG, "report", "--table", "locks", *options, self.path],
                                   stdout=slave, env={"TERM": "xterm", **environment})
        os.close(slave)
        text = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        process.wait()
        os.close(master)
        return text

    def test_text_fits_the_terminal(self):
        def width_of_report(*options):
            text = self.run_on_terminal(*options, NO_COLOR="1").decode().split("Spin locks, by",
                                                                               1)[1]
            return max(len(line) for line in text.split("\r\n"))
        self.assertLessEqual(width_of_report(), 80)
        self.assertGreater(width_of_report("--columns", "all"), 80)

    def test_sort_column_stays_on_a_narrow_terminal(self):
        text = self.run_on_terminal("--sort", "hold_max", NO_COLOR="1").decode().split("\r\n")
        heading = next(line for line in text if line.startswith("Spin locks, by hold_max"))
        self.assertIn("hold max", text[text.index(heading) + 1])
        self.assertIn("(--wide shows: records, ", "\n".join(text))

    def heading_of(self, text):
        lines = join_wrapped_lines(text).splitlines()
        return next(lines[i + 1] for i in range(len(lines)) if lines[i].startswith("Spin locks, by"))

    def test_most_important_columns_stay_on_a_narrow_terminal(self):
        heading = self.heading_of(self.report_at_width(80)).split()
        for word in "lock contended wait wait max hold hold max".split():
            self.assertIn(word, heading)
        piped = run_tool("report", "--table", "locks", self.path).stdout
        self.assertIn("(--wide shows: ", piped)
        self.assertLessEqual(max(map(len, piped[piped.index("Spin locks, by"):].splitlines())), 80)
        wide = self.report("--table", "locks", "--wide").stdout
        self.assertNotIn("(--wide shows: ", wide)
        left_out = re.search(r"\(--wide shows: ([^)]*)\)", piped).group(1)
        for title in re.split(r",\s+", left_out):
            self.assertNotIn("  " + title + "  ", self.heading_of(piped) + "  ")
            self.assertIn("  " + title + "  ", self.heading_of(wide) + "  ")

    def report_at_width(self, columns, table="locks"):
        return run_tool("report", "--table", table, self.path,
                        env={**os.environ, "COLUMNS": str(columns)}).stdout

    def test_tables_are_as_wide_as_the_terminal_but_not_below_50_characters(self):
        with open(self.path + ".names", "w", encoding="utf-8") as stream:
            stream.write("lock 0x100 %s\n" % (30 * "long_name"))
        for columns in -5, 1, 20, 50, 60, 70, 80, 90:
            for table in "locks", "callers", "resources", "threads":
                text = self.report_at_width(columns, table)
                self.assertLessEqual(max(map(len, text.splitlines())), max(columns, 50), text)
            self.assertEqual(self.heading_of(self.report_at_width(columns)).split()[0], "lock")
            self.assertIn("  wait", self.heading_of(self.report_at_width(columns)))

    def test_narrow_terminal_drops_the_least_important_column_first(self):
        counts = []
        for columns in range(60, 200, 10):
            text = self.report_at_width(columns)
            counts.append(len(re.split(r"  +", self.heading_of(text))))
            if "acquired" not in self.heading_of(text):
                self.assertNotIn("records", self.heading_of(text))
        self.assertEqual(counts, sorted(counts))
        self.assertGreater(counts[-1], counts[0])

    def test_long_names_are_shortened_on_a_terminal(self):
        with open(self.path + ".names", "w", encoding="utf-8") as stream:
            stream.write("lock 0x100 first_\u00e4" + 40 * "\u00e4" + "_last\n")
        text = self.run_on_terminal("--table", "callers", NO_COLOR="1").decode()
        table = text[text.index("Callers of spin locks, by"):].split("\r\n")
        self.assertLessEqual(max(map(len, table)), 80)
        self.assertRegex(text, r"first_\u00e4+\.\.\u00e4*_last")

    def test_only_a_terminal_gets_colours(self):
        self.assertIn(b"\x1b[", self.run_on_terminal())
        self.assertNotIn(b"\x1b[", self.run_on_terminal(NO_COLOR="1"))
        self.assertNotIn(b"\x1b[", self.run_on_terminal(TERM="dumb"))
        self.assertNotIn("\x1b[", self.report().stdout)


class Distributions(tool.Case):
    def report(self, *options):
        result = run_tool("report", *options, self.path)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_one_lock_has_its_distributions_by_powers_of_ten(self):
        """A cycle is 500 ns. Both rates are 1, so each record stands for itself."""
        self.write(etl.file(
            etl.spinlock_rundown(1, 1, 1, 0), *3 * [lock(1, hold=4, wait=40, address=0x100)],
            lock(1, hold=4000, wait=4000, address=0x100), lock(1, wait=40, address=0x200)))
        text = self.report("--lock", "0x100")
        self.assertEqual(text[text.index("How long"):text.index("\nWhen 0x100 is waited for")], """\
How long 0x100 is waited for and held
                 waits                      holds
from 1.00us                                 75.0% ##############
from 10.0us      75.0% ##############
from 100us
from 1.00ms      25.0% #####                25.0% #####
""")
        for options in ([], ["--lock", "0x100", "--csv"], ["--lock", "0x100", "--table", "locks"]):
            self.assertNotIn("How long", self.report(*options))

    def test_readers_and_writers_have_distributions_of_their_own(self):
        self.write(etl.file(etl.resource_rundown(1, 1),
                            etl.linux_lock_event("rwsem", 0x22, address=0x100, hold=40, wait=400),
                            etl.linux_lock_event("rwsem", 0x42, address=0x100, hold=4, wait=0)))
        text = self.report("--lock", "0x100")
        self.assertIn("How long 0x100 (rwsem exclusive) is waited for and held\n", text)
        self.assertIn("How long 0x100 (rwsem shared) is waited for and held\n", text)


class Page(html.parser.HTMLParser):
    """A tag that is not closed, or closed in another order, is an error."""

    VOID = {"meta", "rect", "line", "br", "wbr"}

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.errors, self.text = [], [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href") and not value.startswith("#"):
                self.errors.append("refers to %s" % value)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.errors.append("</%s>" % tag)

    def handle_data(self, data):
        self.text += data


class Html(Mixed):
    def parse_page(self):
        path = os.path.join(self.directory.name, "page.html")
        self.report("--html", path)
        with open(path) as stream:
            text = stream.read()
        page = Page()
        page.feed(text)
        page.close()
        self.assertEqual((page.errors, page.open), ([], []))
        return page, text

    def test_page_does_not_overwrite_the_file_or_its_names(self):
        names = self.path + ".names"
        with open(self.path, "rb") as stream:
            data = stream.read()
        with open(names, "w") as stream:
            stream.write("# names\n")
        os.symlink(names, self.path + ".link")
        for output in self.path, names, self.path + ".link":
            result = run_tool("report", "--html", output, self.path)
            self.assertEqual(result.returncode, 2)
            self.assertIn("choose another name", result.stderr)
        with open(self.path, "rb") as stream:
            self.assertEqual(stream.read(), data)
        self.assertEqual(os.path.getsize(names), 8)

    def test_page_is_whole_and_needs_nothing(self):
        page, text = self.parse_page()
        self.assertNotIn("http", text.replace("http://www.w3.org/2000/svg", "")
                         .replace("http-equiv", ""))
        # The data and the script are the last elements, and the page is complete without them.
        self.assertEqual((page.tags.count("script"), page.tags[-2:]), (2, ["script", "script"]))
        self.assertIsNone(re.search(r"<[^>]*\son\w+=", text))
        self.assertIn("prefers-color-scheme: dark", text)
        data = tool.pictures_of_page(text)
        self.assertEqual([line["title"] for line in data["timelines"]],
                         ["When spin locks were waited for", "When locks that sleep were waited for"])
        self.assertEqual({lock["is_sleeping"] for lock in data["locks"]}, {False, True})
        self.assertTrue(all(lock["times"] for lock in data["locks"]))

    def test_page_begins_with_the_answer_of_the_text(self):
        page, _ = self.parse_page()
        self.assertIn(self.report().stdout.split("\n\n")[0], page.text)

    @staticmethod
    def time_line_of(text, title):
        """The (time, sum) of each slot that is not empty by the label of its row, and the ends of
        the axis.
        """
        line, = [line for line in tool.pictures_of_page(text)["timelines"]
                 if line["title"] == title]
        return {row["label"]: [(line["origin"] + i * line["slot"], value)
                               for i, value in enumerate(row["sums"]) if value]
                for row in line["rows"]}, \
            (line["origin"], line["origin"] + line["slot"] * len(line["rows"][0]["sums"]))

    def test_page_has_time_lines_of_all_kinds(self):
        def event_at(seconds, hook_id, data, version=2):
            return etl.perfinfo(hook_id, data, version,
                                time_stamp=etl.START_CLOCK + int(seconds * etl.PERF_FREQ))

        self.write(etl.file(
            event_at(1, 0x0524, etl.context_swap_data(new=11, old=0), 4),
            event_at(2, 0x0529, etl.spin_lock(address=0x100, wait=500_000, spins=3)),
            event_at(3, 0x052B, etl.resource_data(address=0x700)),
            event_at(3, 0x0524, etl.context_swap_data(new=0, old=11), 4),
            event_at(3, 0x052B, etl.resource_data(address=0x600, wait=1_000_000)),
            event_at(8, 0x0F4C, struct.pack("<IIII", 1, 1, 1000, 0), 3)))
        _, text = self.parse_page()
        for title, label, begin, end, total in (
                ("When spin locks were waited for", "0x100", 1.75, 2, .25),
                ("When locks that sleep were waited for", "0x600", 2.5, 3, .5),
                ("When threads ran", "thread 11", 1, 3, 2)):
            rows, axis = self.time_line_of(text, title)
            bars = rows[label]
            # The axis extends from the start of the session to its last event.
            self.assertEqual(axis[0], 0)
            self.assertAlmostEqual(axis[1], 8, delta=.1)
            self.assertAlmostEqual(bars[0][0], begin, delta=.1)
            self.assertAlmostEqual(bars[-1][0], end, delta=.1)
            slot = bars[1][0] - bars[0][0]
            self.assertAlmostEqual(sum(sum_ for _, sum_ in bars) * slot, total, delta=.05)

    def test_a_wait_is_spread_over_its_time(self):
        """A wait of 3 s, and a hold of 1 s after it: no bar shows more than one waiting CPU."""
        second = etl.PERF_FREQ
        self.write(etl.file(etl.perfinfo(0x0529, etl.spin_lock(
            address=0x100, acquire=4 * second, release=5 * second, wait=3 * second, spins=9),
            time_stamp=etl.START_CLOCK + 5 * second)))
        _, text = self.parse_page()
        bars = self.time_line_of(text, "When spin locks were waited for")[0]["0x100"]
        self.assertAlmostEqual(max(sum_ for _, sum_ in bars), 1, delta=.01)
        self.assertAlmostEqual(bars[0][0], 1, delta=.1)
        self.assertAlmostEqual(bars[-1][0], 4, delta=.1)

    def test_page_omits_pictures_of_unknown_values(self):
        # A lock has no section if its records are only those of blockers.
        other = lock(5, wait=500_000, address=0x200)
        blocker = lock(5, rule=12, wait=900_000, address=0x100)
        # A sampled record has no depth: only locks with other records show depths.
        sampled = lock(5, rule=1, depth=0, wait=900_000, address=0x300)
        for mode, events, waited, nested in ((0, (blocker, other), ["0x200"], ["0x200"]),
                                             (0, (blocker,), [], []),
                                             (1, (sampled,), ["0x300"], []),
                                             (1, (sampled, other), ["0x300", "0x200"], ["0x200"])):
            self.write(etl.file(etl.spinlock_rundown(), etl.ntklog_rundown(mode, blockers=1),
                                *events))
            data = tool.pictures_of_page(self.parse_page()[1])
            self.assertEqual([row["label"] for line in data["timelines"] for row in line["rows"]],
                             waited)
            self.assertEqual([each["name"] for each in data["locks"]], waited)
            self.assertEqual([each["name"] for each in data["locks"] if "depths" in each], nested)

    def test_page_hides_rows_beyond_the_first_ten(self):
        self.write(etl.file(*(lock(3, address=0x100 * i, wait=i) for i in range(1, 31))))
        _, text = self.parse_page()
        parts = text.split("<h2>Spin locks")[1].split("<h2>")[0].split("<tbody>")
        self.assertEqual([part.count("<tr>") for part in parts[1:]], [10, 20])
        # With --top the page says how many rows are shown of how many.
        text = self.report("--html", "-", "--top", "7", "--table", "locks").stdout
        self.assertEqual(text.count("<tr><td"), 7)
        self.assertIn("7 of 30 rows", text)

    def test_page_says_how_many_locks_have_no_section(self):
        self.write(etl.file(*(lock(3, address=0x100 * i, wait=i) for i in range(1, 31))))
        data = tool.pictures_of_page(self.parse_page()[1])
        self.assertEqual(([each["name"] for each in data["locks"][:2]], len(data["locks"]),
                          data["lock_count"]), (["0x1e00", "0x1d00"], 12, 30))

    def test_page_has_only_the_wanted_tables(self):
        path = os.path.join(self.directory.name, "page.html")
        self.report("--html", path, "--table", "threads", "--table", "unknown")
        with open(path) as stream:
            text = stream.read()
        self.assertEqual(text.count("<table>"), 2)
        data = tool.pictures_of_page(text)
        self.assertEqual((data["timelines"], data["locks"]), ([], []))

    def test_page_is_written_to_the_standard_output(self):
        self.assertTrue(self.report("--html", "-").stdout.startswith("<!DOCTYPE html>"))
        self.assertFalse(os.path.exists("-"))

    def test_tables_without_columns_are_left_out(self):
        path = os.path.join(self.directory.name, "page.html")
        self.report("--html", path, "--columns", "caller")
        with open(path) as stream:
            self.assertEqual(stream.read().count("<table>"), 1)

    def test_html_in_names_is_escaped(self):
        with open(self.path + ".names", "w") as stream:
            stream.write("0000000000000100 b <script>alert(1)</script>&\"\n")
        page, text = self.parse_page()
        self.assertEqual(text.count("<script"), 2)
        self.assertIn("<script>alert(1)</script>", page.text)

    def test_names_do_not_end_the_data_of_the_pictures(self):
        """Names that would end the element, begin a comment, or end a string."""
        for name in ('</script><b>', "<!--<script>", "]]>&amp;'\\u003c", "a\\", "\u2028\u20ac"):
            self.write(etl.file(lock(3, address=0x100, wait=9)))
            with open(self.path + ".names", "w", encoding="utf-8") as stream:
                stream.write("0000000000000100 b %s\n" % name)
            page, text = self.parse_page()
            self.assertEqual(text.count("<script"), 2)
            self.assertIn(name, [each["name"] for each in tool.pictures_of_page(text)["locks"]])
            self.assertIn(name, page.text)

    def test_bytes_that_are_no_utf_8_are_replaced(self):
        path = os.path.join(self.directory.name, "a\udcff\n<b>.etl")
        with open(path, "wb") as stream:
            stream.write(etl.file(lock(3, address=0x100, wait=9)))
        with open(path + ".names", "wb") as stream:
            stream.write(b"0000000000000100 b \xff\xc3(\n")
        page = os.path.join(self.directory.name, "page.html")
        result = run_tool("report", "--html", page, path)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(page, encoding="utf-8") as stream:
            text = stream.read()
        self.assertIn("a?", text)
        self.assertEqual([each["name"] for each in tool.pictures_of_page(text)["locks"]], ["??("])

    def test_page_without_events_has_no_pictures(self):
        self.write(etl.header_buffer(1))
        _, text = self.parse_page()
        self.assertEqual(tool.pictures_of_page(text),
                         {"timelines": [], "locks": [], "lock_count": 0})

    def test_page_that_cannot_be_written_is_reported(self):
        result = self.report("--html", "/nonexistent/page.html", status=1)
        self.assertIn("/nonexistent/page.html: No such file or directory", result.stderr)
        self.assertIn("cannot write", self.report("--html", "/dev/full", status=1).stderr)


if __name__ == "__main__":
    tap.main()
