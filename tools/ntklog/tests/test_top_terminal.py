#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""ntklog top restores its terminal, and fits any."""

import os
import re
import select
import signal
import subprocess
import termios

import etl_writer as etl
import tap
from module import NTKLOG
from top_case import TopCase

ALTERNATE, NORMAL = "\x1b[?1049h", "\x1b[?1049l"
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"
CLEAR = "\x1b[H\x1b[J"


class Terminal(TopCase):
    def setUp(self):
        super().setUp()
        self.log_events(self.spin_event(2))

    def read_until(self, terminal, text):
        shown = ""
        while text not in shown:
            self.assertTrue(select.select([terminal], [], [], 60)[0], "no %r after %r" % (text, shown))
            shown += os.read(terminal, 1).decode("latin-1")
        return shown

    def read_rest(self, terminal):
        """Read the terminal until nothing comes for 0.2 seconds, but at most 100 times."""
        shown = ""
        for _ in range(100):
            if not select.select([terminal], [], [], .2)[0]:
                break
            shown += os.read(terminal, 65536).decode("latin-1")
        return shown

    def start_top(self, *arguments, **options):
        """Returns process, terminal and its former settings."""
        process, terminal, slave = self.start_on_terminal("top", "-e", "spinlock", *arguments, **options)
        before = self.former_settings
        self.wait_for(lambda: termios.tcgetattr(slave) != before)
        return process, terminal, slave, before

    def check_restored(self, shown, slave, before):
        """The last of SHOWN restores the screen, and a message may follow."""
        self.assertIn(ALTERNATE + HIDE + CLEAR, shown)
        rest = shown[shown.rindex(ALTERNATE):]
        self.assertRegex(rest, re.escape(SHOW + NORMAL) + r"[^\x1b]*$")
        self.assertEqual(termios.tcgetattr(slave), before)

    def test_signals_restore_the_terminal(self):
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
            process, terminal, slave, before = self.start_top("-d", ".1")
            shown = self.read_until(terminal, "Spin locks")
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=60), 0, number)
            self.check_restored(shown + self.read_rest(terminal), slave, before)
            self.assertEqual(self.read_session_file(7, "state"), "stopped\n")

    def test_error_restores_the_terminal_and_stays_readable(self):
        process, terminal, slave, before = self.start_top("-d", ".1", stderr=subprocess.STDOUT)
        shown = self.read_until(terminal, "Spin locks")
        with open(self.session_path(7, "cpu0"), "ab") as stream:
            stream.write(b"\xee" * 65536)
        self.assertEqual(process.wait(timeout=60), 1)
        shown += self.read_rest(terminal)
        self.check_restored(shown, slave, before)
        self.assertRegex(shown, re.escape(NORMAL) + "ntklog: session 7: .*\r\n$")
        self.assertEqual(self.read_session_file(7, "state"), "stopped\n")

    def test_stop_signal_restores_the_terminal_until_it_goes_on(self):
        script = 'set -m; "$0" "$@"; echo has stopped; read line; fg'
        process, terminal, slave = self.start_on_terminal(
            "-c", script, NTKLOG, "top", "-e", "spinlock", "-d", ".1", executable="/bin/sh")
        before = self.former_settings
        shown = self.read_until(terminal, "Spin locks")
        with open("/proc/%d/task/%d/children" % (2 * (process.pid,))) as stream:
            os.kill(int(stream.read()), signal.SIGTSTP)
        shown += self.read_until(terminal, "has stopped")
        self.check_restored(re.sub("has stopped$", "", shown), slave, before)
        os.write(terminal, b"\n")
        shown = self.read_until(terminal, "Spin locks")
        self.assertIn(ALTERNATE + HIDE + CLEAR, shown)
        self.assertNotEqual(termios.tcgetattr(slave), before)
        os.write(terminal, b"q")
        self.assertEqual(process.wait(timeout=60), 0)
        self.check_restored(shown + self.read_rest(terminal), slave, before)

    def test_terminal_changed_while_top_was_stopped_is_set_again(self):
        process, terminal, slave, before = self.start_top("-d", "600")
        os.write(terminal, b"h")
        self.read_until(terminal, "Spin locks")
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        raw = termios.tcgetattr(slave)
        termios.tcsetattr(slave, termios.TCSANOW, before)
        process.send_signal(signal.SIGCONT)
        shown = self.read_until(terminal, "Spin locks")
        self.assertIn(ALTERNATE + HIDE + CLEAR, shown)
        self.assertEqual(termios.tcgetattr(slave), raw)
        self.quit_by_key(process, terminal)
        self.check_restored(shown + self.read_rest(terminal), slave, before)

    def check_screens(self, shown, rows, columns):
        screens = re.sub("\x1b\\[0?1?m", "", shown.replace("\r", "")).split(CLEAR)[1:]
        self.assertTrue(screens)
        for screen in screens:
            lines = re.sub("\x1b\\[\\?.*", "", screen).split("\n")
            self.assertLessEqual(len(lines), rows, screen)
            self.assertLessEqual(max(map(len, lines)), columns, screen)

    def test_new_size_of_the_terminal_is_used_at_once(self):
        process, terminal, _, _ = self.start_top("-d", "600")
        os.write(terminal, b"h")
        self.read_until(terminal, "Spin locks")
        self.read_rest(terminal)
        for rows, columns in (5, 20), (1, 1), (24, 80):
            self.resize_terminal(terminal, rows, columns)
            shown = self.read_until(terminal, CLEAR) + self.read_rest(terminal)
            self.check_screens(shown, rows, columns)
        if "Spin locks" not in shown:
            self.read_until(terminal, "Spin locks")
        self.quit_by_key(process, terminal)

    def test_output_fits_a_tiny_terminal(self):
        self.write_held_waits(0x80, 0x81, 0x82, 0x83)
        for size in (5, 20), (1, 1), (2, 300), (300, 2):
            events = [self.spin_event(2, address=0xffff888000000100 + 64 * i) for i in range(14)]
            process, terminal, slave, before = self.start_top("-e", "spinlock,linux_mutex", "-d",
                                                              ".1",
                                                              size=size)
            with self.with_repeated_events(*events):
                shown = self.read_until(terminal, CLEAR)
                os.write(terminal, b"hf8\n ")
                for _ in range(3):
                    shown += self.read_until(terminal, CLEAR)
                    os.write(terminal, b" ")
            self.quit_by_key(process, terminal)
            shown += self.read_rest(terminal)
            self.check_screens(shown, *size)
            self.check_restored(shown, slave, before)

    def test_dumb_terminal_gets_no_control_sequences(self):
        for term in "dumb", "":
            process, terminal, slave, before = self.start_top("-d", ".1", term=term)
            shown = self.read_until(terminal, "Spin locks") + self.read_until(terminal, "Spin locks")
            self.quit_by_key(process, terminal)
            self.assertNotIn("\x1b", shown + self.read_rest(terminal))
            self.assertEqual(termios.tcgetattr(slave), before)

    def test_once_leaves_its_screen_in_the_terminal(self):
        process, terminal, slave = self.start_on_terminal("top", "-e", "spinlock", "-d", ".1", "--once")
        self.assertEqual(process.wait(timeout=60), 0)
        shown = self.read_rest(terminal)
        self.assertTrue(shown.startswith(CLEAR + "ntklog top"))
        self.assertNotIn("\x1b[?", shown)

    def test_top_in_the_background_draws_nothing(self):
        script = ('set -m; "$0" "$@" & read line; kill -INT $!; wait $!; echo ended with $?')
        process, terminal, slave = self.start_on_terminal(
            "-c", script, NTKLOG, "top", "-e", "spinlock", "-d", ".1", executable="/bin/sh")
        before = self.former_settings
        self.wait_for(lambda: self.read_session_file(7, "state") == "started\n")
        shown = self.read_rest(terminal)
        os.write(terminal, b"\n")
        shown += self.read_until(terminal, "ended with 0")
        self.assertNotIn("Spin locks", shown)
        self.assertEqual(termios.tcgetattr(slave), before)
        process.wait(timeout=60)

    def test_closed_pipe_ends_top_silently(self):
        for options in [], ["--json"]:
            process = self.start_tool("top", "-e", "spinlock", "-d", ".1", *options,
                                      stdout=subprocess.PIPE)
            process.stdout.readline()
            process.stdout.close()
            error = process.stderr.read()
            self.assertEqual(process.wait(timeout=60), -signal.SIGPIPE)
            self.assertEqual((error, self.read_session_file(7, "state")), (b"", "stopped\n"))

    def test_full_disk_ends_top(self):
        with open("/dev/full", "w") as full:
            result = self.run_tool("top", "-e", "spinlock", "-d", ".1", stdout=full,
                                   capture_output=False, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "ntklog: cannot write: No space left on device\n")
        self.assertEqual(self.read_session_file(7, "state"), "stopped\n")


if __name__ == "__main__":
    tap.main()
