# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of ntklog top share.

Usage of a test: test_NAME.py NTKLOG FAKE_MODULE
"""

import contextlib
import fcntl
import itertools
import os
import pty
import re
import select
import struct
import termios
import threading

import etl_writer as etl
from module import STATS, ParameterDirectory


class TopCase(ParameterDirectory):
    """The parameters and records of the directory do not change by themselves."""

    def log_events(self, *events):
        self.write_session(7, etl.header_buffer(2), etl.buffer(events))
        self.write_session_file(7, "stats", STATS % 0)

    @staticmethod
    def spin_event(spins=0, hold=100, **changes):
        return etl.perfinfo(0x0529, etl.spin_lock(spins=spins, acquire=1000, release=1000 + hold,
                                                  **changes))

    def press_keys(self, terminal, keys, pattern, whole=False):
        """Press keys, and read screens until one matches. With WHOLE it must be complete:
        another screen has followed.
        """
        os.write(terminal, keys)
        shown = ""
        for _ in range(200):
            if not select.select([terminal], [], [], 60)[0]:
                break
            shown += os.read(terminal, 65536).decode().replace("\r", "")
            shown = re.sub("\x1b\\[[0-9]*m", "", shown)
            for screen in shown.split("\x1b[H\x1b[J")[:-1 if whole else None]:
                if re.search(pattern, screen, re.S):
                    return screen
            if "\x1b[H" in shown:
                shown = shown[shown.rindex("\x1b[H"):]
        self.fail("no screen has " + pattern + ", the last is " + shown)

    def resize_terminal(self, terminal, rows, columns):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def start_on_terminal(self, *arguments, term="xterm", size=(40, 120), **options):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.resize_terminal(slave, *size)
        # The tool may change them before start_tool() returns.
        self.former_settings = termios.tcgetattr(slave)
        process = self.start_tool(
            *arguments, stdin=slave, stdout=slave, start_new_session=True,
            env={**self.make_environment(), "TERM": term},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **options)
        self.addCleanup(os.close, slave)
        return process, master, slave

    def with_repeated_events(self, *events):
        return self.with_repeated_action(.05, lambda turn: self.append_events(*events))

    @contextlib.contextmanager
    def with_repeated_action(self, seconds, action):
        """Meanwhile, call ACTION with 0, 1, 2 and so on, each after some seconds."""
        stop = threading.Event()

        def act_repeatedly():
            for turn in itertools.count():
                if stop.wait(seconds):
                    break
                action(turn)

        thread = threading.Thread(target=act_repeatedly)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def write_held_waits(self, *locks):
        self.write_file("held",
                        "Address Kind Mode State ThreadId Microseconds Waits Symbol Caller Task\n" +
                        "".join("0x%x mutex exclusive held 5 9000000 1 - f+0x1/0x2 holder\n"
                                "0x%x mutex exclusive waiting 6 8000000 0 - f+0x1/0x2 waiter\n" %
                                (lock, lock)
                                for lock in locks))

    def quit_by_key(self, process, terminal):
        os.write(terminal, b"q")
        self.assertEqual(process.wait(timeout=60), 0)
