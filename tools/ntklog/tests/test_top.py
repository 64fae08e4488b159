#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog top on sessions like the module's."""

import json
import os
import re
import select
import subprocess
import termios

import etl_writer as etl
import tap
from module import NTKLOG, STATS
from tool import undescribed_fields
from top_case import TopCase

KERNEL = """ffffffff81000000 T _text
ffffffff81234000 T caller
ffffffff81234568 t after
"""


class Top(TopCase):
    def run_top_once(self, *events):
        self.log_events(*events)
        result = self.run_tool("top", "--once", "--json", "-d", ".1")
        self.assertEqual(result.returncode, 0, result.stderr)
        top = json.loads(result.stdout)
        self.assertEqual(undescribed_fields({**top, "rates": {}}, "report"), set())
        return top

    def test_rows_of_mode_waits_have_no_holds(self):
        self.set_parameter("linux_mode", "waits")
        top = self.run_top_once(*3 * [self.spin_event(5, rule=2, hold=0, depth=0)])
        self.assertEqual(top["rates"]["linux"], {"mode": "waits"})
        for row in top["locks"] + top["callers"]:
            self.assertEqual(row["sampled"], 3)
            for column in ("acquisitions", "contended", "hold_total_ns", "hold_mean_ns", "depth"):
                self.assertIsNone(row[column], column)

    def test_damaged_events_are_left_out_and_counted(self):
        good, bad = self.spin_event(3), self.spin_event(3, hold=1 << 62)
        events = [good, bad, etl.perfinfo(0x0529, bytes(0x30)), good]
        top = self.run_top_once(*events)
        self.assertEqual((top["locks"][0]["sampled"], top["damaged_events"]), (2, 2))
        for options in (), ("--by", "stack"):
            self.log_events(*events)
            result = self.run_tool("top", "--once", "-d", ".1", *options)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(" lost/s, DAMAGED: 2 (session 7)\n", result.stdout)
            self.assertEqual(re.findall("session 7: offset 0x.*", result.stderr),
                             ["session 7: offset 0x1090: SpinLock: its times are impossible; "
                              "such events are left out"])

    def test_records_sampled_at_the_acquisition_have_no_hold_threshold(self):
        self.set_parameter("linux_mode", "sampled")
        top = self.run_top_once(*3 * [self.spin_event(rule=1, hold=1000001, depth=0)])
        (row,) = top["locks"]
        self.assertEqual(row["acquisitions"], 3000)
        self.assertAlmostEqual(row["acquisitions_error"], (3 * 1000 * 999) ** .5 / 3000)
        self.assertAlmostEqual(row["hold_total_ns"], 3000 * 1000001 * 1e9 / etl.PERF_FREQ)

    def test_records_of_blockers_are_in_no_estimate(self):
        self.set_parameter("linux_mode", "full")
        self.set_parameter("spinlock/blockers", 10)
        top = self.run_top_once(etl.spinlock_rundown(hold=1000000), etl.ntklog_rundown(blockers=10),
                                *3 * [self.spin_event(rule=12)])
        self.assertEqual((top["locks"], top["callers"]), ([], []))
        self.assertEqual((top["rates"]["blockers"], top["rates_changed"]), (10, False))
        self.assertTrue(self.run_top_once(etl.ntklog_rundown(blockers=10),
                                          etl.ntklog_rundown(blockers=11,
                                                             end=True))["rates_changed"])

    def test_a_module_without_modes_has_no_rules(self):
        top = self.run_top_once(self.spin_event(rule=2), self.spin_event(rule=12))
        self.assertEqual(top["locks"][0]["acquisitions"], 2000)
        self.assertNotIn("linux", top["rates"])
        # Modules have had modes before they had blockers.
        self.set_parameter("linux_mode", "waits")
        top = self.run_top_once(self.spin_event(5, rule=2, hold=0))
        self.assertEqual(top["rates"]["linux"], {"mode": "waits"})
        self.assertIsNone(top["locks"][0]["hold_total_ns"])

    def test_top_shows_the_tables_of_its_groups(self):
        """A group is a bit in one word of the mask; bit 0x4 of another word means context switches.
        """
        self.log_events(self.spin_event(), etl.linux_lock_event("mutex"),
                        etl.perfinfo(0x0524, etl.context_swap_data(), 4))
        for groups, titles in (("linux_mutex", ["Linux' locks that sleep"]),
                               ("linux_rt_mutex,linux_rwlock", ["Spin locks", "Linux' locks that sleep"]),
                               ("contextswap", ["Threads", "Context switches of processors"]),
                               ("spinlock,resource", ["Spin locks", "Linux' locks that sleep"])):
            result = self.run_tool("top", "--once", "-d", ".1", "-n", "3", "-e", groups)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual([line.split(", by ")[0] for line in result.stdout.splitlines()
                              if ", by " in line], titles, groups)
        self.assertRegex(result.stdout, r"\n0xffff888012345678 +mutex +exclusive ")

    def test_cheaper_modes_leave_out_locks_that_sleep(self):
        self.write_file("linux", "rwlock: off, 19 functions\nmutex: off, 9 functions\n")
        for mode, wanted in (("waits", ""), ("full", " PERF_LINUX_MUTEX")):
            self.set_parameter("linux_mode", mode)
            self.log_events(self.spin_event())
            result = self.run_tool("top", "--once", "-d", ".1")
            self.assertEqual(self.groups_of_session(7),
                             "PERF_SPINLOCK PERF_SYNC_OBJECTS PERF_LINUX_RWLOCK" + wanted)
            self.assertEqual("not recorded" in result.stderr, not wanted)

    def test_unreadable_parameters_are_reported(self):
        self.log_events()
        for name, value, words in (("linux_mode", "most", "linux_mode: Invalid argument"),
                                   ("spinlock/blockers", "x", "blockers: Invalid argument"),
                                   ("spinlock/hold_threshold", "4294967296",
                                    "spinlock hold_threshold: Invalid argument"),
                                   ("resource/release_sample_rate", "",
                                    "resource release_sample_rate: Invalid argument")):
            for good in {"linux_mode": "full", "spinlock/blockers": 0, **self.PARAMETERS}.items():
                self.set_parameter(*good)
            self.set_parameter(name, value)
            result = self.run_tool("top", "--once", "--json", "-d", ".1")
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn(words, result.stderr)

    def test_recordings_have_sessions_of_their_own(self):
        self.log_events(self.spin_event())
        self.write_session(6, etl.header_buffer(2), etl.buffer([self.spin_event()]))
        self.write_session_file(6, "stats", STATS % 0)
        process = self.start_tool("top", "-e", "resource", "-d", "600", stdout=subprocess.DEVNULL)
        self.wait_for(lambda: self.read_session_file(7, "state") == "started\n")
        result = self.run_tool("record", "--no-names", "-e", "contextswap", "--duration", ".1",
                               "-o",
                               os.path.join(self.directory, "a.etl"))
        self.assertEqual(result.returncode, 0, result.stderr)
        process.terminate()
        process.communicate()
        self.assertEqual(process.returncode, 0)
        self.assertEqual((self.groups_of_session(7), self.groups_of_session(6)),
                         ("PERF_SYNC_OBJECTS", "PERF_CONTEXT_SWITCH"))

    def test_signal_while_the_start_attaches_stops_everything(self):
        self.write_session_file(7, "slow_start", "")
        process = self.start_tool("top", "--once", stdout=subprocess.DEVNULL)
        self.wait_for(lambda: os.path.exists(self.session_path(7, "is_starting")))
        process.terminate()
        error = process.communicate(timeout=600)[1].decode()
        self.assertEqual(process.returncode, 1)
        self.assertIn("session 7: interrupted while it started", error)
        self.assertEqual(self.read_session_file(7, "state"), "stopped\n")

    def start_with_class(self, delay):
        address = 0xffff888000000100
        events = [etl.linux_lock_event("mutex", address=address)]
        self.log_events(*events)
        self.write_file("identities", "0x%x 3 1 symbol my_class+0x0/0x8 by f+0x1/0x2\n" % address)
        self.write_held_waits(address)
        return (*self.start_on_terminal("top", "-e", "linux_mutex", "-d", delay), events)

    def test_locks_one_by_one_need_no_whole_interval(self):
        process, terminal, _, events = self.start_with_class("600")
        with self.with_repeated_events(*events):
            self.press_keys(terminal, b"h", "Keys:")
            self.press_keys(terminal, b"h", r"\nmy_class ")
            self.press_keys(terminal, b"a", r"\n0xffff888000000100 my_class ")
            self.press_keys(terminal, b"a", r"\nmy_class ")
            self.quit_by_key(process, terminal)

    def test_filter_by_class_keeps_the_waits_that_go_on(self):
        process, terminal, _, events = self.start_with_class(".2")
        with self.with_repeated_events(*events):
            wait = "waiter .6. waits for mutex 0xffff888000000100 my_class, held by holder"
            self.press_keys(terminal, b"fmy_c\n", '"my_c" in.*\nmy_class .*' + wait)
            screen = self.press_keys(terminal, b"fmy c\n", '"my c" in', whole=True)
            self.assertNotIn("my_class", screen)
            self.quit_by_key(process, terminal)

    def test_help_leaves_the_first_line_on_the_screen(self):
        spins = [self.spin_event(2, wait=5, address=0xffff888000000100 + 64 * i) for i in range(14)]
        sleeps = [etl.linux_lock_event("mutex", address=0xffff888000100100 + 64 * i)
                  for i in range(14)]
        self.log_events(*spins)
        self.write_held_waits(0x80, 0x81, 0x82, 0x83)
        process, terminal, slave = self.start_on_terminal("top", "-e", "spinlock,linux_mutex",
                                                          "-d", ".2")
        self.resize_terminal(slave, 24, 120)
        with self.with_repeated_events(*spins, *sleeps):
            screen = self.press_keys(terminal, b"hf8\n",
                                     '"8" in.*Keys:.*\n0xffff888000000.*\n0xffff8880001.*0x82',
                                     whole=True)
            self.assertLess(screen.count("\n"), 24)
            self.quit_by_key(process, terminal)

    def test_rows_fill_the_screen_up_to_the_line_of_the_cursor(self):
        spins = [self.spin_event(2, wait=5, address=0xffff888000000100 + 64 * i) for i in range(30)]
        self.log_events(*spins)
        process, terminal, _ = self.start_on_terminal("top", "-e", "spinlock", "-d", ".2",
                                                      size=(24, 120))
        with self.with_repeated_events(*spins):
            screen = self.press_keys(terminal, b"", "Spin locks, by .* of 30", whole=True)
            self.assertEqual(screen.count("\n"), 23)
            self.quit_by_key(process, terminal)

    def test_keys_change_the_screen(self):
        events = [self.spin_event(2, wait=5, address=0xffff888000000100),
                  self.spin_event(2, wait=9, address=0xffff888000000200)]
        self.log_events(*events)
        process, terminal, slave = self.start_on_terminal("top", "-e", "spinlock", "-d", ".2")
        before = self.former_settings
        with self.with_repeated_events(*events):
            self.press_keys(terminal, b"", "0100.*0200|0200.*0100")
            self.press_keys(terminal, b"h", "Keys: s sort")
            first = self.press_keys(terminal, b"h", r"Spin locks, by [^\n]*\n")
            order = re.search("Spin locks, by (.*)", first)[1]
            screen = self.press_keys(terminal, b"s",
                                     r"Spin locks, by (?!%s\n)[^\n]*\n" % re.escape(order))
            self.assertNotIn("Keys:", screen)
            screen = self.press_keys(terminal, b"f200\n",
                                     'with "200" in their names\n.*Spin locks.*0200')
            self.assertNotIn("0100", screen)
            self.press_keys(terminal, b"f\n", "Spin locks.*(0100.*0200|0200.*0100)")
            # Keys of the filter are no commands.
            self.press_keys(terminal, b"fqa\x7f\x7f\x7fx", 'with "x_" in')
            os.write(terminal, b"\nq")
            self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(termios.tcgetattr(slave), before)
        self.assertEqual(self.read_session_file(7, "state"), "stopped\n")

    def test_quit_key_restores_the_terminal(self):
        self.log_events(self.spin_event(2))
        process, terminal, slave = self.start_on_terminal("top", "-e", "spinlock", "-d", "60")
        before = self.former_settings
        self.wait_for(lambda: termios.tcgetattr(slave) != before)
        os.write(terminal, b"\x1c")
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(termios.tcgetattr(slave), before)

    def test_stop_key_restores_the_terminal(self):
        self.log_events(self.spin_event(2))
        script = 'set -m; "$0" "$@"; echo has stopped; read line; fg'
        process, terminal, slave = self.start_on_terminal(
            "-c", script, NTKLOG, "top", "-e", "spinlock", "-d", "60", executable="/bin/sh")
        before = self.former_settings
        self.wait_for(lambda: termios.tcgetattr(slave) != before)
        self.press_keys(terminal, b"\x1a", "has stopped")
        self.assertEqual(termios.tcgetattr(slave), before)
        os.write(terminal, b"\n")
        self.wait_for(lambda: termios.tcgetattr(slave) != before)
        os.write(terminal, b"q")
        self.assertEqual(process.wait(timeout=60), 0)
        self.assertEqual(termios.tcgetattr(slave), before)

    def test_keys_change_the_paused_screen(self):
        events = [self.spin_event(2, wait=5, address=0xffff888000000100),
                  self.spin_event(2, wait=9, address=0xffff888000000200)]
        self.log_events(*events)
        process, terminal, _ = self.start_on_terminal("top", "-e", "spinlock", "-d", ".2")
        with self.with_repeated_events(*events):
            self.press_keys(terminal, b"", "0100.*0200|0200.*0100")
            screen = self.press_keys(terminal, b" ",
                                     r"Paused: space goes on\n.*Spin locks, by [^\n]*\n")
            order = re.search("Spin locks, by (.*)", screen)[1]
            self.press_keys(terminal, b"h", "Paused.*Keys: s sort")
            self.press_keys(terminal, b"s", r"Spin locks, by (?!%s\n)[^\n]*\n" % re.escape(order))
            self.press_keys(terminal, b"f200", r'"200_" in.*\n0xffff888000000200')
            self.press_keys(terminal, b"\nf\n", "Paused.*(0100.*0200|0200.*0100)")
            self.assertNotIn("Paused",
                             self.press_keys(terminal, b" ", r"ntklog top(?!.*Paused).*0100"))
            self.quit_by_key(process, terminal)

    def test_pause_keeps_the_screen(self):
        self.log_events(self.spin_event(2))
        process, terminal, _ = self.start_on_terminal("top", "-e", "spinlock", "-d", ".1")
        self.press_keys(terminal, b"", "Spin locks")
        os.write(terminal, b" ")
        # The interval that ran while the key came may still be shown.
        for _ in range(50):
            if not select.select([terminal], [], [], 1)[0]:
                break
            os.read(terminal, 65536)
        else:
            self.fail("the screen goes on")
        self.press_keys(terminal, b" ", "Spin locks")
        process.terminate()
        self.assertEqual(process.wait(timeout=60), 0)

    def test_waits_that_go_on_have_their_holders(self):
        self.write_held_waits(0x10)
        self.log_events()
        result = self.run_tool("top", "--once", "-d", ".1", "-e", "linux_mutex")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Waits that go on\n   8.00s  waiter (6) waits for mutex 0x10, held by holder (5)\n",
                      result.stdout)
        result = self.run_tool("top", "--once", "-d", ".1", "-e", "spinlock")
        self.assertNotIn("go on", result.stdout)

    def test_module_in_place_of_another_has_its_own_symbols(self):
        """The number of modules stays the same."""
        proc = os.path.join(self.directory, "proc")
        os.mkdir(proc)
        self.ENVIRONMENT = {"NTKLOG_PROC": proc}
        module = "ffffffffc0100000 t %s_code\t[%s]\nffffffffc0100040 d %s_lock\t[%s]\n"
        self.write_file("proc/kallsyms", KERNEL + module % (4 * ("old",)))
        self.write_file("proc/modules", "old 16384 1 - Live 0xffffffffc0100000\n")
        events = [self.spin_event(spins=1, address=0xffffffffc0100048)]
        self.log_events(*events)
        out = os.path.join(self.directory, "top.json")
        with open(out, "w") as stream:
            process = self.start_tool("top", "--json", "-d", ".1", "-e", "spinlock", stdout=stream)
        self.wait_for(lambda: "old_lock" in self.read_file("top.json"))
        self.write_file("proc/kallsyms", KERNEL + module % (4 * ("new",)))
        self.write_file("proc/modules", "new 16384 1 - Live 0xffffffffc0100000\n")

        def new_lock_is_shown():
            self.append_events(*events)
            return "new_lock" in self.read_file("top.json")

        self.wait_for(new_lock_is_shown)
        process.terminate()
        process.communicate()


if __name__ == "__main__":
    tap.main()
