#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Check ntklog exporter and contrib/prometheus with Debian's Prometheus. The exporter runs on an
imitation of the module.

Usage: check_metrics.py NTKLOG FAKE_MODULE PROMETHEUS_DIRECTORY
"""

import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../../tools/ntklog/tests"))

import tap
from exporter_case import ExporterCase
from prometheus_server import CONTRIB, Server, queries_of_dashboard, metrics_of_query

PROGRAMS = sys.argv[3]


def run_promtool(*arguments, **options):
    return subprocess.run([os.path.join(PROGRAMS, "promtool"), *arguments], text=True,
                          capture_output=True, timeout=600, cwd=CONTRIB, **options)


def queries_of_page():
    """The queries of Documentation/guide/metrics.rst."""
    path = os.path.join(HERE, "../../Documentation/guide/metrics.rst")
    with open(path, encoding="utf-8") as stream:
        section = re.search(r"^Questions and queries\n(.*?)^The metrics\n", stream.read(),
                            re.M | re.S)[1]
    return [" ".join(query.split()) for query in re.findall("``(.*?)``", section, re.S)]


class Files(unittest.TestCase):
    def check_files(self, *arguments):
        result = run_promtool(*arguments)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_promtool_accepts_the_rules(self):
        self.check_files("check", "rules", "ntklog-rules.yml")

    def test_promtool_accepts_the_scrape_configuration(self):
        self.check_files("check", "config", "scrape.yml")

    def test_alerts_fire_when_they_should(self):
        self.check_files("test", "rules", "ntklog-rules-test.yml")


class Exporter(ExporterCase):
    def setUp(self):
        super().setUp()
        self.log_events(self.spin_event(3, 1000, 9000, caller=1),
                        self.spin_event(3, 9000, 9100, wait=6000, caller=2))
        self.start_exporter()

    def test_promtool_accepts_the_metrics(self):
        self.scrape_after_update()
        checked = run_promtool("check", "metrics", input=self.get_page()[1])
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))

    def test_queries_of_rules_and_dashboard_use_metrics_that_exist(self):
        self.scrape_after_update()
        with open(os.path.join(CONTRIB, "ntklog-rules.yml"), encoding="utf-8") as stream:
            rules = stream.read()
        known = {key[0] for key in self.scrape()} | {"ntklog_lock_wait_seconds"}
        queries = [*queries_of_dashboard(), rules]
        self.assertGreater(len(queries), 15)
        for query in queries:
            self.assertEqual(metrics_of_query(query) - known, set(), query)

    def log_contention(self, turn):
        start = 20000 * (turn + 1)
        self.append_events(self.spin_event(3, start, start + 8000, caller=1),
                           self.spin_event(3, start + 8000, start + 8100, wait=6000, caller=2))

    def test_prometheus_finds_the_contended_lock(self):
        with self.with_repeated_action(.2, self.log_contention), \
                Server(PROGRAMS, self.directory, self.address) as server:
            top, = server.wait_for("topk(1, rate(ntklog_lock_wait_seconds_sum[10s]) > 0)")
            self.assertEqual((top["metric"]["kind"], top["metric"]["class"]),
                             ("spinlock", "class_3"))
            holder, = server.wait_for("topk(1, rate(ntklog_lock_charged_wait_seconds_total[10s]) > 0)")
            self.assertEqual(holder["metric"]["holder"], "function_1")
            self.assertGreater(len(queries_of_page()), 5)
            for query in [*queries_of_dashboard(), *queries_of_page()]:
                self.assertTrue(server.wait_for(query), query)
            self.assertEqual(server.run_query("up")[0]["value"][1], "1")


if __name__ == "__main__":
    tap.main()
