#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check the metrics that ntklog exporter has offered in a virtual machine.

Usage: PROMETHEUS=DIRECTORY_WITH_PROGRAMS check_exporter.py NTKLOG DIRECTORY
"""

import http.server
import os
import subprocess
import sys
import tempfile
import threading
import unittest

from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families

import tap
from prometheus_server import Server

DIRECTORY = sys.argv[2]
PROGRAMS = os.environ["PROMETHEUS"]
CLASS = "inode.i_rwsem (shmem_inode_cache)"


def read_text(name):
    with open(os.path.join(DIRECTORY, name), encoding="utf-8") as stream:
        return stream.read()


def parse_samples(text, parse=text_string_to_metric_families):
    return {(sample.name, *sample.labels.values()): sample.value
            for family in parse(text) for sample in family.samples}


class Metrics(unittest.TestCase):
    def test_promtool_accepts_the_metrics(self):
        for name in "exporter-before.prom", "exporter-after.prom", "exporter-budget.prom":
            checked = subprocess.run([os.path.join(PROGRAMS, "promtool"), "check", "metrics"],
                                     input=read_text(name), text=True, capture_output=True,
                                     timeout=600)
            self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))

    def test_counters_only_grow(self):
        before = parse_samples(read_text("exporter-before.prom"))
        after = parse_samples(read_text("exporter-after.prom"))
        self.assertLessEqual(set(before), set(after))
        for key, value in before.items():
            if key[0].endswith(("_total", "_bucket", "_count", "_sum")):
                self.assertGreaterEqual(after[key], value, key)

    def test_openmetrics_have_the_same_series(self):
        found = parse_samples(read_text("exporter-after.openmetrics"), parse_openmetrics)
        self.assertGreaterEqual(set(found), set(parse_samples(read_text("exporter-after.prom"))))

    def test_waiting_is_charged_to_the_writers(self):
        after = parse_samples(read_text("exporter-after.prom"))
        charged = {key[3]: value for key, value in after.items()
                   if key[:3] == ("ntklog_lock_charged_wait_seconds_total", "rwsem", CLASS)}
        self.assertIn("shmem_file_write_iter", charged)
        self.assertAlmostEqual(sum(charged.values()),
                               after["ntklog_lock_wait_seconds_sum", "rwsem", CLASS],
                               delta=.05 * sum(charged.values()))

    def test_the_overhead_has_all_parts(self):
        after = parse_samples(read_text("exporter-after.prom"))
        for part in "hooks", "events", "tool":
            self.assertGreater(after["ntklog_overhead_seconds_total", part], 0)

    def test_prometheus_finds_the_contended_lock(self):
        texts = [read_text("exporter-before.prom")]

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.end_headers()
                self.wfile.write(texts[-1].encode())

            def log_message(self, *arguments):
                pass

        web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=web.serve_forever)
        thread.start()
        try:
            with tempfile.TemporaryDirectory() as directory, \
                    Server(PROGRAMS, directory, "127.0.0.1:%d" % web.server_port) as server:
                server.wait_for("count_over_time(ntklog_updates_total[1m]) > 2")
                texts.append(read_text("exporter-after.prom"))
                server.wait_for("increase(ntklog_updates_total[1m]) > 0")
                # The series may be new: then it has no value before.
                top, = server.wait_for("topk(1, ntklog_lock_wait_seconds_sum)")
        finally:
            web.shutdown()
            thread.join()
            web.server_close()
        self.assertEqual((top["metric"]["kind"], top["metric"]["class"]), ("rwsem", CLASS))


class Budget(unittest.TestCase):
    def test_changes_for_the_budget_are_metrics_and_messages(self):
        found = parse_samples(read_text("exporter-budget.prom"))
        self.assertGreaterEqual(found["ntklog_overhead_budget_changes_total", "down"], 3)
        said = read_text("exporter-2.log")
        self.assertIn("budget 0.01%: recording less from now on: mode sampled", said)
        self.assertIn("budget 0.01%: recording less from now on: mode waits", said)


if __name__ == "__main__":
    tap.main()
