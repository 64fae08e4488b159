#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The Python package ntklog reads pipes, and signals end that.

Usage: test_python_pipes.py NTKLOG PACKAGE
"""

import os
import signal
import struct
import subprocess
import sys
import threading
import time

import etl_writer as etl
import tap
import tool
from python_case import PACKAGE, Python, run_python


class Pipes(Python):
    SCRIPT = """
import sys, ntklog
with ntklog.open("-") as trace:
    for event in trace:
        print(event.name, flush=True)
"""

    def test_pipe_is_read(self):
        data = etl.file(etl.perfinfo(0x0529, etl.spin_lock()))
        result = run_python(self.SCRIPT, input=data, text=False)
        self.assertEqual((result.returncode, result.stderr), (0, b""))
        self.assertEqual(result.stdout.split()[-1], b"SpinLock")

    def start_script(self, script):
        with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": PACKAGE},
                              # A job in the background of a shell ignores the signal.
                              preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
                              ) as child:
            killer = threading.Timer(60, child.kill)
            killer.start()
            try:
                child.stdin.write(etl.file(etl.perfinfo(0x0529, etl.spin_lock())))
                child.stdin.flush()
                yield child
            finally:
                killer.cancel()
                child.kill()

    def test_signal_ends_the_wait_for_a_pipe(self):
        for child in self.start_script(self.SCRIPT):
            self.assertEqual(child.stdout.readline(), b"LogFileHeader\n")
            child.send_signal(signal.SIGINT)
            self.assertIn(b"KeyboardInterrupt", child.stderr.read())
            self.assertEqual(child.wait(), -signal.SIGINT)

    def test_signal_ends_the_opening_of_a_pipe(self):
        """The pipe has no writer, no data, or a part of the first buffer; or the
        header of a flight recording, which is copied before it is read.
        """
        pipe = os.path.join(self.directory.name, "pipe")
        os.mkfifo(pipe)
        script = """
import os, signal, sys, ntklog
class Stopped(Exception):
    pass
def count_signal(*_):
    global signals
    signals += 1
    print("signal", flush=True)
    if signals == 2:
        raise Stopped
signals = 0
signal.signal(signal.SIGUSR1, count_signal)
try:
    print("ready", flush=True)
    ntklog.open(sys.argv[1])
except Stopped:
    print("stopped", len(os.listdir("/proc/self/fd")))
"""
        header = etl.header_buffer(1)
        # Behind the end's time: TimerResolution, MaximumFileSize, LogFileMode, BuffersWritten.
        circular = header.replace(struct.pack("<qIIII", 2, 0, 0, 1, 1),
                                  struct.pack("<qIIII", 2, 0, 0, 2, 1))
        for data in None, b"", header[:100], circular:
            with subprocess.Popen([sys.executable, "-c", script, pipe], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "PYTHONPATH": PACKAGE}) as child:
                killer = threading.Timer(60, child.kill)
                killer.start()
                stream = None
                self.assertEqual(child.stdout.readline(), "ready\n")
                if data is not None:
                    stream = open(pipe, "wb", buffering=0)
                    stream.write(data)
                for _ in range(2):
                    time.sleep(.3)
                    child.send_signal(signal.SIGUSR1)
                    self.assertEqual(child.stdout.readline(), "signal\n")
                self.assertEqual(child.stdout.readline(), "stopped 4\n")
                self.assertEqual(child.stderr.read(), "")
                killer.cancel()
                if stream:
                    stream.close()

    def test_signal_during_the_wait_loses_no_event(self):
        """The events that have come are read by the next call, of either kind."""
        script = """
import signal, sys, ntklog
order, kind = sys.argv[1:]
trace = ntklog.open("-", order=order, tolerant=True)
found = []
def read_thread_ids():
    if kind == "columns":
        found.extend(trace.columns("SpinLock")["SpinLock"]["ThreadId"])
    for event in trace:
        if event.name == "SpinLock":
            found.append(event["ThreadId"])
try:
    print("reads", flush=True)
    read_thread_ids()
except KeyboardInterrupt:
    print("interrupted")
kind = "events"
read_thread_ids()
print(*found)
"""
        data = etl.long_file([etl.perfinfo(0x0529, etl.spin_lock(thread=number))
                              for number in range(80)])
        for order, kind in (("time", "events"), ("file", "events"), ("time", "columns")):
            with subprocess.Popen([sys.executable, "-c", script, order, kind],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "PYTHONPATH": PACKAGE},
                                  preexec_fn=lambda: signal.signal(
                                      signal.SIGINT, signal.default_int_handler)) as child:
                child.stdin.buffer.write(data)
                child.stdin.flush()
                self.assertEqual(child.stdout.readline(), "reads\n")
                tool.wait_until_it_sleeps(child.pid, child.stdin)
                child.send_signal(signal.SIGINT)
                self.assertEqual(child.stdout.read().split(),
                                 ["interrupted", *map(str, range(80))], (order, kind))
                self.assertEqual(child.stderr.read(), "")

    def test_columns_after_a_signal_have_the_events_read_before_it(self):
        """Until columns() is called again, other calls fail: they would miss these events."""
        script = """
import sys, ntklog
trace = ntklog.open("-", order="file", tolerant=True)
try:
    print("reads", flush=True)
    trace.columns("SpinLock")
except KeyboardInterrupt:
    print("interrupted")
for call in lambda: next(trace), trace.columns, lambda: next(trace.batches("Resource")):
    try:
        call()
    except ValueError as error:
        print(str(error).split()[0])
print(*trace.columns("SpinLock")["SpinLock"]["ThreadId"], len(list(trace)))
"""
        data = etl.long_file([etl.perfinfo(0x0529, etl.spin_lock(thread=number))
                              for number in range(80)])
        with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONPATH": PACKAGE},
                              preexec_fn=lambda: signal.signal(
                                  signal.SIGINT, signal.default_int_handler)) as child:
            child.stdin.buffer.write(data)
            child.stdin.flush()
            self.assertEqual(child.stdout.readline(), "reads\n")
            tool.wait_until_it_sleeps(child.pid, child.stdin)
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.stdout.read().split(),
                             ["interrupted", *["columns()"] * 3, *map(str, range(80)), "0"])
            self.assertEqual(child.stderr.read(), "")

    def test_other_threads_run_while_one_waits(self):
        """The other threads cannot use the trace while one thread waits for its pipe."""
        for child in self.start_script("""
import threading, time, ntklog
trace = ntklog.open("-")
reader = threading.Thread(target=list, args=(trace,), daemon=True)
reader.start()
while True:
    try:
        trace.close()
    except RuntimeError as error:
        print(error, flush=True)
        break
reader.join()
trace.close()
"""):
            self.assertEqual(child.stdout.readline(), b"another thread reads this trace\n")
            child.stdin.close()
            self.assertEqual((child.wait(), child.stderr.read()), (0, b""))


if __name__ == "__main__":
    tap.main()
