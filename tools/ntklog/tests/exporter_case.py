# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of ntklog exporter share.

Usage of a test: test_NAME.py NTKLOG FAKE_MODULE
"""

import os
import re
import socket
import urllib.request

import etl_writer as etl
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families
from top_case import TopCase

OPENMETRICS = {"Accept": "application/openmetrics-text; version=1.0.0, text/plain;q=0.5"}
KERNEL = "".join("ffffffff8100%d000 T function_%d\n" % (number, number) for number in range(1, 9))
COUNTERS = ("SpinLockAcquireCount", "SpinLockContentionCount", "Untracked", "Suppressed",
            "BlockersDropped", "SleepingAcquired", "New")


def function_address(number):
    return 0xffffffff81000001 + 0x1000 * number


def lock_address(number):
    return 0xffff888000000100 + 0x100 * number


def parse_samples(text, openmetrics=False):
    parse = parse_openmetrics if openmetrics else text_string_to_metric_families
    found = {}
    for family in parse(text):
        for sample in family.samples:
            key = (sample.name, *sample.labels.values())
            assert key not in found, key
            found[key] = sample.value
    return found


class ExporterCase(TopCase):
    """Locks have the classes class_0, class_1, ..., by the order of lock_address()."""

    # Seconds from one update to the next, at least.
    INTERVAL = .2

    def setUp(self):
        super().setUp()
        self.proc = os.path.join(self.directory, "proc")
        os.mkdir(self.proc)
        self.write_file("proc/kallsyms", KERNEL)
        self.write_file("proc/modules", "")
        self.ENVIRONMENT = {"NTKLOG_PROC": self.proc}
        self.set_parameter("linux_mode", "full")
        self.set_parameter("spinlock/blockers", 0)
        self.write_file("linux",
                        "spinlock: off, 1 functions\nrwlock: off, 2 functions\n"
                        "mutex: off, 9 functions\n")
        self.write_file("identities", "".join(
            "0x%x 3 1 symbol class_%d+0x0/0x8 by f+0x1/0x2\n" % (lock_address(number), number)
            for number in range(100)))
        self.write_counters()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % free.getsockname()[1]

    def write_counters(self, **values):
        """Set the module's counters, each to a value on each of two CPUs."""
        row = " ".join(str(values.get(name, 7)) for name in COUNTERS)
        text = "Processor %s\ncpu0 %s\ncpu1 %s\n" % (" ".join(COUNTERS), row, row)
        # The command must not read half of a file.
        self.write_file("counters.part", text)
        os.rename(os.path.join(self.directory, "counters.part"),
                  os.path.join(self.directory, "counters"))

    def start_exporter(self, *arguments, budget="100%"):
        self.process = self.start_tool("exporter", "--listen", self.address,
                                       "--interval", str(self.INTERVAL), "--budget", budget,
                                       *arguments)
        self.wait_for(lambda: self.read_update_count() or self.process.poll() is not None)
        self.assertIsNone(self.process.poll(), self.process.poll() is not None and
                          self.process.communicate())
        return self.process

    def end_exporter(self):
        self.process.terminate()
        error = self.process.communicate(timeout=60)[1].decode()
        self.assertEqual(self.process.returncode, 0, error)
        self.assertEqual(self.read_session_file(7, "state"), "stopped\n")
        return error

    def get_page(self, path="/metrics", **options):
        request = urllib.request.Request("http://%s%s" % (self.address, path), **options)
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.headers, response.read().decode()

    def scrape(self, openmetrics=False):
        return parse_samples(self.get_page(headers=OPENMETRICS if openmetrics else {})[1],
                             openmetrics)

    def read_update_count(self):
        try:
            return self.scrape()["ntklog_updates_total",]
        except OSError:
            return 0

    def scrape_after_update(self):
        """The metrics after all that is recorded now has been summed up."""
        enough = self.read_update_count() + 2
        self.wait_for(lambda: self.read_update_count() >= enough)
        return self.scrape()

    def log_events(self, *events):
        super().log_events(*events)
        self.write_session_file(7, "stats", "total 0 0 0 0 0 0\n")

    @staticmethod
    def spin_event(number, acquire, release, wait=0, caller=1, **changes):
        """Times are ticks."""
        return etl.perfinfo(0x0529, etl.spin_lock(
            address=lock_address(number), caller=function_address(caller),
            acquire=etl.START_CLOCK + acquire, release=etl.START_CLOCK + release, wait=wait,
            **{"spins": 1 if wait else 0, "flags": 1, "interrupts": 0, "rule": 1, **changes}),
            time_stamp=etl.START_CLOCK + release)

    @staticmethod
    def metric_names_of(text):
        return set(re.findall(r"^# TYPE (\S+)", text, re.M))
