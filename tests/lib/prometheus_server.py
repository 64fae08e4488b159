# SPDX-License-Identifier: GPL-2.0-only
"""Debian's Prometheus for tests: a server that scrapes one target, and its queries."""

import json
import os
import re
import socket
import subprocess
import time
import urllib.parse
import urllib.request

CONTRIB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../contrib/prometheus")


def find_free_address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % free.getsockname()[1]


def queries_of_dashboard():
    """The queries of the dashboard's panels, for all machines and ranges of ten seconds."""
    with open(os.path.join(CONTRIB, "ntklog-dashboard.json"), encoding="utf-8") as stream:
        dashboard = json.load(stream)
    return [target["expr"].replace("$__rate_interval", "10s").replace("$instance", ".*")
            for panel in dashboard["panels"] for target in panel["targets"]]


def metrics_of_query(query):
    return set(re.findall(r"\bntklog_[a-z_]+", query))


class Server:
    """The server scrapes each second."""

    def __init__(self, programs, directory, target):
        self.address = find_free_address()
        with open(os.path.join(CONTRIB, "scrape.yml"), encoding="utf-8") as stream:
            config = stream.read()
        config = config.replace("127.0.0.1:10529", target).replace("interval: 15s", "interval: 1s")
        config = config.replace("ntklog-rules.yml", os.path.abspath(CONTRIB) + "/ntklog-rules.yml")
        path = os.path.join(directory, "scrape.yml")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(config)
        with open(os.path.join(directory, "prometheus.log"), "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [os.path.join(programs, "prometheus"), "--config.file=" + path,
                 "--storage.tsdb.path=" + os.path.join(directory, "data"),
                 "--web.listen-address=" + self.address], stdout=log, stderr=log)

    def run_query(self, expression):
        """The result: a list of dictionaries with metric and value."""
        url = "http://%s/api/v1/query?%s" % (self.address,
                                             urllib.parse.urlencode({"query": expression}))
        with urllib.request.urlopen(url, timeout=60) as response:
            return json.load(response)["data"]["result"]

    def wait_for(self, expression):
        for _ in range(600):
            try:
                result = self.run_query(expression)
            except OSError:
                result = []
            if result:
                return result
            time.sleep(.2)
        raise AssertionError("%s has no result; prometheus.log has the reason" % expression)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.terminate()
        self.process.wait(timeout=60)
